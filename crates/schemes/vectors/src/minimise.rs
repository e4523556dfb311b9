//! The shortest list of steps that still shows something (delta debugging; Zeller and Hildebrandt
//! 2002, reduced to removal).

use crate::random::StepInput;

/// Removes steps as long as `shows` holds, which it does for `steps`: first halves, then ever
/// smaller parts.
pub fn minimise(steps: &[StepInput], shows: impl Fn(&[StepInput]) -> bool) -> Vec<StepInput> {
    let mut best = steps.to_vec();
    let mut part = best.len().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        while from < best.len() {
            let to = (from + part).min(best.len());
            let shorter = [&best[..from], &best[to..]].concat();
            if shows(&shorter) {
                best = shorter;
            } else {
                from = to;
            }
        }
        if part == 1 {
            return best;
        }
        part = part.div_ceil(2);
    }
}

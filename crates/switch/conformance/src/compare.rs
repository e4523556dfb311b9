//! One switch in C and one in Rust, step by step, on inputs made of any bytes.

use heddle_vectors::random::{Steps, switch};
use heddle_vectors::{Bytes, Config, Kind, Target, counts, reference};

use crate::native;

/// Runs a random switch on random steps until the bytes are used up.
///
/// # Errors
/// A description of the first difference.
pub fn compare(kind: Kind, bytes: &[u8]) -> Result<usize, String> {
    compare_with(kind, bytes, |_| ())
}

/// The same, with a change of the parameters that were drawn.
///
/// # Errors
/// A description of the first difference.
pub fn compare_with(
    kind: Kind,
    bytes: &[u8],
    change: impl FnOnce(&mut Config),
) -> Result<usize, String> {
    let mut draw = Bytes(bytes);
    let switch = switch(&mut draw);
    let mut config = kind.config(&mut draw);
    change(&mut config);
    let mut rust = reference(&switch, &config).map_err(|error| error.to_string())?;
    let mut c = native(&switch, &config).map_err(|error| error.to_string())?;
    let mut steps = Steps::new(&switch, &config);
    let mut taken = 0;
    while !draw.is_empty() {
        let step = steps.next(&mut draw);
        let expected = rust.step(step.now, step.rnd, &step.input);
        let actual = c.step(step.now, step.rnd, &step.input);
        let states = (rust.digest(), c.digest());
        if expected != actual || states.0 != states.1 {
            return Err(format!(
                "{switch:?}\n{config:?}\nstep {taken}: {step:?}\nRust: {expected:?}, state {:016x}\nC:    {actual:?}, state {:016x}",
                states.0, states.1
            ));
        }
        taken += 1;
    }
    let (expected, actual) = (counts(&rust.counters()), counts(&c.counters()));
    if expected != actual {
        return Err(format!("{switch:?}\n{config:?}\nRust: {expected:?}\nC:    {actual:?}"));
    }
    Ok(taken)
}

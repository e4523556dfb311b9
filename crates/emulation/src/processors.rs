//! The machine's processors during a run, by the first line of `/proc/stat` (proc(5)).

use std::fs;

use crate::EmulationError;

const STAT: &str = "/proc/stat";

/// Time of all processors since the machine started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    idle: u64,
    all: u64,
}

impl Ticks {
    /// Reads them now.
    pub(crate) fn read() -> Result<Ticks, EmulationError> {
        let text = fs::read_to_string(STAT).map_err(EmulationError::system(STAT))?;
        let unknown = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        parse(&text).ok_or_else(unknown).map_err(EmulationError::system(STAT))
    }

    /// The part of the time since an earlier reading in which the processors were busy, with
    /// whatever the machine ran; 0 to 1.
    pub(crate) fn busy_since(self, before: Ticks) -> f64 {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        if all == 0 { 0.0 } else { all.saturating_sub(idle) as f64 / all as f64 }
    }
}

/// The line's values: user, nice, system, idle, iowait, irq, softirq, steal; guests' time, which
/// follows, is in user's.
fn parse(text: &str) -> Option<Ticks> {
    let values = text.lines().next()?.strip_prefix("cpu ")?;
    let values: Vec<u64> =
        values.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Ticks { idle: values.get(3)? + values.get(4)?, all: values.iter().sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_disks_is_idle_and_stolen_time_is_busy() {
        let before = parse("cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(before, Ticks { idle: 850, all: 1000 });
        let after = parse("cpu  160 0 60 815 55 0 0 10 9 0\n").unwrap();
        assert!((after.busy_since(before) - 0.8).abs() < 1e-9);
        assert_eq!(before.busy_since(before), 0.0, "no time has passed");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "cpu 1 2\n", "cpu a b c d e f g h\n", "intr 1 2 3 4 5\n"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_kernel_has_the_line() {
        assert!(Ticks::read().unwrap().all > 0);
    }
}

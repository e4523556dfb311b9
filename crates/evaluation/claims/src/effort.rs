//! Size of an evaluation.

/// Size of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Five seeds and very few flows: seconds, to see that it works.
    Demo,
    /// One seed, few loads, few flows: minutes.
    Quick,
    /// Five seeds with the loads and flows of [`Effort::Quick`]: five times as long.
    Medium,
    /// Five seeds and loads from 10 to 90 %: hours.
    Full,
}

impl Effort {
    /// The size that two flags choose: `full` before `medium`, and [`Effort::Quick`] without
    /// either.
    pub fn of(medium: bool, full: bool) -> Effort {
        match (medium, full) {
            (_, true) => Effort::Full,
            (true, false) => Effort::Medium,
            (false, false) => Effort::Quick,
        }
    }

    /// Seeds to average over.
    pub fn seeds(self) -> &'static [u64] {
        match self {
            Effort::Quick => &[1],
            Effort::Demo | Effort::Medium | Effort::Full => &[1, 2, 3, 4, 5],
        }
    }
}

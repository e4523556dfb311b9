//! Size of an evaluation.

/// Size of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One seed and very few flows: seconds, to see that it works.
    Demo,
    /// One seed, few loads, few flows: minutes.
    Quick,
    /// Five seeds and loads from 10 to 90 %: hours.
    Full,
}

impl Effort {
    /// Seeds to average over.
    pub fn seeds(self) -> &'static [u64] {
        match self {
            Effort::Demo | Effort::Quick => &[1],
            Effort::Full => &[1, 2, 3, 4, 5],
        }
    }
}

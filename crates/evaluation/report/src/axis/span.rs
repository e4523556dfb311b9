//! The ends of an axis.

/// The ends of an axis, `low < high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub low: f64,
    pub high: f64,
}

impl Span {
    pub(super) fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

//! Headline ratios of a paper, and the choices that it leaves open.

/// One choice changed.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The change in words.
    pub label: &'static str,
    /// Dotted keys and their values.
    pub changes: &'static [(&'static str, &'static str)],
}

impl Variant {
    /// A change of some keys.
    pub const fn new(
        label: &'static str,
        changes: &'static [(&'static str, &'static str)],
    ) -> Variant {
        Variant { label, changes }
    }
}

/// [`HEADLINE_METRIC`](crate::paper::SimulatedPaper::HEADLINE_METRIC) at one point over the same at
/// another.
#[derive(Clone, Copy, Debug)]
pub struct Headline<P> {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// The slower point.
    pub worse: P,
    /// The faster point.
    pub better: P,
}

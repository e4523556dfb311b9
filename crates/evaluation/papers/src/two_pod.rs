//! The fabric of two pods, the two workloads and the longest run of HULA's and MP-HULA's
//! evaluations.

use heddle_claims::Effort;

/// The fabric, whole or with one core-aggregation link down (HULA figure 4, MP-HULA figure 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// All links up.
    Symmetric,
    /// Link S2-A4 down.
    Asymmetric,
}

impl Shape {
    /// Both.
    pub const ALL: [Shape; 2] = [Shape::Symmetric, Shape::Asymmetric];

    /// Its name in labels.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Symmetric => "symmetric",
            Shape::Asymmetric => "asymmetric",
        }
    }

    /// Changes to a scenario file of the whole fabric.
    pub(crate) fn overrides(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Shape::Symmetric => &[],
            Shape::Asymmetric => &[("fabric.failed", "[\"core-2 agg-4\"]")],
        }
    }
}

/// The longest simulated time of a run, some 20 times that of a run whose flows all finish. A pool
/// of connections under overload opens ever more of them, and such a run has no other end.
pub(crate) fn time_limit(effort: Effort) -> &'static str {
    match effort {
        Effort::Demo | Effort::Quick | Effort::Medium => "10s",
        Effort::Full => "100s",
    }
}

/// Flow sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sizes {
    /// DCTCP's web search.
    WebSearch,
    /// VL2's data mining.
    DataMining,
}

impl Sizes {
    /// Both.
    pub const ALL: [Sizes; 2] = [Sizes::WebSearch, Sizes::DataMining];

    /// Its name, as a scenario file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Sizes::WebSearch => "websearch",
            Sizes::DataMining => "datamining",
        }
    }

    /// Its name in titles.
    pub fn title(self) -> &'static str {
        match self {
            Sizes::WebSearch => "Web search",
            Sizes::DataMining => "Data mining",
        }
    }
}

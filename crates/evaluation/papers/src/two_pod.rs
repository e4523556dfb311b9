//! The fabric of two pods and the two workloads of HULA's and MP-HULA's evaluations.

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

//! Which simulations HULA's evaluation needs: the paper's scenario files with a scheme, a load, a fabric, a workload.

use std::collections::BTreeMap;

use heddle_scenario::{Scenario, ScenarioError, Source, load};

use crate::grid::Cell;
use crate::summary::RunSummary;

/// The paper's fabric, whole or with one core-aggregation link down (HULA figure 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// All links up.
    Symmetric,
    /// Link S2-A4 down.
    Asymmetric,
}

/// Flow sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sizes {
    /// DCTCP's web search.
    WebSearch,
    /// VL2's data mining.
    DataMining,
}

/// A scheme as the figures name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// ECMP.
    Ecmp,
    /// ECMP per flowlet across pods.
    CongaPrime,
    /// HULA.
    Hula,
    /// HULA with probes ten times rarer (figure 9c).
    HulaRareProbes,
    /// One big switch.
    Ideal,
}

impl Scheme {
    /// Its name in tables and legends.
    pub fn title(self) -> &'static str {
        match self {
            Scheme::Ecmp => "ECMP",
            Scheme::CongaPrime => "CONGA'",
            Scheme::Hula => "HULA",
            Scheme::HulaRareProbes => "HULA, T_p x 10",
            Scheme::Ideal => "Ideal",
        }
    }

    fn overrides(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Scheme::Ecmp => &[("scheme", "ecmp")],
            Scheme::CongaPrime => &[("scheme", "conga-prime")],
            Scheme::Hula => &[],
            Scheme::HulaRareProbes => &[("scheme.probe_period", "2ms")],
            Scheme::Ideal => &[("scheme", "ideal")],
        }
    }
}

/// One point of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The fabric.
    pub shape: Shape,
    /// The workload.
    pub sizes: Sizes,
    /// The scheme.
    pub scheme: Scheme,
    /// Load in percent of 160 Gbps.
    pub load: u8,
}

/// How much to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One seed and very few flows: seconds, to see that it works.
    Demo,
    /// One seed, few loads, few flows: minutes.
    Quick,
    /// The paper's three seeds and loads from 10 to 90 %: about two hours on two cores.
    Full,
}

impl Effort {
    /// Seeds to average over.
    pub fn seeds(self) -> &'static [u64] {
        match self {
            Effort::Demo | Effort::Quick => &[1],
            Effort::Full => &[1, 2, 3],
        }
    }

    /// Flows that one run measures.
    fn flows(self, sizes: Sizes) -> u64 {
        match (self, sizes) {
            (Effort::Demo, _) => 1_000,
            (Effort::Quick, Sizes::WebSearch) => 8_000,
            (Effort::Quick, Sizes::DataMining) => 2_000,
            (Effort::Full, Sizes::WebSearch) => 20_000,
            (Effort::Full, Sizes::DataMining) => 10_000,
        }
    }

    /// Loads of the curves, in percent.
    pub fn loads(self, shape: Shape, sizes: Sizes) -> &'static [u8] {
        match (self, shape, sizes) {
            (Effort::Demo, ..) => &[20, 40, 60],
            (Effort::Quick, Shape::Symmetric, Sizes::WebSearch) => &[30, 50, 70, 90],
            (Effort::Quick, Shape::Asymmetric, Sizes::WebSearch) => &[30, 50, 60, 70],
            // Its largest flows last for seconds: only the points that claims ask for.
            (Effort::Quick, _, Sizes::DataMining) => &[],
            (Effort::Full, ..) => &[10, 20, 30, 40, 50, 60, 70, 80, 90],
        }
    }
}

const SYMMETRIC: &str = include_str!("../../../../scenarios/hula-fig5.toml");

impl Point {
    /// What to call it in progress messages.
    pub fn label(&self) -> String {
        let shape = match self.shape {
            Shape::Symmetric => "symmetric",
            Shape::Asymmetric => "asymmetric",
        };
        format!("{shape} {} {} % {}", self.sizes_name(), self.load, self.scheme.title())
    }

    fn sizes_name(&self) -> &'static str {
        match self.sizes {
            Sizes::WebSearch => "websearch",
            Sizes::DataMining => "datamining",
        }
    }

    /// The scenario: figure 5a's file with this point's overrides.
    ///
    /// # Errors
    /// If the file that is built in does not load (a test sees that it does).
    pub fn scenario(&self, effort: Effort) -> Result<Scenario, ScenarioError> {
        self.scenario_with(effort, &[])
    }

    /// The load as a scenario file writes it.
    pub(super) fn load_text(&self) -> String {
        format!("{:.2}", f64::from(self.load) / 100.0)
    }

    /// The scenario with further changes.
    pub(super) fn scenario_with(
        &self,
        effort: Effort,
        changes: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let mut source = Source::new("hula-fig5.toml", SYMMETRIC)
            .with("title", format!("HULA: {}", self.label()))
            .with("workload.sizes", self.sizes_name())
            .with("workload.load", self.load_text())
            .with("measure.flows", effort.flows(self.sizes).to_string())
            .with("measure.sample_every", "100us");
        if self.shape == Shape::Asymmetric {
            source = source.with("fabric.failed", "[\"core-2 agg-4\"]");
        }
        for (key, value) in self.scheme.overrides() {
            source = source.with(*key, *value);
        }
        source.overrides.extend_from_slice(changes);
        load(&source, &no_files)
    }

    fn cells(&self, effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
        let scenario = self.scenario(effort)?;
        let cell = |&seed| Cell {
            label: format!("{} seed {seed}", self.label()),
            scenario: scenario.clone(),
            seed,
        };
        Ok(effort.seeds().iter().map(cell).collect())
    }
}

pub(crate) fn no_files(path: &str) -> std::io::Result<String> {
    Err(std::io::Error::other(format!("{path}: this scenario names no files")))
}

/// The cells of some points, each point's seeds together and in order.
///
/// # Errors
/// As [`Point::scenario`].
pub fn cells(points: &[Point], effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
    let nested: Result<Vec<_>, _> = points.iter().map(|point| point.cells(effort)).collect();
    Ok(nested?.into_iter().flatten().collect())
}

/// Every curve of the figures, and every point that a claim asks for.
pub fn all_points(effort: Effort, claimed: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let schemes = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula, Scheme::Ideal];
    let mut points: Vec<Point> = claimed.into_iter().collect();
    for shape in [Shape::Symmetric, Shape::Asymmetric] {
        for sizes in [Sizes::WebSearch, Sizes::DataMining] {
            for scheme in schemes {
                let loads = effort.loads(shape, sizes).iter();
                points.extend(loads.map(|&load| Point { shape, sizes, scheme, load }));
            }
        }
    }
    points.sort_unstable();
    points.dedup();
    points
}

/// The points of `heddle demo`: HULA against ECMP under web search, on the whole fabric and with a link down.
pub fn demo_points() -> Vec<Point> {
    let sizes = Sizes::WebSearch;
    let mut points = Vec::new();
    for shape in [Shape::Symmetric, Shape::Asymmetric] {
        for scheme in [Scheme::Ecmp, Scheme::Hula] {
            let loads = Effort::Demo.loads(shape, sizes).iter();
            points.extend(loads.map(|&load| Point { shape, sizes, scheme, load }));
        }
    }
    points
}

/// The runs of every point.
#[derive(Clone, Debug, Default)]
pub struct Results(BTreeMap<Point, Vec<RunSummary>>);

impl Results {
    /// From runs in the order of [`cells`].
    pub fn new(points: &[Point], effort: Effort, runs: Vec<RunSummary>) -> Results {
        let mut runs = runs.into_iter();
        let seeds = effort.seeds().len();
        Results(points.iter().map(|&point| (point, runs.by_ref().take(seeds).collect())).collect())
    }

    /// A point's runs, one a seed; empty if it was not simulated.
    pub fn runs(&self, point: Point) -> &[RunSummary] {
        self.0.get(&point).map_or(&[], Vec::as_slice)
    }

    /// The points that were simulated.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.0.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_loads() {
        for effort in [Effort::Quick, Effort::Full] {
            for point in all_points(effort, []) {
                point.scenario(effort).unwrap_or_else(|error| panic!("{}: {error}", point.label()));
            }
        }
    }
}

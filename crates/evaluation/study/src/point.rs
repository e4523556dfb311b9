//! Points of figures: a scenario each, and the runs of it.

use std::collections::BTreeMap;

use heddle_claims::Effort;
use heddle_scenario::{Scenario, ScenarioError, Source, load};

use crate::cell::{Cell, seeded};
use crate::summary::RunSummary;

/// One point of a figure: a built-in scenario file with overrides.
pub trait Point: Copy + Ord + 'static {
    /// Its name in progress messages.
    fn label(&self) -> String;

    /// Load in percent.
    fn load(&self) -> u8;

    /// True if a change of a dotted key means anything at this point: HULA's keys mean nothing to
    /// ECMP.
    fn takes(&self, key: &str) -> bool;

    /// The scenario file with this point's overrides.
    fn source(&self, effort: Effort) -> Source;

    /// The load as a scenario file writes it.
    fn load_text(&self) -> String {
        format!("{:.2}", f64::from(self.load()) / 100.0)
    }

    /// A file that the scenarios name; those that are built in name none, as a rule.
    ///
    /// # Errors
    /// A name that is unknown.
    fn file(path: &str) -> std::io::Result<String> {
        no_files(path)
    }

    /// The scenario.
    ///
    /// # Errors
    /// If the file that is built in does not load (tests see that it does).
    fn scenario(&self, effort: Effort) -> Result<Scenario, ScenarioError> {
        load(&self.source(effort), &Self::file)
    }

    /// The scenario with further changes, of which those count that the point
    /// [takes](Point::takes). An `@` in a value stands for the load.
    ///
    /// # Errors
    /// As [`Point::scenario`].
    fn changed(&self, effort: Effort, changes: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
        let taken = changes.iter().filter(|(key, _)| self.takes(key));
        let source = taken.fold(self.source(effort), |source, (key, value)| {
            source.with(*key, value.replace('@', &self.load_text()))
        });
        load(&source, &Self::file)
    }
}

/// Refuses every file.
///
/// # Errors
/// Always.
pub fn no_files(path: &str) -> std::io::Result<String> {
    Err(std::io::Error::other(format!("{path}: this scenario names no files")))
}

/// The cells of some points, each point's seeds together and in order.
///
/// # Errors
/// As [`Point::scenario`].
pub fn cells<P: Point>(points: &[P], effort: Effort) -> Result<Vec<Cell>, ScenarioError> {
    cells_under(points, effort, &[])
}

/// The cells of some points with [changes](Point::changed), in the order of [`cells`].
///
/// # Errors
/// As [`Point::changed`].
pub fn cells_under<P: Point>(
    points: &[P],
    effort: Effort,
    changes: &[(&str, &str)],
) -> Result<Vec<Cell>, ScenarioError> {
    let cells_of = |point: &P| {
        let scenario = point.changed(effort, changes)?;
        Ok(seeded(&point.label(), &scenario, effort.seeds()))
    };
    let nested: Result<Vec<_>, ScenarioError> = points.iter().map(cells_of).collect();
    Ok(nested?.into_iter().flatten().collect())
}

/// Points in order, each once.
pub fn in_order<P: Point>(points: impl IntoIterator<Item = P>) -> Vec<P> {
    let mut points: Vec<P> = points.into_iter().collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// The runs of every point.
#[derive(Clone, Debug)]
pub struct Results<P>(BTreeMap<P, Vec<RunSummary>>);

impl<P> Default for Results<P> {
    fn default() -> Results<P> {
        Results(BTreeMap::new())
    }
}

impl<P: Point> Results<P> {
    /// From runs in the order of [`cells`].
    pub fn new(points: &[P], effort: Effort, runs: Vec<RunSummary>) -> Results<P> {
        let mut runs = runs.into_iter();
        let seeds = effort.seeds().len();
        Results(points.iter().map(|&point| (point, runs.by_ref().take(seeds).collect())).collect())
    }

    /// A point's runs, one a seed; empty if it was not simulated.
    pub fn runs(&self, point: P) -> &[RunSummary] {
        self.0.get(&point).map_or(&[], Vec::as_slice)
    }

    /// The points that were simulated, in order.
    pub fn points(&self) -> impl Iterator<Item = P> + '_ {
        self.0.keys().copied()
    }

    /// Every run, in the points' order.
    pub fn all_runs(&self) -> impl Iterator<Item = &RunSummary> {
        self.0.values().flatten()
    }
}

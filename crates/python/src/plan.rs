//! Sweeps: their warning before they run, their report after.

use heddle_scenario::{ScenarioError, Variant};
use heddle_study::plan::{self, Combination};
use heddle_study::remarks::remarks;
use heddle_study::sweep::{self, Axis, Row};
use heddle_study::view;
use pyo3::prelude::*;

use crate::errors::{self, SimulationError};
use crate::run::Run;
use crate::scenario::Scenario;

/// Keys or names, each with what belongs to it.
type Named<T> = Vec<(String, Vec<T>)>;

/// The axes of a sweep, and its combinations in order: values, scenario and seeds of each.
#[pyclass(frozen, module = "heddle._core")]
pub(crate) struct Plan {
    axes: Vec<Axis>,
    plan: plan::Plan,
}

#[pymethods]
impl Plan {
    /// `over` has the values of each key, `variants` the settings of each.
    #[new]
    fn new(
        py: Python<'_>,
        over: Named<String>,
        variants: Named<(String, String)>,
        combinations: Vec<(Vec<String>, Scenario, Vec<u64>)>,
    ) -> PyResult<Plan> {
        let axes = axes_of(over, variants).map_err(|error| errors::of_scenario(py, &error))?;
        let made = py.detach(|| {
            let one = |(values, scenario, seeds): (_, Scenario, _)| {
                Combination::new(values, scenario.resolved, seeds)
            };
            combinations.into_iter().map(one).collect::<Result<_, _>>()
        });
        let combinations = made.map_err(|error| SimulationError::new_err(error.to_string()))?;
        Ok(Plan { axes, plan: plan::Plan { combinations } })
    }

    /// The warning of the combination whose links are offered most; None if none overloads a link.
    fn overload(&self) -> Option<String> {
        self.plan.overload()
    }

    /// The HTML report, and the warnings that a reader needs before its rows are compared: of the
    /// scenario without a combination's values, and a run for each seed of each combination.
    fn report(
        &self,
        py: Python<'_>,
        base: &Scenario,
        runs: Vec<Run>,
    ) -> PyResult<(String, Vec<String>)> {
        let rows = self.rows(runs);
        let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
        let named: Vec<_> =
            names.iter().zip(&rows).map(|(name, row)| (name.as_str(), &*row.runs)).collect();
        let later = remarks(&named);
        let before = self.plan.notices().into_iter().chain(self.overload());
        let all: Vec<String> = before.chain(later.iter().cloned()).collect();
        let made = base.provenance(py)?;
        let html = view::with_origin(view::of_sweep(&self.axes, &rows), &made, &all).to_html();
        Ok((html, later))
    }

    /// The report's plots: name and SVG text of each.
    fn plots(&self, runs: Vec<Run>) -> Vec<(String, String)> {
        view::of_sweep(&self.axes, &self.rows(runs)).svgs()
    }
}

impl Plan {
    fn rows(&self, runs: Vec<Run>) -> Vec<Row> {
        self.plan.rows(runs.into_iter().map(|run| run.summary).collect())
    }
}

fn axes_of(
    over: Named<String>,
    variants: Named<(String, String)>,
) -> Result<Vec<Axis>, ScenarioError> {
    let named = variants.into_iter().map(|(name, settings)| Variant::new(&name, settings));
    let over = over.into_iter().map(|(key, values)| Axis::of(key, values)).collect();
    sweep::axes(over, named.collect::<Result<_, _>>()?)
}

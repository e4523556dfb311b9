//! Sweeps: their warning before they run, their report after.

use heddle_study::plan::{self, Combination};
use heddle_study::remarks::remarks;
use heddle_study::sweep::{Axis, Row};
use heddle_study::view;
use pyo3::prelude::*;

use crate::errors::SimulationError;
use crate::run::Run;
use crate::scenario::Scenario;

/// The combinations of a sweep, in order: values, scenario and seeds of each.
#[pyclass(frozen, module = "heddle._core")]
pub(crate) struct Plan {
    plan: plan::Plan,
}

#[pymethods]
impl Plan {
    #[new]
    fn new(py: Python<'_>, combinations: Vec<(Vec<String>, Scenario, Vec<u64>)>) -> PyResult<Plan> {
        let made = py.detach(|| {
            let one = |(values, scenario, seeds): (_, Scenario, _)| {
                Combination::new(values, scenario.resolved, seeds)
            };
            combinations.into_iter().map(one).collect::<Result<_, _>>()
        });
        let combinations = made.map_err(|error| SimulationError::new_err(error.to_string()))?;
        Ok(Plan { plan: plan::Plan { combinations } })
    }

    /// The warning of the combination whose links are offered most; None if none overloads a link.
    fn overload(&self) -> Option<String> {
        self.plan.overload()
    }

    /// The HTML report, and the warnings that a reader needs before its rows are compared: of the
    /// scenario without a combination's values, the axes (key and values) and a run for each seed
    /// of each combination.
    fn report(
        &self,
        py: Python<'_>,
        base: &Scenario,
        axes: Vec<(String, Vec<String>)>,
        runs: Vec<Run>,
    ) -> PyResult<(String, Vec<String>)> {
        let (axes, rows) = (axes_of(axes), self.rows(runs));
        let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
        let named: Vec<_> =
            names.iter().zip(&rows).map(|(name, row)| (name.as_str(), &*row.runs)).collect();
        let later = remarks(&named);
        let all: Vec<String> = self.overload().into_iter().chain(later.iter().cloned()).collect();
        let made = base.provenance(py)?;
        let html = view::with_origin(view::of_sweep(&axes, &rows), &made, &all).to_html();
        Ok((html, later))
    }

    /// The report's plots: name and SVG text of each.
    fn plots(&self, axes: Vec<(String, Vec<String>)>, runs: Vec<Run>) -> Vec<(String, String)> {
        view::of_sweep(&axes_of(axes), &self.rows(runs)).svgs()
    }
}

impl Plan {
    fn rows(&self, runs: Vec<Run>) -> Vec<Row> {
        self.plan.rows(runs.into_iter().map(|run| run.summary).collect())
    }
}

fn axes_of(axes: Vec<(String, Vec<String>)>) -> Vec<Axis> {
    axes.into_iter().map(|(key, values)| Axis { key, values }).collect()
}

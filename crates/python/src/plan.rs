//! Sweeps: their warning before they run, their report after.

use heddle_scenario::{ScenarioError, Variant};
use heddle_study::paired::{self, Baseline};
use heddle_study::plan::{self, Combination};
use heddle_study::remarks::remarks;
use heddle_study::sweep::{self, Axis, Row};
use heddle_study::{tidy, view};
use pyo3::exceptions::PyValueError;
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
    /// scenario without a combination's values, and a run, if there is one, for each seed of each
    /// combination; with ratios to a baseline, a key and its value.
    #[pyo3(signature = (base, runs, baseline = None))]
    fn report(
        &self,
        py: Python<'_>,
        base: &Scenario,
        runs: Vec<Option<Run>>,
        baseline: Option<(String, String)>,
    ) -> PyResult<(String, Vec<String>)> {
        let missing = runs.iter().filter(|run| run.is_none()).count();
        let so_far = (missing > 0).then(|| {
            format!("so far: {} of {} runs are finished", runs.len() - missing, runs.len())
        });
        let rows = self.rows(runs);
        let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
        let named: Vec<_> =
            names.iter().zip(&rows).map(|(name, row)| (name.as_str(), &*row.runs)).collect();
        let later = remarks(&named);
        let before = self.plan.notices().into_iter().chain(self.overload());
        let before = so_far.into_iter().chain(before);
        let all: Vec<String> = before.chain(later.iter().cloned()).collect();
        let made = base.provenance(py)?;
        let mut report = view::of_sweep(&self.axes, &rows);
        if let Some((key, value)) = baseline {
            let baseline = self.baseline(&key, &value)?;
            let ratios = paired::ratios(&self.axes, &rows, &baseline);
            report = view::with_ratios(report, &baseline, &ratios);
        }
        Ok((view::with_origin(report, &made, &all).to_html(), later))
    }

    /// The report's plots: name and SVG text of each.
    fn plots(&self, runs: Vec<Option<Run>>) -> Vec<(String, String)> {
        view::of_sweep(&self.axes, &self.rows(runs)).svgs()
    }

    /// Every value over the seeds, a list for each combination that has runs, as JSON text.
    fn means_json(&self, runs: Vec<Option<Run>>) -> PyResult<String> {
        let rows = self.rows(runs);
        let figures: Vec<_> = rows.iter().map(|row| tidy::over_seeds(&row.runs)).collect();
        json(serde_json::to_string(&figures))
    }

    /// The ratios to the combinations that have a value of a key, as JSON text.
    fn ratios_json(&self, runs: Vec<Option<Run>>, key: &str, value: &str) -> PyResult<String> {
        let baseline = self.baseline(key, value)?;
        json(serde_json::to_string(&paired::ratios(&self.axes, &self.rows(runs), &baseline)))
    }
}

impl Plan {
    fn rows(&self, runs: Vec<Option<Run>>) -> Vec<Row> {
        let summaries = runs.into_iter().map(|run| run.map(|run| run.summary));
        self.plan.rows_so_far(&summaries.collect::<Vec<_>>())
    }

    fn baseline(&self, key: &str, value: &str) -> PyResult<Baseline> {
        let baseline = Baseline::new(&self.axes, key, value);
        baseline.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

fn json(text: serde_json::Result<String>) -> PyResult<String> {
    text.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn axes_of(
    over: Named<String>,
    variants: Named<(String, String)>,
) -> Result<Vec<Axis>, ScenarioError> {
    let named = variants.into_iter().map(|(name, settings)| Variant::new(&name, settings));
    let over = over.into_iter().map(|(key, values)| Axis::of(key, values)).collect();
    sweep::axes(over, named.collect::<Result<_, _>>()?)
}

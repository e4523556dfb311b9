//! The store of finished runs that the command line uses, too.

use std::path::PathBuf;

use heddle_study::results::{KEPT_FLOWS, KEPT_LINKS};
use pyo3::prelude::*;

use crate::errors::of_file;
use crate::made::Tables;
use crate::run::Run;
use crate::scenario::Scenario;

/// A folder of finished runs, each named by what was run: scenario, seed and the engine's
/// behaviour. It is `runs/` in the folder of results of `heddle run` and `heddle sweep`: either
/// goes on where the other stopped.
#[pyclass(frozen, module = "heddle._core")]
pub(crate) struct Store {
    store: heddle_study::store::Store,
}

#[pymethods]
impl Store {
    /// Opens the folder, making it if need be.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python's paths come as values")]
    fn new(folder: PathBuf) -> PyResult<Store> {
        let store = heddle_study::store::Store::open(&folder).map_err(|error| of_file(&error))?;
        Ok(Store { store })
    }

    /// The run of a scenario with a seed; None if this engine has not made it, or has kept no table
    /// of its flows. Runs of schemes in Python are not kept: nothing says which code made them.
    fn load(&self, scenario: &Scenario, seed: u64) -> PyResult<Option<Run>> {
        if scenario.is_in_python() {
            return Ok(None);
        }
        let cell = scenario.cell(seed);
        let table = |name| self.store.load_table(&cell, name).map_err(|error| of_file(&error));
        let summary = self.store.load(&cell).map_err(|error| of_file(&error))?;
        let (Some(summary), Some(flows)) = (summary, table(KEPT_FLOWS)?) else { return Ok(None) };
        let samples = cell.scenario.measure.sample_every.is_some();
        let links = if samples { table(KEPT_LINKS)? } else { None };
        if samples && links.is_none() {
            return Ok(None);
        }
        let scenario = scenario.clone();
        Ok(Some(Run { scenario, summary, tables: Tables { flows, links } }))
    }

    /// Keeps a run, unless its scheme is in Python. Files are written whole or not at all; the
    /// summary, without which a run counts as none, comes last.
    fn save(&self, run: &Run) -> PyResult<()> {
        if run.scenario.is_in_python() {
            return Ok(());
        }
        let cell = run.scenario.cell(run.summary.seed);
        let keep = || {
            self.store.save_table(&cell, KEPT_FLOWS, &run.tables.flows)?;
            if let Some(links) = &run.tables.links {
                self.store.save_table(&cell, KEPT_LINKS, links)?;
            }
            self.store.save(&cell, &run.summary)
        };
        keep().map_err(|error| of_file(&error))
    }
}

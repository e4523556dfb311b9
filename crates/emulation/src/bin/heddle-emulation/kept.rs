//! Runs on kernels that are kept, so that many of them can be interrupted and go on later.

use std::path::Path;

use heddle_emulation::Monitor;
use heddle_study::cell::Cell;
use heddle_study::store::Store;
use heddle_study::summary::RunSummary;

use crate::output::kernel;
use crate::prepared::Prepared;
use crate::run::one;

/// A folder of runs by one data plane on one kernel.
pub(crate) struct Kept(Store);

impl Kept {
    /// Opens a folder below `runs/` of the results' folder.
    pub(crate) fn open(folder: &Path, prepared: &Prepared) -> Result<Kept, anyhow::Error> {
        let name = format!("{} {}", prepared.plane.name(), kernel()).replace(' ', "-");
        Ok(Kept(Store::open(&folder.join("runs").join(name))?))
    }

    /// The kept run of a cell; a new one, which is then kept, if there is none.
    pub(crate) fn run(
        &self,
        prepared: &Prepared,
        cell: &Cell,
        monitor: &dyn Monitor,
    ) -> Result<RunSummary, anyhow::Error> {
        if let Some(kept) = self.0.load(cell)? {
            return Ok(kept);
        }
        let lab = one(prepared, cell.seed, monitor)?;
        let summary = RunSummary::new(&cell.scenario, cell.seed, &lab.outcome, 0.0);
        self.0.save(cell, &summary)?;
        Ok(summary)
    }
}

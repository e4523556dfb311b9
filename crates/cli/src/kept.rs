//! Runs that are kept in a folder, so that an interrupted command goes on where it stopped.

use std::path::Path;

use heddle_study::grid::{self, Cell};
use heddle_study::store::Store;
use heddle_study::summary::RunSummary;

use crate::args::Common;
use crate::failure::Failure;
use crate::progress::GridBar;

/// Runs the cells that `runs/` below a folder does not hold yet, with a bar.
pub(crate) fn simulate(
    folder: &Path,
    cells: &[Cell],
    common: &Common,
) -> Result<Vec<RunSummary>, Failure> {
    let store = Store::open(&folder.join("runs")).map_err(anyhow::Error::from)?;
    let bar = GridBar::new(common, cells.len());
    let runs = grid::run(cells, &store, &|progress| bar.update(progress));
    bar.finish();
    Ok(runs?)
}

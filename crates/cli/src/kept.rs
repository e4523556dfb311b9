//! Runs that are kept in a folder, so that an interrupted command goes on where it stopped.

use std::path::Path;

use heddle_study::cell::Cell;
use heddle_study::grid;
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
    Ok(grid::run_in(folder, cells, &GridBar::new(common))?)
}

//! Bounds of what is imported.

use heddle_config::Problem;

/// Flows and computations beyond this are mistakes: a gigabyte of them.
const MOST_ROWS: u64 = 1 << 22;

/// Refuses more flows and computations than can be meant.
pub(super) fn check_rows(count: u64) -> Result<(), Problem> {
    if count <= MOST_ROWS {
        return Ok(());
    }
    Err(Problem::at("nodes", format!("{count} flows and computations are too many"))
        .help(format!("at most {MOST_ROWS}: fewer ranks, or a part of the job")))
}

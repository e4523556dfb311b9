//! A small scenario and its runs, for tests.

use heddle_scenario::{Scenario, Source, load};

use crate::cell::Cell;
use crate::grid::timed;
use crate::point::no_files;
use crate::summary::{PortSummary, RunSummary};

const SMALL: &str = r#"title = "Two leaves"
seeds = [1]
[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "1Gbps"
spine_rate = "1Gbps"
[scheme]
kind = "ecmp"
[workload]
kind = "flows"
sizes = "fixed:20KB"
load = 0.4
[measure]
warm_up = "1ms"
flows = 20
"#;

/// The source of the small scenario.
pub fn small() -> Source {
    Source::new("small.toml", SMALL)
}

/// Four hosts, a run of well under a millisecond of processor time, with some keys changed.
pub fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let source = changes.iter().fold(small(), |source, (key, value)| source.with(*key, *value));
    load(&source, &no_files).expect("a sound scenario")
}

/// A cell of the small scenario.
pub fn cell(seed: u64, changes: &[(&str, &str)]) -> Cell {
    Cell { label: format!("seed {seed}"), scenario: scenario(changes), seed }
}

/// A run of a cell.
pub fn run(cell: &Cell) -> RunSummary {
    let (outcome, seconds) =
        timed(&cell.scenario, cell.seed, &mut |_| heddle_sim::Next::Continue).expect("it runs");
    RunSummary::new(&cell.scenario, cell.seed, &outcome, seconds)
}

/// Makes slowdowns of a run grow by equal steps: 1 to 20, of which the halves' means are 5.5 and
/// 15.5.
pub fn grow(run: &mut RunSummary) {
    run.batches = (1..=20).map(f64::from).collect();
}

/// A sampled port with a mean utilisation.
pub fn port(utilisation: f64) -> PortSummary {
    PortSummary {
        from: "leaf-1".to_owned(),
        to: "spine-1".to_owned(),
        parallel: None,
        utilisation,
        queue: Vec::new(),
        dropped: 0,
        series: Vec::new(),
        queue_peaks: Vec::new(),
    }
}

//! Figures of a run that claims, curves and tables share.

use crate::summary::{ClassSummary, PortSummary, RunSummary};

/// A figure of one run; `None` where the run has nothing to take it from.
pub type Figure = fn(&RunSummary) -> Option<f64>;

fn mean_of(class: &Option<ClassSummary>) -> Option<f64> {
    class.as_ref().map(|class| class.seconds.mean)
}

/// Mean flow completion time of all flows, in seconds.
pub fn mean_all(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.all)
}

/// The same of flows under 100 KB.
pub fn mean_small(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.small)
}

/// The same of flows over 10 MB.
pub fn mean_large(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.large)
}

/// 99th percentile of all flows' completion times, in seconds.
pub fn p99_all(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.seconds.p99)
}

/// The same of flows under 100 KB.
pub fn p99_small(run: &RunSummary) -> Option<f64> {
    run.fct.small.as_ref().map(|class| class.seconds.p99)
}

/// The port from one switch to another.
pub fn port<'a>(run: &'a RunSummary, from: &str, to: &str) -> Option<&'a PortSummary> {
    run.ports.iter().find(|port| port.from == from && port.to == to)
}

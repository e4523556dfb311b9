//! Single values of a run, which claims, curves and tables share.

use heddle_claims::stats::{pooled, quantile};

use crate::summary::{ClassSummary, PortSummary, RunSummary};

/// A value of one run; `None` where the run has nothing to take it from.
pub type Metric = fn(&RunSummary) -> Option<f64>;

/// A quantile of a distribution of samples, which is pooled over seeds.
#[derive(Clone, Copy, Debug)]
pub struct Quantile {
    /// The distribution: quantiles at even steps from 0 to 1; `None` without samples.
    pub shape: fn(&RunSummary) -> Option<&[f64]>,
    /// Share of the samples below, 0 to 1.
    pub at: f64,
    /// A value that no sample can exceed, if the run shows one: a queue's buffer.
    pub limit: fn(&RunSummary) -> Option<f64>,
}

/// From this share of its limit on, a quantile tells nothing but the limit.
const AT_LIMIT: f64 = 0.95;

impl Quantile {
    /// Of one run.
    pub fn of(&self, run: &RunSummary) -> Option<f64> {
        quantile((self.shape)(run)?, self.at)
    }

    /// Of the samples of several runs together; `None` if one lacks them.
    pub fn pooled(&self, runs: &[RunSummary]) -> Option<f64> {
        let shapes: Vec<&[f64]> = runs.iter().map(self.shape).collect::<Option<_>>()?;
        quantile(&pooled(&shapes, POOLED), self.at)
    }

    /// True if the pooled quantile is at the limit of the runs.
    pub fn is_at_limit(&self, runs: &[RunSummary]) -> bool {
        let limit = runs.iter().filter_map(self.limit).reduce(f64::max);
        let at = |limit: f64| self.pooled(runs).is_some_and(|value| value >= AT_LIMIT * limit);
        limit.is_some_and(at)
    }
}

/// Steps of a pooled distribution.
const POOLED: usize = 1_000;

/// The 99th percentile of all flows' completion times, in seconds.
pub const P99: Quantile =
    Quantile { shape: |run| Some(&run.fct.quantiles[..]), at: 0.99, limit: |_| None };

fn mean_of(class: Option<&ClassSummary>) -> Option<f64> {
    class.map(|class| class.seconds.mean)
}

/// Mean flow completion time of all flows, in seconds.
pub fn mean_all(run: &RunSummary) -> Option<f64> {
    mean_of(run.fct.all.as_ref())
}

/// Median of all flows' completion times, in seconds.
pub fn p50_all(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.seconds.p50)
}

/// Mean slowdown of all flows.
pub fn slowdown_mean(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.slowdown.mean)
}

/// 99th percentile of all flows' slowdowns.
pub fn slowdown_p99(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.slowdown.p99)
}

/// Mean flow completion time of flows under 100 KB.
pub fn mean_small(run: &RunSummary) -> Option<f64> {
    mean_of(run.fct.class("small"))
}

/// The same of flows over 10 MB.
pub fn mean_large(run: &RunSummary) -> Option<f64> {
    mean_of(run.fct.class("large"))
}

/// 99th percentile of all flows' completion times, in seconds.
pub fn p99_all(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.seconds.p99)
}

/// The same of flows under 100 KB.
pub fn p99_small(run: &RunSummary) -> Option<f64> {
    run.fct.class("small").map(|class| class.seconds.p99)
}

/// Application bytes that all hosts together received in order in the measuring window, in bits per
/// second.
pub fn goodput(run: &RunSummary) -> Option<f64> {
    Some(run.totals.goodput_bps)
}

/// Seconds that all hosts together took for a gigabyte in the measuring window.
pub fn seconds_per_gigabyte(run: &RunSummary) -> Option<f64> {
    (run.totals.goodput_bps > 0.0).then(|| 8e9 / run.totals.goodput_bps)
}

/// Time of the collective operation over that in an empty fabric, where there is one.
pub fn operation_ratio(run: &RunSummary) -> Option<f64> {
    let [operation] = &run.collectives[..] else { return None };
    (operation.ideal_seconds > 0.0).then(|| operation.seconds / operation.ideal_seconds)
}

/// The port from one switch to another.
pub fn port<'a>(run: &'a RunSummary, from: &str, to: &str) -> Option<&'a PortSummary> {
    run.ports.iter().find(|port| port.from == from && port.to == to)
}

/// Share of the samples of connections with two subflows or more in which two of these had a link
/// between switches in common, in percent.
pub fn shared_link_percent(run: &RunSummary) -> Option<f64> {
    run.path_use.and_then(|used| percent(used.shared, used.samples))
}

/// The same for the link from the ToR.
pub fn shared_first_hop_percent(run: &RunSummary) -> Option<f64> {
    run.path_use.and_then(|used| percent(used.shared_first_hop, used.samples))
}

/// Different paths that a connection with two subflows or more used at a time, on average.
pub fn mean_paths(run: &RunSummary) -> Option<f64> {
    run.path_use.and_then(|used| share(used.paths_sum, used.samples))
}

/// Subflows that such a connection had under way at a time, on average.
pub fn mean_subflows(run: &RunSummary) -> Option<f64> {
    run.path_use.and_then(|used| share(used.subflows_sum, used.samples))
}

/// Segments that arrived behind a later one, in percent of those sent.
pub fn reordered_percent(run: &RunSummary) -> Option<f64> {
    percent(run.totals.reordered, run.totals.segments)
}

/// Segments sent again, in percent of those sent.
pub fn retransmitted_percent(run: &RunSummary) -> Option<f64> {
    percent(run.totals.retransmitted, run.totals.segments)
}

/// Bytes given to a second subflow because the first was late with them, in percent of those
/// delivered.
pub fn reinjected_percent(run: &RunSummary) -> Option<f64> {
    percent(run.totals.reinjected_bytes, run.totals.delivered_bytes)
}

/// Packets dropped at full buffers.
pub fn dropped(run: &RunSummary) -> Option<f64> {
    Some(run.totals.dropped as f64)
}

/// Mean flow completion time of all flows over the [bound](crate::bound) on it.
pub fn bound_ratio(run: &RunSummary) -> Option<f64> {
    Some(mean_all(run)? / run.bound_mean_seconds?)
}

/// Flows that had not finished when the run ended.
pub fn unfinished(run: &RunSummary) -> Option<f64> {
    Some(run.totals.unfinished as f64)
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    share(part, whole).map(|share| 100.0 * share)
}

/// `None` of nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

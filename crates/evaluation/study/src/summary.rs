//! Summary of a run: values by flow size, the shape of distributions, sums.

mod by_size;
mod by_workload;
mod sampled;

pub use by_size::{SizeClass, SizeStep};
use by_size::{classes, slowdown_by_size};
pub use by_workload::{CollectiveSummary, RequestSummary, StepSummary, WorkloadSummary};
use by_workload::{collectives, requests, workloads};
use heddle_claims::stats::{mean, quantile, quantiles};
use heddle_scenario::Scenario;
use heddle_sim::{FlowRecord, LongFlow, Outcome};
use heddle_units::Bytes;
use sampled::{frames, ports, slowdowns};
use serde::{Deserialize, Serialize};

use crate::batches::batches;
use crate::bound;

/// Points kept of a distribution.
const SHAPE: usize = 200;

/// One run, small enough to keep by the thousand. Times are in seconds, sizes in bytes, rates in
/// bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The scenario's title.
    pub title: String,
    /// The scheme's name, as in a scenario file.
    pub scheme: String,
    /// Offered load, where one workload has one.
    pub load: Option<f64>,
    /// The seed.
    pub seed: u64,
    /// Heddle's version.
    pub version: String,
    /// Hash over all events: equal digests mean equal runs.
    pub digest: String,
    /// Flow completion times.
    pub fct: FctSummary,
    /// Flows without end, where there are any.
    pub long_flows: Option<LongSummary>,
    /// Each workload's flows, where workloads have names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadSummary>,
    /// Collective operations and flow graphs, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveSummary>,
    /// Their steps, in the order of their flows: the first 500 of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepSummary>,
    /// Requests in closed loops, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSummary>,
    /// A time that no scheme can go below on this fabric with these flows: see [`crate::bound`].
    pub bound_mean_seconds: Option<f64>,
    /// Mean slowdowns of batches of equally many flows in order of their starts: a trend is no
    /// steady state (see [`crate::steady`]).
    pub batches: Vec<f64>,
    /// Mean flow completion times of the same batches, in seconds: their running mean is the mean
    /// by the length of the run.
    pub batch_seconds: Vec<f64>,
    /// The warm-up, where a test ended it (`measure.warm_up_limit`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_warm_up: Option<WarmUpSummary>,
    /// Sums over the run.
    pub totals: TotalsSummary,
    /// `measure.time_limit`, if it ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_seconds: Option<f64>,
    /// Path use of connections of several subflows, where there were any.
    pub path_use: Option<PathUse>,
    /// Ports that the scenario samples.
    pub ports: Vec<PortSummary>,
    /// Ends of the spans over which [`PortSummary::series`] averages, in seconds from the start of
    /// the run.
    pub frames: Vec<f64>,
    /// Mean slowdown of the measured flows that started in each of [`RunSummary::frames`]; `None`
    /// where none did.
    pub slowdowns: Vec<Option<f64>>,
    /// Processor time of the run in seconds. Not part of the result: it differs from run to run.
    pub cpu_seconds: f64,
}

/// A warm-up that a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUpSummary {
    /// From the first flow to the measuring window.
    pub seconds: f64,
    /// True if the test passed, false if the limit was reached.
    pub passed: bool,
}

/// Flow completion times by flow size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FctSummary {
    /// All measured flows.
    pub all: Option<ClassSummary>,
    /// The classes of sizes, from the smallest.
    pub classes: Vec<SizeClass>,
    /// Slowdowns over size, from the smallest.
    pub by_size: Vec<SizeStep>,
    /// Quantiles of all flows' times at steps of 1/200, in seconds: for CDFs.
    pub quantiles: Vec<f64>,
    /// The same of all flows' slowdowns.
    pub slowdown_quantiles: Vec<f64>,
}

/// Flows without end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongSummary {
    /// Number of flows.
    pub flows: u64,
    /// Payload received in order per second of the measuring window, in bits per second.
    pub goodput_bps: Range,
    /// The same as a share of the rate of the slower of both hosts' links, 0 to 1.
    pub share: Range,
}

/// The range of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
}

impl LongSummary {
    /// `None` of nothing.
    fn new(flows: &[&LongFlow]) -> Option<LongSummary> {
        let goodput = |flow: &&LongFlow| flow.goodput().0 as f64;
        let share = |flow: &&LongFlow| goodput(flow) / flow.host_rate.0.max(1) as f64;
        Some(LongSummary {
            flows: flows.len() as u64,
            goodput_bps: Range::new(&flows.iter().map(goodput).collect::<Vec<_>>())?,
            share: Range::new(&flows.iter().map(share).collect::<Vec<_>>())?,
        })
    }
}

impl Range {
    /// `None` of nothing.
    fn new(values: &[f64]) -> Option<Range> {
        Some(Range {
            min: values.iter().copied().reduce(f64::min)?,
            mean: mean(values)?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }
}

/// One class of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Number of flows.
    pub flows: u64,
    /// Completion time.
    pub seconds: Spread,
    /// Completion time over that in an empty fabric.
    pub slowdown: Spread,
}

/// The usual figures of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Sums over a run; the names are those of [`heddle_sim::Totals`] and `heddle_policy::Counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TotalsSummary {
    pub simulated_seconds: f64,
    pub stalled: bool,
    pub packet_hops: u64,
    pub events: u64,
    pub flows_started: u64,
    pub measured: u64,
    pub unfinished: u64,
    pub delivered_bytes: u64,
    pub goodput_bps: f64,
    pub segments: u64,
    pub retransmitted: u64,
    pub timeouts: u64,
    pub fast_recoveries: u64,
    pub reordered: u64,
    pub reinjected_bytes: u64,
    #[serde(default)]
    pub penalties: u64,
    pub refused_joins: u64,
    pub dropped: u64,
    pub dropped_at_senders: u64,
    pub lost_to_failures: u64,
    pub unroutable: u64,
    #[serde(alias = "marked")]
    pub ecn_marked: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trimmed: u64,
    pub probe_bytes: u64,
    pub peak_packets: u64,
    pub state_bytes: u64,
    pub flowlets: u64,
    pub moves: u64,
    pub fallbacks: u64,
    pub shims: u64,
    pub shared_hops: u64,
    #[serde(default)]
    pub placed: u64,
    #[serde(default)]
    pub controlled: u64,
    #[serde(default)]
    pub hashed: u64,
    pub associated_connections: u64,
    pub associated_joins: u64,
    pub unknown_tokens: u64,
    pub token_collisions: u64,
    pub table_collisions: u64,
}

/// Sums over samples of connections with two subflows or more; the names are those of
/// [`heddle_sim::PathUse`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PathUse {
    pub samples: u64,
    pub shared: u64,
    pub shared_first_hop: u64,
    pub paths_sum: u64,
    pub subflows_sum: u64,
}

/// One direction of a sampled link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortSummary {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Its number among the parallel links of its ends, from 1; `None` of a link alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// Mean utilisation in the measuring window, 0 to 1.
    pub utilisation: f64,
    /// Quantiles of the waiting bytes at steps of 1/200.
    pub queue: Vec<f64>,
    /// Packets dropped in the whole run.
    pub dropped: u64,
    /// Utilisation over time in thousandths, one entry for each of [`RunSummary::frames`].
    pub series: Vec<u16>,
    /// Most bytes waiting at a sample of each of [`RunSummary::frames`].
    #[serde(default)]
    pub queue_peaks: Vec<u32>,
}

impl PortSummary {
    /// Its name for readers: `leaf-1 to spine-1`, and of parallel links `leaf-1 to spine-1 #2`.
    pub fn name(&self) -> String {
        let number = self.parallel.map_or_else(String::new, |number| format!(" #{number}"));
        format!("{} to {}{number}", self.from, self.to)
    }
}

impl RunSummary {
    /// Sums up a run of `scenario` with `seed` that took `cpu_seconds`.
    pub fn new(scenario: &Scenario, seed: u64, outcome: &Outcome, cpu_seconds: f64) -> RunSummary {
        let frames = frames(&outcome.samples);
        let (collectives, steps) = collectives(scenario, outcome);
        RunSummary {
            title: scenario.title.clone(),
            scheme: scenario.scheme.name().to_owned(),
            load: match scenario.workload.flows()[..] {
                [flows] => Some(flows.load),
                _ => None,
            },
            seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: format!("{:016x}", outcome.digest),
            fct: FctSummary::new(&outcome.flows, &scenario.measure.size_classes),
            long_flows: LongSummary::new(&outcome.long_flows.iter().collect::<Vec<_>>()),
            workloads: workloads(scenario, outcome),
            collectives,
            steps,
            requests: requests(scenario, outcome),
            bound_mean_seconds: bound::mean_fct(scenario, &outcome.flows),
            batches: batches(&outcome.flows, slowdown),
            batch_seconds: batches(&outcome.flows, |flow| flow.fct.as_secs_f64()),
            open_warm_up: outcome.totals.open_warm_up.map(|warm_up| WarmUpSummary {
                seconds: warm_up.length.as_secs_f64(),
                passed: warm_up.passed,
            }),
            totals: TotalsSummary::new(outcome),
            time_limit_seconds: (outcome.totals.simulated >= scenario.measure.time_limit)
                .then(|| scenario.measure.time_limit.as_secs_f64()),
            path_use: outcome.path_use.map(PathUse::new),
            ports: ports(outcome),
            slowdowns: slowdowns(&outcome.flows, &frames),
            frames,
            cpu_seconds,
        }
    }
}

impl PathUse {
    fn new(used: heddle_sim::PathUse) -> PathUse {
        PathUse {
            samples: used.samples,
            shared: used.shared,
            shared_first_hop: used.shared_first_hop,
            paths_sum: used.paths_sum,
            subflows_sum: used.subflows_sum,
        }
    }
}

impl FctSummary {
    fn new(flows: &[FlowRecord], bounds: &[Bytes]) -> FctSummary {
        let times = sorted(flows.iter().map(|flow| flow.fct.as_secs_f64()));
        let slowdowns = sorted(flows.iter().map(slowdown));
        FctSummary {
            all: ClassSummary::new(flows.iter()),
            classes: classes(flows, bounds),
            by_size: slowdown_by_size(flows),
            quantiles: quantiles(&times, SHAPE),
            slowdown_quantiles: quantiles(&slowdowns, SHAPE),
        }
    }

    /// The flows of a class of sizes, by its name; `None` if there are none.
    pub fn class(&self, name: &str) -> Option<&ClassSummary> {
        self.classes.iter().find(|class| class.name == name)?.summary.as_ref()
    }
}

impl ClassSummary {
    fn new<'a>(flows: impl Iterator<Item = &'a FlowRecord>) -> Option<ClassSummary> {
        let flows: Vec<&FlowRecord> = flows.collect();
        Some(ClassSummary {
            flows: flows.len() as u64,
            seconds: Spread::new(flows.iter().map(|flow| flow.fct.as_secs_f64()))?,
            slowdown: Spread::new(flows.iter().map(|flow| slowdown(flow)))?,
        })
    }
}

impl Spread {
    /// `None` of nothing.
    fn new(figures: impl Iterator<Item = f64>) -> Option<Spread> {
        let figures = sorted(figures);
        Some(Spread {
            mean: mean(&figures)?,
            p50: quantile(&figures, 0.50)?,
            p95: quantile(&figures, 0.95)?,
            p99: quantile(&figures, 0.99)?,
        })
    }
}

impl TotalsSummary {
    fn new(outcome: &Outcome) -> TotalsSummary {
        let (t, scheme) = (&outcome.totals, &outcome.scheme);
        let window = t.window.as_secs_f64();
        let goodput = t.delivered_in_window.0 as f64 * 8.0 / window;
        TotalsSummary {
            simulated_seconds: t.simulated.as_secs_f64(),
            stalled: t.stalled,
            packet_hops: t.packet_hops,
            events: t.events,
            flows_started: t.flows_started,
            measured: t.measured,
            unfinished: t.unfinished,
            delivered_bytes: t.delivered.0,
            goodput_bps: if window > 0.0 { goodput } else { 0.0 },
            segments: t.segments,
            retransmitted: t.retransmitted,
            timeouts: t.timeouts,
            fast_recoveries: t.fast_recoveries,
            reordered: t.reordered,
            reinjected_bytes: t.reinjected.0,
            penalties: t.penalties,
            refused_joins: t.refused_joins,
            dropped: t.dropped,
            dropped_at_senders: t.dropped_at_senders,
            lost_to_failures: t.lost_to_failures,
            unroutable: t.unroutable,
            ecn_marked: t.ecn_marked,
            trimmed: t.trimmed,
            probe_bytes: t.probe_bytes.0,
            peak_packets: t.peak_packets,
            state_bytes: t.state_bytes,
            flowlets: scheme.flowlets,
            moves: scheme.moves,
            fallbacks: scheme.fallbacks,
            shims: scheme.shims,
            shared_hops: scheme.shared,
            placed: t.placed,
            controlled: scheme.controlled,
            hashed: scheme.hashed,
            associated_connections: scheme.association.connections,
            associated_joins: scheme.association.joins,
            unknown_tokens: scheme.association.unknown_tokens,
            token_collisions: scheme.association.token_collisions,
            table_collisions: scheme.association.table_collisions,
        }
    }
}

/// Completion time over that in an empty fabric.
pub(crate) fn slowdown(flow: &FlowRecord) -> f64 {
    flow.fct.0 as f64 / flow.ideal_fct.0.max(1) as f64
}

/// A count that most runs have not.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

#[cfg(test)]
mod tests;

//! What HULA's paper reports, claim by claim, and how each is measured here.

use serde::Serialize;

use super::extra::{Failover, FailoverTraffic, Overhead, forwarding_entries, path_count};
use super::plan::{Point, Results, Scheme, Shape, Sizes};
use crate::stats::Estimate;
use crate::summary::{ClassSummary, RunSummary};

/// A figure of one run.
type Figure = fn(&RunSummary) -> Option<f64>;

/// How a claim's figure is found.
pub enum Measure {
    /// A figure at one point over the same figure at another: how many times worse the first is.
    Ratio(Figure, Point, Point),
    /// A figure at one point.
    At(Figure, Point),
    /// From a run of the failure experiment.
    Failover(FailoverTraffic, fn(&Failover) -> Option<f64>),
    /// Probe overhead.
    Overhead(fn(&Overhead) -> f64),
    /// Structure of a fabric or arithmetic.
    Computed(fn() -> f64),
}

/// Which way the paper's figure binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Near it.
    About,
    /// At most it.
    AtMost,
    /// Exactly it.
    Exact,
}

/// One claim.
pub struct Claim {
    /// H1 to H12.
    pub id: &'static str,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
    /// The paper's figure.
    pub paper: f64,
    /// Its unit: "x" for a ratio.
    pub unit: &'static str,
    /// Which way it binds.
    pub bound: Bound,
    /// How it is measured.
    pub measure: Measure,
}

/// Whether a claim came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Direction and size. A ratio: its excess over 1 is within half and twice the paper's (where the paper says "equal": 0.9
    /// to 1.1). Another figure: within a third. An exact one: equal. A bound: kept.
    Agrees,
    /// A ratio's direction (more than 1.02), but not its size.
    DirectionOnly,
    /// Not even the direction.
    Differs,
    /// It was not simulated.
    NotRun,
}

/// A claim with what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// H1 to H12.
    pub id: &'static str,
    /// Where the paper says it.
    pub source: &'static str,
    /// What it says.
    pub claim: &'static str,
    /// The paper's figure.
    pub paper: f64,
    /// Heddle's figure over the seeds.
    pub here: Option<Estimate>,
    /// The unit of both.
    pub unit: &'static str,
    /// Which way the paper's figure binds.
    pub bound: Bound,
    /// Whether it came out.
    pub verdict: Verdict,
}

/// What claims are judged by.
pub struct Evidence {
    /// Points of the figures.
    pub results: Results,
    /// The failure experiment, one run a seed; empty if it was not made.
    pub failovers: Vec<(FailoverTraffic, Failover)>,
    /// Probe overhead, if it was measured.
    pub overhead: Option<Overhead>,
}

impl Evidence {
    /// The failure experiment's runs with one kind of traffic.
    pub fn failovers(&self, traffic: FailoverTraffic) -> Vec<&Failover> {
        self.failovers.iter().filter(|(of, _)| *of == traffic).map(|(_, run)| run).collect()
    }
}

impl Claim {
    /// The points that it needs.
    pub fn points(&self) -> Vec<Point> {
        match self.measure {
            Measure::Ratio(_, worse, better) => vec![worse, better],
            Measure::At(_, point) => vec![point],
            _ => Vec::new(),
        }
    }

    /// Judges it.
    pub fn find(&self, evidence: &Evidence) -> Finding {
        let figures = self.figures(evidence);
        let here = Estimate::of(&figures);
        Finding {
            id: self.id,
            source: self.source,
            claim: self.text,
            paper: self.paper,
            here,
            unit: self.unit,
            bound: self.bound,
            verdict: here.map_or(Verdict::NotRun, |here| self.judge(here.mean)),
        }
    }

    /// The figure of each seed.
    fn figures(&self, evidence: &Evidence) -> Vec<f64> {
        let results = &evidence.results;
        match self.measure {
            Measure::Ratio(figure, worse, better) => {
                let pairs = results.runs(worse).iter().zip(results.runs(better));
                pairs.filter_map(|(w, b)| ratio(figure(w)?, figure(b)?)).collect()
            }
            Measure::At(figure, point) => results.runs(point).iter().filter_map(figure).collect(),
            Measure::Failover(traffic, figure) => {
                evidence.failovers(traffic).into_iter().filter_map(figure).collect()
            }
            Measure::Overhead(figure) => evidence.overhead.iter().map(figure).collect(),
            Measure::Computed(figure) => vec![figure()],
        }
    }

    fn judge(&self, here: f64) -> Verdict {
        match self.bound {
            Bound::Exact if (here - self.paper).abs() <= 1e-9 * self.paper.abs() => Verdict::Agrees,
            Bound::AtMost if here <= self.paper => Verdict::Agrees,
            Bound::Exact | Bound::AtMost => Verdict::Differs,
            Bound::About if self.unit == "x" => judge_ratio(self.paper, here),
            Bound::About if (here / self.paper - 1.0).abs() <= 1.0 / 3.0 => Verdict::Agrees,
            Bound::About => Verdict::Differs,
        }
    }
}

/// A ratio near 1 says "equal"; otherwise its excess over 1 is compared.
fn judge_ratio(paper: f64, here: f64) -> Verdict {
    if (paper - 1.0).abs() < 0.05 {
        return if (here - 1.0).abs() <= 0.1 { Verdict::Agrees } else { Verdict::Differs };
    }
    let share = (here - 1.0) / (paper - 1.0);
    match share {
        s if (0.5..=2.0).contains(&s) => Verdict::Agrees,
        s if s > 0.0 && here > 1.02 => Verdict::DirectionOnly,
        _ => Verdict::Differs,
    }
}

/// `None` where the figure that is divided by is zero.
fn ratio(worse: f64, better: f64) -> Option<f64> {
    (better > 0.0).then(|| worse / better)
}

fn mean_of(class: &Option<ClassSummary>) -> Option<f64> {
    class.as_ref().map(|class| class.seconds.mean)
}

fn mean_all(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.all)
}
fn mean_small(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.small)
}
fn mean_large(run: &RunSummary) -> Option<f64> {
    mean_of(&run.fct.large)
}
fn p99_all(run: &RunSummary) -> Option<f64> {
    run.fct.all.as_ref().map(|class| class.seconds.p99)
}

/// Quantiles of the queue at S2-A3, the bottleneck of the asymmetric fabric.
fn bottleneck(run: &RunSummary) -> Option<&crate::summary::PortSummary> {
    run.ports.iter().find(|port| port.from == "core-2" && port.to == "agg-3")
}
fn empty_share(run: &RunSummary) -> Option<f64> {
    let queue = &bottleneck(run)?.queue;
    // A packet in transmission is no queue: up to one frame counts as empty.
    let empty = queue.iter().filter(|&&bytes| bytes <= 1518.0).count();
    Some(100.0 * empty as f64 / queue.len().max(1) as f64)
}
fn queue_p95(run: &RunSummary) -> Option<f64> {
    let queue = &bottleneck(run)?.queue;
    queue.get(queue.len().saturating_sub(1) * 95 / 100).copied()
}
fn bottleneck_drops(run: &RunSummary) -> Option<f64> {
    Some(bottleneck(run)?.dropped as f64)
}

const fn point(shape: Shape, sizes: Sizes, scheme: Scheme, load: u8) -> Point {
    Point { shape, sizes, scheme, load }
}
const fn sym(scheme: Scheme, load: u8) -> Point {
    point(Shape::Symmetric, Sizes::WebSearch, scheme, load)
}
const fn asym(scheme: Scheme, load: u8) -> Point {
    point(Shape::Asymmetric, Sizes::WebSearch, scheme, load)
}
const fn sym_dm(scheme: Scheme, load: u8) -> Point {
    point(Shape::Symmetric, Sizes::DataMining, scheme, load)
}
const fn asym_dm(scheme: Scheme, load: u8) -> Point {
    point(Shape::Asymmetric, Sizes::DataMining, scheme, load)
}

const fn times(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    paper: f64,
    figure: Figure,
    worse: Point,
    better: Point,
) -> Claim {
    let measure = Measure::Ratio(figure, worse, better);
    Claim { id, source, text, paper, unit: "x", bound: Bound::About, measure }
}

const fn other(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    paper: f64,
    unit: &'static str,
    bound: Bound,
    measure: Measure,
) -> Claim {
    Claim { id, source, text, paper, unit, bound, measure }
}

use Bound::{About, AtMost, Exact};
use FailoverTraffic::{LongFlows, WebSearch};
use Scheme::{CongaPrime, Ecmp, Hula, HulaRareProbes};

/// Every claim of the paper, in its order.
#[rustfmt::skip]
pub const CLAIMS: &[Claim] = &[
    times("H1", "Fig. 5a, 70 %", "web search: mean FCT of ECMP over HULA", 3.7, mean_all, sym(Ecmp, 70), sym(Hula, 70)),
    times("H1", "Fig. 5a, 70 %", "web search: mean FCT of CONGA' over HULA", 2.7, mean_all, sym(CongaPrime, 70), sym(Hula, 70)),
    times("H1", "abstract, 50 %", "web search: mean FCT of CONGA' over HULA", 1.6, mean_all, sym(CongaPrime, 50), sym(Hula, 50)),
    times("H1", "abstract, 90 %", "web search: mean FCT of CONGA' over HULA", 3.0, mean_all, sym(CongaPrime, 90), sym(Hula, 90)),
    times("H2", "Fig. 5b, 80 %", "data mining: mean FCT of ECMP over HULA", 1.35, mean_all, sym_dm(Ecmp, 80), sym_dm(Hula, 80)),
    times("H2", "Fig. 5b, 30 %", "data mining, low load: all equal", 1.0, mean_all, sym_dm(Ecmp, 30), sym_dm(Hula, 30)),
    times("H3", "Fig. 6a, 60 %", "link down: mean FCT of ECMP over HULA", 8.0, mean_all, asym(Ecmp, 60), asym(Hula, 60)),
    times("H3", "Fig. 6a, 60 %", "link down: mean FCT of ECMP over CONGA'", 3.0, mean_all, asym(Ecmp, 60), asym(CongaPrime, 60)),
    times("H4", "Fig. 6b, 60 %", "flows under 100 KB: ECMP over HULA", 10.0, mean_small, asym(Ecmp, 60), asym(Hula, 60)),
    times("H5", "Fig. 6c, 60 %", "flows over 10 MB: ECMP over HULA", 4.0, mean_large, asym(Ecmp, 60), asym(Hula, 60)),
    times("H6", "Fig. 7, 80 %", "data mining, small flows: ECMP over HULA", 1.53, mean_small, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    times("H6", "Fig. 7, 80 %", "data mining, large flows: ECMP over HULA", 1.35, mean_large, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    times("H6", "Fig. 7, 80 %", "data mining, all flows: ECMP over HULA", 1.52, mean_all, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    times("H6", "Fig. 7, 80 %", "data mining, all flows: CONGA' over HULA", 1.17, mean_all, asym_dm(CongaPrime, 80), asym_dm(Hula, 80)),
    times("H7", "Fig. 8a, 60 %", "99th percentile FCT: ECMP over HULA", 10.0, p99_all, asym(Ecmp, 60), asym(Hula, 60)),
    times("H7", "Fig. 8a, 60 %", "99th percentile FCT: CONGA' over HULA", 3.0, p99_all, asym(CongaPrime, 60), asym(Hula, 60)),
    times("H7", "Fig. 8b, 80 %", "data mining, 99th percentile FCT: ECMP over HULA", 1.53, p99_all, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    other("H8", "Fig. 8c, 60 %", "S2-A3: share of samples with an empty queue, HULA", 90.0, "%", About, Measure::At(empty_share, asym(Hula, 60))),
    other("H8", "Fig. 8c, 60 %", "S2-A3: packets dropped, HULA", 0.0, "packets", AtMost, Measure::At(bottleneck_drops, asym(Hula, 60))),
    times("H8", "Fig. 8c, 60 %", "S2-A3: 95th percentile queue, CONGA' over HULA", 8.0, queue_p95, asym(CongaPrime, 60), asym(Hula, 60)),
    times("H8", "Fig. 8c, 60 %", "S2-A3: 95th percentile queue, ECMP over HULA", 19.0, queue_p95, asym(Ecmp, 60), asym(Hula, 60)),
    other("H9", "Fig. 9a", "web search, S2-A3 fails: time until the load is on S1", 1.0, "ms", AtMost, Measure::Failover(WebSearch, Failover::shift_ms)),
    other("H9", "Fig. 9b", "long flows, S2-A3 fails: time until the load is on S1", 0.5, "ms", AtMost, Measure::Failover(LongFlows, Failover::shift_ms)),
    other("H9", "Fig. 9a", "web search: S2-A3's share of the load after its recovery over that before", 1.0, "x", About, Measure::Failover(WebSearch, Failover::share_after_over_before)),
    times("H10", "Fig. 9c, 50 %", "probes ten times rarer: mean FCT over that at 200 us", 1.0, mean_all, asym(HulaRareProbes, 50), asym(Hula, 50)),
    times("H10", "Fig. 9c, 90 %", "probes ten times rarer: mean FCT over that at 200 us", 1.15, mean_all, asym(HulaRareProbes, 90), asym(Hula, 90)),
    other("H11", "Table 1", "paths between ToRs, fat-tree k = 8", 16.0, "paths", Exact, Measure::Computed(|| path_count(8))),
    other("H11", "Table 1", "paths between ToRs, fat-tree k = 16", 64.0, "paths", Exact, Measure::Computed(|| path_count(16))),
    other("H11", "Table 1", "paths between ToRs, fat-tree k = 32", 256.0, "paths", Exact, Measure::Computed(|| path_count(32))),
    other("H11", "Table 1", "paths between ToRs, fat-tree k = 64", 1024.0, "paths", Exact, Measure::Computed(|| path_count(64))),
    other("H11", "Table 1", "forwarding entries of a switch, k = 8", 944.0, "entries", Exact, Measure::Computed(|| forwarding_entries(8))),
    other("H11", "Table 1", "forwarding entries of a switch, k = 16", 15_808.0, "entries", Exact, Measure::Computed(|| forwarding_entries(16))),
    other("H11", "Table 1", "forwarding entries of a switch, k = 32", 257_792.0, "entries", Exact, Measure::Computed(|| forwarding_entries(32))),
    other("H11", "Table 1", "forwarding entries of a switch, k = 64", 4_160_512.0, "entries", Exact, Measure::Computed(|| forwarding_entries(64))),
    other("H12", "section 4.5", "probe overhead, 1000 ToRs, 40 Gbps, 1 ms, by the formula", 1.28, "%", Exact, Measure::Computed(|| Overhead::formula(1000, 40e9, 1e-3))),
    other("H12", "section 4.5", "busiest link's probes over the formula, in the simulator", 1.0, "x", About, Measure::Overhead(Overhead::measured_over_formula)),
];

#[cfg(test)]
mod tests;

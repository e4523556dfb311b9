//! HULA's claims with their measurements.

use super::Hula as Paper;
use super::experiments::{
    Experiment, Failover, FailoverTraffic, Measured, Moment, Overhead, forwarding_entries,
    path_count,
};
use super::points::{Point, Scheme, asym, asym_dm, sym, sym_dm};
use super::queue::{P95, busy_share, drops, share_no_longer};
use heddle_claims::{Bound, Claim, Stated, stated};
use heddle_study::measure::ratio;
use heddle_study::metric::{P99, mean_all, mean_large, mean_small};
use heddle_study::paper::Measure;

/// The 99th percentile at one point over that at another.
const fn p99(
    source: &'static str,
    text: &'static str,
    paper: f64,
    worse: Point,
    better: Point,
) -> Claim<Measure<Paper>> {
    Claim::new(
        "H7",
        source,
        text,
        stated(About, paper, "x"),
        Measure::Quantiles(P99, worse, better),
    )
}

/// Figure 8c at one load.
const fn queue(
    source: &'static str,
    text: &'static str,
    value: Stated,
    measure: Measure<Paper>,
) -> Claim<Measure<Paper>> {
    Claim::new("H8", source, text, value, measure)
}
const AT_40: &str = "Fig. 8c, load not said: 40 %";
const AT_50: &str = "Fig. 8c, load not said: 50 %";
const AT_60: &str = "Fig. 8c, load not said: 60 %";
const QUEUED: &str = "S2-A3: share of samples with a queue, HULA (the paper: empty 90 %)";
const DROPPED: &str = "S2-A3: packets dropped, HULA";
const CONGA_P95: &str = "S2-A3: 95th percentile queue, CONGA' over HULA";
const ECMP_P95: &str = "S2-A3: 95th percentile queue, ECMP over HULA";
const CONGA_CDF: &str = "S2-A3: share of the CDF at which HULA's queue is no longer than CONGA''s";
const ECMP_CDF: &str = "S2-A3: share of the CDF at which HULA's queue is no longer than ECMP's";
const BUSY: Stated = stated(About, 10.0, "%");
const NONE: Stated = stated(AtMost, 0.0, "packets");
const WHOLE: Stated = stated(AtLeast, 100.0, "%");

const fn busy(load: u8) -> Measure<Paper> {
    Measure::At(busy_share, asym(Hula, load))
}
const fn dropped(load: u8) -> Measure<Paper> {
    Measure::At(drops, asym(Hula, load))
}
const fn over_hula(scheme: Scheme, load: u8) -> Measure<Paper> {
    Measure::Quantiles(P95, asym(scheme, load), asym(Hula, load))
}
const fn below(scheme: Scheme, load: u8) -> Measure<Paper> {
    Measure::Pair(share_no_longer, asym(Hula, load), asym(scheme, load))
}

/// A figure of the failure experiment.
const fn failover(
    traffic: FailoverTraffic,
    moment: Moment,
    figure: fn(&Measured) -> Option<f64>,
) -> Measure<Paper> {
    Measure::Experiment(Experiment::Failover(traffic, moment), figure)
}
fn shift_ms(made: &Measured) -> Option<f64> {
    made.failover().and_then(Failover::shift_ms)
}
fn share_after_over_before(made: &Measured) -> Option<f64> {
    made.failover().and_then(Failover::share_after_over_before)
}
fn measured_over_formula(made: &Measured) -> Option<f64> {
    made.overhead().map(Overhead::measured_over_formula)
}

use Bound::{About, AtLeast, AtMost, Exact};
use FailoverTraffic::{LongFlows, WebSearch};
use Moment::{AtTheBegin, Warm};
use Scheme::{CongaPrime, Ecmp, Hula, HulaRareProbes};

/// Every claim of the paper, in its order.
#[rustfmt::skip]
pub(super) const CLAIMS: &[Claim<Measure<Paper>>] = &[
    ratio("H1", "Fig. 5a, 70 %", "web search: mean FCT of ECMP over HULA", 3.7, mean_all, sym(Ecmp, 70), sym(Hula, 70)),
    ratio("H1", "Fig. 5a, 70 %", "web search: mean FCT of CONGA' over HULA", 2.7, mean_all, sym(CongaPrime, 70), sym(Hula, 70)),
    ratio("H1", "abstract, 50 %", "web search: mean FCT of CONGA' over HULA", 1.6, mean_all, sym(CongaPrime, 50), sym(Hula, 50)),
    ratio("H1", "abstract, 90 %", "web search: mean FCT of CONGA' over HULA", 3.0, mean_all, sym(CongaPrime, 90), sym(Hula, 90)),
    ratio("H2", "Fig. 5b, 80 %", "data mining: mean FCT of ECMP over HULA", 1.35, mean_all, sym_dm(Ecmp, 80), sym_dm(Hula, 80)),
    ratio("H2", "Fig. 5b, 30 %", "data mining, low load: all equal", 1.0, mean_all, sym_dm(Ecmp, 30), sym_dm(Hula, 30)),
    ratio("H3", "Fig. 6a, 60 %", "link down: mean FCT of ECMP over HULA", 8.0, mean_all, asym(Ecmp, 60), asym(Hula, 60)),
    ratio("H3", "Fig. 6a, 60 %", "link down: mean FCT of ECMP over CONGA'", 3.0, mean_all, asym(Ecmp, 60), asym(CongaPrime, 60)),
    ratio("H4", "Fig. 6b, 60 %", "flows under 100 KB: ECMP over HULA", 10.0, mean_small, asym(Ecmp, 60), asym(Hula, 60)),
    ratio("H5", "Fig. 6c, 60 %", "flows over 10 MB: ECMP over HULA", 4.0, mean_large, asym(Ecmp, 60), asym(Hula, 60)),
    ratio("H6", "Fig. 7, 80 %", "data mining, small flows: ECMP over HULA", 1.53, mean_small, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    ratio("H6", "Fig. 7, 80 %", "data mining, large flows: ECMP over HULA", 1.35, mean_large, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    ratio("H6", "Fig. 7, 80 %", "data mining, all flows: ECMP over HULA", 1.52, mean_all, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    ratio("H6", "Fig. 7, 80 %", "data mining, all flows: CONGA' over HULA", 1.17, mean_all, asym_dm(CongaPrime, 80), asym_dm(Hula, 80)),
    p99("Fig. 8a, 60 %", "99th percentile FCT: ECMP over HULA", 10.0, asym(Ecmp, 60), asym(Hula, 60)),
    p99("Fig. 8a, 60 %", "99th percentile FCT: CONGA' over HULA", 3.0, asym(CongaPrime, 60), asym(Hula, 60)),
    p99("Fig. 8b, 80 %", "data mining, 99th percentile FCT: ECMP over HULA", 1.53, asym_dm(Ecmp, 80), asym_dm(Hula, 80)),
    queue(AT_40, QUEUED, BUSY, busy(40)),
    queue(AT_40, DROPPED, NONE, dropped(40)),
    queue(AT_40, CONGA_P95, stated(About, 8.0, "x"), over_hula(CongaPrime, 40)),
    queue(AT_40, ECMP_P95, stated(About, 19.0, "x"), over_hula(Ecmp, 40)),
    queue(AT_40, CONGA_CDF, WHOLE, below(CongaPrime, 40)),
    queue(AT_40, ECMP_CDF, WHOLE, below(Ecmp, 40)),
    queue(AT_50, QUEUED, BUSY, busy(50)),
    queue(AT_50, DROPPED, NONE, dropped(50)),
    queue(AT_50, CONGA_P95, stated(About, 8.0, "x"), over_hula(CongaPrime, 50)),
    queue(AT_50, ECMP_P95, stated(About, 19.0, "x"), over_hula(Ecmp, 50)),
    queue(AT_50, CONGA_CDF, WHOLE, below(CongaPrime, 50)),
    queue(AT_50, ECMP_CDF, WHOLE, below(Ecmp, 50)),
    queue(AT_60, QUEUED, BUSY, busy(60)),
    queue(AT_60, DROPPED, NONE, dropped(60)),
    queue(AT_60, CONGA_P95, stated(About, 8.0, "x"), over_hula(CongaPrime, 60)),
    queue(AT_60, ECMP_P95, stated(About, 19.0, "x"), over_hula(Ecmp, 60)),
    queue(AT_60, CONGA_CDF, WHOLE, below(CongaPrime, 60)),
    queue(AT_60, ECMP_CDF, WHOLE, below(Ecmp, 60)),
    Claim::new("H9", "Fig. 9a, a warm fabric", "web search, S2-A3 fails: time until the load is on S1", stated(AtMost, 1.0, "ms"), failover(WebSearch, Warm, shift_ms)),
    Claim::new("H9", "Fig. 9a, 0.2 ms from the begin", "web search, S2-A3 fails: time until the load is on S1", stated(AtMost, 1.0, "ms"), failover(WebSearch, AtTheBegin, shift_ms)),
    Claim::new("H9", "Fig. 9b, a warm fabric", "long flows, S2-A3 fails: time until the load is on S1", stated(AtMost, 0.5, "ms"), failover(LongFlows, Warm, shift_ms)),
    Claim::new("H9", "Fig. 9b, 0.2 ms from the begin", "long flows, S2-A3 fails: time until the load is on S1", stated(AtMost, 0.5, "ms"), failover(LongFlows, AtTheBegin, shift_ms)),
    Claim::new("H9", "Fig. 9a, a warm fabric", "web search: S2-A3's share of the load after its recovery over that before", stated(About, 1.0, "x"), failover(WebSearch, Warm, share_after_over_before)),
    ratio("H10", "Fig. 9c, 50 %", "probes ten times rarer: mean FCT over that at 200 us", 1.0, mean_all, asym(HulaRareProbes, 50), asym(Hula, 50)),
    ratio("H10", "Fig. 9c, 90 %", "probes ten times rarer: mean FCT over that at 200 us", 1.15, mean_all, asym(HulaRareProbes, 90), asym(Hula, 90)),
    Claim::new("H11", "Table 1", "paths between ToRs, fat-tree k = 8", stated(Exact, 16.0, "paths"), Measure::Computed(|| path_count(8))),
    Claim::new("H11", "Table 1", "paths between ToRs, fat-tree k = 16", stated(Exact, 64.0, "paths"), Measure::Computed(|| path_count(16))),
    Claim::new("H11", "Table 1", "paths between ToRs, fat-tree k = 32", stated(Exact, 256.0, "paths"), Measure::Computed(|| path_count(32))),
    Claim::new("H11", "Table 1", "paths between ToRs, fat-tree k = 64", stated(Exact, 1024.0, "paths"), Measure::Computed(|| path_count(64))),
    Claim::new("H11", "Table 1", "forwarding entries of a switch, k = 8", stated(Exact, 944.0, "entries"), Measure::Computed(|| forwarding_entries(8))),
    Claim::new("H11", "Table 1", "forwarding entries of a switch, k = 16", stated(Exact, 15_808.0, "entries"), Measure::Computed(|| forwarding_entries(16))),
    Claim::new("H11", "Table 1", "forwarding entries of a switch, k = 32", stated(Exact, 257_792.0, "entries"), Measure::Computed(|| forwarding_entries(32))),
    Claim::new("H11", "Table 1", "forwarding entries of a switch, k = 64", stated(Exact, 4_160_512.0, "entries"), Measure::Computed(|| forwarding_entries(64))),
    Claim::new("H12", "section 4.5", "probe overhead, 1000 ToRs, 40 Gbps, 1 ms, by the formula", stated(Exact, 1.28, "%"), Measure::Computed(|| Overhead::formula(1000, 40e9, 1e-3))),
    Claim::new("H12", "section 4.5", "busiest link's probes over the formula, in the simulator", stated(About, 1.0, "x"), Measure::Experiment(Experiment::Overhead, measured_over_formula)),
];

#[cfg(test)]
mod measures;
#[cfg(test)]
mod tests;

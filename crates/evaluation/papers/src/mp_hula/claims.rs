//! MP-HULA's claims with their measurements.
//!
//! The slides give some figures as "-21 %": a ratio of 1 / (1 - 0.21). Where a load is not said it
//! is that of the nearest claim: with a link down 50 and 60 %, as HULA's paper has them, because at
//! 70 % ECMP is past what is left to it.

use heddle_policy::association::paper_bytes;
use heddle_policy::mp_hula::paper_forwarding_bytes;

use super::MpHula as Paper;
use super::points::{Coupling, Point, Routing, System};
use crate::two_pod::{Shape, Sizes};
use heddle_claims::stats;
use heddle_claims::{Bound, Claim, stated};
use heddle_study::measure::ratio;
use heddle_study::metric::{Metric, mean_all, mean_small};
use heddle_study::paper::Measure;
use heddle_study::summary::RunSummary;

/// Switches of the fabric, pod 1 to pod 2: the links between the names of neighbouring rows carry
/// the traffic.
const FORWARD: [[&str; 2]; 5] = [
    ["tor-1", "tor-2"],
    ["agg-1", "agg-2"],
    ["core-1", "core-2"],
    ["agg-3", "agg-4"],
    ["tor-3", "tor-4"],
];

/// Mean utilisation of each of the 16 links from pod 1 to pod 2, with its ends; empty if ports were
/// not sampled.
pub fn forward_links(run: &RunSummary) -> Vec<(String, f64)> {
    let joins = |from: &str, to: &str| {
        let step = |step: &[[&str; 2]]| step[0].contains(&from) && step[1].contains(&to);
        FORWARD.windows(2).any(step)
    };
    let ports = run.ports.iter().filter(|port| joins(&port.from, &port.to));
    ports.map(|port| (format!("{} to {}", port.from, port.to), port.utilisation)).collect()
}

fn utilisations(run: &RunSummary) -> Vec<f64> {
    forward_links(run).into_iter().map(|(_, utilisation)| utilisation).collect()
}

/// Mean over the links.
pub fn mean_utilisation(run: &RunSummary) -> Option<f64> {
    stats::mean(&utilisations(run))
}

/// Standard deviation over the links, as a share of their mean: 0 is even.
pub fn unevenness(run: &RunSummary) -> Option<f64> {
    stats::variation(&utilisations(run))
}

const fn point(shape: Shape, sizes: Sizes, system: System, load: u8) -> Point {
    Point { shape, sizes, system, load }
}
pub(super) const fn web(system: System, load: u8) -> Point {
    point(Shape::Symmetric, Sizes::WebSearch, system, load)
}
const fn down(system: System, load: u8) -> Point {
    point(Shape::Asymmetric, Sizes::WebSearch, system, load)
}
const fn mining(system: System, load: u8) -> Point {
    point(Shape::Symmetric, Sizes::DataMining, system, load)
}

/// The other systems at a point: coupled, unless the point is not.
fn rivals(point: Point) -> Vec<Point> {
    let coupling = match point.system {
        System::Mptcp(coupling, _) => coupling,
        _ => Coupling::Coupled,
    };
    let others = System::all(coupling).into_iter();
    let others = others.filter(|&system| system != point.system && system != System::Ideal);
    others.map(|system| Point { system, ..point }).collect()
}

const fn best(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    metric: Metric,
    point: Point,
) -> Claim<Measure<Paper>> {
    Claim::new(
        id,
        source,
        text,
        stated(Bound::AtLeast, 1.0, "x"),
        Measure::Best(metric, point, rivals),
    )
}

const fn worst(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    point: Point,
) -> Claim<Measure<Paper>> {
    let measure = Measure::Worst(mean_all, point, rivals);
    Claim::new(id, source, text, stated(Bound::AtLeast, 1.0, "x"), measure)
}

const fn coupled(routing: Routing) -> System {
    System::Mptcp(Coupling::Coupled, routing)
}
const fn uncoupled(routing: Routing) -> System {
    System::Mptcp(Coupling::Uncoupled, routing)
}

pub(super) const ECMP: System = coupled(Routing::Ecmp);
pub(super) const HULA: System = coupled(Routing::Hula);
pub(super) const MP_HULA: System = coupled(Routing::MpHula);
pub(super) const HULA_UNCOUPLED: System = uncoupled(Routing::Hula);
pub(super) const MP_HULA_UNCOUPLED: System = uncoupled(Routing::MpHula);

/// Section 2.6: 100 K connections of 6 subflows.
fn parsing_megabytes() -> f64 {
    paper_bytes(100_000, 6) as f64 / 1e6
}
/// The same, and 10 K ToRs with 4 next hops each.
fn forwarding_megabytes() -> f64 {
    paper_forwarding_bytes(10_000, 4, 100_000, 6) as f64 / 1e6
}

use Bound::{About, AtLeast, AtMost, Exact};
use System::TcpHula;

/// Every claim of the paper, in its order.
#[rustfmt::skip]
pub(super) const CLAIMS: &[Claim<Measure<Paper>>] = &[
    ratio("M1", "slides, Fig. 5, 50 %", "coupled: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 1.27, mean_all, web(HULA, 50), web(MP_HULA, 50)),
    ratio("M1", "slides, Fig. 5, 90 %", "coupled: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 1.5, mean_all, web(HULA, 90), web(MP_HULA, 90)),
    best("M1", "Fig. 5, 50 %", "coupled: mean FCT of the best other system over MPTCP + MP-HULA", mean_all, web(MP_HULA, 50)),
    best("M1", "Fig. 5, 90 %", "coupled: mean FCT of the best other system over MPTCP + MP-HULA", mean_all, web(MP_HULA, 90)),
    worst("M1", "section 3, 50 %", "coupled: mean FCT of MPTCP + ECMP over the worst other system", web(ECMP, 50)),
    worst("M1", "section 3, 90 %", "coupled: mean FCT of MPTCP + ECMP over the worst other system", web(ECMP, 90)),
    ratio("M2", "slides, Fig. 6, 50 %", "flows under 100 KB: MPTCP + HULA over MPTCP + MP-HULA", 1.0 / (1.0 - 0.24), mean_small, web(HULA, 50), web(MP_HULA, 50)),
    ratio("M2", "slides, Fig. 6, 90 %", "flows under 100 KB: MPTCP + HULA over MPTCP + MP-HULA", 1.0 / (1.0 - 0.45), mean_small, web(HULA, 90), web(MP_HULA, 90)),
    best("M2", "Fig. 6, 50 %", "flows under 100 KB: the best other system over MPTCP + MP-HULA", mean_small, web(MP_HULA, 50)),
    best("M2", "Fig. 6, 90 %", "flows under 100 KB: the best other system over MPTCP + MP-HULA", mean_small, web(MP_HULA, 90)),
    ratio("M3", "abstract, Fig. 7, 50 %", "uncoupled: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 2.1, mean_all, web(HULA_UNCOUPLED, 50), web(MP_HULA_UNCOUPLED, 50)),
    ratio("M3", "abstract, Fig. 7, 80 %", "uncoupled: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 1.7, mean_all, web(HULA_UNCOUPLED, 80), web(MP_HULA_UNCOUPLED, 80)),
    ratio("M3", "section 1, Fig. 7, 50 %", "uncoupled: mean FCT of TCP + HULA over MPTCP + MP-HULA", 3.4, mean_all, web(TcpHula, 50), web(MP_HULA_UNCOUPLED, 50)),
    ratio("M3", "section 1, Fig. 7, 80 %", "uncoupled: mean FCT of TCP + HULA over MPTCP + MP-HULA", 2.9, mean_all, web(TcpHula, 80), web(MP_HULA_UNCOUPLED, 80)),
    ratio("M4", "slides, Fig. 8, load not said: 50 %", "link down: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 1.0 / (1.0 - 0.13), mean_all, down(HULA, 50), down(MP_HULA, 50)),
    ratio("M4", "slides, Fig. 8, load not said: 60 %", "link down: mean FCT of MPTCP + HULA over MPTCP + MP-HULA", 1.0 / (1.0 - 0.32), mean_all, down(HULA, 60), down(MP_HULA, 60)),
    best("M4", "Fig. 8, 50 %", "link down: mean FCT of the best other system over MPTCP + MP-HULA", mean_all, down(MP_HULA, 50)),
    best("M4", "Fig. 8, 60 %", "link down: mean FCT of the best other system over MPTCP + MP-HULA", mean_all, down(MP_HULA, 60)),
    worst("M4", "Fig. 8, 60 %", "link down: mean FCT of MPTCP + ECMP over the worst other system", down(ECMP, 60)),
    Claim::new("M5", "Fig. 9, load not said: 80 %", "uncoupled: mean link utilisation, MPTCP + MP-HULA over MPTCP + HULA", stated(AtLeast, 1.0, "x"), Measure::Ratio(mean_utilisation, web(MP_HULA_UNCOUPLED, 80), web(HULA_UNCOUPLED, 80))),
    Claim::new("M5", "Fig. 9, load not said: 80 %", "uncoupled: mean link utilisation, MPTCP + MP-HULA over TCP + HULA", stated(AtLeast, 1.0, "x"), Measure::Ratio(mean_utilisation, web(MP_HULA_UNCOUPLED, 80), web(TcpHula, 80))),
    Claim::new("M5", "Fig. 9, load not said: 80 %", "uncoupled: unevenness over the links, MPTCP + HULA over MPTCP + MP-HULA", stated(AtLeast, 1.0, "x"), Measure::Ratio(unevenness, web(HULA_UNCOUPLED, 80), web(MP_HULA_UNCOUPLED, 80))),
    best("M6", "Fig. 10, load not said: 80 %", "data mining: mean FCT of the best other system over MPTCP + MP-HULA", mean_all, mining(MP_HULA, 80)),
    Claim::new("M6", "Fig. 10, load not said: 80 %", "data mining: less gain over MPTCP + HULA than under web search", stated(AtMost, 1.27, "x"), Measure::Ratio(mean_all, mining(HULA, 80), mining(MP_HULA, 80))),
    Claim::new("M6", "Fig. 10, load not said: 80 %", "data mining: mean FCT of TCP + HULA over MPTCP + HULA", stated(AtLeast, 1.0, "x"), Measure::Ratio(mean_all, mining(TcpHula, 80), mining(HULA, 80))),
    Claim::new("M7", "section 2.6", "parsing state of 100 K connections of 6 subflows", stated(Exact, 21.0, "MB"), Measure::Computed(parsing_megabytes)),
    Claim::new("M7", "section 2.6", "forwarding state of the same at 10 K ToRs, k = 4", stated(About, 25.0, "MB"), Measure::Computed(forwarding_megabytes)),
];

#[cfg(test)]
mod tests;

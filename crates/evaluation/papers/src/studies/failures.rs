//! A link between core and aggregation, or a whole aggregation switch, fails in mid-run and comes
//! back.

use super::{Column, Overrides, Point};
use crate::mp_hula::points::{Coupling, System};
use heddle_claims::Effort;
use heddle_claims::stats;
use heddle_study::metric;
use heddle_study::summary::RunSummary;

pub(super) const ABOUT: &str = "Web search at 30 % on the paper's fabric, coupled MPTCP of two subflows: what is left can carry it. \
     It fails at 60 ms and is back at 100 ms; routing takes longer than that to learn of it, so ECMP never does. Slowdown is the \
     mean over the flows that start in that time, of those that finish before the run ends at 161 ms; throughput is what the ToRs of pod 2 \
     are sent.";

/// Link or switch that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Broken {
    /// Link core-2 to agg-3.
    CoreLink,
    /// Switch agg-3.
    Aggregation,
}

impl Broken {
    /// Its name in titles.
    pub fn title(self) -> &'static str {
        match self {
            Broken::CoreLink => "link core-2 to agg-3",
            Broken::Aggregation => "switch agg-3",
        }
    }

    fn links(self) -> &'static str {
        match self {
            Broken::CoreLink => "core-2 agg-3",
            Broken::Aggregation => "agg-3",
        }
    }
}

/// Half of pod 2's links is left while a switch is down: they are then at 60 %.
pub(super) const LOAD: u8 = 30;
/// Time of the failure, in seconds from the start of the run.
pub const FAILS_AT: f64 = 0.060;
/// Time of the recovery, in seconds from the start of the run.
pub const RECOVERS_AT: f64 = 0.100;

pub(super) fn points(effort: Effort) -> Vec<Point> {
    let systems = System::all(Coupling::Coupled).into_iter().filter(|&s| s != System::Ideal);
    let broken = match effort {
        Effort::Demo => &[Broken::CoreLink][..],
        Effort::Quick | Effort::Medium | Effort::Full => &[Broken::CoreLink, Broken::Aggregation],
    };
    let points_of = |system| broken.iter().map(move |&broken| Point::Failures { broken, system });
    systems.flat_map(points_of).collect()
}

pub(super) fn overrides(broken: Broken, system: System) -> Overrides {
    let links = broken.links();
    let events = format!(
        r#"[{{ at = "60ms", fail = ["{links}"] }}, {{ at = "100ms", recover = ["{links}"] }}]"#
    );
    let measure = r#"{ probe_warm_up = "1ms", warm_up = "20ms", duration = "140ms", sample_every = "100us" }"#;
    let set = [("measure", measure.to_owned()), ("event", events)];
    let system = system.overrides().into_iter().map(|(key, value)| (key, value.to_owned()));
    set.into_iter().chain(system).collect()
}

/// Throughput towards the ToRs of pod 2 in each frame of a run, in bits per second.
pub fn throughput(run: &RunSummary) -> Vec<f64> {
    const RATE: f64 = 40e9;
    let last_hops = run.ports.iter().filter(|p| matches!(&*p.to, "tor-3" | "tor-4"));
    let last_hops: Vec<_> = last_hops.collect();
    let at = |frame: usize| {
        let shares = last_hops.iter().filter_map(|port| port.series.get(frame));
        shares.map(|&thousandths| f64::from(thousandths) / 1000.0 * RATE).sum()
    };
    (0..run.frames.len()).map(at).collect()
}

/// Mean of some frames' figures between two times.
fn between(run: &RunSummary, figures: &[Option<f64>], from: f64, to: f64) -> Option<f64> {
    let inside = run.frames.iter().zip(figures).filter(|(end, _)| **end > from && **end <= to);
    stats::mean(&inside.filter_map(|(_, figure)| *figure).collect::<Vec<_>>())
}

fn slowdown(run: &RunSummary, from: f64, to: f64) -> Option<f64> {
    between(run, &run.slowdowns, from, to)
}
fn slowdown_before(run: &RunSummary) -> Option<f64> {
    slowdown(run, FAILS_AT - 0.035, FAILS_AT)
}
fn slowdown_during(run: &RunSummary) -> Option<f64> {
    slowdown(run, FAILS_AT, RECOVERS_AT)
}
fn slowdown_after(run: &RunSummary) -> Option<f64> {
    slowdown(run, RECOVERS_AT, RECOVERS_AT + 0.035)
}

fn gbps(run: &RunSummary, from: f64, to: f64) -> Option<f64> {
    let figures: Vec<Option<f64>> = throughput(run).into_iter().map(Some).collect();
    between(run, &figures, from, to).map(|bps| bps / 1e9)
}
fn gbps_before(run: &RunSummary) -> Option<f64> {
    gbps(run, FAILS_AT - 0.035, FAILS_AT)
}
fn gbps_first_5_ms(run: &RunSummary) -> Option<f64> {
    gbps(run, FAILS_AT, FAILS_AT + 0.005)
}
fn gbps_during(run: &RunSummary) -> Option<f64> {
    gbps(run, FAILS_AT, RECOVERS_AT)
}
fn lost(run: &RunSummary) -> Option<f64> {
    Some(run.totals.lost_to_failures as f64)
}

pub(super) const COLUMNS: &[Column] = &[
    Column::plain("slowdown_before", "slowdown before", slowdown_before),
    Column::plain("slowdown_during", "during", slowdown_during),
    Column::plain("slowdown_after", "after", slowdown_after),
    Column::plain("gbps_before", "Gbps before", gbps_before),
    Column::plain("gbps_first_5_ms", "first 5 ms", gbps_first_5_ms),
    Column::plain("gbps_during", "Gbps during", gbps_during),
    Column::count("lost_to_failure", "packets lost", lost),
    Column::percent("retransmitted", "retransmitted", metric::retransmitted_percent),
];

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_study::summary::PortSummary;
    use heddle_study::testing::{cell, run};

    /// 40 Gbps half used to tor-3 and a quarter to tor-4 is 30 Gbps; up to the failure, then none.
    /// Frames end each 10 ms.
    #[test]
    fn windows_around_the_failure() {
        let port = |to: &str, share: u16| PortSummary {
            from: "agg-3".into(),
            to: to.into(),
            parallel: None,
            utilisation: 0.0,
            queue: Vec::new(),
            dropped: 0,
            series: (1..=14).map(|i| if i <= 6 { share } else { 0 }).collect(),
            queue_peaks: Vec::new(),
        };
        let mut run = run(&cell(1, &[]));
        run.frames = (1..=14).map(|i| f64::from(i) / 100.0).collect();
        run.ports = vec![port("tor-3", 500), port("tor-4", 250), port("core-1", 1000)];
        run.slowdowns = (1..=14).map(|i| (i != 8).then(|| f64::from(i))).collect();
        assert_eq!((gbps_before(&run), gbps_during(&run)), (Some(30.0), Some(0.0)));
        assert_eq!(slowdown_before(&run), Some(4.5), "the frames that end at 30 to 60 ms");
        assert_eq!(slowdown_during(&run), Some((7.0 + 9.0 + 10.0) / 3.0), "one had no flow");
        assert_eq!(slowdown_after(&run), Some(12.0));
    }
}

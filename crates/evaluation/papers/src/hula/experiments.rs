//! The claims that are not flow completion times: failures, probe overhead, numbers of paths.

use heddle_fabric::Fabric;
use heddle_scenario::{Source, load};
use heddle_sim::{Next, Outcome, simulate};
use heddle_units::Time;
use serde::Serialize;

use super::points::Scheme;
use heddle_claims::Effort;
use heddle_study::paper::EvaluationError;
use heddle_study::point::no_files;

/// Experiment of HULA's claims that is no point of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// The bottleneck fails and comes back (figure 9).
    Failover(FailoverTraffic, Moment),
    /// Probes alone (section 4.5).
    Overhead,
}

/// Result of an experiment.
#[derive(Clone, Debug)]
pub enum Measured {
    /// Of [`Experiment::Failover`].
    Failover(Failover),
    /// Of [`Experiment::Overhead`].
    Overhead(Overhead),
}

impl Measured {
    /// The failure, if it is that.
    pub fn failover(&self) -> Option<&Failover> {
        match self {
            Measured::Failover(failover) => Some(failover),
            Measured::Overhead(_) => None,
        }
    }

    /// The probes' overhead, if it is that.
    pub fn overhead(&self) -> Option<&Overhead> {
        match self {
            Measured::Overhead(overhead) => Some(overhead),
            Measured::Failover(_) => None,
        }
    }
}

impl heddle_study::paper::Experiment for Experiment {
    type Outcome = Measured;

    fn seeds(self, effort: Effort) -> &'static [u64] {
        match self {
            Experiment::Failover(..) => effort.seeds(),
            // Nothing in it is drawn.
            Experiment::Overhead => &[1],
        }
    }

    fn run(self, seed: u64, changes: &[(&str, &str)]) -> Result<Measured, EvaluationError> {
        Ok(match self {
            Experiment::Failover(traffic, moment) => {
                Measured::Failover(Failover::run((traffic, moment), seed, changes)?)
            }
            Experiment::Overhead => Measured::Overhead(Overhead::run()?),
        })
    }
}

/// Traffic while the bottleneck fails (figure 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailoverTraffic {
    /// Figure 9a.
    WebSearch,
    /// Figure 9b.
    LongFlows,
}

impl FailoverTraffic {
    /// True if a change of a dotted key means anything to HULA under this traffic: long flows are
    /// not drawn.
    fn takes(self, key: &str) -> bool {
        Scheme::Hula.takes(key)
            && (self == FailoverTraffic::WebSearch || !key.starts_with("workload."))
    }
}

/// Moment of the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The instant at which flows have run for 39 ms.
    Warm,
    /// 0.2 ms from the first flow: "at 0.2 milliseconds from the beginning of the experiment"
    /// (section 6.3).
    AtTheBegin,
}

/// The end of the probes' warm-up in the file.
const FIRST_FLOW: Time = Time::millis(1);

/// The link is down for so long.
const OUTAGE: Time = Time::millis(20);

impl Moment {
    fn fails_at(self) -> Time {
        match self {
            Moment::Warm => Time::millis(40),
            Moment::AtTheBegin => FIRST_FLOW + Time::micros(200),
        }
    }

    fn recovers_at(self) -> Time {
        self.fails_at() + OUTAGE
    }

    /// The events of a scenario.
    fn events(self) -> String {
        let (fails, recovers) = (self.fails_at(), self.recovers_at());
        format!(
            r#"[{{ at = "{fails}", fail = ["core-2 agg-3"] }}, {{ at = "{recovers}", recover = ["core-2 agg-3"] }}]"#
        )
    }
}

/// Link S2-A3 goes down and comes back while S2-A4 is down all along: utilisation of the links into
/// pod 2.
#[derive(Clone, Debug, Serialize)]
pub struct Failover {
    /// Time of each sample, in seconds.
    pub seconds: Vec<f64>,
    /// Name of each link, and its utilisation (0 to 1) before each sample.
    pub links: Vec<(String, Vec<f64>)>,
    /// Time of the link's failure, in seconds.
    pub fails_at: f64,
    /// Time of its recovery, in seconds.
    pub recovers_at: f64,
    /// Utilisation of all links together at each sample of the same run without the failure, where
    /// no load from before the failure can be compared with.
    pub without_failure: Option<Vec<f64>>,
}

const FAILURE: &str = include_str!("../../../../../scenarios/hula-fig9-failure.toml");
/// Load of figure 9a's run: the two links of S1 can carry it alone.
const WEB_SEARCH: &str =
    r#"{ kind = "flows", sizes = "websearch", pattern = "cross-pod-pairs", load = 0.3 }"#;

impl Failover {
    /// Runs the experiment.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn run(
        (traffic, moment): (FailoverTraffic, Moment),
        seed: u64,
        changes: &[(&str, &str)],
    ) -> Result<Failover, EvaluationError> {
        let mut source = Source::new("hula-fig9-failure.toml", FAILURE);
        if traffic == FailoverTraffic::WebSearch {
            source = source.with("workload", WEB_SEARCH);
        }
        let taken = changes.iter().filter(|(key, _)| traffic.takes(key));
        let source = taken.fold(source, |source, (key, value)| source.with(*key, *value));
        let simulated = |events: &str| {
            let scenario = load(&source.clone().with("event", events), &no_files)?;
            let outcome = simulate(&scenario, seed, &mut |_| Next::Continue)?;
            Ok::<_, EvaluationError>(Failover::of(&outcome, moment))
        };
        let mut run = simulated(&moment.events())?;
        if moment == Moment::AtTheBegin {
            let calm = simulated("[]")?;
            let all = (0..calm.seconds.len()).map(|sample| calm.sum(sample, &[0, 1, 2]));
            run.without_failure = Some(all.collect());
        }
        Ok(run)
    }

    fn of(outcome: &Outcome, moment: Moment) -> Failover {
        let samples = &outcome.samples;
        let names = [("core-1", "agg-3"), ("core-1", "agg-4"), ("core-2", "agg-3")];
        let series = |(from, to): (&str, &str)| {
            let port = samples.port(from, to)?;
            Some((format!("{from} to {to}"), samples.utilisation_of(port).collect()))
        };
        Failover {
            seconds: samples.times.iter().map(|at| at.as_secs_f64()).collect(),
            links: names.into_iter().filter_map(series).collect(),
            fails_at: moment.fails_at().as_secs_f64(),
            recovers_at: moment.recovers_at().as_secs_f64(),
            without_failure: None,
        }
    }

    /// Milliseconds from the failure until the links of S1 carry nine tenths of the load that all
    /// links carried in the 10 ms before; without such a load, of what all links carry without the
    /// failure, both over a millisecond from then on, since few flows have started and S1 may carry
    /// them all for a moment. `None` if they never do while the link is down, or there was no load.
    pub fn shift_ms(&self) -> Option<f64> {
        let before = self.mean(self.fails_at - 0.010, self.fails_at, &[0, 1, 2]);
        let during = |at: f64| at > self.fails_at && at <= self.recovers_at;
        let carried = |i: usize| match &self.without_failure {
            Some(all) => {
                let next = i..self.end_of_millisecond(i);
                let without = all.get(next.clone()).unwrap_or(&[]).iter().sum();
                (next.map(|sample| self.sum(sample, &[0, 1])).sum(), without)
            }
            None => (self.sum(i, &[0, 1]), before),
        };
        let moved = |&i: &usize| {
            let (on_s1, expected): (f64, f64) = carried(i);
            expected > 0.0 && on_s1 >= 0.9 * expected
        };
        let first = (0..self.seconds.len()).filter(|&i| during(self.seconds[i])).find(moved)?;
        Some((self.seconds[first] - self.fails_at) * 1e3)
    }

    /// The first sample that is a millisecond or more after another.
    fn end_of_millisecond(&self, from: usize) -> usize {
        let end = self.seconds[from] + 0.001 - 1e-9;
        self.seconds.iter().position(|&at| at >= end).unwrap_or(self.seconds.len())
    }

    /// The failed link's share of the load in the 15 ms from 5 ms after its recovery, over its
    /// share in the 15 ms before the failure.
    pub fn share_after_over_before(&self) -> Option<f64> {
        let share = |from: f64, to: f64| {
            self.mean(from, to, &[2]) / self.mean(from, to, &[0, 1, 2]).max(f64::MIN_POSITIVE)
        };
        let before = share(self.fails_at - 0.015, self.fails_at);
        let after = share(self.recovers_at + 0.005, self.recovers_at + 0.020);
        (before > 0.0).then(|| after / before)
    }

    /// Utilisations of some links at a sample, added up.
    fn sum(&self, sample: usize, links: &[usize]) -> f64 {
        let at = |&link: &usize| self.links.get(link).and_then(|(_, series)| series.get(sample));
        links.iter().filter_map(at).sum()
    }

    /// Mean of [`Failover::sum`] over the samples between two times.
    fn mean(&self, from: f64, to: f64, links: &[usize]) -> f64 {
        let inside = |i: &usize| self.seconds[*i] > from && self.seconds[*i] <= to;
        let sums: Vec<f64> =
            (0..self.seconds.len()).filter(inside).map(|i| self.sum(i, links)).collect();
        heddle_claims::stats::mean(&sums).unwrap_or(0.0)
    }
}

/// Probes on the paper's fabric with nothing else on its links between switches.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overhead {
    /// Share of the busiest link, in percent.
    pub busiest_percent: f64,
    /// Share by the paper's formula, in percent.
    pub formula_percent: f64,
}

const SYMMETRIC: &str = include_str!("../../../../../scenarios/hula-fig5.toml");

impl Overhead {
    /// Share of a link that probes take, in percent: 64 bytes for each ToR in each period (section
    /// 4.5).
    pub fn formula(tors: u64, link_bps: f64, period_seconds: f64) -> f64 {
        100.0 * 64.0 * 8.0 * tors as f64 / (period_seconds * link_bps)
    }

    /// Measures it over 50 ms.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn run() -> Result<Overhead, EvaluationError> {
        let source = Source::new("hula-fig5.toml", SYMMETRIC)
            .with("workload", r#"{ kind = "long", pairs = ["host-1 host-2"] }"#)
            .with("measure", r#"{ duration = "50ms", sample_every = "1ms" }"#);
        let outcome = simulate(&load(&source, &no_files)?, 1, &mut |_| Next::Continue)?;
        let samples = &outcome.samples;
        let share = |port| {
            let window = samples.utilisation_of(port).skip(samples.measured_from);
            heddle_claims::stats::mean(&window.collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let busiest = (0..samples.ports.len()).map(share).fold(0.0, f64::max);
        Ok(Overhead {
            busiest_percent: 100.0 * busiest,
            formula_percent: Overhead::formula(4, 40e9, 200e-6),
        })
    }

    /// Measured share over the formula's.
    pub fn measured_over_formula(&self) -> f64 {
        self.busiest_percent / self.formula_percent
    }
}

/// Paths between two ToRs of different pods of a fat-tree, counted over its graph; 0 if it cannot
/// be built.
pub fn path_count(k: u32) -> f64 {
    let text = format!(
        "scheme = \"ecmp\"\n[fabric]\nkind = \"fat-tree\"\nk = {k}\nhosts_per_tor = 1\n\
         [workload]\nkind = \"long\"\n[measure]\nduration = \"1ms\"\n"
    );
    let fabric = load(&Source::new("fat-tree", text), &no_files)
        .ok()
        .and_then(|scenario| Fabric::new(&scenario.fabric.graph).ok());
    fabric.map_or(0.0, |fabric| fabric.count_paths(0, fabric.tors - 1) as f64)
}

/// Forwarding entries of a switch in Table 1, in closed form: (k/2)^2 (k^2 - k/2 - 1). The paper
/// takes the entries from XPath and does not derive them; this form gives all four of its figures,
/// and shows that they grow as k^4.
pub fn forwarding_entries(k: u64) -> f64 {
    ((k * k / 4) * (k * k - k / 2 - 1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the failure all links carry 0.1 more each millisecond, so 0.9 of 2.1 at 42 ms is
    /// 1.89 and of 2.2 at 43 ms 1.98: S1's links reach it there.
    #[test]
    fn a_load_that_builds_up_is_compared_with_the_run_without_the_failure() {
        let mut run = series(|ms| match ms {
            0..=42 => [0.5, 0.5, 0.0],
            _ => [1.0, 1.0, 0.0],
        });
        run.without_failure = Some((21..=80).map(|ms| f64::from(ms - 21) / 10.0).collect());
        assert!((run.shift_ms().unwrap() - 3.0).abs() < 1e-9);
    }

    /// The events of the moment of the file are the file's.
    #[test]
    fn the_warm_fabrics_failure_is_the_files() {
        let source = Source::new("hula-fig9-failure.toml", FAILURE);
        let of_file = load(&source, &no_files).unwrap();
        let with = |moment: Moment| load(&source.clone().with("event", moment.events()), &no_files);
        assert_eq!(with(Moment::Warm).unwrap().events, of_file.events);
        let begin = with(Moment::AtTheBegin).unwrap();
        assert_eq!(begin.measure.probe_warm_up, FIRST_FLOW);
        assert_eq!(begin.events[0].at, Time::micros(1_200));
    }

    /// A sample each millisecond from 21 ms to 80 ms; `shares` gives the utilisations of S1's two
    /// links and of S2-A3.
    fn series(shares: fn(u32) -> [f64; 3]) -> Failover {
        let link = |i: usize| (21..=80).map(|ms| shares(ms)[i]).collect();
        Failover {
            seconds: (21..=80).map(|ms| f64::from(ms) / 1e3).collect(),
            links: (0..3).map(|i| (format!("link {i}"), link(i))).collect(),
            fails_at: 0.040,
            recovers_at: 0.060,
            without_failure: None,
        }
    }

    /// 0.6 before the failure, so 0.54 is to be reached: at 41 ms it is 0.50, at 42 ms 0.56.
    #[test]
    fn the_load_shifts_when_s1_carries_nine_tenths() {
        let run = series(|ms| match ms {
            0..=40 => [0.2, 0.2, 0.2],
            41 => [0.25, 0.25, 0.0],
            _ => [0.28, 0.28, 0.0],
        });
        assert!((run.shift_ms().unwrap() - 2.0).abs() < 1e-9);
    }

    /// Load that S1 carries after the recovery only is too late, and without load there is no
    /// shift.
    #[test]
    fn a_load_that_never_shifts() {
        let late = series(|ms| if ms <= 60 { [0.1, 0.1, 0.4] } else { [0.3, 0.3, 0.0] });
        assert_eq!(late.shift_ms(), None);
        let idle = series(|_| [0.0; 3]);
        assert_eq!((idle.shift_ms(), idle.share_after_over_before()), (None, None));
    }

    /// A third of the load before the failure. After it: a third again, or a sixth. The first 5 ms
    /// do not count.
    #[test]
    fn the_share_after_the_recovery() {
        let back = series(|ms| if (41..=64).contains(&ms) { [0.3, 0.3, 0.0] } else { [0.2; 3] });
        assert!((back.share_after_over_before().unwrap() - 1.0).abs() < 1e-9);
        let half = series(|ms| if ms <= 40 { [0.2; 3] } else { [0.25, 0.25, 0.1] });
        assert!((half.share_after_over_before().unwrap() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn table_1() {
        let table = [(8, 16.0, 944.0), (16, 64.0, 15_808.0), (32, 256.0, 257_792.0)];
        for (k, paths, entries) in table {
            assert_eq!(path_count(k), paths);
            assert_eq!(forwarding_entries(u64::from(k)), entries);
        }
        assert_eq!(forwarding_entries(64), 4_160_512.0);
    }

    #[test]
    fn section_4_5() {
        assert!((Overhead::formula(1000, 40e9, 1e-3) - 1.28).abs() < 1e-12);
    }
}

//! Speed of the simulator: fixed cases, counted in packet-hops for each second of processor time.

use heddle_scenario::{Scenario, ScenarioError, Source, load};
use heddle_sim::{Next, Outcome, Progress, SimError};
use heddle_units::Time;
use serde::Serialize;

use crate::cpu_time::thread_seconds;
use crate::external;

/// A fixed case.
#[derive(Debug)]
pub struct Case {
    /// Its name, as `heddle bench` takes it.
    pub name: &'static str,
    /// Its simulation in words.
    pub about: &'static str,
    /// The case that its processor time for a packet-hop is compared with.
    pub baseline: Option<&'static str>,
    /// Simulated time before counting starts: by then the flows that start together have lost
    /// packets and left slow start, or the fabric has its load.
    pub after: Time,
    /// Simulated time that is counted; `None` counts to the end of the flows.
    pub time: Option<Time>,
    file: (&'static str, &'static str),
    changes: &'static [(&'static str, &'static str)],
}

/// After it long flows are out of slow start: the first losses are past, and timeouts of 200 ms
/// with them.
const SETTLED: Time = Time::millis(300);

/// The scenarios' own warm-up.
const LOADED: Time = Time::millis(21);

/// A window of simulated time, and a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The run's seed.
    pub seed: u64,
    /// In place of [`Case::after`]; with 0 the set-up is counted, too.
    pub after: Option<Time>,
    /// In place of [`Case::time`].
    pub time: Option<Time>,
}

const FAT_TREE: (&str, &str) = ("bench-a.toml", include_str!("../../../../scenarios/bench-a.toml"));
const HULA: (&str, &str) = ("hula-fig5.toml", include_str!("../../../../scenarios/hula-fig5.toml"));
const MP_HULA: (&str, &str) =
    ("mp-hula-fig5.toml", include_str!("../../../../scenarios/mp-hula-fig5.toml"));

/// All of them.
pub const CASES: &[Case] = &[
    Case {
        name: "a",
        about: "k = 8 fat-tree of 128 hosts at 100 Mbps, a permutation of long flows, TCP by ECMP",
        baseline: None,
        after: SETTLED,
        time: Some(Time::millis(4700)),
        file: FAT_TREE,
        changes: &[],
    },
    Case {
        name: "a2",
        about: "as a with MPTCP of 2 coupled subflows",
        baseline: Some("a"),
        after: SETTLED,
        time: Some(Time::millis(4700)),
        file: FAT_TREE,
        changes: &[("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 2 }"#)],
    },
    Case {
        name: "a4",
        about: "as a with MPTCP of 4 coupled subflows",
        baseline: Some("a"),
        after: SETTLED,
        time: Some(Time::millis(4700)),
        file: FAT_TREE,
        changes: &[("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 4 }"#)],
    },
    Case {
        name: "a8",
        about: "as a with MPTCP of 8 coupled subflows",
        baseline: Some("a"),
        after: SETTLED,
        time: Some(Time::millis(4700)),
        file: FAT_TREE,
        changes: &[("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 8 }"#)],
    },
    Case {
        name: "b",
        about: "HULA's fabric, HULA, web search at 60 %",
        baseline: None,
        after: LOADED,
        time: None,
        file: HULA,
        changes: &[("workload.load", "0.6"), ("measure.flows", "4000")],
    },
    Case {
        name: "c",
        about: "as a with k = 16, 1024 hosts",
        baseline: None,
        after: SETTLED,
        time: Some(Time::millis(600)),
        file: FAT_TREE,
        changes: &[("fabric.k", "16")],
    },
    Case {
        name: "d",
        about: "as a with k = 32, 8192 hosts",
        baseline: None,
        after: SETTLED,
        time: Some(Time::millis(200)),
        file: FAT_TREE,
        changes: &[("fabric.k", "32")],
    },
    Case {
        name: "m-ecmp",
        about: "HULA's fabric, MPTCP of 2 coupled subflows by ECMP, web search at 60 %",
        baseline: None,
        after: LOADED,
        time: None,
        file: MP_HULA,
        changes: &[("scheme", "ecmp"), ("workload.load", "0.6"), ("measure.flows", "4000")],
    },
    Case {
        name: "m-mp-hula",
        about: "as m-ecmp by MP-HULA",
        baseline: Some("m-ecmp"),
        after: LOADED,
        time: None,
        file: MP_HULA,
        changes: &[("workload.load", "0.6"), ("measure.flows", "4000")],
    },
];

impl Case {
    /// The case of a name.
    pub fn of(name: &str) -> Option<&'static Case> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Its scenario, up to an end in simulated time, if there is one.
    ///
    /// # Errors
    /// If the file that is built in does not load (a test sees that it does), or an end before it
    /// measures.
    pub fn scenario(&self, end: Option<Time>) -> Result<Scenario, ScenarioError> {
        let source = Source::new(self.file.0, self.file.1);
        let with = |source: Source, (key, value): &(&str, &str)| source.with(*key, *value);
        let mut source = self.changes.iter().fold(source, with);
        if let Some(end) = end {
            source = source.with("measure.time_limit", end.to_string());
            if self.time.is_some() {
                source = source.with("measure.duration", end.to_string());
            }
        }
        load(&source, &crate::point::no_files)
    }
}

/// One run of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Speed {
    /// The case's name.
    pub case: &'static str,
    /// Always "heddle".
    pub simulator: &'static str,
    /// Heddle's version.
    pub version: &'static str,
    /// One packet, data or ACK, entering one link. Counted, as events and processor time, from
    /// [`Settings::after`] on, up to the next progress report.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Processor time.
    pub cpu_seconds: f64,
    /// The figure to compare.
    pub packet_hops_per_cpu_second: f64,
    /// The case that it is compared with, if that was run too.
    pub baseline: Option<&'static str>,
    /// Processor time for a packet-hop over that of the baseline.
    pub over_baseline: Option<f64>,
    /// Most memory that the process has had, in bytes; only what the first case had is the case's
    /// own.
    pub peak_memory_bytes: u64,
    /// Simulated time that is counted.
    pub simulated_seconds: f64,
    /// The run's seed.
    pub seed: u64,
    /// Application bits received per second of the whole run.
    pub goodput_mbps: f64,
    /// Packets dropped at full buffers.
    pub drops: u64,
    /// Packets that existed at one time, at most.
    pub peak_packets: u64,
}

/// A case that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Its scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its run.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// It ended before anything was counted.
    #[error("case {case} ended after {:.3} s of simulated time, too early to count from {after}: give a shorter --after, or a longer --time", end.as_secs_f64())]
    Over {
        /// The case.
        case: &'static str,
        /// The end of its run, in simulated time.
        end: Time,
        /// Start of the counting.
        after: Time,
    },
    /// The counted time lies between two progress reports, which are the only times at which
    /// counters are read.
    #[error("case {case} ended {} after {after}, too soon to count: counters are read every few hundred thousand events; give a longer --time", end.saturating_sub(*after))]
    Short {
        /// The case.
        case: &'static str,
        /// Start of the counting.
        after: Time,
        /// The end of its run, in simulated time.
        end: Time,
    },
}

/// Counters at a time of a run.
#[derive(Clone, Copy)]
struct Mark {
    cpu_seconds: f64,
    now: Time,
    packet_hops: u64,
    events: u64,
}

impl Mark {
    fn of(progress: &Progress<'_>) -> Mark {
        let Progress { now, packet_hops, events, .. } = *progress;
        Mark { cpu_seconds: thread_seconds(), now, packet_hops, events }
    }
}

/// Runs a case once, on this thread.
///
/// # Errors
/// If `next` stops it, or if it ends before counting starts.
pub fn run(case: &Case, settings: Settings, next: fn() -> Next) -> Result<Speed, BenchError> {
    let after = settings.after.unwrap_or(case.after);
    let time = settings.time.or(case.time);
    let scenario = case.scenario(time.map(|time| after.saturating_add(time)))?;
    let set_up = Mark { cpu_seconds: thread_seconds(), now: Time::ZERO, packet_hops: 0, events: 0 };
    let (mut first, mut last) = ((after == Time::ZERO).then_some(set_up), set_up);
    let outcome = external::simulate(&scenario, settings.seed, &mut |progress| {
        last = Mark::of(&progress);
        if first.is_none() && last.now >= after {
            first = Some(last);
        }
        next()
    })?;
    let counted = first.filter(|first| first.packet_hops < last.packet_hops);
    let (case_name, end) = (case.name, last.now);
    let nothing = if end > after {
        BenchError::Short { case: case_name, after, end }
    } else {
        BenchError::Over { case: case_name, end, after }
    };
    Ok(speed(case, settings.seed, &outcome, (counted.ok_or(nothing)?, last)))
}

/// The figures from one mark to another.
fn speed(case: &Case, seed: u64, outcome: &Outcome, (first, last): (Mark, Mark)) -> Speed {
    let t = &outcome.totals;
    let (packet_hops, cpu_seconds) =
        (last.packet_hops - first.packet_hops, last.cpu_seconds - first.cpu_seconds);
    Speed {
        case: case.name,
        simulator: "heddle",
        version: env!("CARGO_PKG_VERSION"),
        packet_hops,
        events: last.events - first.events,
        cpu_seconds,
        packet_hops_per_cpu_second: packet_hops as f64 / cpu_seconds,
        baseline: None,
        over_baseline: None,
        peak_memory_bytes: peak_memory(),
        simulated_seconds: (last.now - first.now).as_secs_f64(),
        seed,
        goodput_mbps: t.delivered.0 as f64 * 8.0 / 1e6 / t.simulated.as_secs_f64(),
        drops: t.dropped,
        peak_packets: t.peak_packets,
    }
}

/// Compares each case with its baseline, where that was run too.
pub fn compare(speeds: &mut [Speed]) {
    let found: Vec<(&str, f64)> =
        speeds.iter().map(|speed| (speed.case, speed.packet_hops_per_cpu_second)).collect();
    for speed in speeds {
        let baseline = Case::of(speed.case).and_then(|case| case.baseline);
        let measured = found.iter().find(|(case, _)| Some(*case) == baseline);
        speed.baseline = measured.map(|(case, _)| *case);
        speed.over_baseline = measured.map(|(_, rate)| rate / speed.packet_hops_per_cpu_second);
    }
}

/// The process's peak resident memory in bytes, as Linux reports it; 0 elsewhere.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_loads_and_has_a_name_of_its_own() {
        for case in CASES {
            let end = case.time.map(|time| case.after.saturating_add(time));
            assert!(case.scenario(end).is_ok(), "{}", case.name);
            assert_eq!(CASES.iter().filter(|c| c.name == case.name).count(), 1, "{}", case.name);
            assert!(case.baseline.is_none_or(|name| Case::of(name).is_some()), "{}", case.name);
        }
    }

    fn figures(case: &'static str, packet_hops_per_cpu_second: f64) -> Speed {
        Speed {
            case,
            simulator: "heddle",
            version: "0",
            packet_hops: 0,
            events: 0,
            cpu_seconds: 0.0,
            packet_hops_per_cpu_second,
            baseline: None,
            over_baseline: None,
            peak_memory_bytes: 0,
            simulated_seconds: 0.0,
            seed: 1,
            goodput_mbps: 0.0,
            drops: 0,
            peak_packets: 0,
        }
    }

    #[test]
    fn what_is_counted_begins_where_it_should() {
        let case = Case::of("a").unwrap();
        let counted = |after, time, seed| {
            let settings = Settings { seed, after: Some(after), time: Some(time) };
            run(case, settings, || Next::Continue)
        };
        let whole = counted(Time::ZERO, Time::millis(200), 1).unwrap();
        let late = counted(Time::millis(100), Time::millis(100), 1).unwrap();
        assert!((whole.simulated_seconds - 0.2).abs() < 1e-9);
        // Progress is reported every few hundred thousand events.
        assert!(late.simulated_seconds > 0.0 && late.simulated_seconds <= 0.1);
        assert!(late.packet_hops < whole.packet_hops && late.events < whole.events);
        assert_eq!((late.drops, late.peak_packets), (whole.drops, whole.peak_packets), "one run");
        let other = counted(Time::ZERO, Time::millis(200), 2).unwrap();
        assert_ne!(other.drops, whole.drops, "another seed");
    }

    #[test]
    fn a_run_that_is_over_before_counting_starts_is_an_error() {
        let short = Case {
            name: "short",
            about: "HULA's fabric, few flows",
            baseline: None,
            after: Time::secs(5),
            time: None,
            file: HULA,
            changes: &[("workload.load", "0.6"), ("measure.flows", "40")],
        };
        let error = run(&short, Settings { seed: 1, ..Settings::default() }, || Next::Continue)
            .unwrap_err();
        assert!(error.to_string().contains("too early to count from 5s"), "{error}");
    }

    #[test]
    fn a_time_between_two_reports_is_an_error_that_says_so() {
        let case = Case::of("a").unwrap();
        let settings =
            Settings { seed: 1, after: Some(Time::millis(20)), time: Some(Time::micros(10)) };
        let error = run(case, settings, || Next::Continue).unwrap_err();
        assert!(error.to_string().contains("ended 10us after 20ms, too soon to count"), "{error}");
    }

    /// 10 M a second against 8 M: a packet-hop takes 1.25 times as long. M-mp-hula's baseline was
    /// not run.
    #[test]
    fn cases_are_compared_with_those_that_were_run() {
        let mut speeds = [figures("a4", 8e6), figures("a", 10e6), figures("m-mp-hula", 5e6)];
        compare(&mut speeds);
        let baselines = speeds.map(|speed| (speed.baseline, speed.over_baseline));
        assert_eq!(baselines, [(Some("a"), Some(1.25)), (None, None), (None, None)]);
    }
}

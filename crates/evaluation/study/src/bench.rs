//! Speed of the simulator: fixed cases, counted in packet-hops for each second of processor time.

use heddle_scenario::{Scenario, ScenarioError, Source, load};
use heddle_sim::{Next, SimError};
use serde::Serialize;

use crate::grid::timed;

/// A fixed case.
#[derive(Debug)]
pub struct Case {
    /// Its name, as `heddle bench` takes it.
    pub name: &'static str,
    /// Its simulation in words.
    pub about: &'static str,
    /// The case that its processor time for a packet-hop is compared with.
    pub baseline: Option<&'static str>,
    file: (&'static str, &'static str),
    changes: &'static [(&'static str, &'static str)],
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
        file: FAT_TREE,
        changes: &[("measure.duration", "5s")],
    },
    Case {
        name: "a2",
        about: "as a with MPTCP of 2 coupled subflows",
        baseline: Some("a"),
        file: FAT_TREE,
        changes: &[
            ("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 2 }"#),
            ("measure.duration", "5s"),
        ],
    },
    Case {
        name: "a4",
        about: "as a with MPTCP of 4 coupled subflows",
        baseline: Some("a"),
        file: FAT_TREE,
        changes: &[
            ("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 4 }"#),
            ("measure.duration", "5s"),
        ],
    },
    Case {
        name: "a8",
        about: "as a with MPTCP of 8 coupled subflows",
        baseline: Some("a"),
        file: FAT_TREE,
        changes: &[
            ("transport", r#"{ kind = "mptcp", mss = 1442, subflows = 8 }"#),
            ("measure.duration", "5s"),
        ],
    },
    Case {
        name: "b",
        about: "HULA's fabric, HULA, web search at 60 %",
        baseline: None,
        file: HULA,
        changes: &[("workload.load", "0.6"), ("measure.flows", "4000")],
    },
    Case {
        name: "c",
        about: "as a with k = 16, 1024 hosts",
        baseline: None,
        file: FAT_TREE,
        changes: &[("fabric.k", "16"), ("measure.duration", "600ms")],
    },
    Case {
        name: "d",
        about: "as a with k = 32, 8192 hosts",
        baseline: None,
        file: FAT_TREE,
        changes: &[("fabric.k", "32"), ("measure.duration", "200ms")],
    },
    Case {
        name: "m-ecmp",
        about: "HULA's fabric, MPTCP of 2 coupled subflows by ECMP, web search at 60 %",
        baseline: None,
        file: MP_HULA,
        changes: &[("scheme", "ecmp"), ("workload.load", "0.6"), ("measure.flows", "4000")],
    },
    Case {
        name: "m-mp-hula",
        about: "as m-ecmp by MP-HULA",
        baseline: Some("m-ecmp"),
        file: MP_HULA,
        changes: &[("workload.load", "0.6"), ("measure.flows", "4000")],
    },
];

impl Case {
    /// The case of a name.
    pub fn of(name: &str) -> Option<&'static Case> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Its scenario.
    ///
    /// # Errors
    /// If the file that is built in does not load (a test sees that it does).
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let source = Source::new(self.file.0, self.file.1);
        let with = |source: Source, (key, value): &(&str, &str)| source.with(*key, *value);
        load(&self.changes.iter().fold(source, with), &crate::point::no_files)
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
    /// One packet, data or ACK, entering one link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Processor time, set-up included.
    pub cpu_seconds: f64,
    /// The figure to compare.
    pub packet_hops_per_cpu_second: f64,
    /// The case that it is compared with, if that was run too.
    pub baseline: Option<&'static str>,
    /// Processor time for a packet-hop over that of the baseline.
    pub over_baseline: Option<f64>,
    /// Most memory that the process has had, in bytes; only what the first case had is the case's own.
    pub peak_memory_bytes: u64,
    /// Simulated time.
    pub simulated_seconds: f64,
    /// Application bits received per second.
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
}

/// Runs a case once, on this thread.
///
/// # Errors
/// If `next` stops it.
pub fn run(case: &Case, next: fn() -> Next) -> Result<Speed, BenchError> {
    let scenario = case.scenario()?;
    let (outcome, cpu_seconds) = timed(&scenario, 1, &mut |_| next())?;
    let t = &outcome.totals;
    let simulated_seconds = t.simulated.as_secs_f64();
    Ok(Speed {
        case: case.name,
        simulator: "heddle",
        version: env!("CARGO_PKG_VERSION"),
        packet_hops: t.packet_hops,
        events: t.events,
        cpu_seconds,
        packet_hops_per_cpu_second: t.packet_hops as f64 / cpu_seconds,
        baseline: None,
        over_baseline: None,
        peak_memory_bytes: peak_memory(),
        simulated_seconds,
        goodput_mbps: t.delivered.0 as f64 * 8.0 / 1e6 / simulated_seconds,
        drops: t.dropped,
        peak_packets: t.peak_packets,
    })
}

/// Compares each case with its baseline, where that was run too.
pub fn compare(speeds: &mut [Speed]) {
    let found: Vec<(&str, f64)> =
        speeds.iter().map(|speed| (speed.case, speed.packet_hops_per_cpu_second)).collect();
    for speed in speeds {
        let baseline = Case::of(speed.case).and_then(|case| case.baseline);
        let of = found.iter().find(|(case, _)| Some(*case) == baseline);
        speed.baseline = of.map(|(case, _)| *case);
        speed.over_baseline = of.map(|(_, rate)| rate / speed.packet_hops_per_cpu_second);
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
            assert!(case.scenario().is_ok(), "{}", case.name);
            assert_eq!(CASES.iter().filter(|c| c.name == case.name).count(), 1, "{}", case.name);
            assert!(case.baseline.is_none_or(|name| Case::of(name).is_some()), "{}", case.name);
        }
    }

    fn speed(case: &'static str, packet_hops_per_cpu_second: f64) -> Speed {
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
            goodput_mbps: 0.0,
            drops: 0,
            peak_packets: 0,
        }
    }

    /// 10 M a second against 8 M: a packet-hop takes 1.25 times as long. M-mp-hula's baseline was not run.
    #[test]
    fn cases_are_compared_with_those_that_were_run() {
        let mut speeds = [speed("a4", 8e6), speed("a", 10e6), speed("m-mp-hula", 5e6)];
        compare(&mut speeds);
        let baselines = speeds.map(|speed| (speed.baseline, speed.over_baseline));
        assert_eq!(baselines, [(Some("a"), Some(1.25)), (None, None), (None, None)]);
    }
}

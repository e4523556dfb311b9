//! How fast the simulator is: fixed cases, counted in packet-hops for each second of processor time.

use heddle_scenario::{Scenario, ScenarioError, Source, load};
use heddle_sim::{Next, SimError};
use serde::Serialize;

use crate::grid::timed;

/// A fixed case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// k = 8 fat-tree, 128 hosts, 100 Mbps and 100 us a link, a permutation of long flows by ECMP.
    A,
    /// HULA's fabric, HULA, web search at 60 %.
    B,
    /// As A with k = 16, 1024 hosts.
    C,
    /// As A with k = 32, 8192 hosts.
    D,
}

impl Case {
    /// All of them.
    pub const ALL: [Case; 4] = [Case::A, Case::B, Case::C, Case::D];

    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Case::A => "a",
            Case::B => "b",
            Case::C => "c",
            Case::D => "d",
        }
    }

    /// The case of a letter.
    pub fn of(name: &str) -> Option<Case> {
        Case::ALL.into_iter().find(|case| case.name() == name)
    }

    /// Its scenario.
    ///
    /// # Errors
    /// If the file that is built in does not load (a test sees that it does).
    pub fn scenario(self) -> Result<Scenario, ScenarioError> {
        let (name, text, overrides): (_, _, &[(&str, &str)]) = match self {
            Case::A => ("bench-a.toml", FAT_TREE, &[("measure.duration", "5s")]),
            Case::B => {
                ("hula-fig5.toml", HULA, &[("workload.load", "0.6"), ("measure.flows", "4000")])
            }
            Case::C => {
                ("bench-a.toml", FAT_TREE, &[("fabric.k", "16"), ("measure.duration", "600ms")])
            }
            Case::D => {
                ("bench-a.toml", FAT_TREE, &[("fabric.k", "32"), ("measure.duration", "200ms")])
            }
        };
        let source = Source::new(name, text);
        let source =
            overrides.iter().fold(source, |source, (key, value)| source.with(*key, *value));
        load(&source, &crate::evaluation::no_files)
    }
}

const FAT_TREE: &str = include_str!("../../../scenarios/bench-a.toml");
const HULA: &str = include_str!("../../../scenarios/hula-fig5.toml");

/// One run of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Speed {
    /// The case's letter.
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

/// Why a case could not be run.
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
pub fn run(case: Case, next: fn() -> Next) -> Result<Speed, BenchError> {
    let scenario = case.scenario()?;
    let (outcome, cpu_seconds) = timed(&scenario, 1, &mut |_| next())?;
    let t = &outcome.totals;
    let simulated_seconds = t.simulated.as_secs_f64();
    Ok(Speed {
        case: case.name(),
        simulator: "heddle",
        version: env!("CARGO_PKG_VERSION"),
        packet_hops: t.packet_hops,
        events: t.events,
        cpu_seconds,
        packet_hops_per_cpu_second: t.packet_hops as f64 / cpu_seconds,
        peak_memory_bytes: peak_memory(),
        simulated_seconds,
        goodput_mbps: t.delivered.0 as f64 * 8.0 / 1e6 / simulated_seconds,
        drops: t.dropped,
        peak_packets: t.peak_packets,
    })
}

/// The process's peak resident memory in bytes, as Linux tells it; 0 elsewhere.
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
    fn every_case_loads() {
        for case in Case::ALL {
            assert!(case.scenario().is_ok(), "{}", case.name());
        }
    }
}

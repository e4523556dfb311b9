//! Nanoseconds of processor time for a packet, by BPF_PROG_RUN of the XDP programs: each scheme
//! beside ECMP, alternating in one run.
//!
//! The kernel's figure for one machine says nothing about another: what counts is the ratio to
//! ECMP. Each measurement checks by the program's own counters that all packets took the path that
//! is meant.

mod cases;
mod network;
mod rates;

use heddle_bpf_loader::{Action, Bench, Clients, Error};
use serde::Serialize;

use crate::rig::Rig;
use cases::Case;
pub use rates::{Load, Rate, rates};

/// The cost of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name.
    pub case: String,
    /// Flows, in an order without pattern.
    pub flows: u32,
    /// Nanoseconds a packet, the wrapper's time taken off: the median over all rounds.
    pub nanoseconds: f64,
    /// The same over ECMP's with as many flows.
    pub to_ecmp: f64,
    /// Packets measured, all of which were forwarded, or, of probes, taken.
    pub packets: u64,
}

/// A failed measurement.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] Error),
    /// Not all packets were forwarded, or, of probes, taken.
    #[error("{case}: {forwarded} of {packets} packets had the verdict that is meant")]
    NotForwarded {
        /// The case.
        case: String,
        /// Packets counted so.
        forwarded: u64,
        /// Packets given.
        packets: u64,
    },
}

/// Measures all cases with each number of flows, in `rounds` rounds over all of them, so that a
/// change of the machine's speed meets all alike.
///
/// # Errors
/// See [`BenchError`].
pub fn run(
    rounds: u32,
    flows: &[u32],
    mut progress: impl FnMut(&str),
) -> Result<Vec<Measured>, BenchError> {
    let mut bench = Bench::new()?;
    let mut rigs = Vec::new();
    for case in cases::all() {
        progress(&case.name);
        let rig = case.rig()?;
        rigs.push((case, rig));
    }
    let mut all = Vec::new();
    for &flows in flows {
        let mut costs = vec![Vec::new(); rigs.len()];
        for round in 0..rounds {
            progress(&format!("{flows} flows, round {} of {rounds}", round + 1));
            for ((case, rig), costs) in rigs.iter_mut().zip(&mut costs) {
                costs.push(once(&mut bench, case, rig, flows)?);
            }
        }
        let medians: Vec<f64> = costs.iter_mut().map(|costs| median(costs)).collect();
        let packets = u64::from(rounds) * u64::from(BATCHES) * PER_BATCH;
        all.extend(rigs.iter().zip(&medians).map(|((case, _), &nanoseconds)| Measured {
            case: case.name.clone(),
            flows,
            nanoseconds,
            to_ecmp: nanoseconds / medians[0],
            packets,
        }));
    }
    Ok(all)
}

/// Batches of one measurement.
const BATCHES: u32 = 3;
/// Packets of a batch (heddle_bpf_loader::Bench).
const PER_BATCH: u64 = 100_000;

fn once(bench: &mut Bench, case: &Case, rig: &mut Rig, flows: u32) -> Result<f64, BenchError> {
    let program = rig.switch.xdp().ok_or(Error::Missing("XDP program"))?;
    let clients =
        if case.fixed || flows == 1 { Clients::AsWritten } else { Clients::Shuffled(flows) };
    let before = rig.count(case.verdict)?;
    let cost = bench.measure(program, &case.frames, clients, BATCHES)?;
    let forwarded = rig.count(case.verdict)? - before;
    if cost.action == Action::Pass || forwarded != cost.packets {
        let (case, packets) = (case.name.clone(), cost.packets);
        return Err(BenchError::NotForwarded { case, forwarded, packets });
    }
    Ok(cost.program)
}

/// The upper one of two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

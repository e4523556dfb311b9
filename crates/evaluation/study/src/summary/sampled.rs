//! Summary of samples: each port's values, and series over frames of time.

use heddle_claims::stats::quantiles;
use heddle_sim::{FlowRecord, Outcome, Samples};

use super::{PortSummary, SHAPE, slowdown, sorted};

pub(super) fn ports(outcome: &Outcome) -> Vec<PortSummary> {
    let samples = &outcome.samples;
    if samples.times.len() <= samples.measured_from {
        return Vec::new();
    }
    (0..samples.ports.len()).map(|port| port_summary(samples, port, outcome)).collect()
}

fn port_summary(samples: &Samples, port: usize, outcome: &Outcome) -> PortSummary {
    let name = &samples.ports[port];
    let queue = sorted(samples.queue_of(port).map(f64::from));
    let shares: Vec<Share> = shares(samples, port).skip(samples.measured_from).collect();
    let counters = outcome.port_counters.iter().find(|l| l.from == name.from && l.to == name.to);
    PortSummary {
        from: name.from.clone(),
        to: name.to.clone(),
        parallel: name.parallel,
        utilisation: mean_share(&shares),
        queue: quantiles(&queue, SHAPE),
        dropped: counters.map_or(0, |counters| counters.dropped),
        series: series(samples, port),
        queue_peaks: queue_peaks(samples, port),
    }
}

/// The longest queue of a port in each frame.
fn queue_peaks(samples: &Samples, port: usize) -> Vec<u32> {
    let rows = samples.queued.chunks(samples.ports.len().max(1));
    let queue: Vec<u32> = rows.filter_map(|row| row.get(port).copied()).collect();
    let chunks = queue.chunks(samples_per_frame(samples));
    chunks.map(|chunk| chunk.iter().copied().max().unwrap_or(0)).collect()
}

/// Samples that make one frame, so that a run has at most [`SHAPE`] of them.
fn samples_per_frame(samples: &Samples) -> usize {
    samples.times.len().div_ceil(SHAPE).max(1)
}

pub(super) fn frames(samples: &Samples) -> Vec<f64> {
    let chunks = samples.times.chunks(samples_per_frame(samples));
    chunks.filter_map(|chunk| chunk.last()).map(|at| at.as_secs_f64()).collect()
}

pub(super) fn series(samples: &Samples, port: usize) -> Vec<u16> {
    let shares: Vec<Share> = shares(samples, port).collect();
    let chunks = shares.chunks(samples_per_frame(samples));
    chunks.map(|chunk| (mean_share(chunk) * 1000.0).round() as u16).collect()
}

/// The utilisation of a port for a time.
struct Share {
    utilisation: f64,
    seconds: f64,
}

fn shares(samples: &Samples, port: usize) -> impl Iterator<Item = Share> + '_ {
    let intervals = samples.utilisation_of(port).zip(samples.intervals());
    intervals.map(|(utilisation, time)| Share { utilisation, seconds: time.as_secs_f64() })
}

/// The mean over time: the last interval of a run may be a short one.
fn mean_share(shares: &[Share]) -> f64 {
    let seconds: f64 = shares.iter().map(|share| share.seconds).sum();
    let sum: f64 = shares.iter().map(|share| share.utilisation * share.seconds).sum();
    if seconds > 0.0 { sum / seconds } else { 0.0 }
}

pub(super) fn slowdowns(flows: &[FlowRecord], frames: &[f64]) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0u32); frames.len()];
    for flow in flows {
        let frame = frames.partition_point(|&end| end < flow.start.as_secs_f64());
        if let Some((sum, count)) = sums.get_mut(frame) {
            *sum += slowdown(flow);
            *count += 1;
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}

//! Batches of a run's flows: the measured ones in order of their starts, in parts of equal size.

use heddle_claims::stats::mean;
use heddle_sim::FlowRecord;

/// Batches of a run.
const BATCHES: usize = 20;

/// Flows of a batch, at least.
const LEAST_FLOWS: usize = 5;

/// Means of a value over the batches of a run; empty if the run has too few flows.
pub fn batches(flows: &[FlowRecord], value: impl Fn(&FlowRecord) -> f64) -> Vec<f64> {
    let size = flows.len() / BATCHES;
    if size < LEAST_FLOWS {
        return Vec::new();
    }
    let mut flows: Vec<&FlowRecord> = flows.iter().collect();
    flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    let skipped = flows.len() - size * BATCHES;
    let batches = flows[skipped..].chunks(size);
    let values = |batch: &[&FlowRecord]| batch.iter().map(|flow| value(flow)).collect::<Vec<_>>();
    batches.filter_map(|batch| mean(&values(batch))).collect()
}

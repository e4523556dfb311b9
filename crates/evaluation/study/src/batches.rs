//! Batches of a run's flows: the measured ones in order of their starts, in parts of equal size.

use heddle_claims::stats::mean;
use heddle_sim::FlowRecord;

/// Batches of a run.
const BATCHES: usize = 20;

/// Flows of a batch, at least.
const LEAST_FLOWS: usize = 5;

/// Means of a value over the batches of a run; empty if the run has too few flows, or if flows of
/// several batches start at once, as those of a permutation: they have no order in time.
pub fn batches(flows: &[FlowRecord], value: impl Fn(&FlowRecord) -> f64) -> Vec<f64> {
    let size = flows.len() / BATCHES;
    if size < LEAST_FLOWS {
        return Vec::new();
    }
    let mut flows: Vec<&FlowRecord> = flows.iter().collect();
    flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    let skipped = flows.len() - size * BATCHES;
    let batches = flows[skipped..].chunks(size);
    if batches.clone().zip(batches.clone().skip(1)).any(|(a, b)| a[0].start == b[0].start) {
        return Vec::new();
    }
    let values = |batch: &[&FlowRecord]| batch.iter().map(|flow| value(flow)).collect::<Vec<_>>();
    batches.filter_map(|batch| mean(&values(batch))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_units::{Bytes, Time};

    /// The flow with the number `index`, which takes `index` microseconds.
    fn flow(index: u32, start: Time) -> FlowRecord {
        FlowRecord {
            id: index,
            index,
            workload: 0,
            start,
            from: index,
            to: 0,
            size: Bytes(1),
            fct: Time::micros(index.into()),
            ideal_fct: Time::micros(1),
        }
    }

    fn micros(flow: &FlowRecord) -> f64 {
        flow.fct.as_secs_f64() * 1e6
    }

    #[test]
    fn flows_that_start_at_once_have_no_batches() {
        let rising: Vec<_> = (0..100).map(|i| flow(i, Time::micros(i.into()))).collect();
        assert_eq!(batches(&rising, micros)[..2], [2.0, 7.0]);
        let at_once: Vec<_> = (0..100).map(|i| flow(i, Time::ZERO)).collect();
        assert!(batches(&at_once, micros).is_empty());
    }
}

//! The outcome of a run from those of its parts.

use heddle_units::Bytes;

use super::merge::Merge;
use crate::outcome::{FlowRecord, Outcome, Samples, Totals};
use crate::simulation::Ended;

/// Joins the ends of all parts, the first of which has what all have alike.
pub(super) fn join(mut ended: Vec<Ended>, merge: &Merge) -> Outcome {
    let mut port_counters: Vec<_> = ended.iter_mut().flat_map(Ended::take_port_counters).collect();
    port_counters.sort_by_key(|(port, _)| *port);
    let port_counters = port_counters.into_iter().map(|(_, counters)| counters).collect();
    let flows = in_order(&ended, &merge.finished);
    let first = ended.remove(0);
    let mut whole = first.outcome;
    let mut alive = first.packets;
    for Ended { outcome, packets, .. } in ended {
        alive += packets;
        whole.unfinished.extend(outcome.unfinished);
        whole.long_flows.extend(outcome.long_flows);
        add_samples(&mut whole.samples, &outcome.samples);
        whole.scheme = [whole.scheme, outcome.scheme].into_iter().sum();
        whole.totals = sum(whole.totals, outcome.totals);
    }
    whole.unfinished.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    whole.long_flows.sort_by_key(|flow| (flow.start, flow.from, flow.to));
    whole.totals.events = merge.events;
    whole.totals.measured = (flows.len() + whole.unfinished.len()) as u64;
    whole.totals.unfinished = whole.unfinished.len() as u64;
    whole.totals.peak_packets = merge.peak as u64;
    whole.totals.in_flight = alive as u64;
    Outcome { flows, port_counters, digest: merge.digest, ..whole }
}

/// The measured flows in the order in which they finished, of which that of their parts is known.
fn in_order(ended: &[Ended], finished: &[u16]) -> Vec<FlowRecord> {
    let mut of_parts: Vec<_> = ended.iter().map(|part| part.outcome.flows.iter()).collect();
    finished.iter().filter_map(|&part| of_parts[usize::from(part)].next().copied()).collect()
}

/// Adds samples of the same times: a port is idle in all parts but its own.
fn add_samples(whole: &mut Samples, part: &Samples) {
    let add = |whole: &mut [u32], part: &[u32]| {
        whole.iter_mut().zip(part).for_each(|(sum, one)| *sum += one);
    };
    add(&mut whole.sent, &part.sent);
    add(&mut whole.queued, &part.queued);
    add(&mut whole.dropped, &part.dropped);
    add(&mut whole.marked, &part.marked);
}

/// Sums of two parts. What is not named is the same in both, or counted elsewhere.
fn sum(a: Totals, b: Totals) -> Totals {
    Totals {
        packet_hops: a.packet_hops + b.packet_hops,
        delivered: Bytes(a.delivered.0 + b.delivered.0),
        delivered_in_window: Bytes(a.delivered_in_window.0 + b.delivered_in_window.0),
        segments: a.segments + b.segments,
        retransmitted: a.retransmitted + b.retransmitted,
        timeouts: a.timeouts + b.timeouts,
        fast_recoveries: a.fast_recoveries + b.fast_recoveries,
        reordered: a.reordered + b.reordered,
        reinjected: Bytes(a.reinjected.0 + b.reinjected.0),
        penalties: a.penalties + b.penalties,
        refused_joins: a.refused_joins + b.refused_joins,
        dropped: a.dropped + b.dropped,
        dropped_at_senders: a.dropped_at_senders + b.dropped_at_senders,
        lost_to_failures: a.lost_to_failures + b.lost_to_failures,
        unroutable: a.unroutable + b.unroutable,
        ecn_marked: a.ecn_marked + b.ecn_marked,
        trimmed: a.trimmed + b.trimmed,
        to_closed_connections: a.to_closed_connections + b.to_closed_connections,
        sent: a.sent + b.sent,
        received: a.received + b.received,
        state_bytes: a.state_bytes.max(b.state_bytes),
        ..a
    }
}

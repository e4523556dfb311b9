//! Ends of flows: FIN, silence, ports that are used again.

use heddle_balancer_maps::abi::{Counter, FlowState};
use heddle_harness::{Backend, Setup};

use crate::traces::world::{Traced, backend, connection, flow, open, with_port};

/// Ticks (settings of `Setup`), state before, last tick at which the entry counts.
#[test]
fn each_state_expires_in_its_time() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let (new, learning, established, closing) = (flow(1), connection(2), flow(3), flow(4));
    cluster.to(0, &new.syn(&[]));
    cluster.to(0, &learning.syn());
    cluster.plain(0, &established);
    cluster.plain(0, &closing);
    cluster.to(0, &closing.fin());
    let flows = [closing, new, learning.primary, established];
    let known = |cluster: &mut heddle_harness::Cluster| {
        flows.map(|flow| {
            let trace = cluster.explain(0, &flow.ack(&[], 1)).unwrap().trace.unwrap();
            FlowState::from_number(u32::from(trace.flow_state) & 7).unwrap()
        })
    };
    use FlowState::{Closing, Established, Free, Learning, New};
    let states = [
        (299, [Closing, New, Learning, Established]),
        (1, [Free, New, Learning, Established]),
        (299, [Free, New, Learning, Established]),
        (1, [Free, Free, Free, Established]),
        (17_399, [Free, Free, Free, Established]),
        (1, [Free, Free, Free, Free]),
    ];
    for (ticks, expected) in states {
        cluster.advance(ticks).unwrap();
        assert_eq!(known(&mut cluster), expected, "at {}", cluster.now());
    }
}

/// Clocks of two processors may differ by a tick: what one wrote the other takes for now.
#[test]
fn a_clock_a_tick_behind_forgets_nothing() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    cluster.advance(1_u32.wrapping_neg()).unwrap();
    let (sent, seen) = cluster.seen(0, &connection.data(1));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentFlow]));
    assert_eq!(cluster.join(0, &connection, &with_port(connection.primary, 9)), home);
}

/// Packets now and then are enough to stay.
#[test]
fn packets_keep_a_flow_alive() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    for _ in 0..5 {
        cluster.advance(17_999).unwrap();
        assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home);
        assert_eq!(cluster.entry(0, &flow).unwrap().seen, cluster.now());
    }
}

/// Behind a FIN a flow still goes on (half closed, retransmissions), and a SYN opens another
/// connection.
#[test]
fn a_port_may_be_used_again_after_fin() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    assert_eq!(cluster.to(0, &flow.fin()), home);
    assert_eq!(cluster.to(0, &flow.ack(&[], 0)), home);
    assert_eq!(cluster.state(0, &flow), Some(FlowState::Closing));
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    assert_ne!(cluster.to(0, &flow.syn(&[])), home, "{home} drains");
    assert_eq!(cluster.state(0, &flow), Some(FlowState::New));
}

/// A SYN out of the blue, forged perhaps, does not move a flow that is in use.
#[test]
fn a_syn_does_not_move_a_live_flow() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    let (sent, seen) = cluster.seen(0, &flow.syn(&[]));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentSyn, Counter::FlowKept]));
    assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home);
}

/// A handshake under way stays with its backend while backends change: its SYN comes again, without
/// MPTCP at last, as Linux's does (net.mptcp.syn_retrans_before_tcp_fallback).
#[test]
fn a_syn_that_comes_again_goes_where_it_went() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.to(0, &connection.syn());
    cluster.backends[home].weight = 0;
    cluster.backends.push(Backend::of_weight(1000));
    cluster.publish().unwrap();
    assert_eq!(cluster.to(0, &connection.syn()), home);
    assert_eq!(cluster.to(0, &connection.primary.syn(&[])), home);
    assert_eq!(cluster.to(0, &connection.primary.ack(&[], 0)), home);
}

/// A subflow's port is used again for another one of the same connection: it lives as long as any.
#[test]
fn a_joins_port_may_be_used_again_after_fin() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflow = with_port(connection.primary, 50_000);
    assert_eq!(cluster.join(0, &connection, &subflow), home);
    assert_eq!(cluster.to(0, &subflow.fin()), home);
    assert_eq!(cluster.join(0, &connection, &subflow), home);
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::Established));
    cluster.advance(1000).unwrap();
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
}

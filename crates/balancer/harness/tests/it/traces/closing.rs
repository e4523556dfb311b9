//! Ends of flows: FIN, silence, ports that are used again.

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{Counter, FlowState, TargetState};
use heddle_harness::{Backend, Cluster, Flow, Setup};

use crate::traces::world::{Traced, backend, connection, flow, numbered, open, with_port};

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
    let next = cluster.to(0, &flow.syn(&[]));
    assert_ne!(next, home, "{home} drains");
    assert_eq!(cluster.to(0, &flow.ack(&[], 0)), next);
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
    cluster.advance(1000).unwrap();
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::Established));
}

/// Connections of clients that use a few ports again and again, as proxies and NATs do. Of a backend that
/// is drained or removed each next one goes elsewhere, whole, and it is the entry's when it has gone on for
/// a second. Each connection has numbers of its own.
#[test]
fn a_drained_backend_gets_no_connection_of_a_port_that_is_used_again() {
    for state in [TargetState::Up, TargetState::Removed] {
        for end in [Flow::fin, Flow::rst, |flow: &Flow| flow.ack(&[], 0)] {
            let Some(mut cluster) = open(Setup::default()) else { return };
            let flows = (1..).map(flow).filter(|flow| cluster.hashed(flow) == 0);
            let flows: Vec<Flow> = flows.take(4).collect();
            for flow in &flows {
                assert_eq!(cluster.plain(0, flow), 0);
            }
            cluster.backends[0] = Backend { weight: 0, state };
            cluster.publish().unwrap();
            for flow in &flows {
                assert_eq!(cluster.to(0, &end(flow)), 0, "the one that is open stays");
            }
            for round in 1..4 {
                cluster.advance(60).unwrap();
                for flow in &flows {
                    let start = round * 50_000_000;
                    let home = cluster.to(0, &numbered(flow.syn(&[]), start));
                    assert_ne!(home, 0, "round {round}");
                    for (ahead, data) in [(1, 0), (1, 100), (101, 0)] {
                        let frame = numbered(flow.ack(&[], data), start + ahead);
                        assert_eq!(cluster.to(0, &frame), home, "round {round}, {ahead}");
                    }
                    assert_eq!(cluster.to(0, &numbered(end(flow), start + 101)), home);
                    assert_eq!(cluster.to(0, &numbered(flow.ack(&[], 0), start + 102)), home);
                }
            }
        }
    }
}

/// The one that goes on has the entry a second later, and other balancers know its backend.
#[test]
fn a_connection_on_a_port_that_is_used_again_is_registered() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    let flow = flow(1);
    let old = cluster.plain(0, &flow);
    cluster.backends[old].weight = 0;
    cluster.publish().unwrap();
    cluster.advance(60).unwrap();
    assert_eq!(cluster.to(0, &flow.ack(&[], 1)), old, "registered with others, too");
    assert_eq!(cluster.to(0, &flow.ack(&[], 1)), old);
    let start = 50_000_000;
    let home = cluster.to(0, &numbered(flow.syn(&[]), start));
    for seconds in 0..4 {
        cluster.advance(60).unwrap();
        for _ in 0..3 {
            let frame = numbered(flow.ack(&[], 10), start + 1 + 1000 * seconds);
            assert_eq!(cluster.to(0, &frame), home, "at {seconds} s");
        }
    }
    cluster.kill(0).unwrap();
    for balancer in [1, 2] {
        assert_eq!(cluster.to(balancer, &numbered(flow.ack(&[], 10), start + 9000)), home);
    }
}

/// Others know of it from its SYN on, and for as long as it says nothing.
#[test]
fn a_connection_on_a_port_that_is_used_again_is_told_with_its_syn() {
    for silence in [0, 1000] {
        let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
        let flows: Vec<Flow> =
            (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(12).collect();
        for flow in &flows {
            cluster.plain(0, flow);
        }
        cluster.backends[0].weight = 0;
        cluster.publish().unwrap();
        cluster.advance(60).unwrap();
        for flow in &flows {
            (0..2).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), 0));
        }
        let start = 50_000_000;
        let mut homes = Vec::new();
        for flow in &flows {
            homes.push(cluster.to(0, &numbered(flow.syn(&[]), start)));
            cluster.to(0, &numbered(flow.ack(&[], 0), start + 1));
        }
        cluster.advance(silence).unwrap();
        cluster.kill(0).unwrap();
        for (flow, home) in flows.iter().zip(&homes) {
            for balancer in [1, 2] {
                let frame = numbered(flow.ack(&[], 10), start + 1);
                assert_eq!(cluster.to(balancer, &frame), *home, "at {balancer} after {silence}");
            }
        }
    }
}

/// A client that reuses its ports early chooses a number of the next SYN that is little above the last
/// connection's (tcp_tw_reuse of Linux: 65,537): it belongs to no candidate of that one.
#[test]
fn a_candidate_ends_with_the_next_syn() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let flows: Vec<Flow> = (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(20).collect();
    flows.iter().for_each(|flow| assert_eq!(cluster.plain(0, flow), 0));
    let weigh = |cluster: &mut Cluster, weight| {
        cluster.backends[0].weight = weight;
        cluster.publish().unwrap();
    };
    weigh(&mut cluster, 0);
    for (round, weight) in [(1, 0), (2, 1), (3, 1), (4, 0), (5, 1)] {
        weigh(&mut cluster, weight);
        cluster.advance(61).unwrap();
        for flow in &flows {
            let start = round * 85_000;
            let home = cluster.to(0, &numbered(flow.syn(&[]), start));
            assert_eq!(home == 0, weight == 1, "round {round}");
            for (ahead, data) in [(1, 0), (1, 100), (20_000, 100)] {
                let frame = numbered(flow.ack(&[], data), start + ahead);
                assert_eq!(cluster.to(0, &frame), home, "round {round}, {ahead}");
            }
            assert_eq!(cluster.to(0, &numbered(flow.fin(), start + 20_100)), home);
            assert_eq!(cluster.to(0, &numbered(flow.ack(&[], 0), start + 20_101)), home);
        }
    }
}

/// A backend that still has an older connection of the port answers a SYN with an acknowledgement of
/// that one; the client resets it (RFC 9293, 3.10.7.3), and its next SYN opens.
#[test]
fn the_reset_of_an_older_connections_answer_reaches_its_backend() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flows: Vec<Flow> = (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(20).collect();
    flows.iter().for_each(|flow| assert_eq!(cluster.plain(0, flow), 0));
    cluster.backends[0].weight = 0;
    cluster.publish().unwrap();
    cluster.advance(61).unwrap();
    let (older, start) = (7, 50_000_000);
    for flow in &flows {
        let syn = numbered(flow.syn(&[]), start);
        let home = cluster.to(0, &syn);
        assert_ne!(home, 0);
        assert_eq!(cluster.to(0, &numbered(flow.rst(), older)), home);
        assert_eq!(cluster.to(0, &syn), home);
        for (ahead, data) in [(1, 0), (1, 100)] {
            assert_eq!(cluster.to(0, &numbered(flow.ack(&[], data), start + ahead)), home);
        }
        assert_eq!(cluster.to(0, &numbered(flow.rst(), older)), 0, "the flow that was there");
    }
}

/// Connections of one port that follow each other within a second, the server's end first: none goes to the drained
/// backend of the first one.
#[test]
fn a_candidates_port_is_free_behind_its_end() {
    for end in [Flow::fin, Flow::rst] {
        let Some(mut cluster) = open(Setup::default()) else { return };
        let flows: Vec<Flow> =
            (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(20).collect();
        flows.iter().for_each(|flow| assert_eq!(cluster.plain(0, flow), 0));
        cluster.backends[0].weight = 0;
        cluster.publish().unwrap();
        flows.iter().for_each(|flow| assert_eq!(cluster.to(0, &end(flow)), 0));
        for round in 1..4 {
            let start = round * 500_000_000;
            for flow in &flows {
                let home = cluster.to(0, &numbered(flow.syn(&[]), start));
                assert_ne!(home, 0, "round {round}");
                for frame in [flow.ack(&[], 0), flow.ack(&[], 100), end(flow)] {
                    assert_eq!(cluster.to(0, &numbered(frame, start + 1)), home, "round {round}");
                }
            }
        }
    }
}

/// A balancer has come back empty: it does not know that others keep an old end of the flow on which it opens a
/// connection where the hash says. Some minutes later they do not, and the connection may move to them.
#[test]
fn what_others_told_of_an_end_is_soon_forgotten() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    let flows: Vec<Flow> = (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(20).collect();
    cluster.backends[0].weight = 0;
    cluster.publish().unwrap();
    for flow in &flows {
        assert_ne!(cluster.plain(0, flow), 0);
    }
    cluster.backends[0].weight = 1;
    cluster.publish().unwrap();
    for flow in &flows {
        (0..3).for_each(|_| assert_ne!(cluster.to(0, &flow.ack(&[], 1)), 0));
        assert_ne!(cluster.to(0, &flow.fin()), 0);
    }
    cluster.kill(0).unwrap();
    cluster.revive(0).unwrap();
    let settings = cluster.settings();
    cluster.advance(settings.refresh + settings.closing_timeout + 1).unwrap();
    for flow in &flows {
        assert_eq!(cluster.plain(0, flow), 0);
    }
    cluster.kill(0).unwrap();
    for flow in &flows {
        for balancer in [1, 2] {
            assert_eq!(cluster.to(balancer, &flow.ack(&[], 10)), 0, "at {balancer}");
        }
    }
}

/// A new connection on a used port, and a forged SYN in its first second, or in its silence behind that: it
/// goes on.
#[test]
fn a_forged_syn_ends_no_connection_on_a_used_port() {
    for (silence, then) in [(1, 90), (90, 1), (700, 1)] {
        let Some(mut cluster) = open(Setup::default()) else { return };
        let flows: Vec<Flow> =
            (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(10).collect();
        for flow in &flows {
            assert_eq!(cluster.plain(0, flow), 0);
        }
        cluster.backends[0].weight = 0;
        cluster.publish().unwrap();
        cluster.advance(60).unwrap();
        let start = 50_000_000;
        let opened: Vec<usize> = flows
            .iter()
            .map(|flow| {
                let home = cluster.to(0, &numbered(flow.syn(&[]), start));
                assert_eq!(cluster.to(0, &numbered(flow.ack(&[], 0), start + 1)), home);
                home
            })
            .collect();
        cluster.advance(silence).unwrap();
        for flow in &flows {
            assert_ne!(cluster.to(0, &numbered(flow.syn(&[]), 1 << 31)), 0);
        }
        for (flow, home) in flows.iter().zip(&opened) {
            for ahead in [1, 101] {
                let frame = numbered(flow.ack(&[], 100), start + ahead);
                assert_eq!(cluster.to(0, &frame), *home, "after {silence}");
            }
        }
        cluster.advance(then).unwrap();
        for (flow, home) in flows.iter().zip(&opened) {
            for ahead in [201, 301] {
                let frame = numbered(flow.ack(&[], 100), start + ahead);
                assert_eq!(cluster.to(0, &frame), *home, "{then} later");
            }
        }
    }
}

/// Somebody forges an end and a SYN while a backend begins to drain: the flow goes on.
#[test]
fn a_forged_end_and_a_syn_move_no_flow_of_a_backend_that_drains() {
    for end in [Flow::fin, Flow::rst] {
        let Some(mut cluster) = open(Setup::default()) else { return };
        let flows: Vec<Flow> =
            (1..).map(flow).filter(|f| cluster.hashed(f) == 0).take(10).collect();
        for flow in &flows {
            assert_eq!(cluster.plain(0, flow), 0);
            assert_eq!(cluster.to(0, &numbered(end(flow), 1 << 30)), 0);
        }
        cluster.backends[0].weight = 0;
        cluster.publish().unwrap();
        for flow in &flows {
            assert_ne!(cluster.to(0, &numbered(flow.syn(&[]), 1 << 30)), 0);
            (0..3).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 10)), 0));
        }
    }
}

/// The end of a flow is told to the balancers that keep it, and a last ACK behind it does not make it live.
#[test]
fn an_ended_flow_is_ended_everywhere() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    for number in 1..10 {
        let connection = connection(number);
        let primary = connection.primary;
        cluster.connect(0, &connection);
        cluster.to(0, &primary.data(1));
        cluster.to(0, &primary.fin());
        cluster.to(0, &primary.data(0));
        cluster.advance(70).unwrap();
        cluster.to(0, &primary.data(0));
        let states: Vec<FlowState> =
            (0..3).filter_map(|balancer| cluster.state(balancer, &primary)).collect();
        assert!(states.len() > 1, "others keep it");
        assert!(states.iter().all(|state| *state == FlowState::ClosingStateful), "{states:?}");
    }
}

/// Flows that closed long ago are evicted before live ones, and are not counted as evictions.
/// A drain begins a new epoch, in which flows register again, one registration a packet. A flow that ends with
/// its second packet tells all the same.
#[test]
fn a_flow_that_ends_while_it_registers_again_is_ended_everywhere() {
    let setup = Setup { balancers: 2, backends: 8, ..Setup::default() };
    let Some(mut cluster) = open(setup) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflow = with_port(connection.primary, 7);
    cluster.join(0, &connection, &subflow);
    for _ in 0..4 {
        cluster.advance(20).unwrap();
        cluster.to(0, &connection.data(10));
        cluster.to(0, &subflow.data(10));
    }
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    cluster.advance(120).unwrap();
    for flow in [connection.primary, subflow] {
        for frame in [flow.data(0), flow.fin(), flow.ack(&[], 0)] {
            assert_eq!(cluster.to(0, &frame), home);
        }
        for balancer in 0..2 {
            let state = cluster.state(balancer, &flow);
            assert_eq!(state, Some(FlowState::ClosingStateful), "at {balancer}");
        }
    }
}

#[test]
fn closed_flows_give_way_first() {
    let sizes = Sizes { flows: 64, ..Setup::default().sizes };
    let Some(mut cluster) = open(Setup { sizes, ..Setup::default() }) else { return };
    let room = cluster.balancer(0).unwrap().maps.flows.room() as u16;
    for number in 0..2 * room {
        let connection = connection(number);
        cluster.connect(0, &connection);
        cluster.to(0, &connection.primary.fin());
    }
    cluster.advance(301).unwrap();
    let ((), seen) = cluster
        .watch(|cluster| {
            for number in 0..room / 4 {
                cluster.send(0, &flow(10_000 + number).syn(&[]))?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(seen.count(Counter::FlowAdded), u64::from(room / 4));
    assert_eq!(seen.count(Counter::FlowEvicted), 0);
}

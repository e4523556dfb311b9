//! Backends that fail their health checks only lately, or at one balancer alone, or that are
//! removed: nothing that they have is lost.

use heddle_balancer_maps::abi::{Counter, TargetState};
use heddle_harness::{Cluster, Connection, Flow, Setup};

use crate::traces::world::{Traced, backend, connection, flow, numbered, open, with_port};

fn three() -> Setup {
    Setup { balancers: 3, backends: 8, ..Setup::default() }
}

fn set(cluster: &mut Cluster, backend: usize, state: TargetState) {
    cluster.backends[backend].state = state;
    cluster.publish().unwrap();
}

/// Flows of the client's other ports.
fn others(flow: Flow) -> impl Iterator<Item = Flow> {
    (2..400).map(move |port| with_port(flow, port))
}

#[test]
fn its_flows_stay_and_new_ones_go_elsewhere() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let established = flow(1);
    let home = cluster.plain(0, &established);
    let half_open = others(established).find(|flow| cluster.hashed(flow) == home).unwrap();
    assert_eq!(cluster.to(0, &half_open.syn(&[])), home);
    let hashed: Vec<Flow> = others(flow(2)).filter(|flow| cluster.hashed(flow) == home).collect();

    set(&mut cluster, home, TargetState::Failing);
    let (sent, seen) = cluster.seen(0, &established.ack(&[], 10));
    assert_eq!(backend(&sent), home);
    assert!(!seen.at(0).contains(&Counter::FlowRehashed), "{seen:?}");
    assert_ne!(cluster.to(0, &established.syn(&[])), home, "a SYN opens another connection");
    assert_eq!(cluster.to(0, &numbered(established.ack(&[], 10), 1 << 20)), home, "or is forged");
    assert_ne!(cluster.to(0, &half_open.syn(&[])), home, "it has not answered");
    assert!(hashed.len() > 30, "{} flows have its slots", hashed.len());
    let (opened, unknown) = hashed.split_at(hashed.len() / 2);
    let taken: Vec<usize> = opened.iter().map(|flow| cluster.to(0, &flow.syn(&[]))).collect();
    assert!(!taken.contains(&home), "{taken:?}");
    assert!(taken.iter().any(|other| *other != taken[0]), "the others share them: {taken:?}");
    for flow in unknown {
        assert_eq!(cluster.to(0, &flow.ack(&[], 10)), home, "in mid-stream the hash still counts");
    }

    set(&mut cluster, home, TargetState::Down);
    assert_ne!(cluster.to(0, &established.ack(&[], 10)), home);
}

/// If all fail, the checks may be wrong.
#[test]
fn where_all_fail_the_hash_counts() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let hashed: Vec<(Flow, usize)> =
        others(flow(1)).take(20).map(|flow| (flow, cluster.hashed(&flow))).collect();
    for backend in &mut cluster.backends {
        backend.state = TargetState::Failing;
    }
    cluster.publish().unwrap();
    for (flow, hashed) in hashed {
        assert_eq!(cluster.to(0, &flow.syn(&[])), hashed);
    }
}

#[test]
fn joins_reach_it() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    set(&mut cluster, home, TargetState::Failing);
    for (balancer, subflow) in (0..3).zip(others(connection.primary)) {
        assert_eq!(cluster.join(balancer, &connection, &subflow), home);
    }
}

/// One balancer alone has found it down for a moment. What comes to it, joins and subflows that
/// another one had, goes where it belongs.
#[test]
fn a_false_alarm_at_one_balancer_moves_nothing() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let plain = others(flow(3)).find(|flow| cluster.hashed(flow) == home).unwrap();
    assert_eq!(cluster.plain(0, &plain), home);
    cluster.backends[home].state = TargetState::Failing;
    cluster.publish_to(1, &[0, 1, 2]).unwrap();
    cluster.backends[home].state = TargetState::Up;
    assert_eq!(cluster.to(1, &connection.data(10)), home);
    assert_eq!(cluster.to(1, &plain.ack(&[], 10)), home);
    for subflow in others(connection.primary).take(10) {
        assert_eq!(cluster.join(1, &connection, &subflow), home);
    }
}

/// A flow that was opened meanwhile stays where it was placed, also at a balancer that comes to
/// have it later.
#[test]
fn flows_opened_meanwhile_are_found_by_other_balancers() {
    let Some(mut cluster) = open(three()) else { return };
    let home = cluster.hashed(&flow(1));
    let hashed = others(flow(1)).filter(|flow| cluster.hashed(flow) == home);
    let hashed: Vec<Flow> = hashed.take(20).collect();
    set(&mut cluster, home, TargetState::Failing);
    let placed: Vec<(Flow, usize)> =
        hashed.into_iter().map(|flow| (flow, cluster.plain(0, &flow))).collect();
    assert!(placed.len() == 20 && placed.iter().all(|(_, at)| *at != home), "{placed:?}");
    set(&mut cluster, home, TargetState::Up);
    for (flow, at) in &placed {
        assert_eq!(cluster.to(0, &flow.ack(&[], 10)), *at);
        assert_eq!(cluster.to(0, &flow.ack(&[], 10)), *at);
    }
    cluster.crash(0);
    cluster.publish().unwrap();
    for (flow, at) in &placed {
        for balancer in [1, 2] {
            assert_eq!(cluster.to(balancer, &flow.ack(&[], 10)), *at, "at balancer {balancer}");
        }
    }
}

/// A connection that was opened past a failing backend, and whose balancer fails before the
/// client's next packet.
#[test]
fn a_handshake_past_it_goes_on_at_other_balancers() {
    let Some(mut cluster) = open(three()) else { return };
    let home = cluster.hashed(&flow(1));
    let hashed = |flow: &Flow| cluster.hashed(flow) == home;
    let plain: Vec<Flow> = others(flow(1)).filter(hashed).take(20).collect();
    let opened = |c: &Connection| cluster.hashed(&c.primary) == home;
    let mptcp: Vec<Connection> = (3..900).map(connection).filter(opened).take(20).collect();
    set(&mut cluster, home, TargetState::Failing);
    let placed: Vec<usize> = plain.iter().map(|flow| cluster.to(0, &flow.syn(&[]))).collect();
    let homes: Vec<usize> = mptcp.iter().map(|c| cluster.to(0, &c.syn())).collect();
    assert!((placed.len(), homes.len()) == (20, 20) && !placed.contains(&home));

    cluster.crash(0);
    cluster.publish().unwrap();
    for (number, (flow, at)) in plain.iter().zip(&placed).enumerate() {
        assert_eq!(cluster.to(1 + number % 2, &flow.ack(&[], 10)), *at, "plain flow {number}");
    }
    for (number, (connection, at)) in mptcp.iter().zip(&homes).enumerate() {
        let balancer = 1 + number % 2;
        assert_eq!(cluster.to(balancer, &connection.first_data(10)), *at, "connection {number}");
        for (balancer, subflow) in (1..3).zip(others(connection.primary)) {
            assert_eq!(cluster.join(balancer, connection, &subflow), *at, "join of {number}");
        }
    }
}

/// Ports that are used again open connections elsewhere, whose tokens the other balancers learn,
/// too.
#[test]
fn nothing_begins_at_a_backend_that_is_removed() {
    let Some(mut cluster) = open(three()) else { return };
    let kept = connection(1);
    let home = cluster.connect(0, &kept);
    let opened = |c: &Connection| cluster.hashed(&c.primary) == home;
    let old = (3..400).map(connection).find(opened).unwrap();
    let plain = others(flow(2)).find(|flow| cluster.hashed(flow) == home).unwrap();
    assert_eq!((cluster.connect(0, &old), cluster.plain(0, &plain)), (home, home));
    set(&mut cluster, home, TargetState::Removed);
    assert_eq!(cluster.to(0, &kept.data(10)), home);
    assert_eq!(cluster.to(0, &plain.ack(&[], 10)), home);
    assert_ne!(cluster.to(0, &plain.syn(&[])), home);
    let again = Connection::new(old.primary, 4000);
    let its_home = cluster.connect(0, &again);
    assert_ne!(its_home, home);
    for (balancer, subflow) in (0..3).zip(others(again.primary)) {
        assert_eq!(cluster.join(balancer, &again, &subflow), its_home);
    }
}

/// Datagrams have no connection that would end: a client that goes on to send moves, in fragments, too.
#[test]
fn udp_leaves_a_backend_that_is_removed() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.to(0, &flow.datagram(100));
    for _ in 0..3 {
        assert_eq!(cluster.to(0, &flow.datagram(100)), home);
    }
    cluster.backends[home].weight = 0;
    set(&mut cluster, home, TargetState::Up);
    assert_eq!(cluster.to(0, &flow.datagram(100)), home, "it drains");
    set(&mut cluster, home, TargetState::Removed);
    let (sent, seen) =
        cluster.seen(0, &heddle_harness::fragments(&flow.datagram(3000), 1440, 9)[0]);
    assert_ne!(backend(&sent), home);
    assert!(seen.at(0).contains(&Counter::SentFragment), "{seen:?}");
    let next = cluster.to(0, &flow.datagram(100));
    assert_ne!(next, home);
    for _ in 0..3 {
        assert_eq!(cluster.to(0, &flow.datagram(100)), next);
    }
}

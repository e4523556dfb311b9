//! Backends that have stopped to answer, before a check says so: the time until a new connection's SYN
//! goes elsewhere, in ticks.

use heddle_balancer_maps::abi::FLOWS_UNEXPLAINED;
use heddle_harness::{Cluster, Flow, Setup};

use crate::traces::world::{Traced, flow, open, set, with_port};

/// Ticks of a second.
const SECOND: u32 = 60;
const DEAD: usize = 0;

/// Flows whose hash gives the backend that is dead.
fn flows(cluster: &Cluster, many: usize) -> Vec<Flow> {
    let all = (1..2000).map(|port| with_port(flow(1), port));
    all.filter(|flow| cluster.hashed(flow) == DEAD).take(many).collect()
}

fn syn(cluster: &Cluster, flow: &Flow) -> usize {
    cluster.to(0, &flow.syn(&[]))
}

/// Of several connections to it two wait for their second repetition, after 3 s; all others move with
/// their first one, after 1 s, and those that begin by then at once.
#[test]
fn new_connections_leave_a_silent_backend_with_their_first_repetition() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let all = flows(&cluster, 10);
    let (begun, later) = all.split_at(8);
    assert!(begun.iter().all(|flow| syn(&cluster, flow) == DEAD));
    assert!(begun.iter().all(|flow| syn(&cluster, flow) == DEAD), "twice by the network");
    cluster.advance(SECOND).unwrap();
    let after_1_s: Vec<usize> = begun.iter().map(|flow| syn(&cluster, flow)).collect();
    assert_eq!(after_1_s[..2], [DEAD; 2]);
    assert!(!after_1_s[2..].contains(&DEAD), "{after_1_s:?}");
    for (flow, home) in begun.iter().zip(&after_1_s).skip(2) {
        let frames = [flow.ack(&[], 0), flow.ack(&[], 100), flow.syn(&[]), flow.ack(&[], 100)];
        assert!(frames.iter().all(|frame| cluster.to(0, frame) == *home), "it opened there");
    }
    assert_ne!(syn(&cluster, &later[0]), DEAD, "new ones pass it over");
    cluster.advance(2 * SECOND).unwrap();
    assert!(begun[..2].iter().all(|flow| syn(&cluster, flow) != DEAD), "after 3 s");
    cluster.advance(4 * SECOND).unwrap();
    assert_eq!(syn(&cluster, &later[1]), DEAD, "it is tried again");
}

/// A single connection moves with its second repetition.
#[test]
fn a_lone_connection_leaves_after_three_seconds() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let lone = flows(&cluster, 1)[0];
    assert_eq!(syn(&cluster, &lone), DEAD);
    cluster.advance(SECOND).unwrap();
    assert_eq!(syn(&cluster, &lone), DEAD, "a long way, perhaps, or a lost answer");
    cluster.advance(2 * SECOND).unwrap();
    assert_ne!(syn(&cluster, &lone), DEAD);
}

/// Lost packets on the way to some clients: the backend answers others.
#[test]
fn a_backend_that_answers_others_keeps_those_that_come_again() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let all = flows(&cluster, 20);
    let (repeated, answered) = all.split_at(8);
    assert!(repeated.iter().all(|flow| syn(&cluster, flow) == DEAD));
    for (seconds, answered) in [1, 2, 4].into_iter().zip(answered.chunks(4)) {
        cluster.advance(seconds * SECOND).unwrap();
        for (flows, answered) in repeated.chunks(2).zip(answered) {
            assert_eq!(cluster.plain(0, answered), DEAD);
            assert!(flows.iter().all(|flow| syn(&cluster, flow) == DEAD), "after {seconds} s more");
        }
    }
}

/// Its new backend is registered with the SYN: should this balancer fail, another knows.
#[test]
fn a_connection_that_left_is_known_to_other_balancers() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    let all = flows(&cluster, 12);
    all.iter().for_each(|flow| assert_eq!(syn(&cluster, flow), DEAD));
    cluster.advance(SECOND).unwrap();
    let homes: Vec<usize> = all.iter().map(|flow| syn(&cluster, flow)).collect();
    let left = all.iter().zip(homes).filter(|(_, home)| *home != DEAD);
    for (flow, home) in left {
        let keepers = (0..3).filter(|&at| {
            cluster.entry(at, flow).is_some_and(|entry| {
                crate::traces::world::backend_of(&cluster, at, entry.target) == home
            })
        });
        assert!(keepers.count() >= 2, "here, and where its slot is kept");
    }
}

/// A plain flow that was placed past it comes to a balancer that has never heard of it: the others have
/// said that they have such flows, so that it asks.
#[test]
fn a_connection_that_left_is_found_by_all_balancers() {
    let Some(mut cluster) = open(Setup { balancers: 5, ..Setup::default() }) else { return };
    let all = flows(&cluster, 12);
    all.iter().for_each(|flow| assert_eq!(syn(&cluster, flow), DEAD));
    cluster.advance(SECOND).unwrap();
    let all: Vec<(Flow, usize)> = all.iter().map(|flow| (*flow, syn(&cluster, flow))).collect();
    let left: Vec<_> = all.into_iter().filter(|(_, home)| *home != DEAD).collect();
    assert!(left.len() > 8, "{left:?}");
    for (flow, home) in &left {
        for frame in [flow.ack(&[], 0), flow.ack(&[], 100), flow.ack(&[], 100)] {
            assert_eq!(cluster.to(0, &frame), *home);
        }
    }
    cluster.beat().unwrap();
    cluster.kill(0).unwrap();
    for at in 1..5 {
        let says = |&peer: &usize| cluster.peer_state(at, peer).changes & FLOWS_UNEXPLAINED != 0;
        assert!((0..5).filter(|peer| *peer != at).any(|peer| says(&peer)), "to {at}");
        set(&mut cluster, at, |settings| settings.ask_always = 1);
    }
    for (flow, home) in &left {
        for at in 1..5 {
            assert_eq!(cluster.to(at, &flow.ack(&[], 10)), *home, "at {at}");
        }
    }
}

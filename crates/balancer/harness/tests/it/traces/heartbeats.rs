//! Heartbeats: who answers whom, what is noted, and which keys count.

use std::net::SocketAddr;

use heddle_balancer_maps::Action;
use heddle_balancer_maps::abi::{Counter, PeerState, TABLES_CHANGED};
use heddle_balancer_maps::steering::{Message, SteeringKey};
use heddle_harness::{Cluster, KEY, Outcome, Setup, balancer_address, heartbeat, inner, steered};

use crate::traces::world::{Traced, flow, open, set};

const OLD: SteeringKey = [1, 2];
const STRANGE: SteeringKey = [3, 4];

fn two() -> Option<Cluster> {
    open(Setup { balancers: 2, ..Setup::default() })
}

fn between(from: usize, to: usize) -> (SocketAddr, SocketAddr) {
    (balancer_address(from), balancer_address(to))
}

/// A heartbeat of balancer 0's daemon to balancer 1.
fn beat(key: SteeringKey, number: u32) -> Vec<u8> {
    let (from, to) = between(0, 1);
    heartbeat(from, to, key, number, 77)
}

fn known_of(cluster: &Cluster, at: usize, peer: usize) -> PeerState {
    cluster.peer_state(at, peer)
}

#[test]
fn a_heartbeat_is_answered_by_the_program_and_the_answer_noted() {
    let Some(mut cluster) = two() else { return };
    set(&mut cluster, 1, |settings| settings.fingerprint = 88);
    let (sent, seen) = cluster.seen(1, &beat(KEY, 5));
    assert_eq!((sent.outcome, sent.via), (Outcome::Dropped, vec![1, 0]), "there and back");
    assert_eq!(seen.at(1), [Counter::HeartbeatAnswered]);
    assert_eq!(seen.at(0), [Counter::HeartbeatHeard]);
    let now = cluster.now();
    let (asker, answerer) = (known_of(&cluster, 0, 1), known_of(&cluster, 1, 0));
    assert_eq!((asker.sequence, asker.fingerprint, asker.tick), (5, 88, now));
    assert_eq!(asker.heard, u64::from(now) << 24);
    assert_eq!((answerer.fingerprint, answerer.tick, answerer.heard), (77, now, 0));
}

/// Byte by byte: addresses and ports the other way round, no UDP checksum, as a balancer's own
/// message.
#[test]
fn an_answer_goes_back_to_the_steering_port() {
    let Some(cluster) = two() else { return };
    let asked = beat(KEY, 5);
    let run = cluster.balancer(1).unwrap().program.run(&asked, 1).unwrap();
    assert_eq!(run.action, Action::Tx);
    let (frame, (from, to)) = (run.data, between(0, 1));
    assert_eq!((&frame[..6], &frame[6..12]), (&asked[6..12], &asked[..6]));
    assert_eq!((&frame[26..30], &frame[30..34]), (&asked[30..34], &asked[26..30]));
    let port = from.port().to_be_bytes();
    assert_eq!(frame[34..42], [&port[..], &port, &[0, 28, 0, 0]].concat());
    let header = frame[42..].try_into().unwrap();
    let answer = Message::verified(&header, &[KEY], to.ip(), None).unwrap();
    assert_eq!(answer.token, 5);
    assert_eq!(Message::verified(&header, &[KEY], from.ip(), None), None, "signed by its sender");
    assert_eq!(Message::verified(&header, &[STRANGE, [0; 2]], to.ip(), None), None);
}

#[test]
fn a_wrong_key_is_refused_and_counted_by_balancer() {
    let Some(mut cluster) = two() else { return };
    for (number, key) in [STRANGE, [0; 2]].into_iter().enumerate() {
        let (sent, seen) = cluster.seen(1, &beat(key, 5));
        assert_eq!(
            (sent.outcome, seen.at(1)),
            (Outcome::Dropped, vec![Counter::DropUnauthenticated])
        );
        let known = known_of(&cluster, 1, 0);
        assert_eq!((known.refused, known.tick), (number as u32 + 1, 0));
    }
    // An answer with a wrong key is no answer.
    set(&mut cluster, 1, |settings| settings.steering_keys = [STRANGE, KEY]);
    let (_, seen) = cluster.seen(1, &beat(KEY, 6));
    assert_eq!(seen.at(0), [Counter::DropUnauthenticated]);
    let known = known_of(&cluster, 0, 1);
    assert_eq!((known.refused, known.heard, known.sequence), (1, 0, 0));
}

/// While a key is changed, a balancer that signs with the new one believes the old one, and the
/// other way round.
#[test]
fn both_keys_are_believed_while_they_change() {
    let Some(mut cluster) = two() else { return };
    set(&mut cluster, 1, |settings| settings.steering_keys = [KEY, OLD]);
    set(&mut cluster, 0, |settings| settings.steering_keys = [OLD, KEY]);
    for (number, key) in [(1, OLD), (2, KEY)] {
        let (_, seen) = cluster.seen(1, &beat(key, number));
        assert_eq!(seen.at(0), [Counter::HeartbeatHeard]);
        assert_eq!(known_of(&cluster, 0, 1).sequence, number);
    }
    // Packets, too.
    let (connection, plain) = (crate::traces::world::owned_by(&cluster, 1, 1), flow(9));
    let home = cluster.to(0, &connection.syn());
    assert_eq!(cluster.to(0, &connection.third_ack()), home);
    assert!(cluster.token(1, connection.token()).is_some());
    assert_eq!(cluster.to(0, &plain.ack(&[], 1)), cluster.hashed(&plain));
    assert_eq!(known_of(&cluster, 1, 0).refused, 0);
}

/// After a change of another balancer's tables, an unknown flow may be at a backend that this one's
/// hash does not give.
#[test]
fn a_balancer_whose_tables_changed_says_so_and_the_other_asks_for_all_flows() {
    let Some(mut cluster) = two() else { return };
    set(&mut cluster, 1, |settings| settings.tables_changed = 1);
    cluster.seen(1, &beat(KEY, 5));
    assert_eq!(known_of(&cluster, 0, 1).changes, TABLES_CHANGED);
    let plain = flow(9).ack(&[], 1);
    let (_, seen) = cluster.seen(0, &plain);
    assert!(!seen.at(0).contains(&Counter::QueriedFlow));
    set(&mut cluster, 0, |settings| settings.ask_always = 1);
    let (sent, seen) = cluster.seen(0, &flow(10).ack(&[], 1));
    assert!(seen.at(0).contains(&Counter::QueriedFlow));
    assert_eq!(sent.via, [0, 1, 0], "asked, and sent from here");
    set(&mut cluster, 1, |settings| settings.tables_changed = 0);
    cluster.seen(1, &beat(KEY, 6));
    assert_eq!(known_of(&cluster, 0, 1).changes, 0);
}

/// Any message that is signed tells that its sender lives.
#[test]
fn steered_packets_are_heard_too() {
    let Some(mut cluster) = two() else { return };
    let packet = flow(1).ack(&[], 1);
    let (from, to) = between(0, 1);
    let message =
        Message { token: 0, ..Message::of(heddle_balancer_maps::abi::SteeringKind::FlowQuery) };
    let header = message.signed(KEY, from.ip(), Some(&inner(&packet)));
    cluster.advance(5).unwrap();
    cluster.send(1, &steered(from, to, &header, &packet)).unwrap();
    assert_eq!(known_of(&cluster, 1, 0).tick, cluster.now());
}

/// Explaining a heartbeat changes nothing.
#[test]
fn an_explained_heartbeat_is_not_noted() {
    let Some(cluster) = two() else { return };
    let trace = cluster.explain(1, &beat(KEY, 5)).unwrap().trace.unwrap();
    assert!(trace.counted(Counter::HeartbeatAnswered));
    assert_eq!(known_of(&cluster, 1, 0), PeerState::default());
}

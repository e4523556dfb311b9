//! Forged packets at connections and joins whose handshake is in progress or just over, and SYNs of joins at flows
//! without an entry.

use heddle_harness::{Connection, Flow, Setup};

use super::{SILENCE, attackers, joined, other, own_connection};
use crate::traces::world::{Traced, connection, flow, from, numbered, open, with_port};

/// A connection of which more than a SYN was seen, and less than it takes until its entry is settled.
struct Waiting {
    what: &'static str,
    sent: Vec<Vec<u8>>,
    next: Vec<u8>,
}

fn waiting(client: u16) -> [Waiting; 4] {
    let [keys, fallback, moved, fast] = [0, 1, 2, 3].map(|n| connection(client + n));
    let (ack, data) = (|flow: &Flow| flow.ack(&[], 0), |flow: &Flow| flow.ack(&[], 10));
    let waiting = |what, sent, next| Waiting { what, sent, next };
    [
        waiting("keys", vec![keys.syn(), keys.third_ack()], keys.data(10)),
        waiting("no MPTCP", vec![fallback.syn(), ack(&fallback.primary)], data(&fallback.primary)),
        waiting("in mid-stream", vec![data(&moved.primary)], data(&moved.primary)),
        waiting("keys with data", vec![fast.first_data(10)], fast.data(10)),
    ]
}

/// SYNs that come again so often that their backend seems dead, or one SYN while it drains, move no connection that
/// waits for an answer, or has one and waits.
#[test]
fn syns_move_no_connection_that_waits() {
    for (syns, drains) in [(6, false), (1, true), (6, true)] {
        let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
        for Waiting { what, sent, next } in waiting(1) {
            let home = cluster.to(0, &sent[0]);
            assert!(sent[1..].iter().all(|frame| cluster.to(0, frame) == home));
            cluster.backends[home].weight = u32::from(!drains);
            cluster.publish().unwrap();
            cluster.advance(40).unwrap();
            let client = heddle_harness::inner(&sent[0]);
            let flow = from(client.source, client.ports[0]);
            for _ in 0..syns {
                cluster.send(0, &numbered(flow.syn(&[]), 1 << 30)).unwrap();
            }
            assert_eq!(cluster.to(0, &next), home, "{what}, {syns} SYNs, drains: {drains}");
            assert_eq!(cluster.to(0, &next), home, "{what}, {syns} SYNs, drains: {drains}");
        }
    }
}

/// The port of a connection that was short, and whose backend drains since, is used again: by the connection's balancer
/// no SYN opens anything at the old backend.
#[test]
fn a_new_connection_behind_a_short_one_leaves_its_draining_backend() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    for (number, Waiting { what, sent, .. }) in waiting(1).into_iter().enumerate() {
        let home = cluster.to(0, &sent[0]);
        assert!(sent[1..].iter().all(|frame| cluster.to(0, frame) == home));
        cluster.backends[home].weight = 0;
        cluster.publish().unwrap();
        cluster.advance(61).unwrap();
        let next = Connection { primary: flow(1 + number as u16), ..connection(500) };
        let next_home = cluster.to(0, &numbered(next.syn(), 1 << 30));
        assert_ne!(next_home, home, "{what}");
        for pause in [0, 61, 0, 61, 700] {
            cluster.advance(pause).unwrap();
            let data = numbered(next.data(10), (1 << 30) + 1);
            assert_eq!(cluster.to(0, &data), next_home, "{what}");
        }
    }
}

/// Behind a forged RST and a silence the balancer has no entry of a flow that the hash explains. The SYN of a join in
/// its name makes one, which the flow's packets do not follow, wherever they come.
#[test]
fn a_join_takes_no_flow_without_an_entry_along() {
    let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let victims: Vec<Flow> = (1..20).map(flow).collect();
    let homes: Vec<usize> = victims.iter().map(|plain| cluster.plain(0, plain)).collect();
    for (plain, &home) in victims.iter().zip(&homes) {
        assert_eq!(cluster.to(0, &plain.rst()), home);
    }
    cluster.advance(SILENCE).unwrap();
    let attackers = attackers(&cluster);
    for (plain, home) in victims.into_iter().zip(homes) {
        let (_, attacker) = other(&attackers, home);
        let join_home = cluster.to(0, &attacker.join(&plain));
        assert_ne!(join_home, home, "by its token");
        for frame in [plain.ack(&[], 0), plain.ack(&[], 10), plain.fin()] {
            assert!((0..3).all(|at| cluster.to(at, &frame) == home));
        }
    }
}

/// The ACK of such a join gives it the flow's packets. This hole is open: it takes three forged packets (security.md).
#[test]
fn three_packets_and_a_silence_move_a_flow_that_the_hash_explains() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let plain = flow(1);
    let home = cluster.plain(0, &plain);
    cluster.send(0, &plain.rst()).unwrap();
    cluster.advance(SILENCE).unwrap();
    let attacker = own_connection(&cluster, home);
    cluster.send(0, &attacker.join(&plain)).unwrap();
    assert_eq!(cluster.to(0, &plain.ack(&[], 1)), home);
    cluster.send(0, &plain.joined_ack()).unwrap();
    assert_ne!(cluster.to(0, &plain.ack(&[], 1)), home);
}

/// The same with a SYN that names no connection, while repeated SYNs make the flow's backend seem dead.
#[test]
fn a_syn_past_a_silent_backend_takes_no_flow_without_an_entry_along() {
    let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let flows: Vec<Flow> =
        (1..400).map(flow).filter(|flow| cluster.hashed(flow) == 0).take(14).collect();
    let (victims, own) = flows.split_at(10);
    victims.iter().for_each(|victim| assert_eq!(cluster.plain(0, victim), 0));
    victims.iter().for_each(|victim| assert_eq!(cluster.to(0, &victim.rst()), 0));
    cluster.advance(SILENCE).unwrap();
    for _ in 0..2 {
        own.iter().for_each(|own| drop(cluster.send(0, &own.syn(&[])).unwrap()));
        cluster.advance(40).unwrap();
    }
    for victim in victims {
        assert_ne!(cluster.to(0, &numbered(victim.syn(&[]), 1 << 30)), 0, "it seems dead");
        for frame in [victim.ack(&[], 0), victim.ack(&[], 10), victim.fin()] {
            assert!((0..3).all(|at| cluster.to(at, &frame) == 0));
        }
    }
}

/// Packets that anybody can send, at joins in their handshakes: those stay where they are.
#[test]
fn one_packet_ends_no_join_in_its_handshake() {
    let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let attackers = attackers(&cluster);
    for number in [77, 1 << 30] {
        for client in 1..8 {
            let connection = connection(client + 10 * (number as u16 & 1));
            let home = cluster.connect(0, &connection);
            let subflow = with_port(connection.primary, 10);
            let (_, attacker) = other(&attackers, home);
            let forged = [
                subflow.ack(&[], 0),
                subflow.ack(&[], 10),
                subflow.fin(),
                subflow.rst(),
                subflow.data(10),
                subflow.syn(&[]),
                attacker.join(&subflow),
            ];
            let frame = numbered(forged[usize::from(client) - 1].clone(), number);
            assert_eq!(cluster.to(0, &connection.join(&subflow)), home);
            cluster.send(0, &frame).unwrap();
            for (pause, frame) in
                [(0, subflow.joined_ack()), (0, subflow.data(10)), (61, subflow.data(10))]
            {
                cluster.advance(pause).unwrap();
                (0..3)
                    .for_each(|at| assert_eq!(cluster.to(at, &frame), home, "{client}, {number}"));
            }
        }
    }
}

/// The same where the port is used again: the join is a candidate for an older flow's entry.
#[test]
fn a_forged_syn_ends_no_join_on_a_used_port() {
    for drains in [false, true] {
        let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() })
        else {
            return;
        };
        let attackers = attackers(&cluster);
        for client in 1..12 {
            let (_, subflow, old_home) = joined(&cluster, client);
            let (home, next) = other(&attackers, old_home);
            cluster.advance(61).unwrap();
            cluster.backends[home].weight = u32::from(!drains);
            cluster.publish().unwrap();
            assert_eq!(cluster.to(0, &numbered(next.join(&subflow), 1 << 30)), home);
            cluster.send(0, &subflow.syn(&[])).unwrap();
            for pause in [0, 0, 61, 0, 61] {
                cluster.advance(pause).unwrap();
                let frame = if pause == 0 { subflow.joined_ack() } else { subflow.data(10) };
                assert_eq!(cluster.to(0, &numbered(frame, (1 << 30) + 1)), home, "{client}");
            }
            assert_eq!(cluster.entry(0, &subflow).unwrap().token, Some(next.token()));
            cluster.backends[home].weight = 1;
            cluster.publish().unwrap();
        }
    }
}

/// The same with handshakes that began past a backend which seemed dead.
#[test]
fn one_packet_ends_no_handshake_past_a_silent_backend() {
    let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let all = (1..400).map(connection).filter(|own| cluster.hashed(&own.primary) == 0);
    let all: Vec<Connection> = all.take(14).collect();
    let (opened, dead) = all.split_at(10);
    for _ in 0..2 {
        dead.iter().for_each(|own| drop(cluster.send(0, &own.syn()).unwrap()));
        cluster.advance(40).unwrap();
    }
    for (number, own) in opened.iter().enumerate() {
        let flow = own.primary;
        let plain = number % 2 == 0;
        let home = cluster.to(0, &if plain { flow.syn(&[]) } else { own.syn() });
        assert_ne!(home, 0, "it seems dead");
        let forged = [flow.ack(&[], 0), flow.ack(&[], 10), flow.fin(), flow.rst(), flow.data(10)];
        cluster.send(0, &numbered(forged[number / 2].clone(), 1 << 30)).unwrap();
        let frames = if plain {
            [flow.ack(&[], 0), flow.ack(&[], 10)]
        } else {
            [own.third_ack(), own.first_data(10)]
        };
        for frame in frames {
            assert_eq!(cluster.to(0, &frame), home, "{number}");
        }
    }
}

/// The SYN of a join in a silent flow's name comes first to a balancer to which routers move the flow.
#[test]
fn a_join_takes_no_flow_along_that_moves() {
    let Some(mut cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let victims: Vec<_> = (1..20).map(|client| joined(&cluster, client)).collect();
    let attackers = attackers(&cluster);
    for (_, subflow, home) in &victims {
        (0..3).for_each(|_| assert_eq!(cluster.to(0, &numbered(subflow.data(1), 1 << 30)), *home));
    }
    cluster.advance(SILENCE).unwrap();
    for (_, subflow, home) in &victims {
        let (_, attacker) = other(&attackers, *home);
        for at in [1, 2] {
            cluster.send(at, &attacker.join(subflow)).unwrap();
            for _ in 0..2 {
                assert_eq!(cluster.to(at, &numbered(subflow.data(1), 1 << 30)), *home, "at {at}");
            }
        }
    }
}

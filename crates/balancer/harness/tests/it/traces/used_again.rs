//! Ports that are used again while routers move flows to and fro: a balancer's entry of a flow that
//! ended elsewhere takes nothing of the next one's.

use heddle_harness::{Cluster, Connection, Flow, Setup};

use crate::traces::world::{Traced, connection, flow, numbered, open, with_port};

fn three() -> Setup {
    Setup { balancers: 3, backends: 8, ..Setup::default() }
}

/// A subflow of one connection, and another connection at another backend that takes its port.
struct Reuse {
    subflow: Flow,
    old: Connection,
    old_home: usize,
    new: Connection,
    home: usize,
}

/// Subflows that opened at a balancer.
fn reuses(cluster: &Cluster, balancer: usize) -> Vec<Reuse> {
    let mut reuses = Vec::new();
    for number in 1..40 {
        let (old, new) = (connection(number), connection(number + 100));
        let (old_home, home) = (cluster.connect(1, &old), cluster.connect(1, &new));
        let subflow = with_port(old.primary, 10);
        assert_eq!(cluster.join(balancer, &old, &subflow), old_home);
        reuses.push(Reuse { subflow, old, old_home, new, home });
    }
    reuses.retain(|reuse| reuse.old_home != reuse.home);
    assert!(reuses.len() > 20);
    reuses
}

/// Its registrations waited for further packets, which went elsewhere: nothing in its entry is
/// newer than what the others have.
#[test]
fn an_entry_with_registrations_pending_is_verified() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 1);
    for Reuse { subflow, old_home, .. } in &reuses {
        assert_eq!(cluster.to(0, &subflow.data(1)), *old_home, "one packet there");
        assert_eq!(cluster.to(1, &subflow.fin()), *old_home);
    }
    cluster.advance(180).unwrap();
    for Reuse { subflow, new, home, .. } in &reuses {
        assert_eq!(cluster.join(1, new, subflow), *home);
        (0..2).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), *home));
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), *home));
    }
}

/// The old one goes on at the only balancer that knows that it is newer: the others' answers are
/// older than its entry.
#[test]
fn an_entry_newer_than_the_answers_stays() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 0);
    cluster.advance(30).unwrap();
    for Reuse { subflow, new, home, .. } in &reuses {
        assert_eq!(cluster.join(0, new, subflow), *home);
    }
    cluster.advance(61).unwrap();
    for Reuse { subflow, home, .. } in &reuses {
        assert_eq!(
            cluster.to(0, &subflow.data(1)),
            *home,
            "the entry is the new one's, and not registered yet"
        );
    }
    for pause in [180, cluster.settings().refresh + 60] {
        cluster.advance(pause).unwrap();
        for Reuse { subflow, home, .. } in &reuses {
            assert_eq!(cluster.to(0, &subflow.data(1)), *home);
        }
    }
}

/// The next one's SYN comes to the old one's balancer, and all that follows to another: when it
/// comes back it is far from its SYN.
#[test]
fn a_contested_entry_is_verified() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 0);
    cluster.advance(180).unwrap();
    for Reuse { subflow, new, home, .. } in &reuses {
        assert_eq!(cluster.to(0, &new.join(subflow)), *home);
        assert_eq!(cluster.to(1, &subflow.joined_ack()), *home);
    }
    for (pause, sequence) in [(0, 1000), (61, 100_000), (61, 200_000), (61, 300_000)] {
        cluster.advance(pause).unwrap();
        for Reuse { subflow, home, .. } in &reuses {
            (0..2).for_each(|_| {
                assert_eq!(cluster.to(1, &numbered(subflow.data(1), sequence)), *home);
            });
        }
    }
    for Reuse { subflow, home, .. } in &reuses {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &numbered(subflow.data(1), 300_001)), *home));
    }
}

/// A forged SYN on a silent flow, and one packet of the flow behind it: other balancers were told
/// of the SYN, and the flow stays where it is, however long it is silent again.
#[test]
fn a_forged_syn_moves_no_silent_flow() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 0);
    cluster.advance(600).unwrap();
    for Reuse { subflow, new, home, old, old_home } in &reuses {
        assert_eq!(cluster.to(0, &numbered(new.join(subflow), 1 << 30)), *home, "forged");
        assert_eq!(cluster.to(0, &subflow.data(1)), *old_home, "{}", old.token());
    }
    for pause in [180, 180, 4000] {
        cluster.advance(pause).unwrap();
        for Reuse { subflow, old_home, .. } in &reuses {
            assert_eq!(cluster.to(0, &subflow.data(1)), *old_home);
        }
    }
}

/// Plain flows whose backend drains, and connections that take their ports.
struct Drained {
    flows: Vec<Flow>,
    backend: usize,
}

/// Flows at a backend that drains since, at a balancer.
fn drained(cluster: &mut Cluster) -> Drained {
    let flows: Vec<Flow> =
        (1..400).map(flow).filter(|flow| cluster.hashed(flow) == 0).take(30).collect();
    flows.iter().for_each(|flow| assert_eq!(cluster.plain(0, flow), 0));
    cluster.advance(61).unwrap();
    cluster.backends[0].weight = 0;
    cluster.publish().unwrap();
    for flow in &flows {
        (0..3).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), 0));
    }
    Drained { flows, backend: 0 }
}

/// A plain flow that only entries explain ends at another balancer, where its port is used again.
#[test]
fn an_entry_of_a_drained_backends_flow_is_verified() {
    let Some(mut cluster) = open(three()) else { return };
    let Drained { flows, backend } = drained(&mut cluster);
    cluster.advance(180).unwrap();
    let mut homes = Vec::new();
    for flow in &flows {
        assert_eq!(cluster.to(1, &flow.fin()), backend);
        homes.push(cluster.to(1, &flow.syn(&[])));
        assert_ne!(homes.last(), Some(&backend));
    }
    for pause in [0, 61, 0, 0] {
        cluster.advance(pause).unwrap();
        for (flow, &home) in flows.iter().zip(&homes) {
            assert_eq!(cluster.to(1, &flow.ack(&[], 1)), home);
        }
    }
    for (flow, &home) in flows.iter().zip(&homes) {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home));
    }
}

/// A plain flow that only entries explain has ended, and its port is used again at a balancer that
/// never knew it: the new one goes where the hash says, and moves to the old one's balancer.
#[test]
fn a_plain_flow_where_the_hash_lately_said_otherwise_is_registered() {
    let Some(mut cluster) = open(three()) else { return };
    let Drained { flows, backend } = drained(&mut cluster);
    flows.iter().for_each(|flow| assert_eq!(cluster.to(0, &flow.fin()), backend));
    cluster.advance(180).unwrap();
    let homes: Vec<usize> = flows.iter().map(|flow| cluster.to(2, &flow.syn(&[]))).collect();
    for pause in [0, 0, 0, 61, 0, 0] {
        cluster.advance(pause).unwrap();
        for (flow, &home) in flows.iter().zip(&homes) {
            assert_ne!(home, backend);
            assert_eq!(cluster.to(2, &flow.ack(&[], 1)), home);
        }
    }
    for (flow, &home) in flows.iter().zip(&homes) {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home));
    }
}

/// A SYN, a FIN and data in a plain flow's name while its backend drains for a moment: its balancer
/// knows that the flow goes on, and tells those who were told of the SYN, which has this number.
fn outlives_a_syn(number: u32) {
    let Some(mut cluster) = open(three()) else { return };
    let flows: Vec<Flow> =
        (1..400).map(flow).filter(|flow| cluster.hashed(flow) == 0).take(30).collect();
    let data = |flow: &Flow| numbered(flow.ack(&[], 1), 100_000_000);
    flows.iter().for_each(|flow| assert_eq!(cluster.plain(1, flow), 0));
    for flow in &flows {
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &data(flow)), 0));
        assert_eq!(cluster.to(1, &numbered(flow.fin(), 77)), 0, "forged");
    }
    cluster.advance(30).unwrap();
    cluster.backends[0].weight = 0;
    cluster.publish().unwrap();
    for flow in &flows {
        assert_ne!(cluster.to(1, &numbered(flow.syn(&[]), number)), 0, "forged");
        (0..2).for_each(|_| assert_eq!(cluster.to(1, &data(flow)), 0));
    }
    cluster.advance(40).unwrap();
    for flow in &flows {
        assert_eq!(cluster.to(1, &data(flow)), 0, "a second behind the FIN");
    }
    cluster.backends[0].weight = 1;
    cluster.publish().unwrap();
    cluster.advance(61).unwrap();
    for flow in &flows {
        (0..2).for_each(|_| assert_eq!(cluster.to(1, &data(flow)), 0));
    }
    cluster.advance(600).unwrap();
    for flow in &flows {
        for balancer in [0, 2] {
            assert_eq!(cluster.to(balancer, &data(flow)), 0, "moved to {balancer}");
        }
    }
}

/// The SYN's number lies behind the flow's: its packets cannot be the SYN's connection.
#[test]
fn a_forged_syn_while_a_backend_drains_moves_no_plain_flow() {
    outlives_a_syn(1 << 30);
}

/// The SYN's number lies before the flow's, as far as its connection could have come in two
/// seconds.
#[test]
fn a_forged_syn_just_before_the_flows_number_is_forgotten_with_the_flows_next_packet() {
    outlives_a_syn(1000);
}

/// The other balancers have an older flow of the same port: a plain one that goes where the hash
/// says is newer.
#[test]
fn an_older_answer_moves_no_plain_flow() {
    let Some(mut cluster) = open(three()) else { return };
    let Drained { flows, backend } = drained(&mut cluster);
    cluster.advance(180).unwrap();
    let mut homes = Vec::new();
    for flow in &flows {
        assert_eq!(cluster.to(0, &flow.fin()), backend);
    }
    cluster.advance(60).unwrap();
    for flow in &flows {
        homes.push(cluster.to(0, &flow.syn(&[])));
        assert_ne!(homes.last(), Some(&backend));
    }
    for pause in [0, 61, 180, 180, 3600] {
        cluster.advance(pause).unwrap();
        for (flow, &home) in flows.iter().zip(&homes) {
            assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home);
        }
    }
}

/// A connection's SYN goes by hash at a balancer that never knew the port's old flow, its keys come
/// to the one that does.
#[test]
fn keys_on_an_entry_that_no_hash_explains_are_learnt() {
    let Some(mut cluster) = open(three()) else { return };
    let olds: Vec<Connection> =
        (1..400).map(connection).filter(|old| cluster.hashed(&old.primary) == 0).take(20).collect();
    olds.iter().for_each(|old| assert_eq!(cluster.connect(0, old), 0));
    cluster.backends[0].weight = 0;
    cluster.publish().unwrap();
    olds.iter().for_each(|old| assert_eq!(cluster.to(0, &old.data(1)), 0));
    cluster.advance(180).unwrap();
    for (old, number) in olds.iter().zip(1000..) {
        let new = Connection { primary: old.primary, ..connection(number) };
        let home = cluster.to(2, &new.syn());
        assert_ne!(home, 0);
        for frame in [new.third_ack(), new.first_data(100), new.data(100), new.data(0)] {
            assert_eq!(cluster.to(0, &frame), home);
        }
        for balancer in 0..3 {
            let subflow = with_port(new.primary, 7 + balancer as u16);
            assert_eq!(cluster.join(balancer, &new, &subflow), home);
        }
    }
}

/// The client resets a backend's answer to its SYN, which was for an older connection: also where
/// the reset comes to a balancer that has not seen the SYN, and asks.
#[test]
fn a_bare_reset_follows_its_syn_to_any_balancer() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 0);
    cluster.advance(180).unwrap();
    for Reuse { subflow, new, home, .. } in &reuses {
        assert_eq!(cluster.to(0, &new.join(subflow)), *home);
        assert_eq!(cluster.to(2, &numbered(subflow.rst(), 77)), *home);
        assert_eq!(cluster.to(0, &new.join(subflow)), *home, "the SYN comes again");
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), *home));
    }
}

/// The same where the SYN opened an entry, at a balancer that never knew the port's old flow, and the
/// balancers that keep that one name another backend.
#[test]
fn a_bare_reset_follows_a_syn_that_opened_an_entry() {
    let Some(mut cluster) = open(three()) else { return };
    let reuses = reuses(&cluster, 0);
    cluster.advance(180).unwrap();
    let mut elsewhere = 0;
    for (Reuse { subflow, old_home, .. }, number) in reuses.iter().zip(1000..) {
        let new = Connection { primary: *subflow, ..connection(number) };
        let home = cluster.to(2, &new.syn());
        elsewhere += usize::from(home != *old_home);
        assert_eq!(cluster.to(2, &numbered(subflow.rst(), 1 << 30)), home);
        assert_eq!(cluster.to(2, &new.syn()), home, "it comes again");
        assert_eq!(cluster.to(2, &new.third_ack()), home);
    }
    assert!(elsewhere > 10);
}

/// A SYN in a silent flow's name, and a bare reset behind it, such as answers a backend's challenge: it goes where the
/// SYN went, and moves the flow at no balancer.
#[test]
fn a_forged_syn_and_reset_move_no_silent_flow() {
    let Some(mut cluster) = open(three()) else { return };
    let Drained { flows, backend } = drained(&mut cluster);
    for (balancer, ends_first) in [(0, true), (0, false), (2, false)] {
        for flow in &flows {
            assert_eq!(cluster.to(0, &flow.ack(&[], 1)), backend);
            if ends_first {
                assert_eq!(cluster.to(0, &numbered(flow.fin(), 7)), backend, "forged");
            }
        }
        cluster.advance(61).unwrap();
        for flow in &flows {
            assert_ne!(cluster.to(0, &numbered(flow.syn(&[]), 1 << 30)), backend, "forged");
        }
        cluster.advance(if ends_first { 61 } else { 180 }).unwrap();
        for flow in &flows {
            assert_ne!(cluster.to(balancer, &numbered(flow.rst(), 77)), backend, "forged");
            for _ in 0..2 {
                assert_eq!(cluster.to(balancer, &numbered(flow.ack(&[], 1), 9)), backend);
            }
        }
    }
}

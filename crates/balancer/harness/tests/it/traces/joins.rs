//! Subflows that join: at the token's owner, at other balancers, when balancers come and go.

use heddle_balancer_maps::abi::{Counter, FlowState, TargetState, TokenState};
use heddle_harness::{Backend, Cluster, Connection, Delivered, Flow, Setup};

use crate::traces::world::{
    Traced, backend, connection, flow, numbered, open, owned_by, with_port,
};

fn three() -> Setup {
    Setup { balancers: 3, backends: 8, ..Setup::default() }
}

/// A subflow of a connection whose own hash gives another backend.
fn astray(cluster: &Cluster, connection: &Connection, home: usize) -> Flow {
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    crate::traces::world::find(subflows, |subflow| cluster.hashed(&subflow) != home)
}

#[test]
fn a_join_at_the_owner_goes_by_its_token() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflow = astray(&cluster, &connection, home);
    let (sent, seen) = cluster.seen(0, &connection.join(&subflow));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentJoin, Counter::FlowAdded]));
    assert_eq!(cluster.to(0, &subflow.joined_ack()), home);
    assert_eq!(cluster.to(0, &subflow.data(1000)), home);
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::Established));
}

/// Balancer 1 has the primary and is second for the token, 0 owns it, 2 gets the join: 2 asks 0, 0
/// answers through 2, and the SYN goes on through the balancers of the flow's slot. What follows is
/// registered, and then goes straight.
#[test]
fn a_join_elsewhere_asks_the_owner_once() {
    let Some(mut cluster) = open(three()) else { return };
    let kept_by = |connection: &Connection| {
        let token = connection.token();
        (cluster.owner(token), cluster.second(token)) == (Some(0), Some(1))
    };
    let connection = (1..).map(connection).find(kept_by).unwrap();
    cluster.to(1, &connection.syn());
    let (sent, seen) = cluster.seen(1, &connection.third_ack());
    let home = backend(&sent);
    assert_eq!(sent.via, [1, 0], "the keys go through the owner");
    assert_eq!(seen.at(1), [Counter::SteeredKeys, Counter::TokenAdded], "and stay with the second");
    assert_eq!(seen.at(0), [Counter::SentForPeer, Counter::TokenAdded]);
    let sent = cluster.send(1, &connection.data(10)).unwrap();
    assert_eq!((backend(&sent), sent.via), (home, vec![1, 0]), "and the word that it lives");
    for balancer in [0, 1] {
        assert_eq!(cluster.token_state(balancer, &connection), Some(TokenState::Confirmed));
    }
    // The flow itself is registered with two balancers, too.
    assert_eq!(cluster.to(1, &connection.data(10)), home);
    assert_eq!(cluster.send(1, &connection.data(10)).unwrap().via, [1]);

    let subflow = astray(&cluster, &connection, home);
    let (sent, seen) = cluster.seen(2, &connection.join(&subflow));
    let keeper = keeper(&sent);
    assert_eq!((backend(&sent), &sent.via[..3]), (home, &[2, 0, 2][..]));
    assert_eq!(seen.at(2), [Counter::QueriedJoin, Counter::SteeredJoin, Counter::FlowAdded]);
    assert_eq!(seen.count(Counter::Replied), 1);
    assert_eq!(cluster.state(keeper, &subflow), Some(FlowState::Joining));
    assert_eq!(sent.packet(), &connection.join(&subflow)[14..]);
    // The third ACK registers the flow with its owner, if that is not this balancer.
    assert_eq!(cluster.to(2, &subflow.joined_ack()), home);
    let (sent, seen) = cluster.seen(2, &subflow.data(1000));
    assert_eq!((backend(&sent), sent.via, seen.at(2)), (home, vec![2], vec![Counter::SentFlow]));
}

/// The balancer that a join's SYN went through last, and which has its flow now, too.
fn keeper(sent: &Delivered) -> usize {
    sent.via.last().copied().unwrap()
}

/// The token is at both balancers of its slot when the keys reach the backend, and so after the
/// death of any one.
#[test]
fn a_token_outlives_any_balancer_from_its_first_packet() {
    for victim in 0..3 {
        let Some(mut cluster) = open(three()) else { return };
        let (next, last) = ((victim + 1) % 3, (victim + 2) % 3);
        let opened = (1..20).map(|client| {
            let connection = connection(client);
            let at = if client % 2 == 0 { victim } else { next };
            cluster.to(at, &connection.syn());
            let home = cluster.to(at, &connection.third_ack());
            let subflow = astray(&cluster, &connection, home);
            (connection, subflow, home)
        });
        let opened: Vec<_> = opened.collect();
        cluster.kill(victim).unwrap();
        for (connection, subflow, home) in opened {
            assert_eq!(cluster.to(last, &connection.join(&subflow)), home, "{victim}");
        }
    }
}

/// The balancer that a join came to fails before the handshake's third packet: whoever gets that
/// one knows the join's backend.
#[test]
fn a_join_outlives_its_balancer_between_syn_and_third_packet() {
    for victim in 0..3 {
        let Some(mut cluster) = open(three()) else { return };
        let (next, last) = ((victim + 1) % 3, (victim + 2) % 3);
        let opened = (1..20).map(|client| {
            let connection = connection(client);
            let home = cluster.connect(next, &connection);
            let subflow = astray(&cluster, &connection, home);
            assert_eq!(cluster.to(victim, &connection.join(&subflow)), home);
            (client, subflow, home)
        });
        let opened: Vec<_> = opened.collect();
        cluster.kill(victim).unwrap();
        for (client, subflow, home) in opened {
            let survivor = if client % 2 == 0 { next } else { last };
            assert_eq!(cluster.to(survivor, &subflow.joined_ack()), home, "{victim} {client}");
        }
    }
}

/// The flow that a join's SYN registers expires with its handshake, and does not replace a live
/// flow's entry.
#[test]
fn the_syn_of_a_join_takes_no_entry_at_a_keeper() {
    let Some(cluster) = open(three()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflow = astray(&cluster, &connection, home);
    let sent = cluster.send(1, &connection.join(&subflow)).unwrap();
    let keeper = keeper(&sent);
    for balancer in [1, keeper] {
        cluster.to(balancer, &subflow.joined_ack());
        cluster.to(balancer, &subflow.data(1));
    }
    let other = (2..)
        .map(crate::traces::world::connection)
        .find(|other| cluster.connect(0, other) != home)
        .unwrap();
    let stranger = (0..3).find(|balancer| ![1, keeper].contains(balancer)).unwrap();
    let forged = cluster.send(stranger, &other.join(&subflow)).unwrap();
    assert_ne!(backend(&forged), home);
    let entry = cluster.entry(keeper, &subflow).unwrap();
    assert_eq!((entry.token, entry.state), (Some(connection.token()), FlowState::Established));
    assert_eq!(cluster.to(keeper, &numbered(subflow.data(1), 1 << 20)), home);
}

#[test]
fn a_join_with_an_unknown_token_goes_by_hash() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = owned_by(&cluster, 0, 1);
    let (sent, seen) = cluster.seen(2, &connection.join(&flow(9)));
    assert_eq!((backend(&sent), sent.via), (cluster.hashed(&flow(9)), vec![2, 0, 2]));
    assert_eq!(seen.at(0), [Counter::Replied, Counter::ReplyUnknown]);
    assert_eq!(seen.at(2), [Counter::SentJoinUnknown, Counter::QueriedJoin]);
    assert_eq!(cluster.entry(2, &flow(9)), None);
}

/// The table changes between the connection and the join: memory counts, not the hash.
#[test]
fn joins_follow_the_connection_when_backends_change() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = owned_by(&cluster, 0, 1);
    let home = cluster.connect(1, &connection);
    cluster.backends[home].weight = 0;
    cluster.backends.extend([Backend::of_weight(1); 4]);
    cluster.publish().unwrap();
    for balancer in 0..3 {
        let subflow = with_port(connection.primary, 50 + balancer as u16);
        assert_eq!(cluster.join(balancer, &connection, &subflow), home, "it drains");
    }
    cluster.backends[home].state = TargetState::Down;
    cluster.publish().unwrap();
    assert_ne!(cluster.to(2, &connection.join(&flow(9))), home);
}

#[test]
fn joins_of_one_token_are_limited_until_it_is_refreshed() {
    let mut setup = Setup::default();
    setup.settings.most_joins = 3;
    let Some(mut cluster) = open(setup) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflows: Vec<Flow> = (10..90)
        .map(|port| with_port(connection.primary, port))
        .filter(|subflow| cluster.hashed(subflow) != home)
        .take(5)
        .collect();
    for (number, subflow) in subflows.iter().enumerate() {
        let (sent, seen) = cluster.seen(0, &connection.join(subflow));
        assert_eq!(backend(&sent) == home, number < 3, "{number}");
        assert_eq!(seen.count(Counter::JoinsLimited), u64::from(number >= 3));
    }
    // A SYN that comes again is no other join.
    assert_eq!(cluster.to(0, &connection.join(&subflows[0])), home);
    cluster.advance(3000).unwrap();
    assert_eq!(cluster.to(0, &connection.data(1)), home, "refreshes");
    assert_eq!(cluster.to(0, &connection.join(&subflows[4])), home);
}

/// A token that was seen can be used again in joins: beyond its share one address takes nothing
/// from the others.
#[test]
fn one_address_does_not_use_up_a_tokens_joins() {
    let mut setup = Setup::default();
    setup.settings.most_joins = 8;
    setup.settings.most_source_joins = 3;
    let Some(mut cluster) = open(setup) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let replay = |cluster: &mut Cluster, ports: std::ops::Range<u16>| {
        let joins = |cluster: &mut Cluster| {
            ports.for_each(|port| {
                cluster.send(0, &connection.join(&with_port(flow(500), port))).unwrap();
            });
            Ok(())
        };
        let (_, seen) = cluster.watch(joins).unwrap();
        seen.count(Counter::JoinsLimited)
    };
    assert_eq!(replay(&mut cluster, 1000..1100), 97);
    for client in 600..605 {
        assert_eq!(cluster.join(0, &connection, &flow(client)), home);
    }
    assert_eq!(replay(&mut cluster, 2000..2010), 10);
    cluster.advance(3000).unwrap();
    assert_eq!(cluster.to(0, &connection.data(1)), home, "refreshes");
    assert_eq!(replay(&mut cluster, 3000..3010), 7);
}

/// The first subflow ends; the connection lives on in another one, and so does its token, at its
/// owner.
#[test]
fn a_token_outlives_its_primary() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = owned_by(&cluster, 0, 1);
    let home = cluster.connect(1, &connection);
    let second = astray(&cluster, &connection, home);
    assert_eq!(cluster.join(2, &connection, &second), home);
    assert_eq!(cluster.to(1, &connection.primary.fin()), home);
    for _ in 0..10 {
        cluster.advance(3000).unwrap();
        // One packet may pay one due: the flow's, then the token's.
        (0..3).for_each(|_| assert_eq!(cluster.to(2, &second.data(1)), home));
    }
    assert_eq!(cluster.token(0, connection.token()).unwrap().seen, cluster.now());
    assert_eq!(cluster.join(1, &connection, &with_port(second, 7)), home);
}

/// Without any packet the owner forgets it, in `token_timeout`.
#[test]
fn a_token_expires_with_its_connection() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = owned_by(&cluster, 0, 1);
    cluster.connect(1, &connection);
    cluster.advance(7199).unwrap();
    let (_, seen) = cluster.seen(2, &connection.join(&flow(8)));
    assert_eq!(seen.count(Counter::ReplyUnknown), 0);
    cluster.advance(1).unwrap();
    let (_, seen) = cluster.seen(2, &connection.join(&flow(9)));
    assert_eq!(seen.count(Counter::ReplyUnknown), 1);
}

/// The owner dies: within a packet of the change the new owner knows what the others' flows know.
#[test]
fn a_new_owner_learns_within_a_packet() {
    let Some(mut cluster) = open(three()) else { return };
    let connections: Vec<_> = (1..200)
        .map(connection)
        .filter(|connection| cluster.owner(connection.token()) == Some(0))
        .take(20)
        .collect();
    let homes: Vec<_> = connections.iter().map(|c| cluster.connect(1, c)).collect();
    cluster.kill(0).unwrap();
    for (connection, &home) in connections.iter().zip(&homes) {
        assert_eq!(cluster.to(1, &connection.data(10)), home);
        assert_eq!(cluster.join(2, connection, &with_port(connection.primary, 7)), home);
    }
    // It comes back, knowing nothing.
    cluster.revive(0).unwrap();
    for (connection, &home) in connections.iter().zip(&homes) {
        assert_eq!(cluster.to(1, &connection.data(10)), home);
        for balancer in 0..3 {
            let subflow = with_port(connection.primary, 8 + balancer as u16);
            assert_eq!(cluster.join(balancer, connection, &subflow), home);
        }
    }
}

/// A balancer dies. Its flows come to others, who find by the flows' owners what no hash tells;
/// where it was the owner itself, its successor was told.
#[test]
fn flows_of_a_dead_balancer_are_found_through_their_owners() {
    let Some(mut cluster) = open(three()) else { return };
    let joins: Vec<_> = (1..200).map(connection).collect();
    let homes: Vec<_> = joins.iter().map(|c| cluster.connect(1, c)).collect();
    let subflows: Vec<_> =
        joins.iter().zip(&homes).map(|(c, &home)| astray(&cluster, c, home)).collect();
    for ((connection, subflow), &home) in joins.iter().zip(&subflows).zip(&homes) {
        assert_eq!(cluster.join(0, connection, subflow), home);
    }
    cluster.kill(0).unwrap();
    for (subflow, &home) in subflows.iter().zip(&homes) {
        assert_eq!(cluster.to(2, &subflow.data(10)), home);
    }
    for (connection, &home) in joins.iter().zip(&homes) {
        assert_eq!(cluster.to(1, &connection.data(1)), home, "primaries go by hash");
    }
}

/// The first that a balancer sees of a flow may be its end: the backend must hear of it.
#[test]
fn the_end_of_a_flow_is_found_through_its_owner() {
    let Some(mut cluster) = open(Setup { balancers: 2, backends: 8, ..Setup::default() }) else {
        return;
    };
    let connections: Vec<_> = (1..40).map(connection).collect();
    let homes: Vec<_> = connections.iter().map(|c| cluster.connect(0, c)).collect();
    for (number, (connection, &home)) in connections.iter().zip(&homes).enumerate() {
        let subflow = astray(&cluster, connection, home);
        assert_eq!(cluster.join(0, connection, &subflow), home);
        let end = if number % 2 == 0 { subflow.fin() } else { subflow.rst() };
        let (sent, _) = cluster.seen(1, &end);
        // Balancer 0 answers, or has told balancer 1, the flow's owner, before.
        assert_eq!(backend(&sent), home, "via {:?}", sent.via);
        assert_eq!(cluster.state(1, &subflow), Some(FlowState::ClosingStateful));
    }
}

/// Primary and token die with a balancer; a subflow that is found again registers with the token's
/// new owner.
#[test]
fn a_subflow_that_is_found_brings_its_token_back() {
    let Some(mut cluster) = open(three()) else { return };
    let connections: Vec<_> = (1..200)
        .map(connection)
        .filter(|connection| cluster.owner(connection.token()) == Some(0))
        .collect();
    let homes: Vec<_> = connections.iter().map(|c| cluster.connect(0, c)).collect();
    let subflows: Vec<_> = connections
        .iter()
        .zip(&homes)
        .map(|(connection, &home)| astray(&cluster, connection, home))
        .collect();
    for ((connection, subflow), &home) in connections.iter().zip(&subflows).zip(&homes) {
        assert_eq!(cluster.join(0, connection, subflow), home);
    }
    cluster.kill(0).unwrap();
    for ((connection, subflow), &home) in connections.iter().zip(&subflows).zip(&homes) {
        assert_eq!(cluster.to(1, &subflow.data(1)), home);
        assert_eq!(cluster.to(1, &subflow.data(1)), home);
        assert_eq!(cluster.join(2, connection, &with_port(*subflow, 7)), home);
    }
}

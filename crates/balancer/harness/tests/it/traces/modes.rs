//! Modes but learning: off, with backends' own addresses (C flag), and assign, as published.

use std::net::SocketAddr;

use heddle_balancer_maps::abi::{Counter, FlowState, MptcpMode, TokenState};
use heddle_harness::{Cluster, Connection, Flow, PORT, Setup, join_address};
use heddle_wire::Version;

use crate::traces::world::{Traced, backend, connection, flow, open, with_port};

/// Keys are not looked at, joins go by hash: as any layer-4 balancer, a join finds its backend by
/// luck.
#[test]
fn off_is_a_balancer_that_knows_no_mptcp() {
    let mode = MptcpMode::Off;
    let Some(mut cluster) = open(Setup { mode, ..Setup::default() }) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    assert_eq!(cluster.token(0, connection.token()), None);
    let subflows = (0..1000).map(|port| with_port(connection.primary, 1000 + port));
    let found = subflows.filter(|subflow| cluster.to(0, &connection.join(subflow)) == home).count();
    assert!((200..300).contains(&found), "a quarter: {found}");
    let (_, seen) = cluster.seen(0, &connection.join(&flow(9)));
    assert_eq!(seen.at(0), [Counter::SentSyn, Counter::FlowAdded]);
}

/// Joins to a backend's own address go there, also from a port that has a flow to the service.
#[test]
fn a_backends_own_address_leads_to_it() {
    let mode = MptcpMode::Off;
    let Some(mut cluster) = open(Setup { mode, ..Setup::default() }) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    for backend in 0..4 {
        let service = SocketAddr::new(join_address(backend), PORT);
        let subflow = Flow { service, ..connection.primary };
        let (sent, seen) = cluster.seen(0, &connection.join(&subflow));
        assert_eq!(crate::traces::world::backend(&sent), backend, "home is {home}");
        assert_eq!(seen.at(0), [Counter::SentDirect]);
        assert_eq!(cluster.to(0, &subflow.data(100)), backend);
    }
}

fn assigning(balancers: usize) -> Option<Cluster> {
    open(Setup { balancers, backends: 8, mode: MptcpMode::Assign, ..Setup::default() })
}

/// Sends a SYN of version 0: the connection with the key that the balancer put in, and its backend.
/// One of three balancers drops a SYN in 700, for which none of the keys that it makes has a token
/// of its own; the client sends it again.
fn assigned(cluster: &mut Cluster, balancer: usize, client: u16) -> (Connection, usize) {
    let connection = Connection { version: Version::V0, ..connection(client) };
    let attempt = |_| {
        let sent = cluster.send(balancer, &connection.syn()).unwrap();
        Some((connection.keyed(&sent)?, backend(&sent)))
    };
    (0..10).find_map(attempt).expect("a key for one of ten SYNs")
}

#[test]
fn assigned_keys_have_tokens_of_the_balancers_own() {
    let Some(mut cluster) = assigning(3) else { return };
    for client in 0..30 {
        let balancer = usize::from(client % 3);
        let (connection, home) = assigned(&mut cluster, balancer, client);
        assert_eq!(cluster.owner(connection.token()), Some(balancer));
        assert_eq!(cluster.token_state(balancer, &connection), Some(TokenState::Provisional));
        assert_eq!(cluster.to(balancer, &connection.third_ack()), home);
        assert_eq!(cluster.to(balancer, &connection.data(10)), home);
        assert_eq!(cluster.token_state(balancer, &connection), Some(TokenState::Confirmed));
    }
}

/// As published: another balancer's join goes through the owner with all its packets.
#[test]
fn an_assigned_tokens_owner_keeps_its_joins() {
    let Some(mut cluster) = assigning(2) else { return };
    let (connection, home) = assigned(&mut cluster, 0, 1);
    cluster.to(0, &connection.third_ack());
    let subflow = with_port(connection.primary, 9);
    let frames = [connection.join(&subflow), subflow.joined_ack(), subflow.data(10), subflow.fin()];
    for frame in frames {
        let (sent, seen) = cluster.seen(1, &frame);
        assert_eq!((backend(&sent), &sent.via), (home, &vec![1, 0]));
        assert!(seen.at(1).contains(&Counter::SteeredForward), "{seen:?}");
    }
    // Its owner dies, and the subflow with it: no other knows where it was.
    cluster.kill(0).unwrap();
    let (sent, seen) = cluster.seen(1, &subflow.data(10));
    assert_eq!((backend(&sent), sent.via), (cluster.hashed(&subflow), vec![1]));
    assert!(seen.at(1).contains(&Counter::FlowRehashed), "{seen:?}");
}

#[test]
fn a_syn_that_comes_again_has_the_same_key() {
    let Some(mut cluster) = assigning(1) else { return };
    let (first, home) = assigned(&mut cluster, 0, 1);
    assert_eq!(assigned(&mut cluster, 0, 1), (first, home));
    assert_eq!(cluster.state(0, &first.primary), Some(FlowState::New));
}

//! Explaining decides as the live program does, and changes nothing.

use heddle_balancer_maps::abi::{Counter, MptcpMode};
use heddle_harness::{Cluster, Connection, SERVICE_UDP, Setup, fragments};
use heddle_wire::Version;

use crate::traces::world::{Traced, connection, flow, open, with_port};

/// All that a program can change.
fn contents(cluster: &Cluster, balancer: usize) -> String {
    let maps = &cluster.balancer(balancer).unwrap().maps;
    let counters: Vec<_> = (0..=SERVICE_UDP)
        .flat_map(|service| maps.counters.of(service).unwrap())
        .map(|(_, count)| count.packets)
        .collect();
    let flows: Vec<_> = maps.flows.iter().collect();
    let tokens: Vec<_> = maps.tokens.iter().collect();
    let fragments: Vec<_> = maps.fragments.iter().collect();
    let assigned = maps.assigned.entries().unwrap();
    format!("{flows:?} {tokens:?} {fragments:?} {assigned:?} {counters:?}")
}

/// Each packet of some lives is explained before it is sent.
#[test]
fn an_explanation_tells_what_then_happens_and_changes_nothing() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for client in 0..6 {
        let connection = connection(client);
        let (stray, subflow) = (flow(100 + client), with_port(connection.primary, 9));
        frames.extend([connection.syn(), connection.third_ack(), connection.first_data(9)]);
        frames.extend([connection.data(9), connection.join(&subflow), subflow.joined_ack()]);
        frames.extend([subflow.data(9), subflow.fin(), stray.syn(&[]), stray.ack(&[], 9)]);
        frames.extend(fragments(&stray.datagram(3000), 1480, client));
        frames.extend([self::connection(300 + client).third_ack(), stray.too_big(1400)]);
        frames.extend([flow(200 + client).ack(&[], 1), stray.datagram(1)]);
    }
    for frame in &frames {
        let before = contents(&cluster, 0);
        let explained = cluster.explain(0, frame).unwrap();
        assert_eq!(contents(&cluster, 0), before);
        let run = cluster.balancer(0).unwrap().program.run(frame, 1).unwrap();
        assert_eq!((run.action, run.data), (explained.run.action, explained.run.data));
        cluster.send(0, frame).unwrap();
        cluster.advance(61).unwrap();
    }
}

#[test]
fn an_explanation_names_flow_token_owner_and_target() {
    let Some(cluster) = open(Setup { balancers: 3, backends: 2, ..Setup::default() }) else {
        return;
    };
    let connection = crate::traces::world::kept_by(&cluster, 1, 2);
    let home = cluster.connect(0, &connection);
    assert_eq!(cluster.to(0, &connection.data(1)), home);
    let trace = cluster.explain(0, &connection.data(1)).unwrap().trace.unwrap();
    assert_eq!(trace.token, connection.token());
    assert_eq!(cluster.backend_of(0, trace.target), Some(home));
    assert_eq!(trace.counters, [1 << Counter::SentFlow as u32, 0]);
    let trace = cluster.explain(0, &connection.join(&flow(9))).unwrap().trace.unwrap();
    assert_ne!(trace.owner, 0);
    assert!(trace.counted(Counter::QueriedJoin));
}

/// Assigning gives no key away, and takes none from the queue.
#[test]
fn explaining_assigns_nothing() {
    let mode = MptcpMode::Assign;
    let Some(cluster) = open(Setup { mode, ..Setup::default() }) else { return };
    let connection = Connection { version: Version::V0, ..connection(1) };
    let before = contents(&cluster, 0);
    let trace = cluster.explain(0, &connection.syn()).unwrap().trace.unwrap();
    assert!(trace.counted(Counter::KeyGenerated), "{:x?}", trace.counters);
    assert_eq!(contents(&cluster, 0), before);
}

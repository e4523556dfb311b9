//! Fragments: the first one has ports, the others follow it, whichever balancers they come by.

use heddle_balancer_maps::abi::Counter;
use heddle_harness::{Backend, Fate, Setup, fragments};

use crate::world::{Traced, backend, connection, flow, flow_v6, open, with_port};

#[test]
fn fragments_go_where_the_first_one_went() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    for (id, flow) in (1..40).flat_map(|client| [(client, flow(client)), (client, flow_v6(client))])
    {
        let [first, second, third] = fragments(&flow.datagram(3500), 1440, id).try_into().unwrap();
        let sent = cluster.send(0, &first).unwrap();
        let home = backend(&sent);
        assert_eq!(home, cluster.to(0, &flow.datagram(10)), "the flow's");
        for (balancer, part) in [(1, &second), (2, &third), (0, &second)] {
            let (sent, seen) = cluster.seen(balancer, part);
            assert_eq!((backend(&sent), sent.packet()), (home, &part[14..]));
            assert_eq!(seen.count(Counter::SentFragment), 1);
            assert!(sent.via.len() <= 2, "{:?}", sent.via);
        }
    }
}

/// Out of order, those before the first one are lost.
#[test]
fn a_fragment_before_the_first_is_dropped() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    for client in 0..8 {
        let parts = fragments(&flow(client).datagram(2000), 1480, 7);
        let (sent, seen) = cluster.seen(0, &parts[1]);
        assert_eq!((sent.fate, seen.count(Counter::DropFragment)), (Fate::Dropped, 1));
        let home = cluster.to(1, &parts[0]);
        assert_eq!(cluster.to(0, &parts[1]), home);
        cluster.advance(600).unwrap();
        assert_eq!(cluster.send(0, &parts[1]).unwrap().fate, Fate::Dropped, "too late");
    }
}

/// A flow that no hash explains: its fragments follow its entry.
#[test]
fn fragments_of_a_subflow_go_to_its_backend() {
    let Some(cluster) = open(Setup { balancers: 2, backends: 8, ..Setup::default() }) else {
        return;
    };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    let subflow = crate::world::find(subflows, |subflow| cluster.hashed(&subflow) != home);
    cluster.join(0, &connection, &subflow);
    for (balancer, part) in [0, 1, 1].iter().zip(fragments(&subflow.data(3000), 1480, 5)) {
        assert_eq!(backend(&cluster.send(*balancer, &part).unwrap()), home);
    }
}

/// UDP in fragments only (tunnels, DNSSEC) is a flow as any: behind its first datagram it stays, also when backends change.
#[test]
fn datagrams_in_fragments_are_a_flow() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let send = |cluster: &heddle_harness::Cluster, id| -> Vec<usize> {
        fragments(&flow.datagram(2000), 1480, id).iter().map(|part| cluster.to(0, part)).collect()
    };
    let homes = send(&cluster, 1);
    cluster.backends.push(Backend { weight: 1000, up: true });
    cluster.publish().unwrap();
    for (id, silence) in [(2, 500), (3, 1000), (4, 1000)] {
        cluster.advance(silence).unwrap();
        assert_eq!(send(&cluster, id), homes);
    }
}

/// RFC 6946: a fragment header on a whole packet. It is no fragment: what it opens is a flow as any.
#[test]
fn an_atomic_fragment_is_a_packet() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let frame = flow_v6(1).syn(&[]);
    let [whole] = fragments(&frame, 1440, 3).try_into().unwrap();
    let (_, seen) = cluster.seen(0, &whole);
    assert_eq!(seen.at(0), [Counter::SentSyn, Counter::FlowAdded]);
}

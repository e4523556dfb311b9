//! Services with several ports: one in tables and hashes.

use heddle_balancer_maps::abi::{Counter, FlowState, MptcpMode};
use heddle_harness::{Flow, Outcome, PORT, Setup, fragments};

use crate::traces::world::{Traced, backend, connection, find, flow, flow_v6, open, with_port};

const PORTS: u16 = 10;

fn several() -> Setup {
    Setup { ports: PORTS, backends: 8, ..Setup::default() }
}

/// The flow to the service's nth port.
fn at(mut flow: Flow, port: u16) -> Flow {
    flow.service.set_port(PORT + port);
    flow
}

#[test]
fn all_ports_reach_the_service_and_those_beside_it_do_not() {
    let Some(mut cluster) = open(several()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        let home = cluster.plain(0, &at(flow, PORTS - 1));
        assert_eq!(home, cluster.hashed(&flow), "the first port stands for all");
        assert_eq!(cluster.to(0, &at(flow, 0).ack(&[], 10)), home);
        let (sent, seen) = cluster.seen(0, &at(flow, PORTS).syn(&[]));
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassNoVip]));
    }
}

/// One client port to several ports: the same flow, which a SYN leaves where it is.
#[test]
fn flows_from_one_port_of_a_client_share_an_entry_and_a_backend() {
    let Some(mut cluster) = open(several()) else { return };
    let first = at(flow(1), 3);
    let home = cluster.plain(0, &first);
    for port in 0..PORTS {
        let (sent, seen) = cluster.seen(0, &at(first, port).syn(&[]));
        assert_eq!((backend(&sent), seen.count(Counter::FlowKept)), (home, 1));
        assert_eq!(
            cluster.to(0, &at(first, port).datagram(10)),
            cluster.to(0, &first.datagram(10))
        );
    }
    assert_eq!(cluster.state(0, &at(first, 7)), Some(FlowState::Established));
    // The end of one leaves the others where they are.
    assert_eq!(cluster.to(0, &first.fin()), home);
    assert_eq!(cluster.to(0, &at(first, 5).ack(&[], 100)), home);
}

#[test]
fn datagrams_from_one_port_of_a_client_go_to_one_backend() {
    let Some(cluster) = open(several()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        let home = cluster.to(0, &flow.datagram(10));
        for port in 1..PORTS {
            assert_eq!(cluster.to(0, &at(flow, port).datagram(10)), home);
        }
    }
}

/// The known flow of a further port takes the same way as that of a single one.
#[test]
fn known_flows_of_any_port_take_the_fast_path() {
    let Some(mut cluster) = open(several()) else { return };
    let last = at(flow(1), PORTS - 1);
    cluster.plain(0, &last);
    let (_, seen) = cluster.seen(0, &last.ack(&[], 1000));
    assert_eq!(seen.at(0), [Counter::SentFlow]);
}

#[test]
fn a_client_stays_with_its_backend_on_all_ports_under_source_ip() {
    let Some(cluster) = open(Setup { mode: MptcpMode::SourceIp, ..several() }) else { return };
    for client in 1..20 {
        let home = cluster.to(0, &flow(client).syn(&[]));
        for port in 1..PORTS {
            let data = at(with_port(flow(client), 50_000 + port), port);
            assert_eq!(cluster.to(0, &data.syn(&[])), home, "as FTP's data connections");
        }
    }
}

#[test]
fn joins_to_another_port_reach_their_connection() {
    let Some(cluster) = open(Setup { balancers: 2, ..several() }) else { return };
    let mut connection = connection(1);
    connection.primary = at(connection.primary, 2);
    let home = cluster.connect(0, &connection);
    let subflows = (10..).map(|port| at(with_port(connection.primary, port), 6));
    let subflow = find(subflows, |subflow| cluster.hashed(&subflow) != home);
    assert_eq!(cluster.join(1, &connection, &subflow), home);
}

/// An error about a flow of a further port, and the parts of a datagram to it.
#[test]
fn errors_and_fragments_find_the_flow() {
    let Some(mut cluster) = open(several()) else { return };
    let last = at(flow(1), PORTS - 1);
    let home = cluster.plain(0, &last);
    let (sent, seen) = cluster.seen(0, &last.too_big(1400));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentIcmp]));
    let parts = fragments(&last.datagram(3000), 1440, 9);
    let homes: Vec<usize> = parts.iter().map(|part| cluster.to(0, part)).collect();
    assert_eq!(homes, vec![cluster.to(0, &last.datagram(10)); parts.len()]);
}

//! ICMP errors reach the backend whose packet they quote.

use heddle_balancer_maps::abi::Counter;
use heddle_harness::{Outcome, Setup};

use crate::traces::world::{Traced, backend, connection, flow, flow_v6, open, with_port};

#[test]
fn too_big_goes_to_the_flows_backend() {
    let Some(mut cluster) = open(Setup { balancers: 2, backends: 8, ..Setup::default() }) else {
        return;
    };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    let subflow = crate::traces::world::find(subflows, |subflow| cluster.hashed(&subflow) != home);
    cluster.join(0, &connection, &subflow);
    let error = subflow.too_big(1400);
    let (sent, seen) = cluster.seen(0, &error);
    assert_eq!((backend(&sent), sent.packet()), (home, &error[14..]));
    assert_eq!(seen.at(0), [Counter::SentIcmp]);
}

/// The error comes by another balancer, which sends no query: the flow's owner sends it on.
#[test]
fn too_big_at_another_balancer_goes_by_the_flows_owner() {
    let Some(cluster) = open(Setup { balancers: 3, backends: 8, ..Setup::default() }) else {
        return;
    };
    let mut by_owner = 0;
    for client in 0..20 {
        let connection = connection(client);
        let home = cluster.connect(0, &connection);
        let subflows = (10..).map(|port| with_port(connection.primary, port));
        let subflow =
            crate::traces::world::find(subflows, |subflow| cluster.hashed(&subflow) != home);
        cluster.join(0, &connection, &subflow);
        let sent = cluster.send(1, &subflow.too_big(1400)).unwrap();
        assert_eq!(backend(&sent), home, "via {:?}", sent.via);
        by_owner += usize::from(sent.via.len() == 2);
    }
    // It owns a third of the flows itself, and is the successor for half of those that balancer 0
    // owns.
    assert!((4..17).contains(&by_owner), "half of the flows are known elsewhere: {by_owner}");
}

#[test]
fn errors_about_unknown_flows_go_by_hash() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        let (sent, seen) = cluster.seen(0, &flow.too_big(1400));
        assert_eq!(backend(&sent), cluster.hashed(&flow));
        assert_eq!(seen.at(0), [Counter::SentIcmp]);
    }
}

/// About another address, or another port of this one: the stack's.
#[test]
fn other_errors_pass() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let mut other = flow(1);
    other.service.set_port(80);
    let (sent, seen) = cluster.seen(0, &other.too_big(1400));
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassIcmp]));
    assert_eq!(sent.frame, other.too_big(1400));
}

/// A packet longer than the path to the backend takes: its sender gets an ICMP error.
#[test]
fn too_long_a_packet_is_answered() {
    let Some(mut cluster) = open(Setup { mtu: 1500, ..Setup::default() }) else { return };
    let flow = flow(1);
    cluster.plain(0, &flow);
    let (sent, seen) = cluster.seen(0, &flow.ack(&[], 1440));
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Outside, vec![Counter::TooBig]));
    assert_eq!(u16::from_be_bytes([sent.frame[14 + 26], sent.frame[14 + 27]]), 1480);
}

/// A packet of a backend may have extension headers: an answer in fragments, destination options. A later
/// fragment has no ports, which no balancer could guess.
#[test]
fn too_big_about_a_packet_with_extension_headers_goes_to_the_flows_backend() {
    const QUOTE: usize = 14 + 40 + 8;
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let flow = flow_v6(1);
    let home = cluster.plain(0, &flow);
    let quoting = |headers: &[[u8; 8]]| {
        let mut error = flow.too_big(1400);
        let mut at = QUOTE + 6;
        for (number, header) in headers.iter().enumerate() {
            let place = QUOTE + 40 + 8 * number;
            let transport = std::mem::replace(&mut error[at], header[0]);
            error.splice(place..place, [&[transport], &header[1..]].concat());
            at = place;
        }
        error[14 + 5] += 8 * headers.len() as u8;
        error
    };
    let options = [60, 0, 1, 4, 0, 0, 0, 0];
    let fragment = |place: u8| [44, 0, 0, place, 0, 0, 0, 9];
    for headers in [&[][..], &[options], &[fragment(1)], &[options, fragment(1), options]] {
        let (sent, seen) = cluster.seen(0, &quoting(headers));
        assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentIcmp]), "{headers:?}");
    }
    for headers in [&[fragment(8)][..], &[options; 5]] {
        let (_, seen) = cluster.seen(0, &quoting(headers));
        assert_eq!(seen.at(0), [Counter::PassIcmp], "{headers:?}");
    }
}

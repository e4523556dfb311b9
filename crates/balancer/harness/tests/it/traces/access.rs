//! Access by source: prefixes, and connections in a second.

use std::net::IpAddr;

use heddle_balancer_maps::abi::{
    ACCESS_FILTERED, ACCESS_LIMITED, ACCESS_SERVICE_BITS, AccessRule, AccessSource, Address,
    Counter,
};
use heddle_balancer_maps::maps::{Prefix, ServiceLimit};
use heddle_harness::{Cluster, Outcome, SERVICE_TCP, SERVICE_UDP, Setup};

use crate::traces::world::{Traced, backend, connection, flow, flow_v6, from, open, with_port};

/// Ticks of a second.
const SECOND: u32 = 60;

fn asking(access: u32) -> Setup {
    Setup { access, ..Setup::default() }
}

/// A rule of the TCP service's. The bits are those of the address's family.
fn rule(cluster: &mut Cluster, source: [u8; 4], bits: u32, rule: AccessRule) {
    let address = Address::from(IpAddr::from(source));
    let words = [address.high.to_ne_bytes(), address.low.to_ne_bytes()].concat();
    let data = AccessSource {
        vip: SERVICE_TCP,
        address: words.try_into().unwrap(),
        ..AccessSource::default()
    };
    let bits = ACCESS_SERVICE_BITS + if bits == 0 { 0 } else { 96 + bits };
    let rules = &mut cluster.balancer_mut(0).unwrap().maps.access_rules;
    rules.insert(Prefix { bits, data }, &(rule as u32)).unwrap();
}

fn limit(cluster: &mut Cluster, service: u16, limit: ServiceLimit) {
    let limits = &mut cluster.balancer_mut(0).unwrap().maps.access_limits;
    limits.set(service, Some(limit)).unwrap();
}

/// The longest prefix decides, for packets of connections that are open, too; other services have rules
/// of their own.
#[test]
fn denied_sources_are_dropped() {
    let Some(mut cluster) = open(asking(ACCESS_FILTERED)) else { return };
    let [inside, within, outside] = [flow(1), flow(0x0101), from([198, 19, 0, 1].into(), 40_000)];
    for flow in [inside, within, outside] {
        cluster.plain(0, &flow);
    }
    rule(&mut cluster, [0; 4], 0, AccessRule::Deny);
    rule(&mut cluster, [198, 18, 0, 0], 15, AccessRule::Allow);
    rule(&mut cluster, [198, 18, 1, 0], 24, AccessRule::Deny);
    for (flow, denied) in [(inside, false), (within, true), (outside, false), (flow_v6(1), true)] {
        for frame in [flow.syn(&[]), flow.ack(&[], 9)] {
            let (sent, seen) = cluster.seen(0, &frame);
            let dropped =
                (sent.outcome, seen.at(0)) == (Outcome::Dropped, vec![Counter::DropDenied]);
            assert_eq!(dropped, denied, "{flow:?}: {seen:?}");
        }
        backend(&cluster.send(0, &flow.datagram(9)).unwrap());
    }
}

/// A SYN that comes again is the same connection; a flow that is open goes on; a second later others may
/// come.
#[test]
fn a_source_opens_so_many_connections_in_a_second() {
    let Some(mut cluster) = open(asking(ACCESS_LIMITED)) else { return };
    let few = ServiceLimit { source: 3, ipv4_bits: 24, ipv6_bits: 64, ..ServiceLimit::default() };
    limit(&mut cluster, SERVICE_TCP, few);
    limit(&mut cluster, SERVICE_UDP, few);
    cluster.advance(SECOND - cluster.now() % SECOND).unwrap();
    for round in 0..2 {
        let new = |client: u16| with_port(flow(client), 50_000 + round);
        for client in 1..4 {
            cluster.to(0, &new(client).syn(&[]));
            cluster.to(0, &new(client).syn(&[]));
            cluster.to(0, &new(client).datagram(9));
        }
        for frame in [new(4).syn(&[]), connection(5).syn(), new(4).datagram(9)] {
            let (sent, seen) = cluster.seen(0, &frame);
            let wanted = (Outcome::Dropped, vec![Counter::DropSourceRate]);
            assert_eq!((sent.outcome, seen.at(0)), wanted);
        }
        cluster.to(0, &new(1).ack(&[], 9));
        cluster.to(0, &new(1).datagram(9));
        cluster.to(0, &with_port(flow(0x0101), 50_000 + round).syn(&[]));
        cluster.advance(SECOND).unwrap();
    }
}

/// A source's connections beyond its limit take nothing from the service's.
#[test]
fn a_service_opens_so_many_connections_in_a_second() {
    let Some(mut cluster) = open(asking(ACCESS_LIMITED)) else { return };
    let few = ServiceLimit { service: 4, source: 2, ipv4_bits: 32, ipv6_bits: 64 };
    limit(&mut cluster, SERVICE_TCP, few);
    cluster.advance(SECOND - cluster.now() % SECOND).unwrap();
    let mut ends = |client: u16, port: u16| {
        let (_, seen) = cluster.seen(0, &with_port(flow(client), port).syn(&[]));
        seen.at(0)[0]
    };
    let loud: Vec<Counter> = (1..6).map(|port| ends(1, port)).collect();
    let (sent, source) = (Counter::SentSyn, Counter::DropSourceRate);
    assert_eq!(loud, [sent, sent, source, source, source]);
    let others: Vec<Counter> = (2..5).map(|client| ends(client, 1)).collect();
    assert_eq!(others, [sent, sent, Counter::DropServiceRate]);
}

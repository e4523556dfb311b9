//! Recorded messages of the kernel (tests/record.py) as forwarding tables, and what follows from
//! such.

use std::collections::{BTreeMap, BTreeSet};

use heddle_daemon::mac::Mac;
use ipnet::IpNet;
use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;

use super::*;
use crate::config::{KernelRoutes, Table};

/// Numbers of the recording's interfaces.
const SWP1: u32 = 11;
const SWP2: u32 = 12;
const ETH0: u32 = 13;
/// RTM_NEWNEXTHOP.
const NEW_OBJECT: u16 = 104;
const MAIN: u32 = 254;

/// A table of one of the recorded states.
fn recorded(state: &str, table: u32) -> Fib {
    let (mut routes, mut objects, mut neighbours) = (Vec::new(), Vec::new(), Vec::new());
    for line in include_str!("tests/recorded.txt").lines() {
        let (name, digits) = line.split_once(' ').unwrap();
        if name != state {
            continue;
        }
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        if u16::from_ne_bytes([bytes[4], bytes[5]]) == NEW_OBJECT {
            match NetlinkMessage::<NextHopMessage>::deserialize(&bytes).unwrap().payload {
                NetlinkPayload::InnerMessage(object) => objects.push(object),
                other => panic!("{other:?}"),
            }
            continue;
        }
        match NetlinkMessage::<RouteNetlinkMessage>::deserialize(&bytes).unwrap().payload {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(one)) => routes.push(one),
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewNeighbour(one)) => {
                neighbours.push(one);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(!routes.is_empty(), "{state} is recorded");
    Fib::new(table, &routes, &objects, &neighbours)
}

fn net(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn hop(interface: u32, gateway: &str) -> Hop {
    Hop { interface, gateway: Some(gateway.parse().unwrap()) }
}

fn hops(fib: &Fib, prefix: &str) -> Option<Vec<Hop>> {
    fib.routes.get(&net(prefix)).map(|route| route.hops.clone())
}

const BY_1: (u32, &str) = (SWP1, "10.1.11.1");
const BY_2: (u32, &str) = (SWP2, "10.1.12.1");

/// The next hops with these interfaces and gateways.
fn by(all: &[(u32, &str)]) -> Option<Vec<Hop>> {
    Some(all.iter().map(|(interface, gateway)| hop(*interface, gateway)).collect())
}

#[test]
fn multipath_routes_have_all_their_next_hops_and_the_lowest_metric_counts() {
    let fib = recorded("multipath", MAIN);
    assert_eq!(hops(&fib, "10.0.2.0/24"), by(&[BY_1, BY_2]));
    assert_eq!(hops(&fib, "10.0.4.0/24"), by(&[(SWP2, "fe80::2")]), "IPv4 by an IPv6 gateway");
    assert_eq!(hops(&fib, "fd00:2::/64"), by(&[(SWP1, "fe80::1"), (SWP2, "fe80::2")]));
    assert_eq!(hops(&fib, "10.0.2.128/25"), Some(vec![]), "a blackhole");
    assert_eq!(hops(&fib, "0.0.0.0/0"), by(&[(ETH0, "192.0.2.1")]));
    assert_eq!(hops(&fib, "10.1.11.0/31"), Some(vec![Hop { interface: SWP1, gateway: None }]));
    let realm = |prefix: &str| fib.routes[&net(prefix)].realm;
    assert_eq!(
        [realm("10.0.2.0/24"), realm("10.0.3.0/24"), realm("10.0.4.0/24")],
        [None, Some(3), Some(4)]
    );
    assert_eq!(fib.neighbours[&(SWP1, "10.1.11.1".parse().unwrap())], Mac([2, 0, 0, 0, 0, 1]));
    assert_eq!(hops(&recorded("multipath", 100), "10.0.2.0/24"), by(&[BY_1]), "another table");
}

#[test]
fn a_route_that_changes_or_goes_leaves_what_is_left() {
    assert_eq!(hops(&recorded("changed", MAIN), "10.0.2.0/24"), by(&[BY_2]));
    let left = by(&[(ETH0, "192.0.2.1")]);
    assert_eq!(hops(&recorded("deleted", MAIN), "10.0.2.0/24"), left, "that of metric 100");
}

#[test]
fn routes_have_the_next_hops_of_their_nexthop_objects() {
    let fib = recorded("objects", MAIN);
    assert_eq!(hops(&fib, "10.0.5.0/24"), by(&[BY_1, BY_2]), "a group");
    assert_eq!(hops(&fib, "10.0.6.0/24"), by(&[BY_1]));
    assert_eq!(hops(&fib, "10.0.7.0/24"), Some(vec![]), "a blackhole");
    let fib = recorded("replaced", MAIN);
    assert_eq!(hops(&fib, "10.0.5.0/24"), by(&[BY_2]), "the route did not change");
}

#[test]
fn next_hops_without_a_carrier_are_none() {
    let fib = recorded("down", MAIN);
    assert_eq!(hops(&fib, "10.0.3.0/24"), by(&[BY_1]));
    assert_eq!(hops(&fib, "10.0.4.0/24"), Some(vec![]));
    assert_eq!(
        hops(&fib, "10.0.5.0/24"),
        None,
        "the kernel removes such objects, with their routes"
    );
}

fn routes(tors: &[(&str, u16)], realms: bool) -> KernelRoutes {
    let tors = tors.iter().map(|(prefix, tor)| (net(prefix), *tor)).collect();
    KernelRoutes { table: Table::Number(MAIN), tors, realms }
}

/// Ports 1 and 2 at swp1 and swp2, both up.
fn both() -> FabricPorts {
    FabricPorts { numbers: BTreeMap::from([(SWP1, 1), (SWP2, 2)]), up: 0b110 }
}

/// A table of prefixes with their next hops.
fn fib(all: &[(&str, &[(u32, &str)])]) -> Fib {
    let route = |hops: &[(u32, &str)]| Route { hops: by(hops).unwrap(), ..Route::default() };
    let routes = all.iter().map(|(prefix, hops)| (net(prefix), route(hops))).collect();
    Fib { routes, neighbours: BTreeMap::new() }
}

/// The next hops towards a ToR, and the ToR of a prefix: `Some(None)` is left to the kernel.
fn way(found: &Towards, tor: u16, prefix: &str) -> (Vec<u16>, Option<Option<u16>>) {
    (found.routes[usize::from(tor)].clone(), found.prefixes.get(&net(prefix)).copied())
}

#[test]
fn listed_prefixes_are_behind_their_tors() {
    let list = routes(&[("10.0.1.0/24", 1), ("10.0.2.0/24", 2), ("10.0.3.0/24", 3)], false);
    let fib = recorded("multipath", MAIN);
    let found = towards(&fib, &list, Some(1), &both());
    assert_eq!(way(&found, 2, "10.0.2.0/24"), (vec![1, 2], Some(Some(2))));
    assert_eq!(way(&found, 1, "10.0.1.0/24"), (vec![], Some(None)), "its own");
    assert_eq!(found.prefixes.get(&net("10.0.4.0/24")), None, "not in the list, and no realms");
    assert_eq!(found.prefixes[&net("10.0.2.128/25")], None, "the kernel's blackhole within");
    assert_eq!(
        found.macs,
        BTreeMap::from([(1, Mac([2, 0, 0, 0, 0, 1])), (2, Mac([2, 0, 0, 0, 0, 2]))])
    );
    let unresolved = BTreeSet::from([(SWP1, "fe80::1".parse().unwrap())]);
    assert_eq!(found.unresolved, unresolved);
}

#[test]
fn realms_are_the_numbers_of_tors() {
    let found = towards(&recorded("multipath", MAIN), &routes(&[], true), Some(4), &both());
    assert_eq!(way(&found, 3, "10.0.3.0/24"), (vec![1, 2], Some(Some(3))));
    assert_eq!(way(&found, 4, "10.0.4.0/24"), (vec![], Some(None)), "its own");
    assert_eq!(found.prefixes.len(), 2);
}

#[test]
fn a_default_route_leads_to_listed_prefixes() {
    let list = routes(&[("10.0.2.0/24", 2)], false);
    let up = fib(&[("0.0.0.0/0", &[BY_1, BY_2]), ("10.0.2.5/32", &[BY_2])]);
    let found = towards(&up, &list, None, &both());
    assert_eq!(way(&found, 2, "10.0.2.0/24"), (vec![2], Some(Some(2))), "what all of it shares");
    assert_eq!(found.prefixes[&net("10.0.2.5/32")], Some(2));
}

#[test]
fn what_does_not_lead_through_ports_alone_is_the_kernels() {
    let list = routes(&[("10.0.2.0/24", 2), ("10.0.3.0/24", 2)], false);
    let aside = fib(&[("10.0.2.0/24", &[BY_1, (ETH0, "192.0.2.1")]), ("10.0.3.0/24", &[BY_2])]);
    let found = towards(&aside, &list, None, &both());
    assert_eq!(way(&found, 2, "10.0.2.0/24"), (vec![2], Some(None)), "a hop that is no port");
    assert_eq!(found.prefixes[&net("10.0.3.0/24")], Some(2));
    let apart = fib(&[("10.0.2.0/24", &[BY_1]), ("10.0.3.0/24", &[BY_2])]);
    let found = towards(&apart, &list, None, &both());
    assert_eq!(way(&found, 2, "10.0.2.0/24"), (vec![], Some(None)), "they share no next hop");
    assert_eq!(found.prefixes[&net("10.0.3.0/24")], None);
}

#[test]
fn a_port_that_is_down_is_no_next_hop() {
    let list = routes(&[("10.0.2.0/24", 2)], false);
    let up = |up| FabricPorts { up, ..both() };
    let fib = fib(&[("10.0.2.0/24", &[BY_1, BY_2])]);
    assert_eq!(
        way(&towards(&fib, &list, None, &up(0b100)), 2, "10.0.2.0/24"),
        (vec![2], Some(Some(2)))
    );
    assert_eq!(way(&towards(&fib, &list, None, &up(0)), 2, "10.0.2.0/24"), (vec![], Some(None)));
}

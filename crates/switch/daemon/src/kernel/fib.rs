//! The kernel's messages as a forwarding table.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use heddle_daemon::mac::Mac;
use ipnet::IpNet;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteNextHop, RouteNextHopFlags, RouteType,
    RouteVia,
};

use super::hop::{Hop, usable};
use super::nexthops::{NextHopMessage, NextHopObject};

/// A forwarding table with the neighbours that it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fib {
    /// The best route to each prefix.
    pub routes: BTreeMap<IpNet, Route>,
    /// Ethernet addresses of gateways, by the number of the interface and their IP address.
    pub neighbours: BTreeMap<(u32, IpAddr), Mac>,
}

/// A route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Next hops that can be used; none for a route that forwards nothing.
    pub hops: Vec<Hop>,
    /// Its realm; none for realm 0.
    pub realm: Option<u16>,
    /// Its metric: of two routes to a prefix the lower counts.
    pub metric: u32,
}

impl Fib {
    /// The table of this number in a dump of all routes, nexthop objects and neighbours.
    pub fn new(
        table: u32,
        routes: &[RouteMessage],
        objects: &[NextHopMessage],
        neighbours: &[NeighbourMessage],
    ) -> Fib {
        let objects: BTreeMap<u32, &NextHopObject> =
            objects.iter().map(|message| (message.id, &message.object)).collect();
        let mut fib = Fib::default();
        for message in routes.iter().filter(|message| table_of(message) == table) {
            fib.add(message, &objects);
        }
        let hops = fib.routes.values().flat_map(|route| &route.hops);
        let gateways: BTreeSet<(u32, IpAddr)> =
            hops.filter_map(|hop| Some((hop.interface, hop.gateway?))).collect();
        let known = neighbours.iter().filter_map(neighbour);
        fib.neighbours = known.filter(|(place, _)| gateways.contains(place)).collect();
        fib
    }

    fn add(&mut self, message: &RouteMessage, objects: &BTreeMap<u32, &NextHopObject>) {
        // A route for one type of service is no route for all packets.
        let Some(prefix) = prefix(message).filter(|_| message.header.tos == 0) else { return };
        let route = route(message, objects);
        let before = self.routes.get(&prefix);
        if before.is_none_or(|before| route.metric < before.metric) {
            self.routes.insert(prefix, route);
        }
    }
}

/// The header has 8 bits for the table's number, the attribute all.
fn table_of(message: &RouteMessage) -> u32 {
    let number = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(number) => Some(*number),
        _ => None,
    });
    number.unwrap_or(message.header.table.into())
}

fn prefix(message: &RouteMessage) -> Option<IpNet> {
    let address = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(address) => ip(address),
        _ => None,
    });
    let address = address.or(match message.header.address_family {
        AddressFamily::Inet => Some(IpAddr::from([0; 4])),
        AddressFamily::Inet6 => Some(IpAddr::from([0; 16])),
        _ => None,
    });
    IpNet::new(address?, message.header.destination_prefix_length).ok()
}

fn route(message: &RouteMessage, objects: &BTreeMap<u32, &NextHopObject>) -> Route {
    let mut route = Route::default();
    let mut object = None;
    let is_unicast = message.header.kind == RouteType::Unicast;
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Priority(metric) => route.metric = *metric,
            RouteAttribute::Realm(realm) => route.realm = Some(realm.destination),
            RouteAttribute::NhId(id) => object = objects.get(id).copied(),
            RouteAttribute::MultiPath(all) => {
                route.hops = all.iter().filter_map(hop).collect();
                route.realm = route.realm.or(all.iter().find_map(|one| realm(&one.attributes)));
            }
            _ => {}
        }
    }
    route.realm = route.realm.filter(|realm| *realm != 0);
    if let Some(object) = object {
        route.hops = object.hops(objects);
    } else if let Some(only) = only_hop(&message.attributes) {
        let flags = RouteNextHopFlags::from_bits_truncate(message.header.flags.bits() as u8);
        route.hops = usable(flags).then_some(only).into_iter().collect();
    }
    if !is_unicast {
        route.hops.clear();
    }
    route
}

fn realm(attributes: &[RouteAttribute]) -> Option<u16> {
    attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Realm(realm) => Some(realm.destination),
        _ => None,
    })
}

fn hop(one: &RouteNextHop) -> Option<Hop> {
    let hop = Hop { interface: one.interface_index, gateway: gateway(&one.attributes) };
    usable(one.flags).then_some(hop)
}

fn only_hop(attributes: &[RouteAttribute]) -> Option<Hop> {
    let interface = attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Oif(number) => Some(*number),
        _ => None,
    });
    interface.map(|interface| Hop { interface, gateway: gateway(attributes) })
}

fn gateway(attributes: &[RouteAttribute]) -> Option<IpAddr> {
    attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Gateway(address) => ip(address),
        RouteAttribute::Via(RouteVia::Inet(v4)) => Some((*v4).into()),
        RouteAttribute::Via(RouteVia::Inet6(v6)) => Some((*v6).into()),
        _ => None,
    })
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(v4) => Some((*v4).into()),
        RouteAddress::Inet6(v6) => Some((*v6).into()),
        _ => None,
    }
}

/// A neighbour whose Ethernet address may be used.
fn neighbour(message: &NeighbourMessage) -> Option<((u32, IpAddr), Mac)> {
    match message.header.state {
        NeighbourState::Reachable
        | NeighbourState::Permanent
        | NeighbourState::Noarp
        | NeighbourState::Stale
        | NeighbourState::Delay
        | NeighbourState::Probe => {}
        _ => return None,
    }
    let address = message.attributes.iter().find_map(|attribute| match attribute {
        NeighbourAttribute::Destination(NeighbourAddress::Inet(v4)) => Some(IpAddr::from(*v4)),
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(v6)) => Some(IpAddr::from(*v6)),
        _ => None,
    });
    let mac = message.attributes.iter().find_map(|attribute| match attribute {
        NeighbourAttribute::LinkLayerAddress(bytes) => bytes.as_slice().try_into().ok().map(Mac),
        _ => None,
    });
    Some(((message.header.ifindex, address?), mac?))
}

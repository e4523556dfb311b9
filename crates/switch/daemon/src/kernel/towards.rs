//! Next hops towards ToRs, as they follow from a forwarding table.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use heddle_daemon::mac::Mac;
use heddle_switch_maps::abi::SWITCH_TORS;
use ipnet::IpNet;

use super::fib::{Fib, Route};
use super::hop::Hop;
use crate::config::KernelRoutes;
use crate::plan::Routes;

/// The ways to ToRs that a forwarding table has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Towards {
    /// Ports that are next hops towards each ToR, by its number, ascending.
    pub routes: Routes,
    /// The ToR behind which each prefix is; none: the kernel forwards there.
    pub prefixes: BTreeMap<IpNet, Option<u16>>,
    /// Ethernet addresses of the neighbours at ports.
    pub macs: BTreeMap<u16, Mac>,
    /// Neighbours that the kernel has not resolved, by the number of the interface and their
    /// address.
    pub unresolved: BTreeSet<(u32, IpAddr)>,
}

/// The ports to other switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricPorts {
    /// By the numbers of their interfaces.
    pub numbers: BTreeMap<u32, u16>,
    /// Those that are up, as a set of bits.
    pub up: u64,
}

/// The ways to ToRs of the switch with the number `own`.
///
/// A prefix is behind the ToR that the realm of its route or the list of prefixes names, if all next
/// hops of its route are neighbours at ports; other prefixes, those of this ToR's own hosts among
/// them, are left to the kernel. A ToR has one set of next hops: those that the routes to all of its
/// prefixes share. While they share none, the kernel forwards to that ToR.
pub fn towards(fib: &Fib, routes: &KernelRoutes, own: Option<u16>, ports: &FabricPorts) -> Towards {
    let mut found =
        Towards { routes: vec![Vec::new(); SWITCH_TORS as usize], ..Towards::default() };
    let mut sets: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
    for prefix in candidates(fib, routes) {
        let route = covering(&fib.routes, prefix);
        let tor =
            route.and_then(|route| tor_of(route, prefix, routes)).filter(|&tor| Some(tor) != own);
        let hops = route.and_then(|route| hops(route, ports));
        let (Some(tor), Some(hops)) = (tor, hops) else {
            found.prefixes.insert(prefix, None);
            continue;
        };
        found.prefixes.insert(prefix, Some(tor));
        let set = sets.entry(tor).or_insert_with(|| hops.clone());
        *set = &*set & &hops;
    }
    for (tor, set) in sets {
        if set.is_empty() {
            found.prefixes.values_mut().filter(|to| **to == Some(tor)).for_each(|to| *to = None);
        }
        found.routes[usize::from(tor)] = set.into_iter().collect();
    }
    add_neighbours(fib, &ports.numbers, &mut found);
    found
}

/// Prefixes whose longest match may be other than that of what is around them: those that the file
/// lists, those of routes into them, and those that have a realm with what is in them.
fn candidates(fib: &Fib, routes: &KernelRoutes) -> BTreeSet<IpNet> {
    let mut all: BTreeSet<IpNet> = routes.tors.keys().copied().collect();
    let has_realm = |route: &Route| routes.realms && realm(route).is_some();
    for (&prefix, route) in &fib.routes {
        let is_within = || {
            covering(&routes.tors, prefix).is_some()
                || above(prefix).any(|net| fib.routes.get(&net).is_some_and(has_realm))
        };
        if has_realm(route) || is_within() {
            all.insert(prefix);
        }
    }
    all
}

/// A prefix and those that contain it, the longest first.
fn above(prefix: IpNet) -> impl Iterator<Item = IpNet> {
    std::iter::successors(Some(prefix), IpNet::supernet)
}

/// The value of the longest prefix that contains another one.
fn covering<T>(all: &BTreeMap<IpNet, T>, prefix: IpNet) -> Option<&T> {
    above(prefix).find_map(|net| all.get(&net))
}

fn tor_of(route: &Route, prefix: IpNet, routes: &KernelRoutes) -> Option<u16> {
    let by_realm = realm(route).filter(|_| routes.realms);
    by_realm.or_else(|| covering(&routes.tors, prefix).copied())
}

/// A realm that is the number of a ToR.
fn realm(route: &Route) -> Option<u16> {
    route.realm.filter(|&realm| u32::from(realm) < SWITCH_TORS)
}

/// The ports of a route's next hops that are up; none unless each of the hops is a neighbour at a
/// port.
fn hops(route: &Route, ports: &FabricPorts) -> Option<BTreeSet<u16>> {
    let port = |hop: &Hop| hop.gateway.and_then(|_| ports.numbers.get(&hop.interface).copied());
    let hops: Option<BTreeSet<u16>> = route.hops.iter().map(port).collect();
    let mut hops = hops?;
    hops.retain(|port| ports.up >> port & 1 == 1);
    (!hops.is_empty()).then_some(hops)
}

/// A port has one neighbour, under however many addresses.
fn add_neighbours(fib: &Fib, ports: &BTreeMap<u32, u16>, found: &mut Towards) {
    for hop in fib.routes.values().flat_map(|route| &route.hops) {
        let (Some(&port), Some(gateway)) = (ports.get(&hop.interface), hop.gateway) else {
            continue;
        };
        let place = (hop.interface, gateway);
        if let Some(&mac) = fib.neighbours.get(&place) {
            found.macs.entry(port).or_insert(mac);
        } else {
            found.unresolved.insert(place);
        }
    }
}

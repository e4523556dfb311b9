//! The shortest paths between two hosts, as far as one can be better than another for some flow.

use std::collections::BTreeMap;

use heddle_fabric::{Fabric, Routes};
use heddle_policy::Tor;
use heddle_scenario::{Connections, Entropy, Scenario, Transport};
use heddle_units::{Bytes, Rate, Time};

use super::{Frames, handshake};

/// Rates and delay of a link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathLink {
    pub(crate) rate: Rate,
    /// In the other direction.
    pub(crate) reverse_rate: Rate,
    pub(crate) delay: Time,
}

/// Links of a path between two ToRs, in order.
type Path = Vec<PathLink>;

/// Paths kept for a pair of ToRs. A fabric in which more differ in a way that matters is judged by
/// those found first.
const MOST_PATHS: usize = 64;

/// Paths by their ToRs, found when first asked for.
#[derive(Debug, Default)]
pub struct BestPaths {
    paths: BTreeMap<(Tor, Tor), Vec<Path>>,
    /// The hosts' entropy values, which choose the interface of each packet.
    entropy: Entropy,
}

impl BestPaths {
    /// The paths of a scenario's flows.
    pub fn of(scenario: &Scenario) -> BestPaths {
        BestPaths { entropy: scenario.entropy, ..BestPaths::default() }
    }

    /// Most interfaces of a host that a connection uses at once: as many as it has subflows, or all
    /// if its hosts choose them by entropy values, under Ultra Ethernet by one for each packet.
    pub fn most_interfaces(&self, fabric: &Fabric, transport: &Transport) -> u32 {
        match transport {
            Transport::Uet(uet) if !uet.control.grants_credit() && self.entropy.is_by_packet() => {
                fabric.interfaces
            }
            Transport::Uet(_) => 1,
            _ if self.entropy != Entropy::Flow => fabric.interfaces,
            _ => transport.subflows().min(fabric.interfaces),
        }
    }

    /// Interfaces that a connection between two hosts uses, by their numbers.
    pub(crate) fn interfaces(
        &self,
        fabric: &Fabric,
        transport: &Transport,
        (from, to): (u32, u32),
    ) -> impl Iterator<Item = u32> {
        let most = self.most_interfaces(fabric, transport);
        fabric.interfaces_between(from, to).take(most as usize)
    }

    /// As [`ideal_fct`](super::ideal_fct). Fabric and routes must be the same in every call.
    pub fn ideal_fct(
        &mut self,
        fabric: &Fabric,
        routes: &Routes,
        transport: &Transport,
        connections: Connections,
        (from, to): (u32, u32),
        size: Bytes,
    ) -> Time {
        let interfaces = self.interfaces(fabric, transport, (from, to)).count().max(1);
        let frames = Frames::new(&transport.tcp(), size).over(interfaces as u64);
        let time = |first: &Access, path: &[PathLink], last: &Access| {
            let path = [&[first.up], path, &[last.down]].concat();
            let opening = match transport.has_handshake() {
                true => handshake(&transport.tcp(), &path, connections),
                false => Time::ZERO,
            };
            opening + frames.time_over(&path)
        };
        let (senders, receivers) = (accesses(fabric, from), accesses(fabric, to));
        let mut best = None;
        for first in &senders {
            for last in &receivers {
                let tors = (first.tor, last.tor);
                let between =
                    self.paths.entry(tors).or_insert_with(|| paths_between(fabric, routes, tors));
                let times = between.iter().map(|path| time(first, path, last));
                best = times.chain(best).min();
            }
        }
        best.unwrap_or_else(|| time(&senders[0], &[], &receivers[0]))
    }
}

/// A link of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    tor: Tor,
    /// From the host.
    up: PathLink,
    /// To the host.
    down: PathLink,
}

/// The links of a host, those that are alike once.
fn accesses(fabric: &Fabric, host: u32) -> Vec<Access> {
    let access = |interface: u32| Access {
        tor: fabric.interface_tor[interface as usize],
        up: link_of(fabric, interface),
        down: link_of(fabric, fabric.interface_port[interface as usize]),
    };
    let mut accesses: Vec<Access> = fabric.interfaces_of(host).map(access).collect();
    accesses.dedup();
    accesses
}

fn link_of(fabric: &Fabric, port: u32) -> PathLink {
    let info = &fabric.ports[port as usize];
    let delay = fabric.graph.links[info.link as usize].delay;
    let reverse_rate = fabric.rate_of(&fabric.ports[info.peer as usize]);
    PathLink { rate: fabric.rate_of(info), reverse_rate, delay }
}

fn paths_between(fabric: &Fabric, routes: &Routes, (from, to): (Tor, Tor)) -> Vec<Path> {
    let mut known = BTreeMap::new();
    paths_from(fabric, routes, u32::from(from.0), to, &mut known)
}

/// Paths from a switch, by recursion over its next hops: each switch is visited once.
fn paths_from(
    fabric: &Fabric,
    routes: &Routes,
    switch: u32,
    to: Tor,
    known: &mut BTreeMap<u32, Vec<Path>>,
) -> Vec<Path> {
    if switch == u32::from(to.0) {
        return vec![Vec::new()];
    }
    if let Some(paths) = known.get(&switch) {
        return paths.clone();
    }
    let mut paths = Vec::new();
    for hop in routes.next_hops(switch, to) {
        let port = fabric.first_port_of_switch(switch) + u32::from(hop.0);
        let next = fabric.ports[port as usize].to - fabric.hosts;
        for rest in paths_from(fabric, routes, next, to, known) {
            add(&mut paths, [&[link_of(fabric, port)], rest.as_slice()].concat());
        }
    }
    known.insert(switch, paths.clone());
    paths
}

/// Adds a path unless another is at least as good for every flow, and removes those to which it is.
fn add(paths: &mut Vec<Path>, path: Path) {
    if paths.iter().any(|known| is_as_good(known, &path)) {
        return;
    }
    paths.retain(|known| !is_as_good(&path, known));
    if paths.len() < MOST_PATHS {
        paths.push(path);
    }
}

/// True if every link of `a` is as fast as that of `b` in both directions and all delays together
/// are no longer.
fn is_as_good(a: &Path, b: &Path) -> bool {
    let delays = |path: &Path| path.iter().fold(Time::ZERO, |sum, link| sum + link.delay);
    let is_as_fast =
        |(a, b): (&PathLink, &PathLink)| a.rate >= b.rate && a.reverse_rate >= b.reverse_rate;
    a.len() == b.len() && a.iter().zip(b).all(is_as_fast) && delays(a) <= delays(b)
}

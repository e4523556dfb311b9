//! Load-balanced paths of a pair of hosts.
//!
//! A path is a choice at each switch from the source's ToR to the destination's, among the next
//! hops that [`Routes`] has there. These choices make a directed graph without cycles, all of whose
//! paths are of one length; its paths are numbered in the order of the choices, the first switch's
//! first. Paths are enumerated on demand: [`Paths::count`] and [`Paths::nth`] count paths once for
//! each switch, [`Paths::advance`] counts nothing.

mod counts;
mod disjoint;
#[cfg(test)]
pub(crate) mod tests;

use std::cell::OnceCell;

use heddle_policy::{Port, Tor};

use crate::{Fabric, Routes};
pub(crate) use counts::PathCounts;

/// One switch of a path, and the choice that it makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// The switch, ToRs first.
    pub switch: u32,
    /// The port that it sends out of.
    pub port: Port,
    /// That port's index among the next hops, from 0.
    pub next_hop: u16,
    /// Next hops that it has towards the destination, at least 1.
    pub next_hops: u16,
}

/// A path between two hosts: the last hop is the destination's ToR, whose port leads to the
/// destination (one next hop).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// The switches, from the source's ToR on.
    pub hops: Vec<Hop>,
}

impl Path {
    /// True if all its switches and ports are those of a fabric.
    pub fn is_within(&self, fabric: &Fabric) -> bool {
        let has = |hop: &Hop| {
            hop.switch < fabric.switches()
                && usize::from(hop.port.0) < fabric.ports_of(fabric.hosts + hop.switch).len()
        };
        self.hops.iter().all(has)
    }

    /// The path's links, as numbers of ports in the fabric; the last one leads to the host.
    pub fn ports(&self, fabric: &Fabric) -> impl DoubleEndedIterator<Item = u32> {
        self.hops.iter().map(|hop| fabric.port_of_switch(hop.switch, hop.port))
    }

    /// The path's links between switches, as numbers of ports in the fabric: none inside a rack.
    pub fn fabric_ports(&self, fabric: &Fabric) -> impl DoubleEndedIterator<Item = u32> {
        let between = self.hops.len().saturating_sub(1);
        self.hops[..between].iter().map(|hop| fabric.port_of_switch(hop.switch, hop.port))
    }
}

/// A pair of hosts without paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A host needs no path to itself.
    #[error("{0} is both ends: there is no path through the fabric")]
    SameHost(String),
    /// The source's ToR has no next hop.
    #[error("there is no path from {0} to {1}: too many links are down")]
    Unreachable(String, String),
    /// The number is not a host's.
    #[error("there is no host number {0}: there are {1}, numbered from 0")]
    NoSuchHost(u32, u32),
}

/// All load-balanced paths from one host to another.
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    /// The first switch.
    from: u32,
    /// The last switch.
    tor: Tor,
    /// The last hop: the destination's ToR.
    last: Hop,
    counts: OnceCell<PathCounts>,
}

impl Fabric {
    /// All load-balanced paths between two hosts' ToRs; host links are taken to be up.
    ///
    /// # Errors
    /// See [`PathError`].
    pub fn paths<'a>(
        &'a self,
        routes: &'a Routes,
        from_host: u32,
        to_host: u32,
    ) -> Result<Paths<'a>, PathError> {
        let name = |host: u32| self.node(host).name.clone();
        if let Some(&host) = [from_host, to_host].iter().find(|host| **host >= self.hosts) {
            return Err(PathError::NoSuchHost(host, self.hosts));
        }
        if from_host == to_host {
            return Err(PathError::SameHost(name(from_host)));
        }
        let [first, tor] = [from_host, to_host].map(|host| self.host_tor[host as usize]);
        let from = u32::from(first.0);
        if first != tor && routes.next_hops(from, tor).is_empty() {
            return Err(PathError::Unreachable(name(from_host), name(to_host)));
        }
        let switch = u32::from(tor.0);
        let port = self.host_port[to_host as usize] - self.first_port_of_switch(switch);
        let last = Hop { switch, port: Port(port as u16), next_hop: 0, next_hops: 1 };
        Ok(Paths { fabric: self, routes, from, tor, last, counts: OnceCell::new() })
    }

    /// The number in the fabric of a switch's port.
    #[inline]
    pub fn port_of_switch(&self, switch: u32, port: Port) -> u32 {
        self.first_port_of_switch(switch) + u32::from(port.0)
    }

    /// The switch that a port between switches leads to.
    #[inline]
    pub(crate) fn next_switch(&self, switch: u32, port: Port) -> u32 {
        self.ports[self.port_of_switch(switch, port) as usize].to - self.hosts
    }
}

impl<'a> Paths<'a> {
    /// The fabric that they lead through.
    pub const fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// The number of paths, at least 1; saturates at 2^64 - 1.
    pub fn count(&self) -> u64 {
        self.counts().from(self.from)
    }

    /// Writes path number `index` into `path`, whose memory is used again. `false`, and nothing
    /// written, from [`Paths::count`] on.
    pub fn nth(&self, index: u64, path: &mut Path) -> bool {
        if index >= self.count() {
            return false;
        }
        let (mut left, mut switch) = (index, self.from);
        path.hops.clear();
        while switch != self.last.switch {
            let hop = self.hop_to(switch, &mut left);
            path.hops.push(hop);
            switch = self.fabric.next_switch(switch, hop.port);
        }
        path.hops.push(self.last);
        true
    }

    /// Writes the first path into `path`, whose memory is used again.
    pub fn first(&self, path: &mut Path) {
        path.hops.clear();
        self.descend(self.from, path);
    }

    /// Replaces a path of this pair by the next one. `false`, and nothing written, at the last one.
    pub fn advance(&self, path: &mut Path) -> bool {
        let last_choice = path.hops.iter().rposition(|hop| hop.next_hop + 1 < hop.next_hops);
        let Some(place) = last_choice else { return false };
        self.choose(path, place, path.hops[place].next_hop + 1)
    }

    /// Takes another next hop at hop `hop` of a path of this pair, and the first next hops from
    /// there on. `false`, and nothing written, if there is no such hop or choice.
    pub fn choose(&self, path: &mut Path, hop: usize, next_hop: u16) -> bool {
        let at = path.hops.get_mut(hop).filter(|at| next_hop < at.next_hops);
        let Some(at) = at.filter(|at| at.switch != self.last.switch) else { return false };
        at.next_hop = next_hop;
        at.port = self.next_hops(at.switch)[usize::from(next_hop)];
        let next = self.fabric.next_switch(at.switch, at.port);
        path.hops.truncate(hop + 1);
        self.descend(next, path);
        true
    }

    /// All paths in order, each in memory of its own.
    pub fn iter(&self) -> Iter<'_, 'a> {
        let mut first = Path::default();
        self.first(&mut first);
        Iter { paths: self, next: Some(first) }
    }

    /// Adds the first choices from `switch` to the destination.
    #[inline]
    fn descend(&self, mut switch: u32, path: &mut Path) {
        while switch != self.last.switch {
            let next_hops = self.next_hops(switch);
            let port = next_hops[0];
            path.hops.push(Hop { switch, port, next_hop: 0, next_hops: next_hops.len() as u16 });
            switch = self.fabric.next_switch(switch, port);
        }
        path.hops.push(self.last);
    }

    /// The choice of `switch` that leads to path number `left` of those from there on; `left`
    /// becomes the number from the next switch on.
    fn hop_to(&self, switch: u32, left: &mut u64) -> Hop {
        let (ports, counts) = (self.next_hops(switch), self.counts());
        let mut next_hop = 0;
        for port in &ports[..ports.len() - 1] {
            let beyond = counts.from(self.fabric.next_switch(switch, *port));
            if *left < beyond {
                break;
            }
            (*left, next_hop) = (*left - beyond, next_hop + 1);
        }
        let port = ports[usize::from(next_hop)];
        Hop { switch, port, next_hop, next_hops: ports.len() as u16 }
    }

    /// Next hops of a switch on the way, at least one.
    #[inline]
    fn next_hops(&self, switch: u32) -> &'a [Port] {
        self.routes.next_hops(switch, self.tor)
    }

    fn counts(&self) -> &PathCounts {
        self.counts.get_or_init(|| {
            let mut counts = PathCounts::to(self.fabric, self.tor);
            counts.count_from(self.fabric, self.routes, self.from);
            counts
        })
    }
}

/// Paths in order.
#[derive(Clone, Debug)]
pub struct Iter<'p, 'a> {
    paths: &'p Paths<'a>,
    next: Option<Path>,
}

impl Iterator for Iter<'_, '_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        let path = self.next.take()?;
        let mut following = path.clone();
        self.next = self.paths.advance(&mut following).then_some(following);
        Some(path)
    }
}

impl<'p, 'a> IntoIterator for &'p Paths<'a> {
    type Item = Path;
    type IntoIter = Iter<'p, 'a>;

    fn into_iter(self) -> Iter<'p, 'a> {
        self.iter()
    }
}

//! Look-up of hosts, switches and paths by name.

use std::net::IpAddr;

use heddle_fabric::{Hop, Path, Paths};
use heddle_policy::cflb::Addresses;

use crate::error::did_you_mean;
use crate::{Family, Network, PathEncoderError};

/// Two hosts, and the addresses that they use with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The host that sends.
    pub from: u32,
    /// The host that receives.
    pub to: u32,
    /// The addresses of both.
    pub addresses: Addresses,
}

impl Network {
    /// A host by its node's name or by one of its addresses.
    ///
    /// # Errors
    /// [`PathEncoderError::Unknown`].
    pub fn host(&self, name: &str) -> Result<u32, PathEncoderError> {
        let by_address = || self.hosts_by_address.get(&name.parse().ok()?);
        let found = self.nodes_by_name.get(name).or_else(by_address);
        let hosts = self.fabric().hosts;
        found
            .copied()
            .filter(|node| *node < hosts)
            .ok_or_else(|| self.unknown("host", name, 0..hosts))
    }

    /// A switch by its node's name: its index in the fabric, ToRs first, which is the router's
    /// number.
    ///
    /// # Errors
    /// [`PathEncoderError::Unknown`].
    pub fn switch(&self, name: &str) -> Result<u32, PathEncoderError> {
        let (hosts, end) = (self.fabric().hosts, self.fabric().graph.nodes.len() as u32);
        let found = self.nodes_by_name.get(name).and_then(|node| node.checked_sub(hosts));
        found.ok_or_else(|| self.unknown("switch", name, hosts..end))
    }

    /// A node, host or switch, by its name, as an index of the graph's nodes.
    ///
    /// # Errors
    /// [`PathEncoderError::Unknown`].
    pub fn node(&self, name: &str) -> Result<u32, PathEncoderError> {
        let end = self.fabric().graph.nodes.len() as u32;
        self.nodes_by_name.get(name).copied().ok_or_else(|| self.unknown("node", name, 0..end))
    }

    fn unknown(
        &self,
        kind: &'static str,
        name: &str,
        nodes: std::ops::Range<u32>,
    ) -> PathEncoderError {
        let known = nodes.map(|node| self.fabric().node(node).name.as_str());
        PathEncoderError::Unknown { kind, name: name.to_owned(), advice: did_you_mean(name, known) }
    }

    /// Two hosts by names or addresses. An address that is given is used, and decides the family;
    /// else the first ones of `family` are used.
    ///
    /// # Errors
    /// [`PathEncoderError::Unknown`], [`PathEncoderError::NoAddress`],
    /// [`PathEncoderError::Families`].
    pub fn pair(&self, from: &str, to: &str, family: Family) -> Result<Pair, PathEncoderError> {
        let (from_host, to_host) = (self.host(from)?, self.host(to)?);
        let given = [from, to].map(|name| name.parse::<IpAddr>().ok());
        let family = given.into_iter().flatten().next().map_or(family, Family::of);
        let address =
            |given: Option<IpAddr>, host| given.map_or_else(|| self.address(host, family), Ok);
        let (source, destination) = (address(given[0], from_host)?, address(given[1], to_host)?);
        let addresses = Addresses::new(source, destination)
            .ok_or(PathEncoderError::Families { from: source, to: destination })?;
        Ok(Pair { from: from_host, to: to_host, addresses })
    }

    /// Two hosts by number, with the first addresses of a family.
    ///
    /// # Errors
    /// [`PathEncoderError::NoAddress`].
    pub fn pair_of(&self, from: u32, to: u32, family: Family) -> Result<Pair, PathEncoderError> {
        let (source, destination) = (self.address(from, family)?, self.address(to, family)?);
        let addresses = Addresses::new(source, destination)
            .ok_or(PathEncoderError::Families { from: source, to: destination })?;
        Ok(Pair { from, to, addresses })
    }

    fn address(&self, host: u32, family: Family) -> Result<IpAddr, PathEncoderError> {
        let mut addresses = self.addresses_of(host).iter();
        let found = addresses.find(|address| Family::of(**address) == family);
        let name = || {
            self.fabric()
                .graph
                .nodes
                .get(host as usize)
                .map_or_else(String::new, |n| n.name.clone())
        };
        found.copied().ok_or_else(|| PathEncoderError::NoAddress { host: name(), family })
    }

    /// A path by its switches, from the source's ToR to the destination's: `tor-1`, `agg-2`,
    /// `core-3`, ... Of parallel links to one switch the first is taken; `core-3#2` is the second.
    ///
    /// # Errors
    /// As [`Network::find`]; [`PathEncoderError::NotAPath`], [`PathEncoderError::NotANextHop`].
    pub fn path_by_names(
        &self,
        from: u32,
        to: u32,
        switches: &[&str],
    ) -> Result<Path, PathEncoderError> {
        let paths = self.find(from, to)?;
        let mut path = Path::default();
        paths.first(&mut path);
        let ends = [path.hops.first(), path.hops.last()].map(|hop| hop.map_or(0, |hop| hop.switch));
        let [first, last] = ends.map(|switch| self.switch_name(switch));
        let is_named =
            switches.len() == path.hops.len() && switches.first() == Some(&first.as_str());
        if !is_named {
            return Err(PathEncoderError::NotAPath { from: self.node_name(from), first, last });
        }
        for (place, wanted) in switches[1..].iter().enumerate() {
            path = self.with_choice(&paths, &path, place, wanted, to)?;
        }
        Ok(path)
    }

    /// The path with `wanted` as the next hop at hop `place`, and the first next hops from there
    /// on.
    fn with_choice(
        &self,
        paths: &Paths<'_>,
        path: &Path,
        place: usize,
        wanted: &str,
        to: u32,
    ) -> Result<Path, PathEncoderError> {
        let Hop { switch, next_hops, .. } = path.hops[place];
        let known: Vec<String> =
            (0..next_hops).map(|next_hop| self.next_hop_name(switch, to, next_hop)).collect();
        let first = wanted.strip_suffix("#1").unwrap_or(wanted);
        let next_hop = known.iter().position(|name| name == first).ok_or_else(|| {
            PathEncoderError::NotANextHop {
                switch: self.switch_name(switch),
                wanted: wanted.to_owned(),
                to: self.node_name(to),
                known: known.join(", "),
            }
        })?;
        let mut path = path.clone();
        paths.choose(&mut path, place, next_hop as u16);
        Ok(path)
    }

    /// A path's switches as [`Network::path_by_names`] takes them.
    pub fn path_names(&self, path: &Path, to: u32) -> Vec<String> {
        let first = path.hops.first().map(|hop| self.switch_name(hop.switch));
        let between = path.hops.len().saturating_sub(1);
        let next = |hop: &Hop| self.next_hop_name(hop.switch, to, hop.next_hop);
        first.into_iter().chain(path.hops[..between].iter().map(next)).collect()
    }

    /// The node that a next hop leads to, and of parallel links which: `core-3`, `core-3#2`.
    fn next_hop_name(&self, switch: u32, to: u32, next_hop: u16) -> String {
        let ports = self.routes().next_hops(switch, self.fabric().host_tor[to as usize]);
        let far =
            |port| self.fabric().ports[self.fabric().port_of_switch(switch, port) as usize].to;
        let Some(&port) = ports.get(usize::from(next_hop)) else { return String::new() };
        let node = far(port);
        let before = ports[..usize::from(next_hop)].iter();
        match before.filter(|other| far(**other) == node).count() {
            0 => self.node_name(node),
            parallel => format!("{}#{}", self.fabric().node(node).name, parallel + 1),
        }
    }
}

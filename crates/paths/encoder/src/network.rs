//! The state that the routers and the senders of a network share.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::RangeInclusive;

use heddle_fabric::{Fabric, FabricError, Path, Paths, Routes};
use heddle_policy::cflb::{CflbConfig, Codec, PortRange};
use heddle_scenario::Graph;

use crate::{Key, PathEncoderError};

/// The ports and TTLs that a sender may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRules {
    /// The default initial TTL of the hosts.
    pub ttl: u8,
    /// The initial TTLs that may be used to find a free encoding, the default included.
    pub ttls: RangeInclusive<u8>,
    /// Ports that are never chosen.
    pub reserved: Vec<PortRange>,
}

/// A TTL of 64 alone (RFC 1700, and Linux), and no ports below 1024 (RFC 6335's system ports).
impl Default for PortRules {
    fn default() -> PortRules {
        PortRules { ttl: 64, ttls: 64..=64, reserved: vec![PortRange { low: 0, high: 1023 }] }
    }
}

impl PortRules {
    /// True if a port may be chosen.
    pub fn allow(&self, port: u16) -> bool {
        !self.reserved.iter().any(|range| (range.low..=range.high).contains(&port))
    }
}

/// The inputs of [`Network::new`].
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// Nodes and links.
    pub graph: &'a Graph,
    /// Links that are down, as indices of the graph's links.
    pub down: &'a [u32],
    /// The field, the cipher, the radix.
    pub config: &'a CflbConfig,
    /// Each host's addresses, by host; lists may be empty.
    pub addresses: &'a [Vec<IpAddr>],
    /// The ports and TTLs that senders may use.
    pub rules: PortRules,
}

/// A fabric whose routers decode paths, with its routes over the links that are up.
#[derive(Clone, Debug)]
pub struct Network {
    fabric: Fabric,
    routes: Routes,
    down: BTreeSet<u32>,
    codec: Codec,
    rules: PortRules,
    addresses: Vec<Vec<IpAddr>>,
    pub(crate) hosts_by_address: BTreeMap<IpAddr, u32>,
    pub(crate) nodes_by_name: BTreeMap<String, u32>,
}

impl Network {
    /// Numbers the fabric's ports, computes its routes, and creates the codec.
    ///
    /// # Errors
    /// An invalid graph, invalid constants, a key of the wrong length, addresses that do not match
    /// the hosts, links that are not in the graph.
    pub fn new(parts: Parts<'_>, key: &Key) -> Result<Network, PathEncoderError> {
        let fabric = Fabric::new(parts.graph)?;
        let codec = Codec::new(parts.config, key.bytes())?;
        let down = links(&fabric, parts.down)?;
        let name =
            |(index, node): (usize, &heddle_scenario::Node)| (node.name.clone(), index as u32);
        Ok(Network {
            routes: routes(&fabric, &down)?,
            down,
            codec,
            rules: parts.rules,
            hosts_by_address: by_address(&fabric, parts.addresses)?,
            addresses: parts.addresses.to_vec(),
            nodes_by_name: parts.graph.nodes.iter().enumerate().map(name).collect(),
            fabric,
        })
    }

    /// The fabric.
    pub const fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Next hops over the links that are up.
    pub const fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The codec that all routers and senders share.
    pub const fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The ports and TTLs that senders may use.
    pub const fn rules(&self) -> &PortRules {
        &self.rules
    }

    /// The links that are down, as indices of the graph's links.
    pub const fn down(&self) -> &BTreeSet<u32> {
        &self.down
    }

    /// A host's addresses; none for a number that is no host's.
    pub fn addresses_of(&self, host: u32) -> &[IpAddr] {
        self.addresses.get(host as usize).map_or(&[], Vec::as_slice)
    }

    /// Routes the fabric anew with exactly these links down, as indices of the graph's links.
    ///
    /// # Errors
    /// [`PathEncoderError::NoSuchLink`], [`PathEncoderError::Fabric`]; nothing changes then.
    pub fn set_down(&mut self, down: &[u32]) -> Result<(), PathEncoderError> {
        let down = links(&self.fabric, down)?;
        (self.routes, self.down) = (routes(&self.fabric, &down)?, down);
        Ok(())
    }

    /// All load-balanced paths from one host to another, by number.
    ///
    /// # Errors
    /// [`PathEncoderError::Path`], [`PathEncoderError::HostDown`].
    pub fn find(&self, from: u32, to: u32) -> Result<Paths<'_>, PathEncoderError> {
        let paths = self.fabric.paths(&self.routes, from, to)?;
        match [from, to].into_iter().find(|host| self.is_cut_off(*host)) {
            Some(host) => Err(PathEncoderError::HostDown { host: self.node_name(host) }),
            None => Ok(paths),
        }
    }

    /// A path by its number among those of [`Network::find`].
    ///
    /// # Errors
    /// As [`Network::find`], and [`PathEncoderError::NoSuchPath`].
    pub fn path_by_number(&self, from: u32, to: u32, index: u64) -> Result<Path, PathEncoderError> {
        let (paths, mut path) = (self.find(from, to)?, Path::default());
        match paths.nth(index, &mut path) {
            true => Ok(path),
            false => Err(PathEncoderError::NoSuchPath { index, count: paths.count() }),
        }
    }

    /// True if a host's own link is down.
    pub(crate) fn is_cut_off(&self, host: u32) -> bool {
        self.fabric.ports_of(host).iter().any(|port| self.down.contains(&port.link))
    }

    pub(crate) fn node_name(&self, node: u32) -> String {
        self.fabric.node(node).name.clone()
    }

    pub(crate) fn switch_name(&self, switch: u32) -> String {
        self.node_name(self.fabric.hosts + switch)
    }
}

fn routes(fabric: &Fabric, down: &BTreeSet<u32>) -> Result<Routes, FabricError> {
    fabric.routes(|link| !down.contains(&link))
}

fn links(fabric: &Fabric, down: &[u32]) -> Result<BTreeSet<u32>, PathEncoderError> {
    let links = fabric.graph.links.len();
    match down.iter().find(|link| **link as usize >= links) {
        Some(&link) => Err(PathEncoderError::NoSuchLink { link, links }),
        None => Ok(down.iter().copied().collect()),
    }
}

fn by_address(
    fabric: &Fabric,
    addresses: &[Vec<IpAddr>],
) -> Result<BTreeMap<IpAddr, u32>, PathEncoderError> {
    let (lists, hosts) = (addresses.len(), fabric.hosts);
    if lists != hosts as usize {
        return Err(PathEncoderError::AddressLists { lists, hosts });
    }
    let mut known = BTreeMap::new();
    for (host, list) in addresses.iter().enumerate() {
        for &address in list {
            if let Some(first) = known.insert(address, host as u32) {
                let [first, second] =
                    [first, host as u32].map(|host| fabric.node(host).name.clone());
                return Err(PathEncoderError::SharedAddress { address, first, second });
            }
        }
    }
    Ok(known)
}

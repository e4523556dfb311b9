//! Port numbering: a [`Fabric`] from a graph.

use std::ops::Range;

use heddle_policy::{Port, Tor};
use heddle_scenario::{Graph, Node, Routing};
use heddle_units::Rate;

/// A graph that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// A host must have as many links as every other host.
    #[error("host {0} has {1} links; it needs {2}, as every host")]
    Host(String, usize, usize),
    /// A host must be linked to a ToR and to nothing else.
    #[error("host {0} is linked to {1}, which is not a ToR")]
    HostUplink(String, String),
    /// A link joins two nodes of one tier: up/down routing cannot use it.
    #[error(
        "the link {0}-{1} joins two nodes of one tier; give their tiers so that one is above the other"
    )]
    SameTier(String, String),
    /// A pair of ToRs, or of hosts with several, has no path that packets may take.
    #[error("no path leads from {0} to {1} as packets are routed")]
    Unreachable(String, String),
    /// More items than their identifiers can number.
    #[error("{0} {1}: at most {2} can be simulated")]
    TooMany(usize, &'static str, usize),
}

/// One direction of a link, as seen by the node that sends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// The node that sends.
    pub owner: u32,
    /// The node that receives.
    pub to: u32,
    /// The port of the other direction.
    pub peer: u32,
    /// The link, as an index of [`Graph::links`].
    pub link: u32,
    /// True if it leads to a higher tier.
    pub is_up: bool,
    /// True if the node at the far end is a host.
    pub to_host: bool,
}

/// Nodes and numbered ports. A node's ports are consecutive, in the order of the links.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// The graph that it was made from.
    pub graph: Graph,
    /// All ports. A port's number in the fabric is its index in this list.
    pub ports: Vec<PortInfo>,
    /// First port of each node, and the number of ports at the end.
    pub first_port: Vec<u32>,
    /// Nodes from this one on are switches.
    pub hosts: u32,
    /// Switches from 0 to this are ToRs.
    pub tors: u32,
    /// ToR of each host's first interface.
    pub host_tor: Vec<Tor>,
    /// Port of its ToR that leads to each host, to its first interface.
    pub host_port: Vec<u32>,
    /// Interfaces of each host. They are numbered host by host, as the hosts' own ports are: of
    /// interface `i`, port `i` of the fabric is the host's own.
    pub interfaces: u32,
    /// ToR of each interface.
    pub interface_tor: Vec<Tor>,
    /// Port of its ToR that leads to each interface.
    pub interface_port: Vec<u32>,
    /// Interfaces whose ToR is a switch inside of a server ([`Graph::inner_switches`]); empty if
    /// none is.
    is_inner: Vec<bool>,
}

impl Fabric {
    /// Numbers the ports of a graph whose hosts come first, then ToRs, then the tiers above.
    ///
    /// # Errors
    /// A graph that cannot be routed: see [`FabricError`].
    pub fn new(graph: &Graph) -> Result<Fabric, FabricError> {
        let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
        let tors = graph.nodes[hosts..].iter().take_while(|node| node.tier == 1).count();
        let interfaces = graph.interfaces() as usize;
        limit(hosts.saturating_mul(interfaces), "interfaces of hosts", usize::from(u16::MAX))?;
        limit(graph.nodes.len(), "nodes", 1 << 24)?;
        let pairs = (graph.nodes.len() - hosts).saturating_mul(tors);
        limit(pairs, "pairs of a switch and a ToR", u32::MAX as usize)?;
        let (ports, first_port) = number_ports(graph)?;
        let mut fabric = Fabric {
            graph: graph.clone(),
            ports,
            first_port,
            hosts: hosts as u32,
            tors: tors as u32,
            host_tor: Vec::new(),
            host_port: Vec::new(),
            interfaces: interfaces as u32,
            interface_tor: Vec::new(),
            interface_port: Vec::new(),
            is_inner: Vec::new(),
        };
        fabric.attach_hosts()?;
        fabric.find_inner();
        Ok(fabric)
    }

    fn attach_hosts(&mut self) -> Result<(), FabricError> {
        for host in 0..self.hosts {
            let name = |node: u32| self.graph.nodes[node as usize].name.clone();
            let (links, wanted) = (self.ports_of(host).len(), self.interfaces as usize);
            if links != wanted {
                return Err(FabricError::Host(name(host), links, wanted));
            }
            for interface in self.interfaces_of(host) {
                let PortInfo { to, peer, .. } = self.ports[interface as usize];
                let tor = to.wrapping_sub(self.hosts);
                if tor >= self.tors {
                    return Err(FabricError::HostUplink(name(host), name(to)));
                }
                self.interface_tor.push(Tor(tor as u16));
                self.interface_port.push(peer);
            }
            let first = self.first_port[host as usize] as usize;
            self.host_tor.push(self.interface_tor[first]);
            self.host_port.push(self.interface_port[first]);
        }
        Ok(())
    }

    fn find_inner(&mut self) {
        let is_inner = self.graph.inner_switches();
        if is_inner.contains(&true) {
            let inner = |tor: &Tor| is_inner[self.hosts as usize + usize::from(tor.0)];
            self.is_inner = self.interface_tor.iter().map(inner).collect();
        }
    }

    /// True if hosts have links to switches inside of their servers.
    #[inline]
    pub fn has_inner_switches(&self) -> bool {
        !self.is_inner.is_empty()
    }

    /// True if an interface leads to a switch inside of its host's server.
    pub fn is_inner(&self, interface: u32) -> bool {
        self.is_inner.get(interface as usize) == Some(&true)
    }

    /// The interfaces for packets between two hosts, by their numbers at both ends: those at a
    /// switch of their server, if they share one, else those that lead out of it.
    pub fn interfaces_between(&self, from: u32, to: u32) -> impl Iterator<Item = u32> + Clone {
        let interface = move |host: u32, number: u32| host * self.interfaces + number;
        let pair = move |number: u32| (interface(from, number), interface(to, number));
        let is_shared = move |number: u32| {
            let (from, to) = pair(number);
            let tor = |interface: u32| self.interface_tor[interface as usize];
            self.is_inner(from) && self.is_inner(to) && tor(from) == tor(to)
        };
        let shares = self.has_inner_switches() && (0..self.interfaces).any(is_shared);
        (0..self.interfaces).filter(move |&number| {
            let (from, to) = pair(number);
            if shares { is_shared(number) } else { !self.is_inner(from) && !self.is_inner(to) }
        })
    }

    /// Numbers of a host's interfaces.
    pub fn interfaces_of(&self, host: u32) -> Range<u32> {
        self.first_port[host as usize]..self.first_port[host as usize + 1]
    }

    /// ToRs of a host's interfaces, those of neighbouring interfaces once.
    pub fn tors_of(&self, host: u32) -> Vec<Tor> {
        let range = self.interfaces_of(host);
        let mut tors = self.interface_tor[range.start as usize..range.end as usize].to_vec();
        tors.dedup();
        tors
    }

    /// Number of switches, ToRs first.
    pub fn switches(&self) -> u32 {
        self.graph.nodes.len() as u32 - self.hosts
    }

    /// A node, hosts first.
    pub fn node(&self, index: u32) -> &Node {
        &self.graph.nodes[index as usize]
    }

    /// The number in the fabric of a switch's port 0. Switches are numbered from 0, ToRs first.
    pub fn first_port_of_switch(&self, switch: u32) -> u32 {
        self.first_port[(self.hosts + switch) as usize]
    }

    /// The number of a port's link among the parallel links of its ends, from 1, as scenario files
    /// count them; `None` of a link alone.
    pub fn parallel_number(&self, info: &PortInfo) -> Option<u32> {
        let links = self.ports_of(info.owner).iter().filter(|other| other.to == info.to);
        let links: Vec<u32> = links.map(|other| other.link).collect();
        let before = links.iter().filter(|&&link| link < info.link).count();
        (links.len() > 1).then_some(before as u32 + 1)
    }

    /// Rate at which a port sends.
    pub fn rate_of(&self, port: &PortInfo) -> Rate {
        self.graph.links[port.link as usize].rate_from(port.owner)
    }

    /// A node's ports.
    pub fn ports_of(&self, node: u32) -> &[PortInfo] {
        let range =
            self.first_port[node as usize] as usize..self.first_port[node as usize + 1] as usize;
        &self.ports[range]
    }

    /// The ports to which a switch replicates a probe that came in on `port` (HULA section 4.1):
    /// from below to all other down ports and all up ports, from above to down ports only. Hosts
    /// get none.
    pub fn multicast_group(&self, switch: u32, port: Port) -> Vec<Port> {
        let ports = self.ports_of(self.hosts + switch);
        let from_above = ports[usize::from(port.0)].is_up;
        (0..ports.len() as u16)
            .map(Port)
            .filter(|&out| out != port)
            .filter(|out| {
                let info = &ports[usize::from(out.0)];
                let climbs_again = from_above && info.is_up;
                !info.to_host && !climbs_again
            })
            .collect()
    }
}

fn limit(count: usize, what: &'static str, most: usize) -> Result<(), FabricError> {
    if count > most { Err(FabricError::TooMany(count, what, most)) } else { Ok(()) }
}

fn number_ports(graph: &Graph) -> Result<(Vec<PortInfo>, Vec<u32>), FabricError> {
    let mut degree = vec![0u32; graph.nodes.len() + 1];
    for link in &graph.links {
        degree[link.ends.0 as usize] += 1;
        degree[link.ends.1 as usize] += 1;
    }
    let mut first = Vec::with_capacity(degree.len());
    let mut sum = 0;
    for count in degree {
        first.push(sum);
        sum += count;
    }
    let none = PortInfo { owner: 0, to: 0, peer: 0, link: 0, is_up: false, to_host: false };
    let mut ports = vec![none; sum as usize];
    let mut next = first.clone();
    for (index, link) in graph.links.iter().enumerate() {
        let (a, b) = link.ends;
        let (port_a, port_b) = (next[a as usize], next[b as usize]);
        (next[a as usize], next[b as usize]) = (port_a + 1, port_b + 1);
        let port = |owner: u32, to: u32, peer: u32| -> Result<PortInfo, FabricError> {
            let (from, far) = (&graph.nodes[owner as usize], &graph.nodes[to as usize]);
            if from.tier == far.tier && graph.routing == Routing::UpDown {
                return Err(FabricError::SameTier(from.name.clone(), far.name.clone()));
            }
            let (is_up, to_host) = (far.tier > from.tier, far.tier == 0);
            Ok(PortInfo { owner, to, peer, link: index as u32, is_up, to_host })
        };
        ports[port_a as usize] = port(a, b, port_b)?;
        ports[port_b as usize] = port(b, a, port_a)?;
    }
    Ok((ports, first))
}

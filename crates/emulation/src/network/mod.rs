//! The namespaces of a fabric: a host or a switch each, joined by veth pairs with the rates and the
//! buffers of the scenario.

use std::path::PathBuf;

use heddle_fabric::{Fabric, PortInfo};
use heddle_lab::names::Process;
use heddle_lab::tools;
use heddle_scenario::Scenario;

use crate::addresses::{Addresses, GATEWAY, LinkMac};
use crate::roles::agent_subflows;
use crate::state::{self, LinkState, State};
use crate::{EmulationError, settings};

mod host;
mod shaping;

/// The object of `bpf/tools/pass.bpf.c`.
const PASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pass.o"));

/// Programs that a lab takes, and Debian's packages that have them.
const PROGRAMS: &[(&str, &str)] = &[
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("nsenter", "util-linux"),
    ("ethtool", "ethtool"),
    ("sysctl", "procps"),
    ("timeout", "coreutils"),
];

/// Room on links between switches for headers that switches add (MP-HULA's shim has 12 bytes).
const SHIM_ROOM: u32 = 64;

/// A node's port: a device in the node's namespace.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// The namespace's node, as an index of the graph's nodes.
    pub node: u32,
    /// The device's number: `eth0` and up.
    pub number: u32,
    /// The fabric's description of the port.
    pub info: &'a PortInfo,
}

impl Device<'_> {
    /// Its name in its namespace.
    pub fn name(&self) -> String {
        format!("eth{}", self.number)
    }
}

/// A fabric of namespaces. Dropping it removes them, unless it was [kept](Network::keep).
#[derive(Debug)]
pub struct Network {
    /// The scenario, scaled.
    pub scenario: Scenario,
    /// Nodes and ports.
    pub fabric: Fabric,
    /// Hosts' addresses.
    pub addresses: Addresses,
    /// The lab's description.
    pub state: State,
    is_kept: bool,
}

impl Network {
    /// Builds the fabric of a scenario under a name.
    ///
    /// # Errors
    /// Without root or a program; for a fabric too large to number; if a lab of this name is up; if
    /// the kernel refuses a step.
    pub fn build(
        scenario: &Scenario,
        name: &str,
        owner: Option<Process>,
    ) -> Result<Network, EmulationError> {
        if !rustix::process::geteuid().is_root() {
            return Err(heddle_lab::LabError::NotRoot.into());
        }
        tools::require(PROGRAMS)?;
        let fabric = Fabric::new(&scenario.fabric.graph)?;
        let addresses = Addresses::new(&fabric, host::addresses(scenario))?;
        let state = describe(&fabric, scenario, name, owner);
        state.save()?;
        let network =
            Network { scenario: scenario.clone(), fabric, addresses, state, is_kept: false };
        network.set_up()?;
        Ok(network)
    }

    /// Leaves the namespaces on the machine when the value goes.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    /// The namespace of a node.
    pub fn namespace(&self, node: u32) -> String {
        self.state.namespace(&self.fabric.node(node).name)
    }

    /// The namespace's file.
    pub fn path(&self, node: u32) -> PathBuf {
        heddle_lab::names::path(&self.namespace(node))
    }

    /// All devices of a node.
    pub fn devices(&self, node: u32) -> impl Iterator<Item = Device<'_>> {
        devices(&self.fabric, node)
    }

    /// All switches, as indices of the graph's nodes.
    pub fn switches(&self) -> std::ops::Range<u32> {
        self.fabric.hosts..self.fabric.graph.nodes.len() as u32
    }

    /// All hosts.
    pub fn hosts(&self) -> std::ops::Range<u32> {
        0..self.fabric.hosts
    }

    /// Runs lines of `ip` in a node's namespace.
    pub(crate) fn ip(&self, node: u32, lines: &str) -> Result<(), EmulationError> {
        let namespace = self.namespace(node);
        Ok(tools::run("ip", ["-n", &namespace, "-force", "-batch", "-"], lines).map(drop)?)
    }

    /// Runs lines of `tc` in a node's namespace.
    pub(crate) fn tc(&self, node: u32, lines: &str) -> Result<(), EmulationError> {
        let namespace = self.namespace(node);
        Ok(tools::run("tc", ["-n", &namespace, "-batch", "-"], lines).map(drop)?)
    }

    /// Runs a program in a node's namespace; `line` is split at spaces.
    pub(crate) fn run(&self, node: u32, line: &str) -> Result<String, EmulationError> {
        let enter = format!("--net={}", self.path(node).display());
        Ok(tools::run("nsenter", [enter.as_str()].into_iter().chain(line.split_whitespace()), "")?)
    }

    fn set_up(&self) -> Result<(), EmulationError> {
        let all = self.hosts().chain(self.switches());
        let add: String =
            all.clone().map(|node| format!("netns add {}\n", self.namespace(node))).collect();
        tools::run("ip", ["-batch", "-"], &add)?;
        for node in all.clone() {
            self.apply_settings(node)?;
        }
        let links: String =
            (0..self.fabric.graph.links.len() as u32).map(|l| self.link_line(l)).collect();
        tools::run("ip", ["-batch", "-"], &links)?;
        for node in all {
            self.set_up_devices(node)?;
        }
        self.hosts().try_for_each(|host| self.set_up_host(host))?;
        self.part_from_sockets()
    }

    /// Attaches a program that passes everything to the switches' ports to hosts. On veth it copies
    /// the packet, and the copy no longer belongs to the sender's socket. Otherwise a packet that
    /// no routing takes from its socket (an eBPF switch) would count against the sender's queue
    /// until it is received, and TCP small queues would keep two packets of a flow in the whole
    /// fabric.
    fn part_from_sockets(&self) -> Result<(), EmulationError> {
        let object = state::folder(&self.state.name).join("pass.o");
        std::fs::write(&object, PASS)
            .map_err(EmulationError::system(object.display().to_string()))?;
        for switch in self.switches() {
            let to_hosts = self.devices(switch).filter(|device| device.info.to_host);
            for device in to_hosts {
                let (name, object) = (device.name(), object.display());
                self.run(switch, &format!("ip link set dev {name} xdpdrv obj {object} sec xdp"))?;
            }
        }
        Ok(())
    }

    fn apply_settings(&self, node: u32) -> Result<(), EmulationError> {
        let settings = if node < self.fabric.hosts {
            let mut settings = settings::of_host(&self.scenario.transport);
            let agents = agent_subflows(&self.scenario);
            settings.extend(agents.map(|_| "net.mptcp.pm_type=1".to_owned()));
            settings
        } else {
            settings::of_switch(node)
        };
        let namespace = format!("--net={}", self.path(node).display());
        let fixed = [namespace.as_str(), "sysctl", "-q", "-w"].map(str::to_owned);
        Ok(tools::run("nsenter", fixed.into_iter().chain(settings), "").map(drop)?)
    }

    fn link_line(&self, link: u32) -> String {
        let [a, b] = self.link_devices(link);
        let end = |device: &Device<'_>, end: u8| {
            let mtu = self.mtu(device);
            let mac = LinkMac { link, end };
            let namespace = self.namespace(device.node);
            format!(
                "name {} netns {namespace} address {mac} mtu {mtu} numtxqueues 1 numrxqueues 1",
                device.name()
            )
        };
        format!("link add {} type veth peer {}\n", end(&a, 0), end(&b, 1))
    }

    /// Both devices of a link, in the order of its ends.
    pub fn link_devices(&self, link: u32) -> [Device<'_>; 2] {
        let (a, b) = self.fabric.graph.links[link as usize].ends;
        [a, b].map(|node| {
            let found = self.devices(node).find(|device| device.info.link == link);
            found.unwrap_or_else(|| unreachable!("every link is a port of both of its ends"))
        })
    }

    /// The MTU of a device.
    pub fn mtu(&self, device: &Device<'_>) -> u32 {
        let payload = u32::from(self.scenario.transport.tcp().mss);
        let ip = payload + settings::HEADERS;
        let host_link = device.info.to_host || device.node < self.fabric.hosts;
        if host_link { ip } else { ip + SHIM_ROOM }
    }

    fn set_up_devices(&self, node: u32) -> Result<(), EmulationError> {
        let up = |device: Device<'_>| {
            let (name, peer) = (device.name(), self.peer_mac(&device));
            format!(
                "link set dev {name} up\nneigh replace {GATEWAY} lladdr {peer} dev {name} nud permanent\n"
            )
        };
        let lines: String = self.devices(node).map(up).collect();
        self.ip(node, &format!("link set dev lo up\n{lines}"))?;
        let shape: String = self.devices(node).map(|device| self.shape_lines(&device)).collect();
        self.tc(node, &shape)
    }

    /// The Ethernet address of a device.
    pub fn own_mac(&self, device: &Device<'_>) -> LinkMac {
        let LinkMac { link, end } = self.peer_mac(device);
        LinkMac { link, end: 1 - end }
    }

    /// The Ethernet address at the far end of a device's link.
    pub fn peer_mac(&self, device: &Device<'_>) -> LinkMac {
        let link = device.info.link;
        let (a, _) = self.fabric.graph.links[link as usize].ends;
        LinkMac { link, end: u8::from(a == device.node) }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if !self.is_kept {
            // What could not be removed is found by `heddle lab down`.
            let _ = self.state.remove();
        }
    }
}

fn devices(fabric: &Fabric, node: u32) -> impl Iterator<Item = Device<'_>> {
    fabric.ports_of(node).iter().zip(0..).map(move |(info, number)| Device { node, number, info })
}

fn describe(fabric: &Fabric, scenario: &Scenario, name: &str, owner: Option<Process>) -> State {
    let node_name = |node: u32| fabric.node(node).name.clone();
    let end = |node: u32, link: u32| {
        let device = devices(fabric, node).find(|device| device.info.link == link);
        (node_name(node), device.map_or_else(String::new, |device| device.name()))
    };
    let links = fabric.graph.links.iter().zip(0..);
    State {
        name: name.to_owned(),
        title: scenario.title.clone(),
        owner,
        nodes: fabric.graph.nodes.iter().map(|node| node.name.clone()).collect(),
        links: links
            .map(|(link, index)| LinkState {
                ends: [end(link.ends.0, index), end(link.ends.1, index)],
            })
            .collect(),
    }
}

//! The lab itself: made in a few batches of `ip`, gone with its value.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};

use heddle_units::Rate;
use tempfile::NamedTempFile;

use crate::layout::{self, Role};
use crate::{Builder, Connection, LabError, NextHop, Node, Server, Transport, names, tools};

/// The object of `bpf/tools/pass.bpf.c`.
const PASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pass.o"));

/// A client, a router, balancers and backends, each in a network namespace. Dropping it removes them all.
#[derive(Debug)]
pub struct Lab {
    plan: Builder,
    client: Node,
    router: Node,
    balancers: Vec<Node>,
    backends: Vec<Node>,
}

impl Lab {
    /// A lab to be: 4 client addresses, 1 balancer, 2 backends, VIPs 192.0.2.1 and 2001:db8::1, room for 1600 bytes
    /// between router, balancers and backends (the client has 1500), links as fast as the machine.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn make(plan: Builder) -> Result<Lab, LabError> {
        let prefix = names::unique()?;
        let nodes = |role: Role, count| (0..count).map(|i| role.node(&prefix, i)).collect();
        // From here on, dropping it undoes what was done so far.
        let lab = Lab {
            client: Role::Client.node(&prefix, 0),
            router: Role::Router.node(&prefix, 0),
            balancers: nodes(Role::Balancer, count(plan.balancers)),
            backends: nodes(Role::Backend, count(plan.backends)),
            plan,
        };
        lab.add_namespaces()?;
        lab.add_links()?;
        lab.set_up_hosts()?;
        lab.set_offloads()?;
        lab.add_pass_programs()?;
        lab.set_rates()?;
        let all: Vec<NextHop> = (0..lab.balancers.len()).map(NextHop::Balancer).collect();
        lab.route_vip(&all)?;
        Ok(lab)
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &Node {
        &self.client
    }

    /// The router between the client and everybody else.
    #[must_use]
    pub fn router(&self) -> &Node {
        &self.router
    }

    /// A balancer, from 0.
    ///
    /// # Panics
    /// If there is none of that number.
    #[must_use]
    pub fn balancer(&self, index: usize) -> &Node {
        &self.balancers[index]
    }

    /// A backend, from 0.
    ///
    /// # Panics
    /// If there is none of that number.
    #[must_use]
    pub fn backend(&self, index: usize) -> &Node {
        &self.backends[index]
    }

    /// All balancers.
    #[must_use]
    pub fn balancers(&self) -> &[Node] {
        &self.balancers
    }

    /// All backends.
    #[must_use]
    pub fn backends(&self) -> &[Node] {
        &self.backends
    }

    /// The service's addresses: IPv4, then IPv6.
    #[must_use]
    pub fn vips(&self) -> [IpAddr; 2] {
        [self.plan.vip4.into(), self.plan.vip6.into()]
    }

    /// The client's address on each of its links, in the family of `like`.
    #[must_use]
    pub fn client_addresses(&self, like: IpAddr) -> Vec<IpAddr> {
        let of_link = |link| {
            let (v4, v6) = layout::client_addresses(link);
            if like.is_ipv4() { v4.into() } else { v6.into() }
        };
        (0..count(self.plan.clients)).map(of_link).collect()
    }

    /// Starts a server on each backend, on all its addresses, with the backend's name (`backend-0`, ...).
    ///
    /// # Errors
    /// If a namespace cannot be entered or the port is taken.
    pub fn serve(&self, transport: Transport, port: u16) -> Result<Vec<Server>, LabError> {
        let start = |node: &Node| {
            let what = format!("a server on {}", node.name());
            node.enter(|| Server::start(node.name(), transport, port))?
                .map_err(LabError::system(what))
        };
        self.backends.iter().map(start).collect()
    }

    /// Opens a connection from the client.
    ///
    /// # Errors
    /// If nobody answers, or the answer is not a [`Server`]'s.
    pub fn connect(&self, transport: Transport, to: SocketAddr) -> Result<Connection, LabError> {
        let what = format!("a connection to {to}");
        self.client.enter(|| Connection::open(transport, to))?.map_err(LabError::system(what))
    }

    fn nodes(&self) -> impl Iterator<Item = (Role, &Node)> {
        let balancers = self.balancers.iter().map(|node| (Role::Balancer, node));
        let backends = self.backends.iter().map(|node| (Role::Backend, node));
        [(Role::Client, &self.client), (Role::Router, &self.router)]
            .into_iter()
            .chain(balancers)
            .chain(backends)
    }

    /// Settings come before links, which take the defaults over.
    fn add_namespaces(&self) -> Result<(), LabError> {
        let add = |(_, node): (Role, &Node)| format!("netns add {}\n", node.namespace);
        let lines: String = self.nodes().map(add).collect();
        tools::run("ip", ["-batch", "-"], &lines)?;
        for (role, node) in self.nodes() {
            let settings: Vec<&str> = role.settings().collect();
            node.run(&format!("sysctl -q -w {}", settings.join(" ")))?;
        }
        Ok(())
    }

    fn add_links(&self) -> Result<(), LabError> {
        let mut lines: String = (0..count(self.plan.clients))
            .map(|link| {
                let (device, port) = (format!("eth{link}"), format!("c{link}"));
                let mac = layout::client_mac(link);
                layout::link(&self.client, &device, mac, &self.router, &port, 1500)
            })
            .collect();
        for (node, port) in self.ports() {
            let mtu = self.plan.lan_mtu;
            lines += &layout::link(node, "eth0", node.mac, &self.router, &port, mtu);
        }
        tools::run("ip", ["-batch", "-"], &lines).map(drop)
    }

    fn set_up_hosts(&self) -> Result<(), LabError> {
        let links = count(self.plan.clients);
        self.client.ip(&layout::client_lines(links))?;
        let mtu = self.plan.lan_mtu;
        self.router.ip(&layout::router_lines(&self.router, links, self.ports(), mtu))?;
        let table = layout::forwarding_lines(self.ports());
        tools::run("bridge", ["-n", &self.router.namespace, "-batch", "-"], &table)?;
        for (role, node) in self.nodes() {
            match role {
                Role::Client | Role::Router => {}
                Role::Balancer => node.ip(&layout::lan_lines(node, &self.router))?,
                Role::Backend => {
                    node.ip(&layout::lan_lines(node, &self.router))?;
                    node.ip(&layout::backend_lines(&self.plan))?;
                }
            }
        }
        Ok(())
    }

    /// Switches checksum offload off: XDP programs see frames before it.
    fn set_offloads(&self) -> Result<(), LabError> {
        for link in 0..self.plan.clients {
            self.client.run(&format!("ethtool -K eth{link} tx off"))?;
            self.router.run(&format!("ethtool -K c{link} tx off"))?;
        }
        for (node, port) in self.ports() {
            node.run("ethtool -K eth0 tx off")?;
            self.router.run(&format!("ethtool -K {port} tx off"))?;
        }
        Ok(())
    }

    /// Attaches a program to each port of the bridge: frames that XDP sends there from the other end would stay in a queue without it.
    fn add_pass_programs(&self) -> Result<(), LabError> {
        let write_error = || LabError::system("the program that passes everything");
        let mut object = NamedTempFile::new().map_err(write_error())?;
        object.write_all(PASS).map_err(write_error())?;
        for (_, port) in self.ports() {
            let path = object.path().display();
            self.router.run(&format!("ip link set dev {port} xdpdrv obj {path} sec xdp"))?;
        }
        Ok(())
    }

    fn set_rates(&self) -> Result<(), LabError> {
        let Some(Rate(bits)) = self.plan.client_rate else { return Ok(()) };
        for link in 0..self.plan.clients {
            let shape = |device: &str| {
                format!("tc qdisc add dev {device} root tbf rate {bits}bit burst 64kb latency 50ms")
            };
            self.client.run(&shape(&format!("eth{link}")))?;
            self.router.run(&shape(&format!("c{link}")))?;
        }
        Ok(())
    }

    /// Balancers and backends, each with the router's port that it hangs on.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (&Node, String)> {
        let balancers = self.balancers.iter().enumerate().map(|(i, node)| (node, format!("p{i}")));
        let backends = self.backends.iter().enumerate().map(|(i, node)| (node, format!("q{i}")));
        balancers.chain(backends)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let namespaces: BTreeSet<String> =
            self.nodes().map(|(_, node)| node.namespace.clone()).collect();
        // The next lab removes what could not be removed now, if this process has ended by then.
        let _ = names::remove(&namespaces);
    }
}

/// A count that the builder has checked.
fn count(checked: usize) -> u8 {
    u8::try_from(checked).unwrap_or(u8::MAX)
}

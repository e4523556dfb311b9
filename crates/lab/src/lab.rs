//! The lab: its hosts, servers and connections.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::layout::{self, Role};
use crate::{Builder, Connection, LabError, Node, Server, Transport, names};

/// A client, a router, balancers and backends, each in a network namespace. Dropping it removes
/// them all.
#[derive(Debug)]
pub struct Lab {
    pub(crate) settings: Builder,
    client: Node,
    router: Node,
    balancers: Vec<Node>,
    backends: Vec<Node>,
}

impl Lab {
    /// A lab to be: 4 client addresses, 1 balancer, 2 backends, VIPs 192.0.2.1 and 2001:db8::1,
    /// room for 1600 bytes between router, balancers and backends (the client has 1500), links as
    /// fast as the machine.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A lab whose hosts have names and addresses, and are not made yet.
    pub(crate) fn new(settings: Builder) -> Result<Lab, LabError> {
        let prefix = names::unique()?;
        let nodes = |role: Role, count| (0..count).map(|i| role.node(&prefix, i)).collect();
        Ok(Lab {
            client: Role::Client.node(&prefix, 0),
            router: Role::Router.node(&prefix, 0),
            balancers: nodes(Role::Balancer, count(settings.balancers)),
            backends: nodes(Role::Backend, count(settings.backends)),
            settings,
        })
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
        [self.settings.vip4.into(), self.settings.vip6.into()]
    }

    /// The service's address of IPv4.
    #[must_use]
    pub fn vip4(&self) -> Ipv4Addr {
        self.settings.vip4
    }

    /// The client's address on each of its links, in the family of `like`.
    #[must_use]
    pub fn client_addresses(&self, like: IpAddr) -> Vec<IpAddr> {
        let of_link = |link| {
            let (v4, v6) = layout::client_addresses(link);
            if like.is_ipv4() { v4.into() } else { v6.into() }
        };
        (0..self.links()).map(of_link).collect()
    }

    /// Starts a server on each backend, on all its addresses, with the backend's name (`backend-0`,
    /// ...).
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

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (Role, &Node)> {
        let balancers = self.balancers.iter().map(|node| (Role::Balancer, node));
        let backends = self.backends.iter().map(|node| (Role::Backend, node));
        [(Role::Client, &self.client), (Role::Router, &self.router)]
            .into_iter()
            .chain(balancers)
            .chain(backends)
    }

    /// The number of the client's links.
    pub(crate) fn links(&self) -> u8 {
        count(self.settings.clients)
    }

    /// The router's port to a balancer or a backend.
    pub(crate) fn port_of(&self, node: &Node) -> Option<String> {
        self.ports().find(|(other, _)| other.namespace == node.namespace).map(|(_, port)| port)
    }

    /// Balancers and backends, each with the router's port to it.
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

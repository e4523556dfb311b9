//! The next hop of an address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use heddle_daemon::links::by_index;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkLayerType, LinkMessage};
use netlink_packet_route::neighbour::{NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteType, RouteVia,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::io::Errno;
use tokio::net::UdpSocket;

use super::NextHop;
use crate::netlink::Netlink;
use crate::vlan::{Unusable, Vlan};

/// RFC 863.
const DISCARD_PORT: u16 = 9;

/// The reasons for a missing next hop.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// No route leads there, or one that forbids it.
    #[error("no route leads there")]
    NoRoute,
    /// It is an address of this machine, or of many.
    #[error("it is not another machine's address")]
    NotRemote,
    /// The interface is down.
    #[error("interface {0} is down")]
    LinkDown(String),
    /// The interface has no Ethernet addresses.
    #[error("interface {0} is not Ethernet")]
    NotEthernet(String),
    /// The interface is a VLAN whose tag the data plane cannot write.
    #[error("of the interface that leads there: {0}")]
    Vlan(#[from] Unusable),
    /// The neighbour's Ethernet address is not known yet; the kernel resolves it.
    #[error("{neighbour} does not answer on interface {interface}")]
    Unresolved {
        /// The destination, or its gateway.
        neighbour: IpAddr,
        /// The interface.
        interface: String,
    },
    /// The kernel has not answered, or with another error.
    #[error("the kernel does not say: {0}")]
    Kernel(#[from] io::Error),
}

/// Next hops as the kernel has them.
#[derive(Debug)]
pub struct Resolver {
    netlink: Netlink,
}

impl Resolver {
    /// Over this connection, in its network namespace.
    pub fn new(netlink: Netlink) -> Resolver {
        Resolver { netlink }
    }

    /// The next hop of packets to `address`. Does not wait for neighbours: the kernel is made to
    /// resolve one that is missing or stale, which shows in a later call. A stale one is used
    /// meanwhile. To be called once a second at most while that is so.
    ///
    /// # Errors
    /// See [`Unreachable`].
    pub async fn resolve(&self, address: IpAddr) -> Result<NextHop, Unreachable> {
        let route = self.route(address).await?;
        let (ifindex, at) = (route.ifindex, route.gateway.unwrap_or(address));
        let link = self.link(ifindex).await?;
        let neighbour = self.neighbour(at, ifindex).await?;
        if neighbour.as_ref().is_none_or(|neighbour| neighbour.stale) {
            trigger_resolution(address).await;
        }
        let neighbour =
            neighbour.ok_or(Unreachable::Unresolved { neighbour: at, interface: link.name })?;
        Ok(NextHop {
            ifindex: link.out,
            vlan: link.vlan,
            mac: neighbour.mac,
            source_mac: link.mac,
            mtu: route.mtu.unwrap_or(link.mtu).min(link.mtu),
            source: route.source,
        })
    }

    async fn route(&self, address: IpAddr) -> Result<Route, Unreachable> {
        let mut request = RouteMessage::default();
        request.header.address_family = family(address);
        request.header.destination_prefix_length = if address.is_ipv4() { 32 } else { 128 };
        request.attributes.push(RouteAttribute::Destination(address.into()));
        match self.netlink.request(RouteNetlinkMessage::GetRoute(request)).await {
            Ok(RouteNetlinkMessage::NewRoute(answer)) => Route::read(&answer),
            Ok(_) => Err(unexpected()),
            Err(error) if no_route(&error) => Err(Unreachable::NoRoute),
            Err(error) => Err(error.into()),
        }
    }

    async fn link(&self, ifindex: u32) -> Result<Link, Unreachable> {
        let mut request = LinkMessage::default();
        request.header.index = ifindex;
        match self.netlink.request(RouteNetlinkMessage::GetLink(request)).await? {
            RouteNetlinkMessage::NewLink(answer) => self.above(Link::read(&answer)?).await,
            _ => Err(unexpected()),
        }
    }

    /// The link, if it is not a VLAN on a VLAN.
    async fn above(&self, link: Link) -> Result<Link, Unreachable> {
        if link.vlan == 0 {
            return Ok(link);
        }
        let lower = by_index(&self.netlink, link.out).await?.ok_or_else(unexpected)?;
        match Vlan::of(&lower) {
            Ok(None) => Ok(link),
            _ => Err(Unusable::Nested.into()),
        }
    }

    /// None while its Ethernet address is not known.
    async fn neighbour(&self, at: IpAddr, ifindex: u32) -> Result<Option<Neighbour>, Unreachable> {
        let mut request = NeighbourMessage::default();
        request.header.family = family(at);
        request.header.ifindex = ifindex;
        request.attributes.push(NeighbourAttribute::Destination(at.into()));
        match self.netlink.request(RouteNetlinkMessage::GetNeighbour(request)).await {
            Ok(RouteNetlinkMessage::NewNeighbour(answer)) => Ok(Neighbour::read(&answer)),
            Ok(_) => Err(unexpected()),
            Err(error) if is(&error, &[Errno::NOENT]) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn unspecified(family: AddressFamily) -> IpAddr {
    match family {
        AddressFamily::Inet => Ipv4Addr::UNSPECIFIED.into(),
        _ => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn is(error: &io::Error, any: &[Errno]) -> bool {
    Errno::from_io_error(error).is_some_and(|error| any.contains(&error))
}

/// The errors for a missing route, and for one that refuses: blackhole, unreachable, prohibit.
fn no_route(error: &io::Error) -> bool {
    is(error, &[Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::INVAL, Errno::ACCESS])
}

fn unexpected() -> Unreachable {
    Unreachable::Kernel(io::ErrorKind::InvalidData.into())
}

struct Route {
    ifindex: u32,
    gateway: Option<IpAddr>,
    source: IpAddr,
    mtu: Option<u32>,
}

impl Route {
    fn read(message: &RouteMessage) -> Result<Route, Unreachable> {
        match message.header.kind {
            RouteType::Unicast => {}
            RouteType::Local | RouteType::Broadcast | RouteType::Anycast | RouteType::Multicast => {
                return Err(Unreachable::NotRemote);
            }
            _ => return Err(Unreachable::NoRoute),
        }
        let (mut ifindex, mut gateway, mut source, mut mtu) = (None, None, None, None);
        for attribute in &message.attributes {
            match attribute {
                RouteAttribute::Oif(index) => ifindex = Some(*index),
                RouteAttribute::Gateway(address) => gateway = ip(address),
                RouteAttribute::Via(RouteVia::Inet(address)) => gateway = Some((*address).into()),
                RouteAttribute::Via(RouteVia::Inet6(address)) => gateway = Some((*address).into()),
                RouteAttribute::PrefSource(address) => source = ip(address),
                RouteAttribute::Metrics(metrics) => mtu = metrics.iter().find_map(limit),
                _ => {}
            }
        }
        let ifindex = ifindex.ok_or(Unreachable::NoRoute)?;
        Ok(Route {
            ifindex,
            gateway,
            source: source.unwrap_or(unspecified(message.header.address_family)),
            mtu,
        })
    }
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some((*address).into()),
        RouteAddress::Inet6(address) => Some((*address).into()),
        _ => None,
    }
}

fn limit(metric: &RouteMetric) -> Option<u32> {
    match metric {
        RouteMetric::Mtu(mtu) => Some(*mtu),
        _ => None,
    }
}

struct Link {
    /// The name of the interface that the route names.
    name: String,
    /// The interface that frames leave by, below a VLAN.
    out: u32,
    /// The VLAN id in their tag; 0: none.
    vlan: u16,
    mac: [u8; 6],
    mtu: u32,
}

impl Link {
    fn read(message: &LinkMessage) -> Result<Link, Unreachable> {
        let ifindex = message.header.index;
        let name = name(message);
        if !message.header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp) {
            return Err(Unreachable::LinkDown(name));
        }
        let vlan = Vlan::of(message)?;
        let (out, vlan) = vlan.map_or((ifindex, 0), |vlan| (vlan.lower, vlan.id));
        let (mut mac, mut mtu) = (None, None);
        for attribute in &message.attributes {
            match attribute {
                LinkAttribute::Address(bytes) => mac = bytes.as_slice().try_into().ok(),
                LinkAttribute::Mtu(bytes) => mtu = Some(*bytes),
                _ => {}
            }
        }
        match (message.header.link_layer_type, mac, mtu) {
            (LinkLayerType::Ether, Some(mac), Some(mtu)) => Ok(Link { name, out, vlan, mac, mtu }),
            _ => Err(Unreachable::NotEthernet(name)),
        }
    }
}

/// The interface's name; its number if the kernel does not tell the name.
fn name(message: &LinkMessage) -> String {
    let name = message.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_else(|| message.header.index.to_string())
}

struct Neighbour {
    mac: [u8; 6],
    /// Its reachability was not confirmed lately (`NUD_STALE`).
    stale: bool,
}

impl Neighbour {
    /// None unless its Ethernet address may be used.
    fn read(message: &NeighbourMessage) -> Option<Neighbour> {
        let stale = match message.header.state {
            NeighbourState::Reachable | NeighbourState::Permanent | NeighbourState::Noarp => false,
            NeighbourState::Delay | NeighbourState::Probe => false,
            NeighbourState::Stale => true,
            _ => return None,
        };
        let mac = message.attributes.iter().find_map(|attribute| match attribute {
            NeighbourAttribute::LinkLayerAddress(bytes) => bytes.as_slice().try_into().ok(),
            _ => None,
        });
        mac.map(|mac| Neighbour { mac, stale })
    }
}

/// Makes the kernel resolve the neighbour that is the next hop to `address`, by an empty datagram.
/// A failure shows in the neighbour's absence.
async fn trigger_resolution(address: IpAddr) {
    if let Err(error) = send_empty_datagram(address).await {
        tracing::debug!(%address, %error, "the kernel could not be made to resolve the neighbour");
    }
}

async fn send_empty_datagram(address: IpAddr) -> io::Result<usize> {
    let socket = UdpSocket::bind(SocketAddr::new(unspecified(family(address)), 0)).await?;
    socket.send_to(&[], SocketAddr::new(address, DISCARD_PORT)).await
}

//! Addresses of the services, the balancers and the backends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use heddle_balancer_maps::steering::SteeringKey;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};

use crate::frames::ETHERNET;

/// The number of the TCP service, in flows and counters.
pub const SERVICE_TCP: u16 = 1;
/// The number of the UDP service.
pub const SERVICE_UDP: u16 = 2;
/// The services' port.
pub const PORT: u16 = 443;
/// The number of the TCP service in one group with [`SERVICE_TCP`], where there is one.
pub(crate) const SERVICE_OTHER: u16 = 3;
/// Its port.
pub const OTHER_PORT: u16 = 444;

/// The key that all balancers sign with.
pub const KEY: SteeringKey = [0xfeed_beef_0123_4567, 0x89ab_cdef_0246_8ace];

pub(crate) const STEERING_PORT: u16 = 7000;
pub(crate) const GUE_PORT: u16 = 6080;

const SERVICE_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 80);
const SERVICE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 80);

/// The service's addresses, of both families.
pub(crate) const SERVICES: [IpAddr; 2] = [IpAddr::V4(SERVICE_V4), IpAddr::V6(SERVICE_V6)];

/// Address of the services for a client with this address.
pub fn service(client: IpAddr) -> SocketAddr {
    SocketAddr::new(SERVICES[usize::from(client.is_ipv6())], PORT)
}

/// Address at which a balancer receives the others' packets.
pub fn balancer_address(balancer: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, balancer as u8 + 1)), STEERING_PORT)
}

/// Address at which a backend receives encapsulated packets.
pub fn backend_address(backend: usize) -> IpAddr {
    let [high, low] = (backend as u16).to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(10, 1, high, low))
}

/// A backend's own address, which clients may join by where the service itself knows no MPTCP (mode
/// off).
pub fn join_address(backend: usize) -> IpAddr {
    let [high, low] = (backend as u16).to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(203, 0, high, low))
}

/// The MAC address by which frames reach a backend.
pub(crate) fn backend_mac(backend: usize) -> [u8; 6] {
    let [high, low] = (backend as u16).to_be_bytes();
    [2, 0, 0, 1, high, low]
}

/// The receiver of a frame that left a balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    Balancer(usize),
    /// With the client's packet from this byte on.
    Backend(usize, usize),
    /// None of these.
    Outside,
}

/// By the outer headers if there are any, else by the MAC address.
pub(crate) fn receiver(frame: &[u8]) -> Receiver {
    let Ok(packet) = SlicedPacket::from_ethernet(frame) else { return Receiver::Outside };
    let ip = ETHERNET + 4 * packet.link_exts.len();
    let Some(NetSlice::Ipv4(outer)) = &packet.net else { return by_mac(frame, ip) };
    match outer.header().destination() {
        [10, 0, 0, balancer] if balancer > 0 => Receiver::Balancer(usize::from(balancer) - 1),
        [10, 1, high, low] => {
            let udp = matches!(packet.transport, Some(TransportSlice::Udp(_)));
            let inner = ip + if udp { 28 } else { 20 };
            Receiver::Backend(usize::from(u16::from_be_bytes([high, low])), inner)
        }
        _ => by_mac(frame, ip),
    }
}

fn by_mac(frame: &[u8], ip: usize) -> Receiver {
    match *frame {
        [2, 0, 0, 1, high, low, ..] => {
            Receiver::Backend(usize::from(u16::from_be_bytes([high, low])), ip)
        }
        _ => Receiver::Outside,
    }
}

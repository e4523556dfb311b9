//! Neighbours that the kernel has not resolved: an empty datagram to one makes it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;

/// The time after which neighbours that are still not resolved are tried again.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// RFC 863.
const DISCARD_PORT: u16 = 9;

/// Makes the kernel resolve neighbours, each on its device. A failure shows in their absence.
pub(super) async fn resolve(neighbours: Vec<(String, IpAddr)>) {
    for (device, address) in neighbours {
        if let Err(error) = send_empty_datagram(&device, address).await {
            tracing::debug!(%device, %address, %error, "the kernel could not be made to resolve the neighbour");
        }
    }
}

async fn send_empty_datagram(device: &str, address: IpAddr) -> io::Result<usize> {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
    // Link-local addresses need an interface, which is the one that the socket is bound to.
    socket.bind_device(Some(device.as_bytes()))?;
    socket.send_to(&[], SocketAddr::new(address, DISCARD_PORT)).await
}

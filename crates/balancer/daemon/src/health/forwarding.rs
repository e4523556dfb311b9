//! Probes that take the way of a service's packets: to the service's address at one backend, by L2,
//! IPIP or GUE as the program sends them.
//!
//! A backend whose own address answers may still have lost the service's address, or the program
//! that takes off outer headers. So a SYN from the balancer's own address goes to the service's
//! address by way of the backend; the backend answers the balancer directly, as it answers clients.
//! A SYN-ACK is a success, and is answered by a reset. The kernel knows no such connection and
//! resets it, too, which the backend takes or drops: both are the end of it.
//!
//! So it is with a service of UDP, at the TCP port of its check. Its backends need not serve that
//! port at the service's address: a reset comes from there, too, and is a success.
//!
//! The sockets need CAP_NET_RAW when they are opened, and nothing later.

mod packet;
mod sockets;

pub use sockets::Sockets;

use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use tokio::net::TcpSocket;

use super::Failure;
use crate::neighbours::NextHop;
use packet::Segment;

/// The way of packets to a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The service.
    pub vip: SocketAddr,
    /// The balancer's own address of the service's family: the client of the probe.
    pub client: IpAddr,
    /// The backend's own address.
    pub backend: IpAddr,
    /// The way that its packets are sent.
    pub outer: Outer,
    /// True if a reset, too, is an answer: the service is not what listens at the port.
    pub takes_reset: bool,
}

/// The outer header of packets to a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outer {
    /// None: the frame goes to the backend.
    L2,
    /// IP, from this address.
    Ipip(IpAddr),
    /// UDP to a port, from this address.
    Gue(IpAddr, u16),
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outer::L2 => "L2",
            Outer::Ipip(_) => "IPIP",
            Outer::Gue(..) => "GUE",
        })
    }
}

/// Probes once, within `timeout`; `hop` is that of the backend, for L2.
///
/// # Errors
/// The failure.
pub async fn probe(
    sockets: &Sockets,
    way: &Way,
    hop: Option<&Result<NextHop, String>>,
    timeout: Duration,
) -> Result<(), Failure> {
    let answer = tokio::time::timeout(timeout, run(sockets, way, hop)).await;
    answer.unwrap_or(Err(Failure::Timeout))
}

async fn run(
    sockets: &Sockets,
    way: &Way,
    hop: Option<&Result<NextHop, String>>,
) -> Result<(), Failure> {
    sockets.listen()?;
    let reservation = match way.client {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Nobody else gets the port meanwhile.
    reservation.bind(SocketAddr::new(way.client, 0))?;
    let client = reservation.local_addr()?;
    let seq = getrandom::u32().map_err(|error| Failure::Local(error.to_string()))?;
    let answer = sockets.expect(way.vip, client.port(), seq.wrapping_add(1));
    transmit(sockets, way, hop, &packet::segment(client, way.vip, Segment::Syn(seq))?)?;
    let result = match answer.received().await {
        Err(Failure::Refused) if way.takes_reset => return Ok(()),
        result => result,
    };
    if result.is_ok() {
        let reset = Segment::Reset(seq.wrapping_add(1));
        transmit(sockets, way, hop, &packet::segment(client, way.vip, reset)?)?;
    }
    result
}

fn transmit(
    sockets: &Sockets,
    way: &Way,
    hop: Option<&Result<NextHop, String>>,
    inner: &[u8],
) -> Result<(), Failure> {
    match way.outer {
        Outer::L2 => match hop {
            Some(Ok(hop)) => sockets.send_frame(hop.ifindex, &packet::frame(hop, inner))?,
            Some(Err(why)) => return Err(Failure::Local(why.clone())),
            None => return Err(Failure::Local("its next hop is not resolved yet".into())),
        },
        Outer::Ipip(own) => {
            sockets.send_ip(way.backend, &packet::in_ip(own, way.backend, inner)?)?;
        }
        Outer::Gue(own, port) => {
            let socket = UdpSocket::bind(SocketAddr::new(own, 0))?;
            socket.send_to(inner, SocketAddr::new(way.backend, port))?;
        }
    }
    Ok(())
}

//! TCP and MPTCP sockets for tokio.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use heddle_lab::status;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::{PORT, Protocol};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

fn socket(protocol: Protocol) -> io::Result<Socket> {
    let number = match protocol {
        Protocol::Tcp => socket2::Protocol::TCP,
        Protocol::Mptcp => socket2::Protocol::MPTCP,
    };
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(number))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

pub(super) fn listen(address: Ipv4Addr, protocol: Protocol) -> io::Result<TcpListener> {
    let socket = socket(protocol)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddrV4::new(address, PORT).into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

pub(super) async fn connect(to: Ipv4Addr, protocol: Protocol) -> io::Result<TcpStream> {
    let socket = TcpSocket::from_std_stream(socket(protocol)?.into());
    let stream = socket.connect(SocketAddrV4::new(to, PORT).into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The client's end of each subflow, and the bytes acknowledged on it.
pub(super) fn subflows(stream: &TcpStream, protocol: Protocol) -> Vec<(SocketAddrV4, u64)> {
    if protocol == Protocol::Tcp {
        return Vec::new();
    }
    let status = status(&SockRef::from(stream));
    let subflows = status.map(|status| status.subflows).unwrap_or_default();
    let v4 = |address| match address {
        std::net::SocketAddr::V4(address) => Some(address),
        std::net::SocketAddr::V6(_) => None,
    };
    subflows.into_iter().filter_map(|s| Some((v4(s.local)?, s.bytes_acked))).collect()
}

//! TCP sockets that belong to MPTCP connections, by sock_diag(7). The kernel tells tokens to
//! holders of CAP_NET_ADMIN only.

use std::io;
use std::net::SocketAddr;

use netlink_packet_core::{
    DefaultNla, NLA_F_NESTED, NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload, Nla as _,
    NlasIterator, Parseable as _,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_proto::new_connection;
use netlink_proto::sys::SocketAddr as Kernel;
use netlink_proto::sys::protocols::NETLINK_SOCK_DIAG;
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;

use crate::pm::unmapped;

// linux/inet_diag.h and linux/mptcp.h.
const ULP_INFO: u16 = 19;
const ULP_MPTCP: u16 = 3;
const TOKEN_LOCAL: u16 = 2;
const FLAGS: u16 = 8;
/// This end asked for MPTCP in the SYN of a first subflow, in that of a further one.
const CAPABLE_LOCAL: u32 = 1 << 1;
const JOIN_LOCAL: u32 = 1 << 3;
const JOIN_REMOTE: u32 = 1 << 2;

/// `TCP_ESTABLISHED` of net/tcp_states.h.
const ESTABLISHED: u8 = 1;

/// Offset of `tcpi_backoff` in `struct tcp_info`.
const BACKOFF: usize = 4;

/// The part of a connection that a subflow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The first, of a connection that this end opened.
    First,
    /// A further one that this end opened.
    Further,
    /// One that the other end opened.
    Accepted,
}

/// A TCP socket of an MPTCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// The connection's local token.
    pub token: u32,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Its part.
    pub role: Role,
    /// Retransmission timeouts in a row without an answer.
    pub timeouts: u8,
    /// Neither end has closed it, and its handshake is over.
    pub is_established: bool,
}

/// All of them, in the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer, or has no sock_diag for TCP.
pub async fn subflows() -> io::Result<Vec<Subflow>> {
    let mut found = dump(AF_INET, SocketId::new_v4()).await?;
    found.extend(dump(AF_INET6, SocketId::new_v6()).await?);
    Ok(found)
}

async fn dump(family: u8, socket_id: SocketId) -> io::Result<Vec<Subflow>> {
    let (connection, handle, _) = new_connection(NETLINK_SOCK_DIAG)?;
    let mut task = JoinSet::new();
    task.spawn(connection);
    let asked = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::ESTABLISHED | StateFlags::SYN_SENT | StateFlags::CLOSE_WAIT,
        socket_id,
    };
    let mut message = NetlinkMessage::from(SockDiagMessage::InetRequest(asked));
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.finalize();
    let broken = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    let answers = handle.request(message, Kernel::new(0, 0)).map_err(broken)?;
    tokio::pin!(answers);
    let mut found = Vec::new();
    while let Some(answer) = answers.next().await {
        match answer.payload {
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(one)) => {
                found.extend(subflow(&one));
            }
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => {}
        }
    }
    Ok(found)
}

fn subflow(response: &InetResponse) -> Option<Subflow> {
    let mptcp = response.nlas.iter().find_map(|attribute| match attribute {
        Nla::Other(other) if other.kind() & !NLA_F_NESTED == ULP_INFO => {
            inner(&value(other), ULP_MPTCP)
        }
        _ => None,
    })?;
    let timeouts = response.nlas.iter().find_map(|attribute| match attribute {
        Nla::TcpInfo(info) => info.get(BACKOFF).copied(),
        _ => None,
    });
    let word = |kind| inner(&mptcp, kind)?.try_into().ok().map(u32::from_ne_bytes);
    let id = &response.header.socket_id;
    Some(Subflow {
        token: word(TOKEN_LOCAL)?,
        local: SocketAddr::new(unmapped(id.source_address), id.source_port),
        remote: SocketAddr::new(unmapped(id.destination_address), id.destination_port),
        role: role(word(FLAGS)?),
        timeouts: timeouts.unwrap_or_default(),
        is_established: response.header.state == ESTABLISHED,
    })
}

fn role(flags: u32) -> Role {
    if flags & JOIN_LOCAL != 0 {
        Role::Further
    } else if flags & CAPABLE_LOCAL != 0 && flags & JOIN_REMOTE == 0 {
        Role::First
    } else {
        Role::Accepted
    }
}

fn value(attribute: &DefaultNla) -> Vec<u8> {
    let mut value = vec![0; attribute.value_len()];
    attribute.emit_value(&mut value);
    value
}

/// The value of an attribute among those in these bytes.
fn inner(bytes: &[u8], kind: u16) -> Option<Vec<u8>> {
    let mut all = NlasIterator::new(bytes).filter_map(|one| DefaultNla::parse(&one.ok()?).ok());
    all.find(|one| one.kind() & !NLA_F_NESTED == kind).map(|one| value(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_who_opened_what() {
        // As the kernel has them on 6.18: a client's first subflow, a server's, a client's join, a
        // server's.
        assert_eq!(role(0x01 | 0x02 | 0x40 | 0x80), Role::First);
        assert_eq!(role(0x01 | 0x40 | 0x80), Role::Accepted);
        assert_eq!(role(0x08 | 0x04 | 0x40), Role::Further);
        assert_eq!(role(0x04 | 0x40), Role::Accepted);
    }

    #[test]
    fn attributes_that_are_cut_short_are_passed_over() {
        assert_eq!(inner(&[8, 0, 2, 0, 1, 2, 3, 4], 2), Some(vec![1, 2, 3, 4]));
        assert_eq!(inner(&[9, 0, 2, 0, 1, 2, 3, 4], 2), None);
        assert_eq!(inner(&[], 2), None);
    }
}

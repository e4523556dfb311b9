//! The kernel's state of an MPTCP connection: `getsockopt(MPTCP_FULL_INFO)`, of Linux 6.5 and
//! later.
//!
//! The structs are those of `linux/mptcp.h` and `linux/tcp.h`, up to the last field that is read
//! here.
#![allow(unsafe_code)]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;

use serde::Serialize;
use socket2::Socket;

const SOL_MPTCP: libc::c_int = 284;
const MPTCP_FULL_INFO: libc::c_int = 4;
const FALLBACK: u32 = 1;
const ESTABLISHED: u8 = 1;

/// Subflows of a connection: Linux has at most 8 besides the first.
const MAX_SUBFLOWS: usize = 9;

/// A connection, as the kernel has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Status {
    /// The connection fell back to TCP, as the peer or a middlebox does not support MPTCP (RFC
    /// 8684, section 3.7).
    pub fallback: bool,
    /// Its subflows, failed ones not among them.
    pub subflows: Vec<Subflow>,
    /// Local addresses from which the kernel's path manager has opened further subflows, or tried
    /// to.
    pub addresses_used: u8,
}

impl Status {
    /// The number of established subflows.
    #[must_use]
    pub fn established(&self) -> usize {
        self.subflows.iter().filter(|subflow| subflow.established).count()
    }

    /// True if the subflow from this address and port is established.
    #[must_use]
    pub fn has(&self, local: SocketAddr) -> bool {
        self.subflows.iter().any(|subflow| subflow.local == local && subflow.established)
    }
}

/// A subflow, as the kernel has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Subflow {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The state is ESTABLISHED: after the handshake, before a FIN.
    pub established: bool,
    /// Bytes that the other end has acknowledged.
    pub bytes_acked: u64,
    /// Bytes that came from the other end.
    pub bytes_received: u64,
    /// Segments sent and not acknowledged yet.
    pub unacknowledged: u32,
}

#[repr(C)]
struct FullInfo {
    size_tcpinfo_kernel: u32,
    size_tcpinfo_user: u32,
    size_sfinfo_kernel: u32,
    size_sfinfo_user: u32,
    num_subflows: u32,
    size_arrays_user: u32,
    subflow_info: u64,
    tcp_info: u64,
    mptcp_info: MptcpInfo,
}

#[repr(C)]
struct MptcpInfo {
    counts: [u8; 6],
    flags: u32,
    token: u32,
    sequence: [u64; 3],
    local_addr_used: u8,
    rest: [u64; 12],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TcpInfo {
    state: u8,
    options: [u8; 7],
    until_unacked: [u32; 4],
    unacked: u32,
    until_pacing: [u32; 19],
    pacing: [u64; 2],
    bytes_acked: u64,
    bytes_received: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SubflowInfo {
    id: u32,
    local: Address,
    remote: Address,
}

/// `struct sockaddr_storage`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Address([u8; 128]);

struct Response {
    info: FullInfo,
    subflows: [SubflowInfo; MAX_SUBFLOWS],
    tcp: [TcpInfo; MAX_SUBFLOWS],
}

/// The kernel's state of an MPTCP socket.
///
/// # Errors
/// If it is none, or not connected.
pub fn status(socket: &Socket) -> io::Result<Status> {
    let response = query(socket)?;
    let filled =
        response.subflows.iter().zip(&response.tcp).take(response.info.num_subflows as usize);
    Ok(Status {
        fallback: response.info.mptcp_info.flags & FALLBACK != 0,
        subflows: filled.filter_map(|(subflow, tcp)| read(subflow, tcp)).collect(),
        addresses_used: response.info.mptcp_info.local_addr_used,
    })
}

fn read(subflow: &SubflowInfo, tcp: &TcpInfo) -> Option<Subflow> {
    Some(Subflow {
        local: subflow.local.read()?,
        remote: subflow.remote.read()?,
        established: tcp.state == ESTABLISHED,
        bytes_acked: tcp.bytes_acked,
        bytes_received: tcp.bytes_received,
        unacknowledged: tcp.unacked,
    })
}

impl Address {
    /// Mapped addresses (`::ffff:a.b.c.d`) come out as IPv4.
    fn read(&self) -> Option<SocketAddr> {
        let bytes = &self.0;
        let port = u16::from_be_bytes([bytes[2], bytes[3]]);
        let address = match i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
            libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*bytes[4..].first_chunk::<4>()?)),
            libc::AF_INET6 => Ipv6Addr::from(*bytes[8..].first_chunk::<16>()?).to_canonical(),
            _ => return None,
        };
        Some(SocketAddr::new(address, port))
    }
}

fn query(socket: &Socket) -> io::Result<Response> {
    // SAFETY: all fields are integers, for which zeros are a value.
    let mut response: Response = unsafe { MaybeUninit::zeroed().assume_init() };
    response.info.size_tcpinfo_user = bytes_of::<TcpInfo>();
    response.info.size_sfinfo_user = bytes_of::<SubflowInfo>();
    response.info.size_arrays_user = MAX_SUBFLOWS as u32;
    response.info.subflow_info = response.subflows.as_mut_ptr() as u64;
    response.info.tcp_info = response.tcp.as_mut_ptr() as u64;
    let mut length: libc::socklen_t = bytes_of::<FullInfo>();
    let info: *mut FullInfo = &raw mut response.info;
    // SAFETY: the kernel writes at most `length` bytes to `info`, and at most MAX_SUBFLOWS structs
    // of the sizes given to each array; all three live in `response`, which stays where it is until
    // the call returns.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            SOL_MPTCP,
            MPTCP_FULL_INFO,
            info.cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(response) } else { Err(io::Error::last_os_error()) }
}

fn bytes_of<T>() -> u32 {
    size_of::<T>() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_structs_are_laid_out_as_linux_has_them() {
        assert_eq!(offset_of!(FullInfo, mptcp_info), 40);
        assert_eq!(offset_of!(MptcpInfo, flags), 8);
        assert_eq!((offset_of!(TcpInfo, unacked), offset_of!(TcpInfo, bytes_acked)), (24, 120));
        assert_eq!((offset_of!(SubflowInfo, local), size_of::<SubflowInfo>()), (8, 264));
    }

    #[test]
    fn addresses_are_read_in_network_order() {
        let mut storage = Address([0; 128]);
        storage.0[..8].copy_from_slice(&[0, 0, 0x1f, 0x90, 192, 0, 2, 1]);
        assert_eq!(storage.read(), None, "no family");
        storage.0[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        assert_eq!(storage.read(), Some("192.0.2.1:8080".parse().unwrap()));
    }
}

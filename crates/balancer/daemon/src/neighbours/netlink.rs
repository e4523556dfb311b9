//! Questions to the kernel by rtnetlink (rtnetlink(7)), one at a time.

use std::io;
use std::os::fd::OwnedFd;

use netlink_packet_core::{
    DecodeError, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::set_socket_timeout;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{bind, recv, send, socket_with};

/// Longer than any answer that is not a dump.
const ANSWER_BYTES: usize = 32 << 10;
/// The kernel answers at once; this is for when it does not.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// An rtnetlink socket in these multicast groups (a bit each).
pub fn open(groups: u32, flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    // No protocol means the first one, which is NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// Asks one question after the other.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// In the network namespace of the calling thread.
    pub fn open() -> io::Result<Netlink> {
        let socket = open(0, SocketFlags::empty())?;
        set_socket_timeout(&socket, rustix::net::sockopt::Timeout::Recv, Some(PATIENCE))?;
        Ok(Netlink { socket, sequence: 0, buffer: vec![0; ANSWER_BYTES] })
    }

    /// The kernel's one answer to a question that is no dump.
    ///
    /// # Errors
    /// The kernel's own, such as `ENETUNREACH`, and those of the socket.
    pub fn ask(&mut self, question: RouteNetlinkMessage) -> io::Result<RouteNetlinkMessage> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(question));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        send(&self.socket, &bytes, SendFlags::empty())?;
        loop {
            let answer = self.receive()?;
            // An answer to a question that was given up on may come first.
            if answer.header.sequence_number != self.sequence {
                continue;
            }
            return match answer.payload {
                NetlinkPayload::InnerMessage(message) => Ok(message),
                NetlinkPayload::Error(error) => Err(error.to_io()),
                _ => Err(io::ErrorKind::InvalidData.into()),
            };
        }
    }

    fn receive(&mut self) -> io::Result<NetlinkMessage<RouteNetlinkMessage>> {
        let (length, _) = recv(&self.socket, &mut *self.buffer, RecvFlags::empty())?;
        let invalid = |error: DecodeError| io::Error::new(io::ErrorKind::InvalidData, error);
        NetlinkMessage::deserialize(&self.buffer[..length]).map_err(invalid)
    }
}

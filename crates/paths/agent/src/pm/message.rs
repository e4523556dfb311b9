//! The family's messages: events that are read, commands that are written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLA_F_NESTED, Nla as _, NlasIterator, Parseable as _,
    ParseableParametrized,
};
use netlink_packet_generic::{GenlFamily, GenlHeader};

use super::unmapped;

/// The family's name.
pub(super) const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;

/// `MPTCP_PM_CMD_SUBFLOW_CREATE`, `MPTCP_PM_CMD_SUBFLOW_DESTROY`.
pub(super) const SUBFLOW_CREATE: u8 = 10;
pub(super) const SUBFLOW_DESTROY: u8 = 11;

// Attributes of commands.
const PM_ADDR: u16 = 1;
const PM_TOKEN: u16 = 4;
const PM_ADDR_REMOTE: u16 = 6;
const ADDR_FAMILY: u16 = 1;
const ADDR_ID: u16 = 2;
const ADDR_4: u16 = 3;
const ADDR_6: u16 = 4;
const ADDR_PORT: u16 = 5;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// A message: a command, or an event, with its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmMessage {
    command: u8,
    attributes: Vec<DefaultNla>,
}

/// An address with its identifier in the connection.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub at: SocketAddr,
    pub id: Option<u8>,
}

impl PmMessage {
    /// A command about a subflow.
    pub(super) fn of_subflow(command: u8, token: u32, local: Address, remote: SocketAddr) -> Self {
        let attributes = vec![
            DefaultNla::new(PM_TOKEN, token.to_ne_bytes().to_vec()),
            nested(PM_ADDR, &local),
            nested(PM_ADDR_REMOTE, &Address { at: remote, id: None }),
        ];
        PmMessage { command, attributes }
    }
}

fn nested(kind: u16, address: &Address) -> DefaultNla {
    let (family, ip) = match address.at.ip() {
        IpAddr::V4(v4) => (AF_INET, DefaultNla::new(ADDR_4, v4.octets().to_vec())),
        IpAddr::V6(v6) => (AF_INET6, DefaultNla::new(ADDR_6, v6.octets().to_vec())),
    };
    let mut inner = vec![
        DefaultNla::new(ADDR_FAMILY, family.to_ne_bytes().to_vec()),
        ip,
        // In the machine's byte order, as the address is not.
        DefaultNla::new(ADDR_PORT, address.at.port().to_ne_bytes().to_vec()),
    ];
    inner.extend(address.id.map(|id| DefaultNla::new(ADDR_ID, vec![id])));
    let mut bytes = vec![0; inner.as_slice().buffer_len()];
    inner.as_slice().emit(&mut bytes);
    DefaultNla::new(kind | NLA_F_NESTED, bytes)
}

impl GenlFamily for PmMessage {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for PmMessage {
    fn buffer_len(&self) -> usize {
        self.attributes.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes.as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for PmMessage {
    fn parse_with_param(bytes: &[u8], header: GenlHeader) -> Result<Self, DecodeError> {
        let attributes =
            NlasIterator::new(bytes).map(|one| one.and_then(|one| DefaultNla::parse(&one)));
        Ok(PmMessage { command: header.cmd, attributes: attributes.collect::<Result<_, _>>()? })
    }
}

/// An event that concerns the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection can have further subflows.
    Established {
        /// The local token.
        token: u32,
        /// This end of its first subflow.
        local: SocketAddr,
        /// The other end.
        remote: SocketAddr,
        /// This end accepted the connection.
        is_server: bool,
    },
    /// A connection has ended.
    Closed {
        /// The local token.
        token: u32,
    },
    /// A further subflow is there.
    SubflowEstablished {
        /// The local token.
        token: u32,
        /// This end of it.
        local: SocketAddr,
    },
    /// A subflow has ended.
    SubflowClosed {
        /// The local token.
        token: u32,
        /// This end of it.
        local: SocketAddr,
        /// The kernel's error number, 0 if both ends closed it.
        error: u8,
    },
    /// One of the ends has changed a subflow's priority.
    SubflowPriority {
        /// The local token.
        token: u32,
        /// This end of it.
        local: SocketAddr,
        /// It has become a reserve.
        backup: bool,
    },
}

// Events.
const ESTABLISHED: u8 = 2;
const CLOSED: u8 = 3;
const SUB_ESTABLISHED: u8 = 10;
const SUB_CLOSED: u8 = 11;
const SUB_PRIORITY: u8 = 13;

// Attributes of events.
const TOKEN: u16 = 1;
const SADDR4: u16 = 5;
const SADDR6: u16 = 6;
const DADDR4: u16 = 7;
const DADDR6: u16 = 8;
const SPORT: u16 = 9;
const DPORT: u16 = 10;
const BACKUP: u16 = 11;
const ERROR: u16 = 12;
const FLAGS: u16 = 13;
const SERVER_SIDE: u16 = 18;
/// `MPTCP_PM_EV_FLAG_SERVER_SIDE`, of Linux 6.18 and later, which has it beside the attribute.
const FLAG_SERVER_SIDE: u16 = 2;

impl Event {
    /// The event of a message; `None` for others, and for one without the attributes that it should
    /// have.
    #[must_use]
    pub fn parse(message: &PmMessage) -> Option<Event> {
        let read = Read(&message.attributes);
        let token = read.u32(TOKEN)?;
        match message.command {
            ESTABLISHED => Some(Event::Established {
                token,
                local: read.local()?,
                remote: read.remote()?,
                is_server: read.is_server(),
            }),
            CLOSED => Some(Event::Closed { token }),
            SUB_ESTABLISHED => Some(Event::SubflowEstablished { token, local: read.local()? }),
            SUB_CLOSED => Some(Event::SubflowClosed {
                token,
                local: read.local()?,
                error: read.byte(ERROR).unwrap_or_default(),
            }),
            SUB_PRIORITY => Some(Event::SubflowPriority {
                token,
                local: read.local()?,
                backup: read.byte(BACKUP)? != 0,
            }),
            _ => None,
        }
    }
}

/// Attributes by their numbers.
struct Read<'a>(&'a [DefaultNla]);

impl Read<'_> {
    fn value(&self, kind: u16) -> Option<Vec<u8>> {
        let found = self.0.iter().find(|one| one.kind() & !NLA_F_NESTED == kind)?;
        let mut value = vec![0; found.value_len()];
        found.emit_value(&mut value);
        Some(value)
    }

    fn array<const N: usize>(&self, kind: u16) -> Option<[u8; N]> {
        self.value(kind)?.try_into().ok()
    }

    fn byte(&self, kind: u16) -> Option<u8> {
        self.array::<1>(kind).map(|[byte]| byte)
    }

    fn u32(&self, kind: u16) -> Option<u32> {
        self.array(kind).map(u32::from_ne_bytes)
    }

    fn is_server(&self) -> bool {
        let flags = self.array(FLAGS).map_or(0, u16::from_ne_bytes);
        self.byte(SERVER_SIDE).is_some_and(|is| is != 0) || flags & FLAG_SERVER_SIDE != 0
    }

    fn local(&self) -> Option<SocketAddr> {
        self.end(SADDR4, SADDR6, SPORT)
    }

    fn remote(&self) -> Option<SocketAddr> {
        self.end(DADDR4, DADDR6, DPORT)
    }

    /// An address and a port, which stand in the network's byte order.
    fn end(&self, v4: u16, v6: u16, port: u16) -> Option<SocketAddr> {
        let v4 = self.array::<4>(v4).map(|octets| Ipv4Addr::from(octets).into());
        let v6 = || self.array::<16>(v6).map(|octets| unmapped(Ipv6Addr::from(octets).into()));
        let port = u16::from_be_bytes(self.array(port)?);
        Some(SocketAddr::new(v4.or_else(v6)?, port))
    }
}

#[cfg(test)]
mod tests;

//! Nexthop objects (`ip nexthop`), which no crate parses: linux/nexthop.h. Routes that name one may
//! come without its next hops (`net.ipv4.nexthop_compat_mode = 0`), and do not change when it does.

use std::collections::BTreeMap;
use std::io;

use netlink_packet_core::{
    DecodeError, NLA_TYPE_MASK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable, NlasIterator, parse_ip,
};
use netlink_packet_route::route::RouteNextHopFlags;
use netlink_proto::sys::protocols::NETLINK_ROUTE;
use netlink_proto::sys::{AsyncSocket as _, SocketAddr as Kernel};
use netlink_proto::{ConnectionHandle, new_connection};
use rtnetlink::MulticastGroup;
use tokio::task::JoinSet;
use tokio_stream::{Stream, StreamExt as _};

use super::hop::{Hop, usable};

// linux/rtnetlink.h and linux/nexthop.h.
const RTM_GETNEXTHOP: u16 = 106;
const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_OIF: u16 = 5;
const NHA_GATEWAY: u16 = 6;
/// Bytes of `struct nhmsg`, and of `struct nexthop_grp`.
const HEADER: usize = 8;
const MEMBER: usize = 8;

/// The kernel's message about a nexthop object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextHopMessage {
    /// Its number; 0 in a request for all.
    pub id: u32,
    /// The object.
    pub object: NextHopObject,
}

/// A nexthop object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NextHopObject {
    /// One next hop.
    One(Hop),
    /// The numbers of others.
    Group(Vec<u32>),
    /// It forwards nothing: a blackhole, or over an interface that is down.
    #[default]
    Nothing,
}

impl NextHopObject {
    /// Its next hops, out of all objects. A group has no groups in it.
    pub(super) fn hops(&self, all: &BTreeMap<u32, &NextHopObject>) -> Vec<Hop> {
        let one = |object: &NextHopObject| match object {
            NextHopObject::One(hop) => Some(*hop),
            _ => None,
        };
        match self {
            NextHopObject::Group(members) => {
                members.iter().filter_map(|id| one(all.get(id)?)).collect()
            }
            other => one(other).into_iter().collect(),
        }
    }
}

impl NetlinkDeserializable for NextHopMessage {
    type Error = DecodeError;

    fn deserialize(_: &NetlinkHeader, payload: &[u8]) -> Result<NextHopMessage, DecodeError> {
        let short = || DecodeError::from("a nexthop's message is cut short".to_owned());
        let (header, attributes) = payload.split_at_checked(HEADER).ok_or_else(short)?;
        let flags = RouteNextHopFlags::from_bits_truncate(header[4]);
        let (mut id, mut group, mut interface, mut gateway) = (0, None, None, None);
        for attribute in NlasIterator::new(attributes) {
            let attribute = attribute?;
            let value = attribute.value();
            let word = || value.try_into().map(u32::from_ne_bytes).map_err(|_| short());
            match attribute.kind() & NLA_TYPE_MASK {
                NHA_ID => id = word()?,
                NHA_GROUP => group = Some(members(value)),
                NHA_OIF => interface = Some(word()?),
                NHA_GATEWAY => gateway = Some(parse_ip(value)?),
                _ => {}
            }
        }
        let object = match (group, interface) {
            (Some(members), _) => NextHopObject::Group(members),
            (None, Some(interface)) if usable(flags) => {
                NextHopObject::One(Hop { interface, gateway })
            }
            _ => NextHopObject::Nothing,
        };
        Ok(NextHopMessage { id, object })
    }
}

fn members(value: &[u8]) -> Vec<u32> {
    let id = |member: &[u8]| u32::from_ne_bytes([member[0], member[1], member[2], member[3]]);
    value.chunks_exact(MEMBER).map(id).collect()
}

/// Only a request for all objects is ever sent.
impl NetlinkSerializable for NextHopMessage {
    fn message_type(&self) -> u16 {
        RTM_GETNEXTHOP
    }

    fn buffer_len(&self) -> usize {
        HEADER
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..HEADER].fill(0);
    }
}

/// A connection for nexthop objects. Dropped, it closes.
#[derive(Debug)]
pub(super) struct NextHops {
    handle: ConnectionHandle<NextHopMessage>,
    _connection: JoinSet<()>,
}

/// Notifications of changes, which tell that something has changed.
pub(super) type Changes = std::pin::Pin<Box<dyn Stream<Item = ()> + Send>>;

/// Opens a connection that is subscribed to changes, in the network namespace of the calling thread.
///
/// # Errors
/// If the kernel has no such socket for this process.
pub(super) fn open() -> io::Result<(NextHops, Changes)> {
    let (mut connection, handle, messages) = new_connection::<NextHopMessage>(NETLINK_ROUTE)?;
    connection.socket_mut().socket_mut().add_membership(MulticastGroup::Nexthop as u32)?;
    let mut task = JoinSet::new();
    task.spawn(connection);
    Ok((NextHops { handle, _connection: task }, Box::pin(messages.map(|_| ()))))
}

impl NextHops {
    /// All objects.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) async fn all(&self) -> io::Result<Vec<NextHopMessage>> {
        let mut message = NetlinkMessage::new(
            NetlinkHeader::default(),
            NetlinkPayload::InnerMessage(NextHopMessage::default()),
        );
        message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        message.finalize();
        let broken = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let answers = self.handle.request(message, Kernel::new(0, 0)).map_err(broken)?;
        tokio::pin!(answers);
        let mut found = Vec::new();
        while let Some(answer) = answers.next().await {
            match answer.payload {
                NetlinkPayload::InnerMessage(one) => found.push(one),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
        }
        Ok(found)
    }
}

//! Counters of queueing disciplines, by one request to the kernel for each namespace.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use heddle_lab::enter;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use socket2::{Domain, Protocol, Socket, Type};

use crate::EmulationError;

/// The counters of the discipline at the root of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// Bytes that have left it.
    pub(crate) bytes: u64,
    /// Packets that have left it.
    pub(crate) packets: u64,
    /// Packets that found its buffer full.
    pub(crate) dropped: u64,
    /// Bytes that wait.
    pub(crate) backlog: u32,
    /// A `blackhole`, which stands on a link that has failed.
    pub(crate) is_failed: bool,
}

/// A connection to the kernel in one namespace, which outlives the thread that made it.
pub(crate) struct Qdiscs {
    socket: Socket,
}

impl Qdiscs {
    /// Connects in a namespace.
    pub(crate) fn open(namespace: &Path) -> Result<Qdiscs, EmulationError> {
        let open = || {
            let netlink = Domain::from(i32::from(rustix::net::AddressFamily::NETLINK.as_raw()));
            // NETLINK_ROUTE is protocol 0.
            Socket::new(netlink, Type::RAW, Some(Protocol::from(0)))
        };
        let socket = enter(namespace, open)?.map_err(EmulationError::system("a netlink socket"))?;
        Ok(Qdiscs { socket })
    }

    /// Counters of each device's root discipline, by the device's index.
    pub(crate) fn read(&self) -> Result<BTreeMap<i32, Counters>, EmulationError> {
        self.dump().map_err(EmulationError::system("counters of queueing disciplines"))
    }

    fn dump(&self) -> io::Result<BTreeMap<i32, Counters>> {
        let message = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let mut request =
            NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(message));
        request.header.flags = NLM_F_DUMP | NLM_F_REQUEST;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes)?;
        let mut counters = BTreeMap::new();
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let length = io::Read::read(&mut &self.socket, &mut buffer)?;
            if read_messages(&buffer[..length], &mut counters)? {
                return Ok(counters);
            }
        }
    }
}

/// Reads the messages of one datagram; true behind the last.
fn read_messages(mut bytes: &[u8], counters: &mut BTreeMap<i32, Counters>) -> io::Result<bool> {
    while !bytes.is_empty() {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes);
        let message = message.map_err(io::Error::other)?;
        match message.payload {
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewQueueDiscipline(qdisc))
                if qdisc.header.parent == TcHandle::ROOT =>
            {
                counters.insert(qdisc.header.index, of(&qdisc));
            }
            _ => {}
        }
        let length = (message.header.length as usize).next_multiple_of(4);
        bytes = bytes.get(length..).unwrap_or_default();
    }
    Ok(false)
}

fn of(qdisc: &TcMessage) -> Counters {
    let stats = qdisc.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Stats(stats) => Some(stats),
        _ => None,
    });
    let is_failed = qdisc.attributes.contains(&TcAttribute::Kind("blackhole".into()));
    stats.map_or_else(Counters::default, |stats| Counters {
        is_failed,
        bytes: stats.bytes,
        packets: stats.packets.into(),
        dropped: stats.drops.into(),
        backlog: stats.backlog,
    })
}

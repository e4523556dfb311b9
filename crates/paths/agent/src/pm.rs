//! The kernel's userspace MPTCP path manager: the generic netlink family `mptcp_pm`
//! (include/uapi/linux/mptcp_pm.h, Linux 5.19 or later).
//!
//! Events come from its multicast group; commands open and end subflows. Both need CAP_NET_ADMIN in
//! the network namespace.

mod message;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_REQUEST, NetlinkDeserializable, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_packet_generic::GenlMessage;
use netlink_packet_generic::ctrl::nlas::{GenlCtrlAttrs, McastGrpAttrs};
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_proto::sys::protocols::NETLINK_GENERIC;
use netlink_proto::sys::{AsyncSocket as _, SocketAddr as Kernel};
use netlink_proto::{ConnectionHandle, new_connection};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::{Stream, StreamExt as _};

use message::{Address, SUBFLOW_CREATE, SUBFLOW_DESTROY};
pub use message::{Event, PmMessage};

/// The multicast group of events.
const EVENTS: &str = "mptcp_pm_events";
/// The longest wait for the kernel's answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The addresses and ports of a subflow, as the kernel's commands take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowAddress {
    /// This end of the subflow.
    pub local: SocketAddr,
    /// The address identifier of this end, 1 to 255: each source port has one of its own.
    pub id: u8,
    /// The other end.
    pub remote: SocketAddr,
}

/// A connection to the family.
#[derive(Debug)]
pub struct PathManager {
    handle: ConnectionHandle<GenlMessage<PmMessage>>,
    family: u16,
    _connection: JoinSet<()>,
}

/// Events in the order in which the kernel sent them. The kernel drops events when the reader is
/// too slow.
pub struct Events(std::pin::Pin<Box<dyn Stream<Item = Option<Event>> + Send>>);

impl std::fmt::Debug for Events {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Events")
    }
}

impl Events {
    /// Waits for an event. Cancel safe.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if the connection has failed.
    pub async fn next(&mut self) -> io::Result<Event> {
        loop {
            match self.0.next().await {
                None => return Err(io::ErrorKind::BrokenPipe.into()),
                Some(Some(event)) => return Ok(event),
                Some(None) => {}
            }
        }
    }
}

/// Connects to the family of the calling thread's network namespace, and subscribes to its events.
/// Inside a tokio runtime.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if the kernel has no MPTCP; [`io::ErrorKind::PermissionDenied`]
/// without CAP_NET_ADMIN.
pub async fn open() -> io::Result<(PathManager, Events)> {
    let (family, group) = resolve().await?;
    let (mut connection, handle, messages) =
        new_connection::<GenlMessage<PmMessage>>(NETLINK_GENERIC)?;
    connection.socket_mut().socket_mut().add_membership(group)?;
    let mut task = JoinSet::new();
    task.spawn(connection);
    let events = messages.map(|(message, _)| match message.payload {
        NetlinkPayload::InnerMessage(message) => Event::parse(&message.payload),
        _ => None,
    });
    Ok((PathManager { handle, family, _connection: task }, Events(Box::pin(events))))
}

impl PathManager {
    /// Opens a subflow of the connection with this local token.
    ///
    /// # Errors
    /// The kernel's: `EADDRINUSE` if the source port is taken, `ESRCH` or `EINVAL` if there is no
    /// such connection or the namespace's path manager is the kernel's.
    pub async fn create(&self, token: u32, subflow: &SubflowAddress) -> io::Result<()> {
        let local = Address { at: subflow.local, id: Some(subflow.id) };
        self.command(PmMessage::of_subflow(SUBFLOW_CREATE, token, local, subflow.remote)).await
    }

    /// Ends a subflow of the connection with this local token.
    ///
    /// # Errors
    /// The kernel's: `ESRCH` if there is no such connection or subflow.
    pub async fn destroy(&self, token: u32, subflow: &SubflowAddress) -> io::Result<()> {
        let local = Address { at: subflow.local, id: None };
        self.command(PmMessage::of_subflow(SUBFLOW_DESTROY, token, local, subflow.remote)).await
    }

    async fn command(&self, message: PmMessage) -> io::Result<()> {
        let mut message = GenlMessage::from_payload(message);
        message.set_resolved_family_id(self.family);
        let answers = request(&self.handle, message, NLM_F_REQUEST | NLM_F_ACK)?;
        tokio::pin!(answers);
        match answer(&mut answers).await? {
            // An acknowledgement ends the stream.
            None => Ok(()),
            Some(NetlinkPayload::Error(error)) if error.code.is_none() => Ok(()),
            Some(NetlinkPayload::Error(error)) => Err(error.to_io()),
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The family's number, and that of its group of events.
async fn resolve() -> io::Result<(u16, u32)> {
    let (connection, handle, _) = new_connection(NETLINK_GENERIC)?;
    let mut task = JoinSet::new();
    task.spawn(connection);
    let name = GenlCtrlAttrs::FamilyName(message::FAMILY.to_owned());
    let asked = GenlCtrl { cmd: GenlCtrlCmd::GetFamily, nlas: vec![name] };
    let answers = request(&handle, GenlMessage::from_payload(asked), NLM_F_REQUEST)?;
    tokio::pin!(answers);
    match answer(&mut answers).await? {
        Some(NetlinkPayload::InnerMessage(found)) => {
            family(&found.payload.nlas).ok_or_else(|| io::ErrorKind::InvalidData.into())
        }
        Some(NetlinkPayload::Error(error)) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn family(attributes: &[GenlCtrlAttrs]) -> Option<(u16, u32)> {
    let id = attributes.iter().find_map(|attribute| match attribute {
        GenlCtrlAttrs::FamilyId(id) => Some(*id),
        _ => None,
    });
    let groups = attributes.iter().find_map(|attribute| match attribute {
        GenlCtrlAttrs::McastGroups(groups) => Some(groups),
        _ => None,
    })?;
    let is_events = |one: &&Vec<McastGrpAttrs>| {
        one.iter().any(|one| matches!(one, McastGrpAttrs::Name(name) if name == EVENTS))
    };
    let group = groups.iter().find(is_events)?.iter().find_map(|attribute| match attribute {
        McastGrpAttrs::Id(id) => Some(*id),
        McastGrpAttrs::Name(_) => None,
    });
    Some((id?, group?))
}

fn request<T>(
    handle: &ConnectionHandle<T>,
    message: T,
    flags: u16,
) -> io::Result<impl Stream<Item = NetlinkMessage<T>> + use<T>>
where
    T: NetlinkDeserializable + NetlinkSerializable + std::fmt::Debug + Clone,
    NetlinkPayload<T>: From<T>,
{
    let mut message = NetlinkMessage::from(message);
    message.header.flags = flags;
    message.finalize();
    handle.request(message, Kernel::new(0, 0)).map_err(|_| io::ErrorKind::BrokenPipe.into())
}

async fn answer<T>(
    answers: &mut (impl Stream<Item = NetlinkMessage<T>> + Unpin),
) -> io::Result<Option<NetlinkPayload<T>>> {
    let answer = timeout(TIMEOUT, answers.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
    Ok(answer.map(|answer| answer.payload))
}

/// The address of a version 4 socket that the kernel reports as one of version 6.
pub(crate) fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

//! Requests to the kernel by rtnetlink (rtnetlink(7)), and its notifications, without blocking the
//! runtime.

use std::io;
use std::time::Duration;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use rtnetlink::{Handle, MulticastGroup, new_multicast_connection};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::{Stream, StreamExt};

/// The longest wait for the kernel's answer to a request. It answers at once, unless it has dropped
/// the answer, or makes and removes interfaces for others, which took over a second on two busy
/// processors.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to rtnetlink. Dropped, it closes.
#[derive(Debug)]
pub struct Netlink {
    handle: Handle,
    _connection: JoinSet<()>,
}

/// Opens a connection that is subscribed to multicast groups, in the network namespace of the
/// calling thread. Must be called inside a tokio runtime.
///
/// # Errors
/// If the kernel has no such socket for this process.
pub fn open(groups: &[MulticastGroup]) -> io::Result<(Netlink, Notifications)> {
    let (connection, handle, messages) = new_multicast_connection(groups)?;
    let mut task = JoinSet::new();
    task.spawn(connection);
    let messages = Box::pin(messages.map(|_| ()));
    Ok((Netlink { handle, _connection: task }, Notifications { messages }))
}

impl Netlink {
    /// The kernel's one answer to a request that is no dump.
    ///
    /// # Errors
    /// The kernel's own, such as `ENETUNREACH`; [`io::ErrorKind::TimedOut`] without an answer;
    /// [`io::ErrorKind::BrokenPipe`] if the connection has failed.
    pub async fn request(&self, request: RouteNetlinkMessage) -> io::Result<RouteNetlinkMessage> {
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST;
        let mut handle = self.handle.clone();
        let mut answers = handle.request(message).map_err(|_| io::ErrorKind::BrokenPipe)?;
        let answer = timeout(TIMEOUT, answers.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        match answer.ok_or(io::ErrorKind::BrokenPipe)?.payload {
            NetlinkPayload::InnerMessage(answer) => Ok(answer),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// All answers of the kernel to the request for a table. One that changes meanwhile may be
    /// between two states; a notification follows then.
    ///
    /// # Errors
    /// The kernel's own; [`io::ErrorKind::TimedOut`] without an answer;
    /// [`io::ErrorKind::BrokenPipe`] if the connection has failed.
    pub async fn dump(&self, request: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        let mut handle = self.handle.clone();
        let mut answers = handle.request(message).map_err(|_| io::ErrorKind::BrokenPipe)?;
        let mut all = Vec::new();
        while let Some(answer) =
            timeout(TIMEOUT, answers.next()).await.map_err(|_| io::ErrorKind::TimedOut)?
        {
            match answer.payload {
                NetlinkPayload::InnerMessage(one) => all.push(one),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
        }
        Ok(all)
    }
}

/// The notifications of a connection's groups. They tell that something has changed, not what.
pub struct Notifications {
    messages: std::pin::Pin<Box<dyn Stream<Item = ()> + Send>>,
}

impl Notifications {
    /// Waits for a notification. Cancel safe.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if the connection has failed.
    pub async fn next(&mut self) -> io::Result<()> {
        self.messages.next().await.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Discards what has come so far.
    ///
    /// # Errors
    /// As for [`Notifications::next`].
    pub async fn discard(&mut self) -> io::Result<()> {
        while let Ok(next) = timeout(Duration::ZERO, self.next()).await {
            next?;
        }
        Ok(())
    }
}

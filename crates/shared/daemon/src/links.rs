//! Facts about network interfaces, by rtnetlink, kept up to date.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use rtnetlink::MulticastGroup;
use rustix::io::Errno;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::mac::Mac;
use crate::netlink::{self, Netlink};

/// The time between two checks without a notification, which the kernel may drop.
const INTERVAL: Duration = Duration::from_secs(1);

/// A fact about interfaces by their names. An interface that is gone, or of which there is no such
/// fact, is missing.
pub type Links<T> = BTreeMap<String, T>;

/// Reads a fact from the kernel's message about an interface.
pub type Parse<T> = fn(&LinkMessage) -> Option<T>;

/// The state of the interfaces of these names now, as the kernel has it.
///
/// # Errors
/// If the kernel does not answer.
pub async fn read<T>(names: &[String], parse: Parse<T>) -> io::Result<Links<T>> {
    let (netlink, _) = netlink::open(&[])?;
    read_with(&netlink, names, parse).await
}

/// Sends the same whenever it changes, until the receiver is dropped. In the network namespace of
/// the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch<T: PartialEq>(
    names: Vec<String>,
    parse: Parse<T>,
    to: watch::Sender<Links<T>>,
) -> io::Result<()> {
    let (netlink, mut notifications) = netlink::open(&[MulticastGroup::Link])?;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            changed = notifications.next() => {
                changed?;
                notifications.discard().await?;
            }
            () = to.closed() => return Ok(()),
        }
        let found = read_with(&netlink, &names, parse).await?;
        to.send_if_modified(|sent| {
            let changed = *sent != found;
            *sent = found;
            changed
        });
    }
}

/// The Ethernet address of an interface that has one.
pub fn mac(link: &LinkMessage) -> Option<Mac> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Address(bytes) => bytes.as_slice().try_into().ok().map(Mac),
        _ => None,
    })
}

async fn read_with<T>(
    netlink: &Netlink,
    names: &[String],
    parse: Parse<T>,
) -> io::Result<Links<T>> {
    let mut found = Links::new();
    for name in names {
        let link = by_name(netlink, name).await?;
        found.extend(link.as_ref().and_then(parse).map(|fact| (name.clone(), fact)));
    }
    Ok(found)
}

/// The kernel's message about the interface of a name; none if there is no such interface.
///
/// # Errors
/// If the kernel does not answer.
pub async fn by_name(netlink: &Netlink, name: &str) -> io::Result<Option<LinkMessage>> {
    let mut request = LinkMessage::default();
    request.attributes.push(LinkAttribute::IfName(name.into()));
    answer(netlink, request).await
}

/// The same about the interface of a number.
///
/// # Errors
/// If the kernel does not answer.
pub async fn by_index(netlink: &Netlink, index: u32) -> io::Result<Option<LinkMessage>> {
    let mut request = LinkMessage::default();
    request.header.index = index;
    answer(netlink, request).await
}

async fn answer(netlink: &Netlink, request: LinkMessage) -> io::Result<Option<LinkMessage>> {
    match netlink.request(RouteNetlinkMessage::GetLink(request)).await {
        Ok(RouteNetlinkMessage::NewLink(link)) => Ok(Some(link)),
        Ok(_) => Err(io::ErrorKind::InvalidData.into()),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NODEV | Errno::NXIO))
}

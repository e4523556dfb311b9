//! The Ethernet addresses of the interfaces that the program is attached to, kept up to date.

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

/// Addresses by the name of the interface. One that has none, or is gone, is missing.
pub type Macs = BTreeMap<String, Mac>;

/// Sends the addresses of `interfaces` whenever one changes, until the receiver is dropped. In the network namespace of the calling
/// thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(interfaces: Vec<String>, to: watch::Sender<Macs>) -> io::Result<()> {
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
        let mut found = Macs::new();
        for name in &interfaces {
            found.extend(mac(&netlink, name).await?.map(|mac| (name.clone(), mac)));
        }
        to.send_if_modified(|sent| {
            let changed = *sent != found;
            *sent = found;
            changed
        });
    }
}

async fn mac(netlink: &Netlink, name: &str) -> io::Result<Option<Mac>> {
    let mut request = LinkMessage::default();
    request.attributes.push(LinkAttribute::IfName(name.into()));
    match netlink.request(RouteNetlinkMessage::GetLink(request)).await {
        Ok(RouteNetlinkMessage::NewLink(link)) => Ok(address(&link)),
        Ok(_) => Err(io::ErrorKind::InvalidData.into()),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn address(link: &LinkMessage) -> Option<Mac> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Address(bytes) => bytes.as_slice().try_into().ok().map(Mac),
        _ => None,
    })
}

fn is_absence(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NODEV | Errno::NXIO))
}

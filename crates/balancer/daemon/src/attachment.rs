//! The XDP programs on interfaces, checked periodically.
//!
//! A program may go without the daemon's doing: its link's pin is removed, its link is detached, or the interface is deleted and
//! made anew, by a driver that is loaded again for example. The kernel has no notification for all of these.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage, LinkXdp};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::netlink::{self, Netlink};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Sends the names of those `interfaces` that do not have the program with the id `program`, whenever they change, until the
/// receiver is dropped. In the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(
    interfaces: BTreeSet<String>,
    program: u32,
    detached: watch::Sender<BTreeSet<String>>,
) -> io::Result<()> {
    let (netlink, _) = netlink::open(&[])?;
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = detached.closed() => return Ok(()),
        }
        let mut without = BTreeSet::new();
        for name in &interfaces {
            if !programs(&netlink, name).await?.contains(&program) {
                without.insert(name.clone());
            }
        }
        send(&detached, without);
    }
}

fn send(to: &watch::Sender<BTreeSet<String>>, without: BTreeSet<String>) {
    to.send_if_modified(|sent| {
        for name in without.difference(sent) {
            tracing::error!(interface = name, "the program is not attached any more");
        }
        for name in sent.difference(&without) {
            tracing::info!(interface = name, "the program is attached again");
        }
        let changed = *sent != without;
        *sent = without;
        changed
    });
}

/// The ids of an interface's XDP programs, one for each mode; none if there is no such interface.
async fn programs(netlink: &Netlink, name: &str) -> io::Result<BTreeSet<u32>> {
    let mut request = LinkMessage::default();
    request.attributes.push(LinkAttribute::IfName(name.into()));
    match netlink.request(RouteNetlinkMessage::GetLink(request)).await {
        Ok(RouteNetlinkMessage::NewLink(link)) => Ok(ids(&link)),
        Ok(_) => Err(io::ErrorKind::InvalidData.into()),
        Err(error) if is_absence(&error) => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

fn ids(link: &LinkMessage) -> BTreeSet<u32> {
    let xdp = link.attributes.iter().filter_map(|attribute| match attribute {
        LinkAttribute::Xdp(xdp) => Some(xdp),
        _ => None,
    });
    let ids = xdp.flatten().filter_map(|attribute| match attribute {
        LinkXdp::ProgId(id)
        | LinkXdp::DrvProgId(id)
        | LinkXdp::SkbProgId(id)
        | LinkXdp::HwProgId(id) => Some(*id),
        _ => None,
    });
    ids.collect()
}

fn is_absence(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::NODEV | Errno::NXIO))
}

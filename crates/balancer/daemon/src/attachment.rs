//! The XDP programs on interfaces, checked periodically.
//!
//! A program may go without the daemon's doing: its link's pin is removed, its link is detached, or
//! the interface is deleted and made anew, by a driver that is loaded again for example. The kernel
//! has no notification for all of these.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use heddle_balancer_maps::Mode;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage, LinkXdp};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::devices::{self, DeviceError};
use crate::netlink::{self, Netlink};

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Checks in a row without the kernel's answer after which the state is unknown: a busy machine
/// answers late now and then.
const MOST_UNANSWERED: u32 = 5;

/// Sends the names of those devices of `interfaces` ([`devices`]) that do not have the program with
/// the id `program`, whenever they change, until the receiver is dropped. An interface that is not
/// there is named itself. In the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer, several times in a row.
pub async fn watch(
    interfaces: Vec<String>,
    mode: Mode,
    program: u32,
    detached: watch::Sender<BTreeSet<String>>,
) -> io::Result<()> {
    let (netlink, _) = netlink::open(&[])?;
    let mut unanswered = Unanswered::default();
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = detached.closed() => return Ok(()),
        }
        let found = without(&netlink, &interfaces, mode, program).await;
        if let Some(without) = unanswered.count(found)? {
            send(&detached, without);
        }
    }
}

/// Checks in a row that the kernel has not answered.
#[derive(Debug, Default)]
struct Unanswered(u32);

impl Unanswered {
    /// The result of a check; none without an answer, and the error after [`MOST_UNANSWERED`] in a
    /// row.
    fn count<T>(&mut self, result: io::Result<T>) -> io::Result<Option<T>> {
        match result {
            Ok(found) => {
                self.0 = 0;
                Ok(Some(found))
            }
            Err(error) => {
                self.0 += 1;
                if self.0 < MOST_UNANSWERED { Ok(None) } else { Err(error) }
            }
        }
    }
}

/// Those of the devices that do not have the program.
async fn without(
    netlink: &Netlink,
    interfaces: &[String],
    mode: Mode,
    program: u32,
) -> io::Result<BTreeSet<String>> {
    let mut without = BTreeSet::new();
    for interface in interfaces {
        let device = device(netlink, interface, mode).await?;
        if !programs(netlink, &device).await?.contains(&program) {
            without.insert(device);
        }
    }
    Ok(without)
}

/// An interface's device; of one that is gone, or cannot be served any more, its own name.
async fn device(netlink: &Netlink, interface: &str, mode: Mode) -> io::Result<String> {
    match devices::device(netlink, interface, mode).await {
        Ok(device) => Ok(device.unwrap_or_else(|| interface.into())),
        Err(DeviceError::Kernel(error)) => Err(error),
        Err(_) => Ok(interface.into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_late_answers_in_a_row_leave_the_state_unknown() {
        let late = || Err::<(), _>(io::ErrorKind::TimedOut.into());
        let mut unanswered = Unanswered::default();
        for _ in 0..3 {
            assert_eq!(unanswered.count(Ok(())).unwrap(), Some(()));
            (1..MOST_UNANSWERED).for_each(|_| assert_eq!(unanswered.count(late()).unwrap(), None));
        }
        assert_eq!(unanswered.count(late()).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}

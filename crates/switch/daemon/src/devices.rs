//! The state of network interfaces, by rtnetlink.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use heddle_daemon::mac::Mac;
use heddle_daemon::netlink::{self, Netlink};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use rtnetlink::MulticastGroup;
use rustix::io::Errno;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The time between two checks without a notification, which the kernel may drop.
const INTERVAL: Duration = Duration::from_secs(1);

/// A network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub ifindex: u32,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Bytes of IP.
    pub mtu: u32,
    /// Administratively up, with a carrier.
    pub up: bool,
}

/// Interfaces by name; one that is gone is missing.
pub type Devices = BTreeMap<String, Device>;

/// The interfaces of these names.
///
/// # Errors
/// If the kernel does not answer.
pub async fn read(names: &[String]) -> io::Result<Devices> {
    let (netlink, _) = netlink::open(&[])?;
    read_with(&netlink, names).await
}

/// Sends the interfaces' state whenever it changes, until the receiver is dropped. In the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(names: Vec<String>, to: watch::Sender<Devices>) -> io::Result<()> {
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
        let found = read_with(&netlink, &names).await?;
        to.send_if_modified(|sent| {
            let changed = *sent != found;
            *sent = found;
            changed
        });
    }
}

async fn read_with(netlink: &Netlink, names: &[String]) -> io::Result<Devices> {
    let mut found = Devices::new();
    for name in names {
        found.extend(device(netlink, name).await?.map(|device| (name.clone(), device)));
    }
    Ok(found)
}

async fn device(netlink: &Netlink, name: &str) -> io::Result<Option<Device>> {
    let mut request = LinkMessage::default();
    request.attributes.push(LinkAttribute::IfName(name.into()));
    match netlink.request(RouteNetlinkMessage::GetLink(request)).await {
        Ok(RouteNetlinkMessage::NewLink(link)) => Ok(parse(&link)),
        Ok(_) => Err(io::ErrorKind::InvalidData.into()),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// None of an interface that is not Ethernet.
fn parse(link: &LinkMessage) -> Option<Device> {
    let (mut mac, mut mtu) = (None, None);
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::Address(bytes) => mac = bytes.as_slice().try_into().ok().map(Mac),
            LinkAttribute::Mtu(bytes) => mtu = Some(*bytes),
            _ => {}
        }
    }
    let up = link.header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp);
    Some(Device { ifindex: link.header.index, mac: mac?, mtu: mtu?, up })
}

fn is_absence(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NODEV | Errno::NXIO))
}

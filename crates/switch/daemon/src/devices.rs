//! The state of the switch's network interfaces, by rtnetlink.

use std::io;

use heddle_daemon::links::{self, Links};
use heddle_daemon::mac::Mac;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use tokio::sync::watch;

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

/// Interfaces by name; one that is gone, or is not Ethernet, is missing.
pub type Devices = Links<Device>;

/// The interfaces of these names.
///
/// # Errors
/// If the kernel does not answer.
pub async fn read(names: &[String]) -> io::Result<Devices> {
    links::read(names, parse).await
}

/// Sends the interfaces' state whenever it changes, until the receiver is dropped. In the network
/// namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(names: Vec<String>, to: watch::Sender<Devices>) -> io::Result<()> {
    links::watch(names, parse, to).await
}

fn parse(link: &LinkMessage) -> Option<Device> {
    let mtu = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Mtu(bytes) => Some(*bytes),
        _ => None,
    });
    let up = link.header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp);
    Some(Device { ifindex: link.header.index, mac: links::mac(link)?, mtu: mtu?, up })
}

//! The Ethernet addresses of the interfaces of the configuration, with their VLANs, kept up to
//! date.

use std::io;

use heddle_balancer_maps::Mode;
use heddle_daemon::links::{self, Links, Parse};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use tokio::sync::watch;

use crate::mac::Mac;
use crate::vlan::Vlan;

/// The destination address and the VLAN id of frames for an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkAddress {
    /// Their destination.
    pub mac: Mac,
    /// The id in their 802.1Q tag; 0: any, or no tag.
    pub vlan: u16,
}

/// Addresses by the name of the interface. One that has none, or is gone, is missing.
pub type Macs = Links<LinkAddress>;

/// Sends the addresses of `interfaces` whenever one changes, until the receiver is dropped. In the
/// network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch(interfaces: Vec<String>, mode: Mode, to: watch::Sender<Macs>) -> io::Result<()> {
    // In generic mode a program at a VLAN interface gets its frames without their tag.
    let parse: Parse<LinkAddress> = match mode {
        Mode::Native => with_vlan,
        Mode::Generic => |link| Some(LinkAddress { mac: links::mac(link)?, vlan: 0 }),
    };
    links::watch(interfaces, parse, to).await
}

/// The interfaces that have a carrier, by name.
pub type Carriers = Links<()>;

/// Sends those of `interfaces` that have a carrier whenever that changes, until the receiver is
/// dropped. In the network namespace of the calling thread.
///
/// # Errors
/// If the kernel does not answer.
pub async fn watch_carriers(
    interfaces: Vec<String>,
    to: watch::Sender<Carriers>,
) -> io::Result<()> {
    links::watch(interfaces, carrier, to).await
}

fn carrier(link: &LinkMessage) -> Option<()> {
    link.header.flags.contains(LinkFlags::Running).then_some(())
}

fn with_vlan(link: &LinkMessage) -> Option<LinkAddress> {
    let vlan = Vlan::of(link).ok()?.map_or(0, |vlan| vlan.id);
    Some(LinkAddress { mac: links::mac(link)?, vlan })
}

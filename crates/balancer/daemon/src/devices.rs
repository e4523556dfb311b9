//! The devices that the program is attached to, for the interfaces of the configuration.
//!
//! That is the interface itself, but for a VLAN's in native mode: the kernel has no native XDP
//! there, and the device below sees the VLAN's frames with their tags. A device that takes tags out
//! of frames hides from XDP which VLAN they are of; so it is refused.

use std::collections::BTreeMap;
use std::io;

use heddle_balancer_maps::Mode;
use heddle_daemon::links::{by_index, by_name};
use netlink_packet_route::link::{InfoPortKind, LinkAttribute, LinkInfo, LinkMessage};
use nix::net::if_::if_nameindex;

use crate::netlink::{self, Netlink};
use crate::offloads;
use crate::vlan::{Unusable, Vlan};

/// The device for each interface, both by name.
pub type Devices = BTreeMap<String, String>;

/// The reasons why an interface cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The VLAN is none that is read.
    #[error(
        "{interface} cannot be served in native mode: {reason}; start heddled with --attach generic"
    )]
    Unusable {
        /// The VLAN interface.
        interface: String,
        /// The reason.
        reason: Unusable,
    },
    /// The tags are not in the frames.
    #[error(
        "{interface} cannot be served: {device} takes the tags of VLANs out of frames before XDP sees them; run: ethtool -K {device} rxvlan off"
    )]
    TakesTags {
        /// The VLAN interface.
        interface: String,
        /// The device below, or a port of the bond below.
        device: String,
    },
    /// It is not there.
    #[error("balancer.interfaces: there is no network interface {0}\nhelp: ip link lists them")]
    Missing(String),
    /// The kernel has not answered.
    #[error("the kernel does not say which device is below an interface: {0}")]
    Kernel(#[from] io::Error),
}

/// The devices for these interfaces, where the tags of VLANs are in the frames. In the network
/// namespace of the calling thread.
///
/// # Errors
/// [`DeviceError`].
pub async fn find(interfaces: &[String], mode: Mode) -> Result<Devices, DeviceError> {
    let (netlink, _) = netlink::open(&[])?;
    let mut devices = Devices::new();
    for interface in interfaces {
        let found = device(&netlink, interface, mode).await?;
        let device = found.ok_or_else(|| DeviceError::Missing(interface.clone()))?;
        if *interface != device {
            check_tags(&netlink, interface, &device).await?;
        }
        devices.insert(interface.clone(), device);
    }
    Ok(devices)
}

async fn check_tags(netlink: &Netlink, interface: &str, device: &str) -> Result<(), DeviceError> {
    for (device, index) in receivers(netlink, device).await? {
        match offloads::takes_tags(index) {
            Ok(false) => {}
            Ok(true) => {
                return Err(DeviceError::TakesTags { interface: interface.into(), device });
            }
            Err(error) => tracing::warn!(
                interface,
                device,
                %error,
                "the kernel does not say whether the device strips VLAN tags, which must be off: ethtool -k DEVICE shows rx-vlan-offload, ethtool -K DEVICE rxvlan off turns it off"
            ),
        }
    }
    Ok(())
}

/// The device for an interface; none if it is not there.
///
/// # Errors
/// [`DeviceError`].
pub async fn device(
    netlink: &Netlink,
    interface: &str,
    mode: Mode,
) -> Result<Option<String>, DeviceError> {
    let Some(link) = by_name(netlink, interface).await? else { return Ok(None) };
    if mode == Mode::Generic {
        return Ok(Some(interface.into()));
    }
    let unusable = |reason| DeviceError::Unusable { interface: interface.into(), reason };
    let Some(vlan) = Vlan::of(&link).map_err(unusable)? else { return Ok(Some(interface.into())) };
    let Some(lower) = by_index(netlink, vlan.lower).await? else { return Ok(None) };
    match Vlan::of(&lower) {
        Ok(None) => Ok(name(&lower)),
        _ => Err(unusable(Unusable::Nested)),
    }
}

/// The interfaces that receive a device's frames: itself, or the ports of a bond. By name and
/// number.
async fn receivers(netlink: &Netlink, device: &str) -> io::Result<Vec<(String, u32)>> {
    let Some(own) = by_name(netlink, device).await?.map(|link| link.header.index) else {
        return Ok(vec![]);
    };
    let mut found = vec![(device.to_owned(), own)];
    for interface in &if_nameindex()? {
        let link = by_index(netlink, interface.index()).await?;
        if let Some(name) = link.as_ref().filter(|link| is_port_of_bond(link, own)).and_then(name) {
            found.push((name, interface.index()));
        }
    }
    Ok(if found.len() > 1 { found.split_off(1) } else { found })
}

fn is_port_of_bond(link: &LinkMessage, bond: u32) -> bool {
    let kind = LinkInfo::PortKind(InfoPortKind::Bond);
    let is_port = |attribute: &LinkAttribute| matches!(attribute, LinkAttribute::LinkInfo(info) if info.contains(&kind));
    link.attributes.contains(&LinkAttribute::Controller(bond))
        && link.attributes.iter().any(is_port)
}

fn name(link: &LinkMessage) -> Option<String> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })
}

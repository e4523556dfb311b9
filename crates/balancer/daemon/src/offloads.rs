//! Offloads by which devices change frames before XDP sees them, from the generic netlink family
//! `ethtool` (include/uapi/linux/ethtool_netlink.h, Linux 5.7 or later).

use std::io;

use netlink_packet_core::{DefaultNla, Emitable as _};

use crate::generic;

const ETHTOOL_MSG_FEATURES_GET: u8 = 11;
const ETHTOOL_A_FEATURES_HEADER: u16 = 1;
const ETHTOOL_A_HEADER_DEV_INDEX: u16 = 1;
const ETHTOOL_A_FEATURES_ACTIVE: u16 = 4;
/// The flag of an attribute that has attributes inside.
const NLA_F_NESTED: u16 = 1 << 15;
/// The kernel's name of what ethtool calls `rxvlan`, as a netlink string.
const RX_VLAN: &[u8] = b"rx-vlan-hw-parse\0";

/// True if a device strips VLAN tags from the frames that it receives (receive VLAN offload).
///
/// # Errors
/// The kernel does not say: there is no such interface, or the kernel is older than Linux 5.7 or
/// built without ethtool's netlink.
pub fn takes_tags(interface: u32) -> io::Result<bool> {
    let active = active_features(interface)?;
    Ok(active.windows(RX_VLAN.len()).any(|name| name == RX_VLAN))
}

/// The features that are on: a list of their names and numbers (`ETHTOOL_A_BITSET_BITS`), not taken
/// apart.
fn active_features(interface: u32) -> io::Result<Vec<u8>> {
    let attribute = DefaultNla::new(ETHTOOL_A_HEADER_DEV_INDEX, interface.to_ne_bytes().to_vec());
    let mut inner = vec![0; attribute.buffer_len()];
    attribute.emit(&mut inner);
    let header = DefaultNla::new(ETHTOOL_A_FEATURES_HEADER | NLA_F_NESTED, inner);
    let answer = generic::ask("ethtool", ETHTOOL_MSG_FEATURES_GET, vec![header])?;
    answer.bytes(ETHTOOL_A_FEATURES_ACTIVE).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loopback device is in every namespace, has features, and takes no tags out.
    #[test]
    fn the_kernel_answers_for_the_loopback_device() {
        let active = active_features(1).unwrap();
        assert!(active.windows(9).any(|name| name == b"loopback\0"), "{active:?}");
        assert!(!takes_tags(1).unwrap());
    }

    #[test]
    fn an_index_of_no_interface_is_an_error() {
        takes_tags(u32::MAX >> 1).unwrap_err();
    }
}

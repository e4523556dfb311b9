//! The XDP features of a driver, from the generic netlink family `netdev`
//! (include/uapi/linux/netdev.h, Linux 6.3 or later).

use std::io;

use heddled::generic;
use netlink_packet_core::DefaultNla;

const NETDEV_CMD_DEV_GET: u8 = 1;
const NETDEV_A_DEV_IFINDEX: u16 = 1;
const NETDEV_A_DEV_XDP_FEATURES: u16 = 3;

/// The driver's features, `enum netdev_xdp_act`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(pub(crate) u64);

impl Features {
    /// `NETDEV_XDP_ACT_BASIC`: programs run in the driver.
    pub(crate) fn basic(self) -> bool {
        self.0 & 1 != 0
    }

    /// `NETDEV_XDP_ACT_REDIRECT`: packets can leave by another device.
    pub(crate) fn redirects(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The features of an interface, by its index, in the network namespace of the caller.
///
/// # Errors
/// The kernel's; [`io::ErrorKind::NotFound`] before Linux 6.3.
pub(crate) fn of(interface: u32) -> io::Result<Features> {
    let index = DefaultNla::new(NETDEV_A_DEV_IFINDEX, interface.to_ne_bytes().to_vec());
    let device = generic::ask("netdev", NETDEV_CMD_DEV_GET, vec![index])?;
    let features = device.value(NETDEV_A_DEV_XDP_FEATURES).map(u64::from_ne_bytes);
    features.map(Features).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loopback device is in every namespace and has no native XDP.
    #[test]
    fn the_kernel_answers_for_the_loopback_device() {
        match of(1) {
            Ok(features) => assert!(!features.basic(), "{features:?}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound, "before Linux 6.3"),
        }
    }

    #[test]
    fn an_index_of_no_interface_is_an_error() {
        of(u32::MAX >> 1).unwrap_err();
    }
}

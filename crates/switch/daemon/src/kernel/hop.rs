//! A next hop of the kernel's.

use std::net::IpAddr;

use netlink_packet_route::route::RouteNextHopFlags;

/// A next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The number of the interface.
    pub interface: u32,
    /// The neighbour's address; none where the destination itself is the neighbour.
    pub gateway: Option<IpAddr>,
}

/// The kernel itself does not forward over a hop that is dead; one without a carrier it does only if
/// `ignore_routes_with_linkdown` is not set.
pub(super) fn usable(flags: RouteNextHopFlags) -> bool {
    !flags.intersects(RouteNextHopFlags::Dead | RouteNextHopFlags::Linkdown)
}

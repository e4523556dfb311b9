//! The remote figures of the next hops towards each ToR: what a probe said of the path behind the
//! switch's own link.

use crate::hop_table::{Hop, HopTable, TorHops};
use crate::{Nanos, Port, Tor};

/// Sets the remote figure of a hop towards `tor`, after hops not refreshed for longer than
/// `fail_after` have left. In a full table a new hop takes the place of the first one with the
/// highest figure, if its own is lower. Returns false for a ToR that does not exist.
pub(super) fn update(
    table: &mut HopTable,
    now: Nanos,
    tor: Tor,
    (port, remote): (Port, u16),
    fail_after: Nanos,
) -> bool {
    let Some(mut hops) = table.refreshed(now, tor, fail_after) else { return false };
    let slot = hops.position(port).or_else(|| hops.take_free());
    if let Some(slot) = slot.or_else(|| above(&mut hops, remote)) {
        hops.known()[slot] = Hop { port, util: remote, updated: now };
    }
    true
}

/// The first slot with the highest figure; `None` if that is not above `remote`.
fn above(hops: &mut TorHops<'_>, remote: u16) -> Option<usize> {
    let highest = hops.known().iter().map(|hop| hop.util).max()?;
    let slot = hops.known().iter().position(|hop| hop.util == highest)?;
    (remote < highest).then_some(slot)
}

//! The k best next hops towards each ToR, best first (MP-HULA section 2.3).
//!
//! The paper's text compares the minimum of the known utilisations and the probe's with every
//! table, which would fill the tables with copies of one value. The interpretation used here, for a
//! probe that sets the utilisation of the path by a port to `m`:
//!
//! - A known hop is set to `m`, higher or lower (under [`Update::Listing`] only if `m` is lower, as
//!   in HULA's listing).
//! - Another hop takes a free slot, or that of the worst hop if `m` is lower. Each hop is in the
//!   table once.
//! - The sort is stable: of two hops with equal utilisation the one ahead stays ahead, as a tie
//!   keeps the best hop in HULA.
//! - Hops not refreshed for longer than T_fail are removed first. In HULA a stale entry is replaced
//!   by the next probe of any other hop; in a table with a slot for every hop none would be
//!   replaced, and a dead hop with a low utilisation would stay first for ever.
//!
//! With k = 1 this is HULA's rule, decision for decision.

use crate::hop_table::{Hop, HopTable, TorHops};
use crate::{HulaConfig, Nanos, Port, Tor, Update};

/// Sets the utilisation of the path to `tor` by `port` from a probe, in a table whose slots are in
/// ascending order of utilisation. Returns the utilisation of the best path; `None` for a ToR that
/// does not exist.
pub(crate) fn update(
    table: &mut HopTable,
    now: Nanos,
    tor: Tor,
    (port, util): (Port, u16),
    config: &HulaConfig,
) -> Option<u16> {
    let mut hops = table.refreshed(now, tor, config.fail_after().as_nanos())?;
    let new = Hop { port, util, updated: now };
    if let Some(place) = select_slot(&mut hops, new, config.update) {
        hops.known()[place] = new;
        restore_order(hops.known(), place);
    }
    hops.known().first().map(|best| best.util)
}

/// Slot of `new`; `None` if the table does not change.
fn select_slot(hops: &mut TorHops<'_>, new: Hop, update: Update) -> Option<usize> {
    if let Some(own) = hops.position(new.port) {
        return (update == Update::Refresh || new.util < hops.known()[own].util).then_some(own);
    }
    hops.take_free().or_else(|| {
        let worst = hops.known().len() - 1;
        (new.util < hops.known()[worst].util).then_some(worst)
    })
}

/// Restores the order after a change of the hop at `place`, by moves past strictly better or worse
/// hops.
fn restore_order(hops: &mut [Hop], mut place: usize) {
    while place > 0 && hops[place].util < hops[place - 1].util {
        hops.swap(place, place - 1);
        place -= 1;
    }
    while place + 1 < hops.len() && hops[place + 1].util < hops[place].util {
        hops.swap(place, place + 1);
        place += 1;
    }
}

#[cfg(test)]
mod tests;

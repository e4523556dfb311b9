//! The k best next hops towards each ToR, best first (MP-HULA section 2.3).
//!
//! The paper's text compares the minimum of the known utilisations and the probe's with every table, which would fill the tables with
//! copies of one value. The interpretation used here, for a probe that sets the utilisation of the path by a port to `m`:
//!
//! - A known hop is set to `m`, higher or lower (under [`Update::Listing`] only if `m` is lower, as in HULA's listing).
//! - Another hop takes a free slot, or that of the worst hop if `m` is lower. Each hop is in the table once.
//! - The sort is stable: of two hops with equal utilisation the one ahead stays ahead, as a tie keeps the best hop in HULA.
//! - Hops not refreshed for longer than T_fail are removed first. In HULA a stale entry is replaced by the next probe of any other hop; in a
//!   table with a slot for every hop none would be replaced, and a dead hop with a low utilisation would stay first for ever.
//!
//! With k = 1 this is HULA's rule, decision for decision.

use alloc::{boxed::Box, vec};

use crate::{Digest, HulaConfig, Nanos, Port, Tor, Update, hula::ProbeSuppression};

/// Switch bytes per hop: utilisation (2), port (2), time of the update (6).
const BYTES_PER_HOP: usize = 10;

/// Switch bytes per destination ToR: the last-sent time.
const BYTES_PER_TOR: usize = 6;

/// A next hop with the state of its last probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hop {
    port: Port,
    util: u16,
    updated: Nanos,
}

/// Number of known hops towards a ToR, and the suppression of its probes.
#[derive(Clone, Copy, Debug)]
struct TorState {
    hops: usize,
    suppression: ProbeSuppression,
}

/// For each destination ToR, its best next hops.
#[derive(Clone, Debug)]
pub(crate) struct BestHops {
    k: usize,
    /// `k` slots for each ToR; those in use come first, in ascending order of utilisation.
    hops: Box<[Hop]>,
    known: Box<[TorState]>,
}

impl BestHops {
    /// Empty tables for `tors` ToRs and `k` hops each, at least 1.
    pub fn new(tors: usize, k: usize) -> BestHops {
        let k = k.max(1);
        let unknown = TorState { hops: 0, suppression: ProbeSuppression::IDLE };
        BestHops {
            k,
            hops: vec![Hop::default(); tors * k].into_boxed_slice(),
            known: vec![unknown; tors].into_boxed_slice(),
        }
    }

    /// The hops towards `tor` with their utilisations, best first. Distinct, and at most k.
    pub fn ranked(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        let tor = usize::from(tor.0);
        let hops = self.known.get(tor).map_or(0, |known| known.hops);
        self.hops.iter().skip(tor * self.k).take(hops).map(|hop| (hop.port, hop.util))
    }

    /// Sets the utilisation of the path to `tor` by `port` from a probe. Returns the utilisation of the best path; `None` for a ToR that
    /// does not exist.
    pub fn update(
        &mut self,
        now: Nanos,
        tor: Tor,
        port: Port,
        util: u16,
        config: &HulaConfig,
    ) -> Option<u16> {
        let tor = usize::from(tor.0);
        let known = self.known.get_mut(tor)?;
        let hops = self.hops.get_mut(tor * self.k..)?.get_mut(..self.k)?;
        known.hops = drop_stale(&mut hops[..known.hops], now, config.fail_after);
        let new = Hop { port, util, updated: now };
        if let Some(place) = select_slot(hops, &mut known.hops, new, config.update) {
            hops[place] = new;
            restore_order(&mut hops[..known.hops], place);
        }
        Some(hops[0].util)
    }

    /// Returns true if a probe of `tor` may be forwarded now ([`ProbeSuppression::try_forward`]).
    pub fn try_forward(&mut self, now: Nanos, tor: Tor, period: Nanos) -> bool {
        let known = self.known.get_mut(usize::from(tor.0));
        known.is_some_and(|known| known.suppression.try_forward(now, period))
    }

    /// Adds for each ToR: its hops known, best first, and when its last probe was forwarded.
    pub fn digest(&self, digest: &mut Digest) {
        for (hops, tor) in self.hops.chunks(self.k).zip(&self.known) {
            digest.word(tor.hops as u64);
            for hop in &hops[..tor.hops] {
                digest.words(&[hop.port.0.into(), hop.util.into(), hop.updated]);
            }
            tor.suppression.digest(digest);
        }
    }

    /// Bytes that a switch needs for the tables.
    pub fn state_bytes(&self) -> usize {
        self.hops.len() * BYTES_PER_HOP + self.known.len() * BYTES_PER_TOR
    }
}

/// Moves the hops refreshed within `fail_after` to the front, in order, and returns their number.
fn drop_stale(hops: &mut [Hop], now: Nanos, fail_after: Nanos) -> usize {
    let mut kept = 0;
    for i in 0..hops.len() {
        if now.saturating_sub(hops[i].updated) <= fail_after {
            hops[kept] = hops[i];
            kept += 1;
        }
    }
    kept
}

/// Slot of `new` in `hops`, the first `known` of them in use; `None` if the table does not change.
fn select_slot(hops: &[Hop], known: &mut usize, new: Hop, update: Update) -> Option<usize> {
    let own = hops[..*known].iter().position(|hop| hop.port == new.port);
    if let Some(place) = own {
        return (update == Update::Refresh || new.util < hops[place].util).then_some(place);
    }
    if *known < hops.len() {
        *known += 1;
        return Some(*known - 1);
    }
    (new.util < hops[*known - 1].util).then_some(*known - 1)
}

/// Restores the order after a change of the hop at `place`, by moves past strictly better or worse hops.
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

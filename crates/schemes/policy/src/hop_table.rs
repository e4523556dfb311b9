//! A table of k next hops for each destination ToR, with the figure of each hop's last probe: the
//! memory of [`crate::MpHula`] and [`crate::Shuttle`], which differ in the hops that they keep and
//! in their order.

use alloc::{boxed::Box, vec};

use crate::{Digest, Nanos, Port, Tor, hula::ProbeSuppression};

/// Switch bytes per hop: figure (2), port (2), time of the update (6).
const BYTES_PER_HOP: usize = 10;

/// Switch bytes per destination ToR: the last-sent time.
const BYTES_PER_TOR: usize = 6;

/// A next hop with the state of its last probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hop {
    pub port: Port,
    /// Utilisation in the probe's quantisation.
    pub util: u16,
    pub updated: Nanos,
}

/// Number of known hops towards a ToR, and the suppression of its probes.
#[derive(Clone, Copy, Debug)]
struct TorState {
    hops: usize,
    suppression: ProbeSuppression,
}

/// For each destination ToR, k next hops.
#[derive(Clone, Debug)]
pub(crate) struct HopTable {
    k: usize,
    /// `k` slots for each ToR; those in use come first.
    hops: Box<[Hop]>,
    known: Box<[TorState]>,
}

impl HopTable {
    /// Empty tables for `tors` ToRs and `k` hops each, at least 1.
    pub fn new(tors: usize, k: usize) -> HopTable {
        let k = k.max(1);
        let unknown = TorState { hops: 0, suppression: ProbeSuppression::IDLE };
        HopTable {
            k,
            hops: vec![Hop::default(); tors * k].into_boxed_slice(),
            known: vec![unknown; tors].into_boxed_slice(),
        }
    }

    /// The hops known towards `tor` with their figures, in the order of the slots. Distinct, and at
    /// most k.
    pub fn known(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        let tor = usize::from(tor.0);
        let hops = self.known.get(tor).map_or(0, |known| known.hops);
        self.hops.iter().skip(tor * self.k).take(hops).map(|hop| (hop.port, hop.util))
    }

    /// The slots of `tor` for a change, without the hops that were not refreshed within
    /// `fail_after`. `None` for a ToR that does not exist.
    pub fn refreshed(&mut self, now: Nanos, tor: Tor, fail_after: Nanos) -> Option<TorHops<'_>> {
        let tor = usize::from(tor.0);
        let known = &mut self.known.get_mut(tor)?.hops;
        let slots = self.hops.get_mut(tor * self.k..)?.get_mut(..self.k)?;
        *known = drop_stale(&mut slots[..*known], now, fail_after);
        Some(TorHops { slots, known })
    }

    /// Returns true if a probe of `tor` may be forwarded now ([`ProbeSuppression::try_forward`]).
    pub fn try_forward(&mut self, now: Nanos, tor: Tor, period: Nanos) -> bool {
        let known = self.known.get_mut(usize::from(tor.0));
        known.is_some_and(|known| known.suppression.try_forward(now, period))
    }

    /// Adds for each ToR: its hops known, in the order of the slots, and when its last probe was
    /// forwarded.
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

/// The slots of one ToR. There is at least one.
pub(crate) struct TorHops<'a> {
    slots: &'a mut [Hop],
    known: &'a mut usize,
}

impl TorHops<'_> {
    /// The hops known.
    pub fn known(&mut self) -> &mut [Hop] {
        &mut self.slots[..*self.known]
    }

    /// The slot of the hop by `port`.
    pub fn position(&self, port: Port) -> Option<usize> {
        self.slots[..*self.known].iter().position(|hop| hop.port == port)
    }

    /// Takes a free slot into use; `None` if all are.
    pub fn take_free(&mut self) -> Option<usize> {
        let slot = *self.known;
        let is_free = slot < self.slots.len();
        *self.known += usize::from(is_free);
        is_free.then_some(slot)
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

//! The remote figures of the next hops towards each ToR: what a probe said of the path behind the switch's own link.

use alloc::{boxed::Box, vec};

use crate::{Digest, Nanos, Port, Tor, hula::ProbeSuppression};

/// Switch bytes per hop: figure (2), port (2), time of the update (6).
const BYTES_PER_HOP: usize = 10;

/// Switch bytes per destination ToR: the last-sent time.
const BYTES_PER_TOR: usize = 6;

/// A next hop with the state of its last probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hop {
    port: Port,
    remote: u16,
    updated: Nanos,
}

/// Number of known hops towards a ToR, and the suppression of its probes.
#[derive(Clone, Copy, Debug)]
struct TorState {
    hops: usize,
    suppression: ProbeSuppression,
}

/// For each destination ToR, k next hops.
#[derive(Clone, Debug)]
pub(super) struct RemoteHops {
    k: usize,
    /// `k` slots for each ToR; those in use come first, in no order.
    hops: Box<[Hop]>,
    known: Box<[TorState]>,
}

impl RemoteHops {
    /// Empty tables for `tors` ToRs and `k` hops each, at least 1.
    pub fn new(tors: usize, k: usize) -> RemoteHops {
        let k = k.max(1);
        let unknown = TorState { hops: 0, suppression: ProbeSuppression::IDLE };
        RemoteHops {
            k,
            hops: vec![Hop::default(); tors * k].into_boxed_slice(),
            known: vec![unknown; tors].into_boxed_slice(),
        }
    }

    /// The hops known towards `tor` with their remote figures. Distinct, and at most k.
    pub fn known(&self, tor: Tor) -> impl Iterator<Item = (Port, u16)> {
        let tor = usize::from(tor.0);
        let hops = self.known.get(tor).map_or(0, |known| known.hops);
        self.hops.iter().skip(tor * self.k).take(hops).map(|hop| (hop.port, hop.remote))
    }

    /// Sets the remote figure of a hop towards `tor`. Hops not refreshed for longer than `fail_after` leave first. In a full table a new hop takes the
    /// place of the first one with the highest figure, if its own is lower. `None` for a ToR that does not exist.
    pub fn update(
        &mut self,
        now: Nanos,
        tor: Tor,
        (port, remote): (Port, u16),
        fail_after: Nanos,
    ) -> Option<()> {
        let tor = usize::from(tor.0);
        let known = self.known.get_mut(tor)?;
        let hops = self.hops.get_mut(tor * self.k..)?.get_mut(..self.k)?;
        known.hops = drop_stale(&mut hops[..known.hops], now, fail_after);
        let slot = hops[..known.hops].iter().position(|hop| hop.port == port);
        let slot = slot.or_else(|| free_slot(hops, &mut known.hops, remote));
        if let Some(slot) = slot {
            hops[slot] = Hop { port, remote, updated: now };
        }
        Some(())
    }

    /// Returns true if a probe of `tor` may be forwarded now ([`ProbeSuppression::try_forward`]).
    pub fn try_forward(&mut self, now: Nanos, tor: Tor, period: Nanos) -> bool {
        let known = self.known.get_mut(usize::from(tor.0));
        known.is_some_and(|known| known.suppression.try_forward(now, period))
    }

    /// Adds for each ToR: its hops known, and when its last probe was forwarded.
    pub fn digest(&self, digest: &mut Digest) {
        for (hops, tor) in self.hops.chunks(self.k).zip(&self.known) {
            digest.word(tor.hops as u64);
            for hop in &hops[..tor.hops] {
                digest.words(&[hop.port.0.into(), hop.remote.into(), hop.updated]);
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

/// Slot for a hop that is not in the table, `known` slots of which are in use; `None` if all figures are as low.
fn free_slot(hops: &[Hop], known: &mut usize, remote: u16) -> Option<usize> {
    if *known < hops.len() {
        *known += 1;
        return Some(*known - 1);
    }
    let highest = hops.iter().map(|hop| hop.remote).max()?;
    let slot = hops.iter().position(|hop| hop.remote == highest)?;
    (remote < highest).then_some(slot)
}

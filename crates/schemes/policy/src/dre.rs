//! The utilisation estimator of a port (CONGA section 3.2, HULA section 4.2).
//!
//! It needs 64-bit unsigned arithmetic only, as in a switch or a BPF program: tau is at most 2^28
//! ns (268 ms) and a register saturates at 2^36 bytes, more than 800 Gbps transfer in that time.

use crate::{Digest, DigestState, Nanos, Util};

const MAX_SHIFT: u32 = 28;
const MAX_BYTES: u64 = u64::MAX >> MAX_SHIFT;

/// The estimator's time constant as a power of two: tau = 2^`.0` nanoseconds, so that a switch
/// needs no division.
///
/// More than 28 counts as 28.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DreShift(pub u32);

impl DreShift {
    /// The smallest power of two that is at least `tau`, at most 2^28 ns.
    pub const fn at_least(tau: Nanos) -> DreShift {
        let mut shift = 0;
        while shift < MAX_SHIFT && (1u64 << shift) < tau {
            shift += 1;
        }
        DreShift(shift)
    }

    /// Tau in nanoseconds.
    pub const fn tau(self) -> Nanos {
        1 << self.bits()
    }

    const fn bits(self) -> u32 {
        if self.0 < MAX_SHIFT { self.0 } else { MAX_SHIFT }
    }
}

/// U = D + U * (1 - dt / tau): bytes sent by a port, decayed linearly over tau. Updated when a
/// packet starts transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dre {
    bytes: u64,
    last: Nanos,
}

impl Dre {
    /// Counts a packet of `bytes` that starts transmission at `at`.
    #[inline]
    pub fn add(&mut self, at: Nanos, bytes: u32, shift: DreShift) {
        self.bytes = (self.decayed(at, shift) + u64::from(bytes)).min(MAX_BYTES);
        self.last = at;
    }

    /// Utilisation at `now`, where `full` is the capacity of the link over tau (rate * tau) in
    /// bytes. A `full` of 0 counts as 1.
    #[inline]
    pub fn util(&self, now: Nanos, shift: DreShift, full: u64) -> Util {
        let scaled = (self.decayed(now, shift) << 16) / full.max(1);
        scaled.min(u64::from(Util::MAX)) as Util
    }

    /// Decayed bytes at `now`. Time that goes backwards counts as no time.
    #[inline]
    fn decayed(&self, now: Nanos, shift: DreShift) -> u64 {
        let dt = now.saturating_sub(self.last);
        if dt >= shift.tau() {
            return 0;
        }
        self.bytes - ((self.bytes * dt) >> shift.bits())
    }
}

impl DigestState for Dre {
    fn digest_state(&self, digest: &mut Digest) {
        digest.words(&[self.bytes, self.last]);
    }
}

/// A utilisation quantised to `bits` bits (1 to 16, other values are clamped), rounded down.
#[inline]
pub const fn quantise(util: Util, bits: u32) -> u16 {
    match bits {
        0 => util >> 15,
        1..=15 => util >> (16 - bits),
        _ => util,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHIFT: DreShift = DreShift::at_least(400_000);
    /// 40 Gbps are 5 bytes a nanosecond.
    const FULL_40G: u64 = 5 * SHIFT.tau();

    /// A port that has sent 1500 bytes every `gap` ns for `time`, the last packet just now.
    fn sender(gap: Nanos, time: Nanos) -> (Dre, Nanos) {
        let mut dre = Dre::default();
        for i in 0..=time / gap {
            dre.add(i * gap, 1500, SHIFT);
        }
        (dre, time / gap * gap)
    }

    fn assert_near(actual: Util, expected: u32, tolerance: u32) {
        assert!(u32::from(actual).abs_diff(expected) <= tolerance, "{actual} is not {expected}");
    }

    #[test]
    fn tau_is_rounded_up_to_a_power_of_two() {
        assert_eq!(DreShift::at_least(400_000).tau(), 524_288);
        assert_eq!(DreShift::at_least(1 << 19).tau(), 1 << 19);
        assert_eq!(DreShift::at_least(Nanos::MAX).tau(), 1 << 28);
        assert_eq!(DreShift(99).tau(), 1 << 28);
    }

    #[test]
    fn in_steady_state_it_reads_rate_over_capacity() {
        for (gap, expected) in [(300, 65_535), (600, 32_768), (1200, 16_384), (3000, 6_554)] {
            let (dre, now) = sender(gap, 20 * SHIFT.tau());
            assert_near(dre.util(now, SHIFT, FULL_40G), expected, 100);
        }
    }

    #[test]
    fn a_step_of_load_is_followed_exponentially() {
        // 1 - e^-1, 1 - e^-2 and 1 - e^-3 of half a link after tau, 2 tau and 3 tau.
        for (taus, expected) in [(1, 20_713), (2, 28_333), (3, 31_137)] {
            let (dre, now) = sender(600, taus * SHIFT.tau());
            assert_near(dre.util(now, SHIFT, FULL_40G), expected, 100);
        }
    }

    #[test]
    fn silence_forgets_linearly_and_after_tau_everything() {
        let (dre, now) = sender(300, 20 * SHIFT.tau());
        let after = |dt| dre.util(now + dt, SHIFT, FULL_40G);
        assert_near(after(SHIFT.tau() / 4), 49_152, 100);
        assert_near(after(SHIFT.tau() / 2), 32_768, 100);
        assert!(after(SHIFT.tau() - 1) < 2);
        assert_eq!(after(SHIFT.tau()), 0);
    }

    #[test]
    fn a_header_field_keeps_the_top_bits() {
        assert_eq!([0, 8191, 8192, 65_535].map(|util| quantise(util, 3)), [0, 0, 1, 7]);
        assert_eq!(
            [0, 1, 3, 8, 16, 99].map(|bits| quantise(0xffff, bits)),
            [1, 1, 7, 255, 65_535, 65_535]
        );
    }

    #[test]
    fn a_register_that_runs_over_stops() {
        let (mut dre, shift) = (Dre::default(), DreShift(28));
        for _ in 0..64 {
            dre.add(0, u32::MAX, shift);
        }
        assert_eq!(dre.bytes, (1 << 36) - 1, "of 2^38");
        assert_eq!(dre.decayed(shift.tau() / 2, shift), 1 << 35);
        assert_eq!(dre.util(shift.tau() - 1, shift, 1 << 36), 0);
    }

    proptest! {
        #[test]
        fn no_sequence_overflows(
            adds in prop::collection::vec((any::<u64>(), any::<u32>()), 0..200),
            now: u64, shift in 0u32..70, full: u64,
        ) {
            let mut dre = Dre::default();
            for (at, bytes) in adds {
                dre.add(at, bytes, DreShift(shift));
                dre.util(now, DreShift(shift), full);
            }
        }
    }
}

//! The utilisation estimator of a port (CONGA section 3.2, HULA section 4.2).

use crate::{Nanos, Util};

/// The estimator's time constant as a power of two: tau = 2^`.0` nanoseconds, so that a switch needs no division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DreShift(pub u32);

impl DreShift {
    /// The smallest power of two that is at least `tau`, at most 2^40 ns.
    pub const fn at_least(tau: Nanos) -> DreShift {
        let mut shift = 0;
        while shift < 40 && (1u64 << shift) < tau {
            shift += 1;
        }
        DreShift(shift)
    }

    /// Tau in nanoseconds.
    pub const fn tau(self) -> Nanos {
        1 << self.0
    }
}

/// U = D + U * (1 - dt / tau): bytes sent by a port, forgotten linearly over tau. Updated when a packet starts transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dre {
    bytes: u64,
    last: Nanos,
}

impl Dre {
    /// Counts a packet of `bytes` that starts transmission at `at`.
    #[inline]
    pub fn add(&mut self, at: Nanos, bytes: u32, shift: DreShift) {
        self.bytes = self.decayed(at, shift) + u64::from(bytes);
        self.last = at;
    }

    /// Utilisation at `now`, where `full` is what a busy link sends in tau (rate * tau), in bytes.
    #[inline]
    pub fn util(&self, now: Nanos, shift: DreShift, full: u64) -> Util {
        let scaled = (self.decayed(now, shift) << 16) / full.max(1);
        scaled.min(u64::from(Util::MAX)) as Util
    }

    /// Bytes that are not forgotten yet at `now`. Time that goes backwards counts as none gone by.
    fn decayed(&self, now: Nanos, shift: DreShift) -> u64 {
        let dt = now.saturating_sub(self.last);
        if dt >= shift.tau() {
            return 0;
        }
        self.bytes - ((self.bytes * dt) >> shift.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIFT: DreShift = DreShift::at_least(400_000);
    const FULL_40G: u64 = 5 * SHIFT.tau();

    #[test]
    fn tau_is_rounded_up_to_a_power_of_two() {
        assert_eq!(DreShift::at_least(400_000).tau(), 524_288);
        assert_eq!(DreShift::at_least(1 << 19).tau(), 1 << 19);
    }

    #[test]
    fn a_busy_link_reads_one_and_a_half_busy_one_a_half() {
        for (gap, expected) in [(300, 65_535u32), (600, 32_768)] {
            let mut dre = Dre::default();
            for i in 0..20_000u64 {
                dre.add(i * gap, 1500, SHIFT);
            }
            let util = u32::from(dre.util(20_000 * gap, SHIFT, FULL_40G));
            assert!(util.abs_diff(expected) < 700, "gap {gap}: {util}");
        }
    }

    #[test]
    fn silence_of_tau_forgets_everything() {
        let mut dre = Dre::default();
        dre.add(0, 1_000_000, SHIFT);
        assert!(dre.util(SHIFT.tau() - 1, SHIFT, FULL_40G) < 2);
        assert_eq!(dre.util(SHIFT.tau(), SHIFT, FULL_40G), 0);
    }
}

//! Hashing of flows, and selection by uniform bits.

use crate::Port;

/// Mixes a flow's hash with a switch's salt (the finaliser of MurmurHash3, full avalanche).
///
/// With the same salt on every tier, flows that share a port at one switch share one at the next
/// (hash polarisation).
#[inline]
pub const fn mix(flow_hash: u32, salt: u32) -> u32 {
    let mut h = flow_hash ^ salt;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Maps 32 uniform bits to `0..n` without a division; `n` of 0 gives 0.
#[inline]
pub const fn pick(uniform: u32, n: usize) -> usize {
    ((uniform as u64 * n as u64) >> 32) as usize
}

/// Hop selected by 32 uniform bits. `hops` is not empty, as [`crate::Scheme::forward`] guarantees.
#[inline]
pub(crate) fn pick_hop(uniform: u32, hops: &[Port]) -> Port {
    hops[pick(uniform, hops.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn salts_make_the_choices_of_two_switches_independent() {
        let mut both = [[0u32; 2]; 2];
        for flow in 0..40_000u32 {
            let hash = mix(flow, 0x9e37_79b9);
            both[pick(mix(hash, 1), 2)][pick(mix(hash, 2), 2)] += 1;
        }
        for count in both.iter().flatten() {
            assert!((9_600..=10_400).contains(count), "{both:?}");
        }
    }

    #[test]
    fn pick_covers_its_range_and_never_leaves_it() {
        assert_eq!([0, 1 << 31, u32::MAX].map(|bits| pick(bits, 6)), [0, 3, 5]);
        assert_eq!(pick(u32::MAX, 0), 0);
    }
}

//! Quality: avalanche, uniformity over buckets, slots and the ring, and tables that one client
//! cannot fill unevenly.

use alloc::vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use super::*;

/// splitmix64 (Steele et al., OOPSLA 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn v4(bits: u32) -> Ipv6Addr {
    Ipv4Addr::from_bits(bits).to_ipv6_mapped()
}

fn web() -> ServiceKey {
    ServiceKey { address: v4(0xc000_020a), port: 443, protocol: 6 }
}

/// Sum of (seen - expected)^2 / expected, as standard deviations from its mean (degrees of freedom
/// k: mean k, variance 2 k).
fn chi_square_sigmas(counts: &[u32]) -> f64 {
    let expected = counts.iter().map(|&n| f64::from(n)).sum::<f64>() / counts.len() as f64;
    let sum: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

const TRIALS: u32 = 16_384;

/// Flips of the worst pair of an input and an output bit, as standard deviations from half of the
/// trials.
fn worst_avalanche(bits: u32, function: impl Fn(&mut u64, u128) -> u64) -> f64 {
    let mut flips = vec![[0u32; 64]; bits as usize];
    for trial in 0..TRIALS {
        let mut state = u64::from(trial) << 32;
        let input = u128::from(random(&mut state)) << 64 | u128::from(random(&mut state));
        for (bit, flips) in flips.iter_mut().enumerate() {
            let flipped = function(&mut state.clone(), input)
                ^ function(&mut state.clone(), input ^ 1 << bit);
            (0..64).for_each(|out| flips[out] += (flipped >> out & 1) as u32);
        }
    }
    let far = flips.iter().flatten().map(|n| n.abs_diff(TRIALS / 2)).max().unwrap();
    f64::from(far) / (f64::from(TRIALS).sqrt() / 2.0)
}

fn seeds(state: &mut u64) -> [u64; 2] {
    [random(state), random(state)]
}

#[test]
fn one_bit_of_the_key_flips_each_bit_of_the_hash_half_of_the_time() {
    let v6 = Ipv6Addr::from_bits;
    let of_service = |address| ServiceKey { address, ..web() };
    let worst = [
        worst_avalanche(64, |s, x| {
            flow(seeds(s), v4((x >> 32) as u32), (x >> 16) as u16, x as u16)
        }),
        worst_avalanche(128, |s, x| flow(seeds(s), v6(x), 7, 1)),
        worst_avalanche(48, |s, x| token(seeds(s), (x >> 16) as u32, x as u16)),
        worst_avalanche(128, |s, x| maglev(random(s), v6(x), 7, &web())),
        worst_avalanche(16, |s, x| maglev(random(s), v4(1), x as u16, &web())),
        worst_avalanche(128, |s, x| maglev(random(s), v4(1), 7, &of_service(v6(x)))),
    ];
    assert!(worst.iter().all(|&sigmas| sigmas < 6.0), "{worst:?}");
}

/// Typical clients: few consecutive addresses with consecutive ports.
#[test]
fn flows_of_neighbours_fill_maglev_slots_and_the_ring_evenly() {
    let mut slots = vec![0u32; MAGLEV_SIZE as usize];
    let mut ring = vec![0u32; RING_SIZE];
    for flow in 0..1u32 << 21 {
        let hash =
            maglev(1, v4(0x0a00_0000 + (flow >> 14)), 40_000 + (flow & 0x3fff) as u16, &web());
        slots[maglev_slot(hash) as usize] += 1;
        ring[ring_slot_of_flow(hash)] += 1;
    }
    let sigmas = [&slots, &ring].map(|counts| chi_square_sigmas(counts));
    assert!(sigmas.iter().all(|sigmas| sigmas.abs() < 5.0), "{sigmas:?}");
}

/// The core is linear in one word if the other is constant: without the mixing after it, some seeds
/// would put one client's ports into few buckets.
#[test]
fn no_seed_piles_the_ports_of_one_client_up_in_a_few_buckets() {
    let mut state = 7;
    for client in [v4(0x0a00_0001), Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 1)] {
        for _ in 0..100 {
            let seed = seeds(&mut state);
            let mut halves = [vec![0u32; 1 << 14], vec![0u32; 1 << 14]];
            for hash in (0..=u16::MAX).map(|port| flow(seed, client, port, 1)) {
                halves[0][hash as usize & 0x3fff] += 1;
                halves[1][(hash >> 32) as usize & 0x3fff] += 1;
            }
            let sigmas = halves.map(|counts| chi_square_sigmas(&counts));
            assert!(sigmas.iter().all(|&sigmas| sigmas < 5.0), "{seed:x?}: {sigmas:?}");
        }
    }
}

/// An address in ::/64 (unassigned) must not have the hash of the mapped IPv4 address with the same
/// last bits.
#[test]
fn only_mapped_addresses_are_hashed_as_ipv4() {
    let likes = [0x1_0a00_0001u128, 0x0a00_0001, 0xffff_0a00_0001, 0x1_ffff_0a00_0001];
    let seed = seeds(&mut 7);
    let hashes = likes.map(|bits| flow(seed, Ipv6Addr::from_bits(bits), 80, 1));
    assert!((1..4).all(|i| !hashes[..i].contains(&hashes[i])), "{hashes:x?}");
}

/// Results of bpf/balancer/hash.h for the same arguments, compiled by clang.
#[test]
fn the_c_functions_give_the_same() {
    let seed = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 0x15);
    let fragment_key = FragmentKey { source: v6, destination: v4(2), id: 77, protocol: 17 };
    assert_eq!(flow(seed, v4(0xc633_6407), 40_000, 3), 0x545a_4862_37c2_dbb9);
    assert_eq!(flow(seed, v6, 40_000, 3), 0xf80b_a197_3827_2b1a);
    assert_eq!(token(seed, 0xdead_beef, 3), 0x47f1_d93f_dda7_aae8);
    assert_eq!(maglev(9, v6, 40_000, &web()), 0x5623_02f9_a79a_1a27);
    assert_eq!(fragment(9, &fragment_key), 0x7c62_f609);
}

//! The balancer's hashes, Maglev tables, owners of tokens, and the hash of steering tags.
//!
//! [`hash`] is the reference of bpf/balancer/hash.h, bit by bit; [`maglev`] and [`ring`] compute
//! the maps that the eBPF programs read. Integers only, no clock, no random numbers: balancers with
//! the same configuration have the same tables.
#![no_std]

extern crate alloc;

#[cfg(test)]
extern crate std;

pub mod hash;
pub mod maglev;
pub mod ring;
mod siphash;

pub use hash::{MAGLEV_SIZE, RING_SHIFT, RING_SIZE};
pub use siphash::siphash;

/// A 64-bit hash of two numbers, for tables that must be equal on all balancers (the finaliser of
/// splitmix64).
const fn mix(a: u32, b: u32) -> u64 {
    let z = ((a as u64) << 32 | b as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

//! H: a hash over the fields that a sender cannot choose.

use super::{Addresses, Field, Fields};
use crate::mix;

/// MurmurHash3 (x86, 32 bits; Appleby 2011) of `words` as little-endian bytes, with a seed.
#[inline]
pub fn hash_words(seed: u32, words: &[u32]) -> u32 {
    let state = words.iter().fold(seed, |state, &word| absorb(state, word));
    mix(state ^ (words.len() as u32).wrapping_mul(4), 0)
}

#[inline]
const fn absorb(state: u32, word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    (state ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

/// H(u): of the addresses, the protocol, and those ports that `field` leaves out.
#[inline]
pub(super) fn of_uncontrollable(field: Field, fields: &Fields) -> u32 {
    let ports = fields.ports.unwrap_or_default();
    let rest = match field {
        Field::Ports => 0,
        Field::SourcePort(_) => u32::from(ports.destination),
        Field::FlowLabel => ports.bits(),
    };
    let protocol = u32::from(fields.protocol);
    match fields.addresses {
        Addresses::V4(source, destination) => {
            hash_words(0, &[source.to_bits(), destination.to_bits(), protocol, rest])
        }
        Addresses::V6(source, destination) => {
            let [a, b, c, d] = quarters(source.to_bits());
            let [e, f, g, h] = quarters(destination.to_bits());
            hash_words(0, &[a, b, c, d, e, f, g, h, protocol, rest])
        }
    }
}

#[inline]
const fn quarters(bits: u128) -> [u32; 4] {
    [(bits >> 96) as u32, (bits >> 64) as u32, (bits >> 32) as u32, bits as u32]
}

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

/// H(u): hash of the addresses, the protocol, and the ports that `field` does not contain.
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// MurmurHash3 (x86, 32 bits) of any number of bytes, including a tail of one to three.
    fn of_bytes(seed: u32, bytes: &[u8]) -> u32 {
        let (whole, tail) = bytes.as_chunks();
        let state = whole.iter().fold(seed, |state, word| absorb(state, u32::from_le_bytes(*word)));
        let last = tail.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let last = last.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        mix(state ^ last ^ bytes.len() as u32, 0)
    }

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks().0.iter().copied().map(u32::from_le_bytes).collect()
    }

    /// SMHasher's verification value: a hash of the hashes of 0, 1, ... 255 bytes, each with a seed
    /// of its own.
    #[test]
    fn smhashers_verification_value() {
        let bytes: Vec<u8> = (0..=255).collect();
        let hashes: Vec<u32> =
            (0..256).map(|length| of_bytes(256 - length as u32, &bytes[..length])).collect();
        assert_eq!(hash_words(0, &hashes), 0xb0f5_7ee3);
        for length in (0..256).step_by(4) {
            let hash = hash_words(256 - length as u32, &words(&bytes[..length]));
            assert_eq!(hash, hashes[length], "{length} bytes");
        }
    }

    #[test]
    fn known_values() {
        let hash_of = |seed, text: &[u8]| hash_words(seed, &words(text));
        assert_eq!([0, 1, u32::MAX].map(|seed| hash_of(seed, b"")), [0, 0x514e_28b7, 0x81f1_6f39]);
        assert_eq!([0, 0x9747_b28c].map(|seed| hash_of(seed, b"test")), [0xba6b_d213, 0x704b_81dc]);
        assert_eq!(hash_of(0x9747_b28c, b"aaaa"), 0x5a97_808a);
        assert_eq!(
            [0xffff_ffff, 0x8765_4321, 0].map(|word| hash_words(0, &[word])),
            [0x7629_3b50, 0xf55b_516b, 0x2362_f9de]
        );
    }
}

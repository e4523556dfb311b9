//! Digests of a switch's state, by which implementations of one scheme are compared step by step.
//!
//! A digest is the 64-bit FNV-1a hash of the state written as a list of 64-bit words, each as eight
//! bytes, the lowest first. The list of each scheme is in `vectors/schemes/README.md`. It has what
//! decides later steps, and nothing else: no counters, no contents of unused entries.

/// The hash's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds a word.
    pub fn word(&mut self, word: impl Into<u64>) {
        for byte in word.into().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds several words.
    pub fn words(&mut self, words: &[u64]) {
        for &word in words {
            self.word(word);
        }
    }

    /// The hash of all words added.
    pub const fn value(self) -> u64 {
        self.0
    }
}

/// A switch whose state can be compared with that of another implementation.
pub trait DigestState {
    /// Adds the state to a digest.
    fn digest_state(&self, digest: &mut Digest);

    /// The digest of the state.
    fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.digest_state(&mut digest);
        digest.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of another implementation of 64-bit FNV-1a, which gives the published
    /// 0x85944171f73967e8 for "foobar".
    #[test]
    fn it_is_fnv_1a() {
        let digest_of = |words: &[[u8; 8]]| {
            let mut digest = Digest::default();
            words.iter().for_each(|&word| digest.word(u64::from_le_bytes(word)));
            digest.value()
        };
        assert_eq!(digest_of(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest_of(&[[0; 8]]), 0xa8c7_f832_281a_39c5);
        assert_eq!(digest_of(&[*b"abcdefgh"]), 0x25da_8c18_36a8_d66d);
    }
}

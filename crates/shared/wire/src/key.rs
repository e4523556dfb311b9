//! Keys of MPTCP connections and values derived from them: tokens, initial data sequence numbers
//! and HMACs.

mod hmac;

use sha1::Sha1;
use sha2::{Digest, Sha256};

pub use hmac::{JoinHmac, add_addr_hmac};

/// The protocol's version, which decides the hash function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// RFC 6824: SHA-1.
    V0,
    /// RFC 8684: SHA-256.
    #[default]
    V1,
}

/// One end's 64-bit key, in network byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 8]);

/// The top 32 bits of a key's hash, which identify a connection at the host that generated the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

impl Version {
    /// The token of `key` (RFC 6824 and RFC 8684, section 3.2).
    pub fn token(self, key: Key) -> Token {
        Token(self.with_hash(key, |hash| be_u32(&hash[..4])))
    }

    /// The initial data sequence number of `key`: the least significant 64 bits of its hash
    /// (section 3.1).
    pub fn initial_data_seq(self, key: Key) -> u64 {
        self.with_hash(key, |hash| {
            let (high, low) = hash[hash.len() - 8..].split_at(4);
            u64::from(be_u32(high)) << 32 | u64::from(be_u32(low))
        })
    }

    fn with_hash<T>(self, key: Key, read: impl Fn(&[u8]) -> T) -> T {
        match self {
            Version::V0 => read(&Sha1::digest(key.0)),
            Version::V1 => read(&Sha256::digest(key.0)),
        }
    }
}

/// The first four bytes as a number; missing ones count as 0.
fn be_u32(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key is the eight bytes "abcdefgh"; the hashes are those of `sha1sum` and `sha256sum`.
    #[test]
    fn token_and_initial_data_seq_are_the_two_ends_of_the_hash() {
        let key = Key(*b"abcdefgh");
        assert_eq!(Version::V0.token(key), Token(0x425a_f12a));
        assert_eq!(Version::V0.initial_data_seq(key), 0x15bc_f868_e324_d56a);
        assert_eq!(Version::V1.token(key), Token(0x9c56_cc51));
        assert_eq!(Version::V1.initial_data_seq(key), 0x190e_cf1e_4306_35ab);
    }
}

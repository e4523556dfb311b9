//! Keys of MPTCP connections and what is derived from them: tokens and initial data sequence numbers.

use sha1::Sha1;
use sha2::{Digest, Sha256};

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

/// The top 32 bits of a key's hash: names a connection at the host that made the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

impl Version {
    /// The token of `key` (RFC 6824 and RFC 8684, section 3.2).
    pub fn token(self, key: Key) -> Token {
        Token(self.with_hash(key, |hash| be_u32(&hash[..4])))
    }

    /// The initial data sequence number of `key`: the least significant 64 bits of its hash (section 3.1).
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

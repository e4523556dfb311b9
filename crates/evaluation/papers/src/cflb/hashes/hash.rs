//! Hashes of bytes to 32 bits.

use crc::{CRC_16_ARC, CRC_32_ISO_HDLC, Crc, Table};
use md5::{Digest as _, Md5};
use xxhash_rust::xxh64::xxh64;

use super::{MICROSOFT_KEY, toeplitz};

/// A hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// CRC-16/ARC, a byte at a time by a table of 256 entries, as in Linux.
    Crc16,
    /// CRC-16/ARC, 16 bytes at a time by 16 tables: the same hash, sooner.
    Crc16Sliced,
    /// CRC-32/ISO-HDLC (Ethernet's), a byte at a time.
    Crc32,
    /// MD5 (RFC 1321): the first four bytes, little-endian.
    Md5,
    /// Toeplitz with the key of Microsoft's verification suite, bit by bit. Receive-side scaling
    /// leaves the protocol out; here it is in, as for all.
    Toeplitz,
    /// xxHash, XXH64 with seed 0: the low half.
    Xxh64,
}

impl Hash {
    /// In lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Hash::Crc16 => "crc16",
            Hash::Crc16Sliced => "crc16 by slices",
            Hash::Crc32 => "crc32",
            Hash::Md5 => "md5",
            Hash::Toeplitz => "toeplitz",
            Hash::Xxh64 => "xxh64",
        }
    }

    /// Of some bytes. CRC16 leaves the high half 0.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> u32 {
        const CRC16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_ARC);
        const CRC16_SLICED: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
        const CRC32: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);
        match self {
            Hash::Crc16 => u32::from(CRC16.checksum(bytes)),
            Hash::Crc16Sliced => u32::from(CRC16_SLICED.checksum(bytes)),
            Hash::Crc32 => CRC32.checksum(bytes),
            Hash::Md5 => {
                let [a, b, c, d, ..]: [u8; 16] = Md5::digest(bytes).into();
                u32::from_le_bytes([a, b, c, d])
            }
            Hash::Toeplitz => toeplitz(&MICROSOFT_KEY, bytes),
            Hash::Xxh64 => xxh64(bytes, 0) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the CRC catalogue (Cook).
    #[test]
    fn crcs_of_the_digits() {
        let digits = b"123456789";
        assert_eq!(Hash::Crc16.of(digits), 0xbb3d);
        assert_eq!(Hash::Crc16Sliced.of(digits), 0xbb3d);
        assert_eq!(Hash::Crc32.of(digits), 0xcbf4_3926);
    }

    /// RFC 1321, A.5: d41d8cd9..., 90015098..., c3fcd3d7....
    #[test]
    fn md5_of_the_rfc() {
        assert_eq!(Hash::Md5.of(b""), 0xd98c_1dd4);
        assert_eq!(Hash::Md5.of(b"abc"), 0x9850_0190);
        assert_eq!(Hash::Md5.of(b"abcdefghijklmnopqrstuvwxyz"), 0xd7d3_fcc3);
    }

    /// XXH64 of nothing is ef46db3751d8e999, of "abc" 44bc2cf5ad770999 (seed 0).
    #[test]
    fn xxh64_of_the_reference() {
        assert_eq!(Hash::Xxh64.of(b""), 0x51d8_e999);
        assert_eq!(Hash::Xxh64.of(b"abc"), 0xad77_0999);
    }

    /// 41 bytes: an IPv6 5-tuple and a router.
    #[test]
    fn slices_change_no_crc() {
        let bytes: [u8; 41] = std::array::from_fn(|byte| (byte * 37) as u8);
        for length in 0..=bytes.len() {
            assert_eq!(Hash::Crc16.of(&bytes[..length]), Hash::Crc16Sliced.of(&bytes[..length]));
        }
    }
}

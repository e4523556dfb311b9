//! HMACs of MP_JOIN and ADD_ADDR.

use core::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::Sha256;

use super::{Key, Version};

/// One end's HMAC in the handshake of a join, truncated to 160 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JoinHmac([u8; 20]);

impl JoinHmac {
    /// The first 64 bits, as in the SYN/ACK.
    pub fn syn_ack(&self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    }

    /// All 160 bits, as in the ACK.
    pub const fn ack(&self) -> [u8; 20] {
        self.0
    }
}

impl Version {
    /// The HMAC that an end sends in the handshake of a join (section 3.2): HMAC-SHA1 in version 0,
    /// HMAC-SHA256 in version 1.
    ///
    /// The local end is the sender. The keys are those of the connection, the nonces those of the
    /// subflow's SYN and SYN/ACK.
    pub fn join_hmac(
        self,
        local_key: Key,
        remote_key: Key,
        local_nonce: u32,
        remote_nonce: u32,
    ) -> JoinHmac {
        let secret = secret(local_key, remote_key);
        let nonces = [local_nonce.to_be_bytes(), remote_nonce.to_be_bytes()];
        JoinHmac(match self {
            Version::V0 => leading(Hmac::<Sha1>::new(&secret.into()), nonces.as_flattened()),
            Version::V1 => leading(Hmac::<Sha256>::new(&secret.into()), nonces.as_flattened()),
        })
    }
}

/// The HMAC of an ADD_ADDR: the last 64 bits of an HMAC-SHA256 (RFC 8684 section 3.4.1; version 0
/// has none).
///
/// The keys are those of the ADD_ADDR's sender and receiver; the other arguments are the fields of
/// the option.
pub fn add_addr_hmac(
    sender: Key,
    receiver: Key,
    id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    let mac = Hmac::<Sha256>::new(&secret(sender, receiver).into()).chain_update([id]);
    let mac = match address {
        IpAddr::V4(address) => mac.chain_update(address.octets()),
        IpAddr::V6(address) => mac.chain_update(address.octets()),
    };
    // A port that is absent is hashed as two bytes of 0.
    let hash = mac.chain_update(port.unwrap_or(0).to_be_bytes()).finalize().into_bytes();
    hash.last_chunk().map_or(0, |last| u64::from_be_bytes(*last))
}

/// HMAC's key, padded with zeros to a block of either hash function (RFC 2104 section 2).
fn secret(first: Key, second: Key) -> [u8; 64] {
    let mut block = [0; 64];
    block[..8].copy_from_slice(&first.0);
    block[8..16].copy_from_slice(&second.0);
    block
}

/// The first 160 bits of the message's HMAC.
fn leading(mac: impl Mac, message: &[u8]) -> [u8; 20] {
    let hash = mac.chain_update(message).finalize().into_bytes();
    hash.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2202 test case 2 and RFC 4231 test case 2, with their key "Jefe" and its padding.
    #[test]
    fn hmac_of_a_padded_block_is_the_hmac_of_the_key() {
        let mut block = [0; 64];
        block[..4].copy_from_slice(b"Jefe");
        let message = b"what do ya want for nothing?";
        let sha1 = leading(Hmac::<Sha1>::new(&block.into()), message);
        assert_eq!(sha1[..4], [0xef, 0xfc, 0xdf, 0x6a]);
        assert_eq!(sha1[16..], [0x25, 0x9a, 0x7c, 0x79]);
        let sha256 = leading(Hmac::<Sha256>::new(&block.into()), message);
        assert_eq!(sha256[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }

    #[test]
    fn each_end_has_its_own_hmac() {
        let (a, b) = (Key(*b"key of A"), Key(*b"key of B"));
        for version in [Version::V0, Version::V1] {
            assert_ne!(version.join_hmac(a, b, 1, 2), version.join_hmac(b, a, 2, 1));
            let hmac = version.join_hmac(a, b, 1, 2);
            assert_eq!(hmac.syn_ack().to_be_bytes(), hmac.ack()[..8]);
        }
    }
}

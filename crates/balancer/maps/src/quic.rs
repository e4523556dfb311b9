//! Backends that connection ids of QUIC name (bpf/balancer/quic.h).

use crate::abi::{QUIC_ROTATION_SHIFT, QUIC_SERVER_ID_BYTES, QuicServer, Vip};

/// The bytes of the longest server id.
const MOST_BYTES: usize = QUIC_SERVER_ID_BYTES as usize;

impl QuicServer {
    /// The name of a service's backend in connection ids with this config rotation. Of a server id
    /// longer than 15 bytes, the first 15.
    pub fn new(vip: u16, rotation: u8, server_id: &[u8]) -> QuicServer {
        let length = server_id.len().min(MOST_BYTES);
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&server_id[..length]);
        let words = u128::from_be_bytes(bytes);
        let server_id = [words >> 64, words].map(|word| (word as u64).to_be());
        QuicServer { server_id, vip, rotation, length: length as u8, pad: 0 }
    }

    /// The server id.
    pub fn server_id(&self) -> Vec<u8> {
        let bytes = self.server_id.iter().flat_map(|word| word.to_ne_bytes());
        bytes.take(self.length.into()).collect()
    }
}

impl Vip {
    /// A service's `choices` by which its connection ids are read: with this config rotation, and
    /// server ids of `length` bytes.
    pub const fn quic_choices(rotation: u8, length: u8) -> u8 {
        rotation << QUIC_ROTATION_SHIFT | length & QUIC_SERVER_ID_BYTES as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_id_lies_in_the_words_as_in_a_packet() {
        for length in 1..=15_u8 {
            let id: Vec<u8> = (1..=length).collect();
            let server = QuicServer::new(3, 6, &id);
            let bytes: Vec<u8> = server.server_id.iter().flat_map(|w| w.to_ne_bytes()).collect();
            assert_eq!(bytes, [&id[..], &vec![0; 16 - id.len()]].concat());
            assert_eq!(server.server_id(), id);
            assert_eq!((server.vip, server.rotation, server.length), (3, 6, length));
        }
        assert_eq!(Vip::quic_choices(6, 15), 0x6f);
    }
}

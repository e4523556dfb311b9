//! Keys, nonces, and what proves that one knows them (RFC 8684 section 3.2).

use alloc::boxed::Box;

use heddle_wire::{Key, Version};

/// What the two ends draw by chance. Each end reads only its own part.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    pub(super) client: Key,
    pub(super) server: Key,
    /// For each further subflow, the client's nonce and the server's.
    nonces: Box<[Nonces]>,
}

/// The nonces of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nonces {
    pub(super) client: u32,
    pub(super) server: u32,
}

impl Secrets {
    pub(super) fn new(subflows: u8, mut random: impl FnMut() -> u64) -> Secrets {
        let (client, server) = (Key(random().to_be_bytes()), Key(random().to_be_bytes()));
        let nonces = (1..subflows.max(1)).map(|_| Nonces::from(random())).collect();
        Secrets { client, server, nonces }
    }

    /// The client's nonce for the join of `path`, from 1.
    pub(super) fn client_nonce(&self, path: usize) -> u32 {
        self.nonces.get(path.wrapping_sub(1)).map_or(0, |nonces| nonces.client)
    }

    /// The server's nonce for the join of `path`, from 1.
    pub(super) fn server_nonce(&self, path: usize) -> u32 {
        self.nonces.get(path.wrapping_sub(1)).map_or(0, |nonces| nonces.server)
    }
}

impl From<u64> for Nonces {
    fn from(bits: u64) -> Nonces {
        Nonces { client: (bits >> 32) as u32, server: bits as u32 }
    }
}

impl Nonces {
    /// What the client sends in a join's third packet: HMAC-A. `keys` are the client's and the server's.
    pub(super) fn client_proof(&self, version: Version, keys: (Key, Key)) -> [u8; 20] {
        version.join_hmac(keys.0, keys.1, self.client, self.server).ack()
    }

    /// What the server sends in a join's SYN/ACK: HMAC-B, its first 64 bits.
    pub(super) fn server_proof(&self, version: Version, keys: (Key, Key)) -> [u8; 8] {
        version.join_hmac(keys.1, keys.0, self.server, self.client).syn_ack().to_be_bytes()
    }
}

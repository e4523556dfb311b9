//! Keys, nonces and the HMACs derived from them (RFC 8684 section 3.2).

use alloc::boxed::Box;

use heddle_wire::{Key, Version};

/// Random values of both ends. Each end reads only its own.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    pub(super) client: Key,
    pub(super) server: Key,
    /// Nonces of each further subflow.
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

    /// The client's nonce for the join of `path`, which counts from 1.
    pub(super) fn client_nonce(&self, path: usize) -> u32 {
        self.nonces.get(path.wrapping_sub(1)).map_or(0, |nonces| nonces.client)
    }

    /// The server's nonce for the join of `path`, which counts from 1.
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
    /// HMAC-A, which the client sends in the third packet of a join. `keys` are the client's and
    /// the server's.
    pub(super) fn client_hmac(&self, version: Version, keys: (Key, Key)) -> [u8; 20] {
        version.join_hmac(keys.0, keys.1, self.client, self.server).ack()
    }

    /// The first 64 bits of HMAC-B, which the server sends in the SYN/ACK of a join.
    pub(super) fn server_hmac(&self, version: Version, keys: (Key, Key)) -> [u8; 8] {
        version.join_hmac(keys.1, keys.0, self.server, self.client).syn_ack().to_be_bytes()
    }
}

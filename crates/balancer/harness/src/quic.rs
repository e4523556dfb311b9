//! QUIC, as its clients show it to the network.

use heddle_wire::quic::ServerIds;

use crate::Flow;

/// A backend's server id: its number plus one, in as many bytes as the ids have.
pub fn server_id(ids: ServerIds, backend: usize) -> Vec<u8> {
    let number = (backend as u128 + 1).to_be_bytes();
    number[number.len() - usize::from(ids.length())..].to_vec()
}

/// A connection id that names a backend, with a nonce of four bytes.
pub fn connection_id(ids: ServerIds, backend: usize, nonce: u32) -> Vec<u8> {
    let length = ids.least_id() - 1;
    [&[ids.rotation() << 5 | length], &*server_id(ids, backend), &nonce.to_be_bytes()].concat()
}

impl Flow {
    /// A packet with a short header, as most of a connection are: `bytes` of payload in all.
    pub fn quic(&self, id: &[u8], bytes: usize) -> Vec<u8> {
        self.udp(&filled([&[0x4a], id].concat(), bytes))
    }

    /// An Initial of version 1 with a client's connection id of no bytes: `bytes` of payload in
    /// all.
    pub fn quic_initial(&self, id: &[u8], bytes: usize) -> Vec<u8> {
        self.udp(&filled([&[0xc3, 0, 0, 0, 1, id.len() as u8], id, &[0]].concat(), bytes))
    }
}

fn filled(mut packet: Vec<u8>, bytes: usize) -> Vec<u8> {
    packet.resize(bytes, 0x5a);
    packet
}

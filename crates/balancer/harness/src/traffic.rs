//! MPTCP connections, as their clients show them to the network.

use heddle_wire::mptcp::{CapableFlags, CapableKeys, DataSeq, Dss, MpCapable, MpJoin};
use heddle_wire::{Key, MptcpOption, TcpFrame, Token, Version};

use crate::{Delivered, Flow, Random};

/// An MPTCP connection: its first subflow, and both keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The first subflow.
    pub primary: Flow,
    /// Of MPTCP: 0 (RFC 6824) or 1 (RFC 8684).
    pub version: Version,
    /// The client's key.
    pub client_key: Key,
    /// The server's key: the token is made of it.
    pub server_key: Key,
}

impl Connection {
    /// A connection of version 1 with keys of this seed.
    pub fn new(primary: Flow, seed: u64) -> Connection {
        let mut random = Random::new(seed);
        let mut key = || Key(random.bits().to_be_bytes());
        let (client_key, server_key) = (key(), key());
        Connection { primary, version: Version::V1, client_key, server_key }
    }

    /// The connection with the server's key that a balancer put into its SYN, which the server
    /// takes for its own (mode assign); none where none did.
    pub fn keyed(&self, syn: &Delivered) -> Option<Connection> {
        let link: &[u8] = if self.primary.client.is_ipv6() { &[0x86, 0xdd] } else { &[8, 0] };
        let frame = [&[0; 12], link, syn.packet()].concat();
        let found = heddle_wire::mptcp::find(TcpFrame::parse(&frame).ok()?.tcp.options)?;
        let MptcpOption::Capable(MpCapable { keys, .. }) = found else { return None };
        let CapableKeys::Both { receiver, .. } = keys else { return None };
        Some(Connection { server_key: receiver, ..*self })
    }

    /// Token that names it in joins.
    pub fn token(&self) -> u32 {
        self.version.token(self.server_key).0
    }

    /// Its SYN.
    pub fn syn(&self) -> Vec<u8> {
        let keys = match self.version {
            Version::V0 => CapableKeys::Sender(self.client_key),
            Version::V1 => CapableKeys::None,
        };
        self.primary.syn(&[self.capable(keys)])
    }

    /// The third ACK, with both keys.
    pub fn third_ack(&self) -> Vec<u8> {
        let (sender, receiver) = (self.client_key, self.server_key);
        self.primary.ack(&[self.capable(CapableKeys::Both { sender, receiver })], 0)
    }

    /// The first data: with the keys in version 1, with a mapping alone in version 0.
    pub fn first_data(&self, bytes: u16) -> Vec<u8> {
        if self.version == Version::V0 {
            return self.data(usize::from(bytes));
        }
        let (sender, receiver) = (self.client_key, self.server_key);
        let keys = CapableKeys::WithData { sender, receiver, len: bytes, checksum: None };
        self.primary.ack(&[self.capable(keys)], usize::from(bytes))
    }

    /// Any later segment of the first subflow.
    pub fn data(&self, bytes: usize) -> Vec<u8> {
        self.primary.ack(&[dss()], bytes)
    }

    /// The SYN of another subflow.
    pub fn join(&self, subflow: &Flow) -> Vec<u8> {
        let token = Token(self.token());
        let join = MpJoin::Syn { backup: false, address: 1, token, nonce: 7 };
        subflow.syn(&[MptcpOption::Join(join)])
    }

    fn capable(&self, keys: CapableKeys) -> MptcpOption {
        MptcpOption::Capable(MpCapable { version: self.version, flags: CapableFlags::HMAC, keys })
    }
}

impl Flow {
    /// The third ACK of a joining subflow.
    pub fn joined_ack(&self) -> Vec<u8> {
        self.ack(&[MptcpOption::Join(MpJoin::Ack { hmac: [7; 20] })], 0)
    }

    /// A segment of an MPTCP subflow.
    pub fn data(&self, bytes: usize) -> Vec<u8> {
        self.ack(&[dss()], bytes)
    }
}

fn dss() -> MptcpOption {
    MptcpOption::Dss(Dss { fin: false, ack: Some(DataSeq::Long(1)), mapping: None })
}

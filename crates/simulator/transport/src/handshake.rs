//! MPTCP options of handshakes (RFC 8684 sections 3.1 and 3.2).

use heddle_wire::mptcp::{CapableFlags, CapableKeys, MpCapable, MpJoin, MptcpOption};
use heddle_wire::{Key, Token, Version};

/// The MPTCP option of a segment that opens a connection (MP_CAPABLE) or a subflow (MP_JOIN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// MP_CAPABLE without a key: the SYN of RFC 8684.
    Capable,
    /// MP_CAPABLE with the sender's key: a SYN/ACK, and the SYN of RFC 6824.
    Key(Key),
    /// MP_CAPABLE with the sender's and the receiver's key: the third packet, and with RFC 8684 the
    /// first data.
    Keys(Key, Key),
    /// MP_JOIN of a SYN: the receiver's token and a nonce.
    JoinSyn(Token, u32),
    /// MP_JOIN of a SYN/ACK: a truncated HMAC and a nonce.
    JoinSynAck([u8; 8], u32),
    /// MP_JOIN of the third packet: the HMAC.
    JoinAck([u8; 20]),
}

impl Handshake {
    /// The option in wire format, for a segment with `len` bytes of data.
    pub(crate) fn option(self, version: Version, len: u16) -> MptcpOption {
        match self {
            Handshake::Capable => capable(version, CapableKeys::None),
            Handshake::Key(key) => capable(version, CapableKeys::Sender(key)),
            Handshake::Keys(sender, receiver) if len == 0 || version == Version::V0 => {
                capable(version, CapableKeys::Both { sender, receiver })
            }
            Handshake::Keys(sender, receiver) => {
                capable(version, CapableKeys::WithData { sender, receiver, len, checksum: None })
            }
            Handshake::JoinSyn(token, nonce) => {
                MptcpOption::Join(MpJoin::Syn { backup: false, address: 0, token, nonce })
            }
            Handshake::JoinSynAck(hmac, nonce) => MptcpOption::Join(MpJoin::SynAck {
                backup: false,
                address: 0,
                hmac: u64::from_be_bytes(hmac),
                nonce,
            }),
            Handshake::JoinAck(hmac) => MptcpOption::Join(MpJoin::Ack { hmac }),
        }
    }
}

fn capable(version: Version, keys: CapableKeys) -> MptcpOption {
    MptcpOption::Capable(MpCapable { version, flags: CapableFlags::HMAC, keys })
}

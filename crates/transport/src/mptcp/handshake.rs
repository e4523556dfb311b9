//! What opens connections and subflows.

use heddle_wire::{Key, Token};

/// The MPTCP option of a segment that opens a connection (MP_CAPABLE) or a subflow (MP_JOIN).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// MP_CAPABLE without a key: the SYN of RFC 8684.
    Capable,
    /// MP_CAPABLE with the sender's key: a SYN/ACK, and the SYN of RFC 6824.
    Key(Key),
    /// MP_CAPABLE with the sender's and the receiver's key: the third packet, and with RFC 8684 the first data.
    Keys(Key, Key),
    /// MP_JOIN of a SYN: the receiver's token and a nonce.
    Join(Token, u32),
    /// MP_JOIN of a SYN/ACK: a truncated HMAC and a nonce.
    JoinAnswer([u8; 8], u32),
    /// MP_JOIN of the third packet: the HMAC.
    JoinProof([u8; 20]),
}

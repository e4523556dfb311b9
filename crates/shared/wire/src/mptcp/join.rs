//! MP_JOIN (section 3.2): opens another subflow of a connection.

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError, Token};

/// MP_JOIN, at one of three positions of the handshake. Both versions have the same formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MpJoin {
    /// 12 bytes.
    Syn {
        /// B: use this subflow only when no other works.
        backup: bool,
        /// Identifies the sender's address.
        address: u8,
        /// The receiver's token.
        token: Token,
        /// The sender's random number.
        nonce: u32,
    },
    /// 16 bytes.
    SynAck {
        /// B: use this subflow only when no other works.
        backup: bool,
        /// Identifies the sender's address.
        address: u8,
        /// The first 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's random number.
        nonce: u32,
    },
    /// 24 bytes.
    Ack {
        /// The first 160 bits of the sender's HMAC.
        hmac: [u8; 20],
    },
}

/// Bit B, beside the subtype.
const BACKUP: u8 = 1;

impl MpJoin {
    pub(super) fn parse(nibble: u8, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let len = fields.left();
        let backup = nibble & BACKUP != 0;
        let address = fields.u8()?;
        Ok(match len {
            9 => {
                let token = Token(fields.u32()?);
                MpJoin::Syn { backup, address, token, nonce: fields.u32()? }
            }
            13 => MpJoin::SynAck { backup, address, hmac: fields.u64()?, nonce: fields.u32()? },
            21 => MpJoin::Ack { hmac: fields.array()? },
            _ => return Err(ParseError::Length),
        })
    }
}

impl Body for MpJoin {
    fn nibble(&self) -> u8 {
        match *self {
            MpJoin::Syn { backup, .. } | MpJoin::SynAck { backup, .. } => u8::from(backup),
            MpJoin::Ack { .. } => 0,
        }
    }

    fn len(&self) -> usize {
        match self {
            MpJoin::Syn { .. } => 9,
            MpJoin::SynAck { .. } => 13,
            MpJoin::Ack { .. } => 21,
        }
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        match *self {
            MpJoin::Syn { address, token, nonce, .. } => {
                to.u8(address)?;
                to.u32(token.0)?;
                to.u32(nonce)
            }
            MpJoin::SynAck { address, hmac, nonce, .. } => {
                to.u8(address)?;
                to.u64(hmac)?;
                to.u32(nonce)
            }
            MpJoin::Ack { hmac } => {
                to.u8(0)?;
                to.put(&hmac)
            }
        }
    }
}

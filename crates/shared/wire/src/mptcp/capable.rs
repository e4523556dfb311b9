//! MP_CAPABLE (section 3.1): opens a connection and exchanges the keys.

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, Key, ParseError, Version};

/// MP_CAPABLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpCapable {
    /// The version of MPTCP.
    pub version: Version,
    /// Flags A to H.
    pub flags: CapableFlags,
    /// The keys, and in version 1 the mapping of the first data.
    pub keys: CapableKeys,
}

/// MP_CAPABLE's flags: A is the most significant bit, H the least. All eight bits are preserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CapableFlags(pub u8);

/// The keys in an MP_CAPABLE, which differ by its position in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapableKeys {
    /// The SYN of version 1: 4 bytes.
    None,
    /// The SYN of version 0, the SYN/ACK of both: 12 bytes.
    Sender(Key),
    /// The ACK of the handshake: 20 bytes.
    Both {
        /// The sender's key: the opener's.
        sender: Key,
        /// The receiver's key.
        receiver: Key,
    },
    /// The first data of version 1: 22 bytes, and with a checksum 24.
    WithData {
        /// The sender's key: the opener's.
        sender: Key,
        /// The receiver's key.
        receiver: Key,
        /// Bytes of data.
        len: u16,
        /// The data's checksum, if checksums are in use.
        checksum: Option<u16>,
    },
}

impl CapableFlags {
    /// A: checksums are required.
    pub const CHECKSUM: CapableFlags = CapableFlags(0x80);
    /// B: extensibility; 0 in both versions.
    pub const EXTENSIBILITY: CapableFlags = CapableFlags(0x40);
    /// C, version 1: no subflow may be opened to the source address and port. In version 0 it is an
    /// unused proposal for another cryptographic algorithm.
    pub const NO_JOIN_HERE: CapableFlags = CapableFlags(0x20);
    /// H: HMAC-SHA1 in version 0, HMAC-SHA256 in version 1.
    pub const HMAC: CapableFlags = CapableFlags(0x01);

    /// True if all of `flags` are set.
    pub const fn contains(self, flags: CapableFlags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl core::ops::BitOr for CapableFlags {
    type Output = CapableFlags;

    fn bitor(self, other: CapableFlags) -> CapableFlags {
        CapableFlags(self.0 | other.0)
    }
}

impl MpCapable {
    pub(super) fn parse(nibble: u8, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let version = match nibble {
            0 => Version::V0,
            1 => Version::V1,
            other => return Err(ParseError::Version(other)),
        };
        let flags = CapableFlags(fields.u8()?);
        let keys = CapableKeys::parse(version, fields)?;
        Ok(MpCapable { version, flags, keys })
    }
}

impl CapableKeys {
    fn parse(version: Version, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        Ok(match (fields.left(), version) {
            (0, Version::V1) => CapableKeys::None,
            (8, _) => CapableKeys::Sender(fields.key()?),
            (16, _) => CapableKeys::Both { sender: fields.key()?, receiver: fields.key()? },
            (18 | 20, Version::V1) => CapableKeys::WithData {
                sender: fields.key()?,
                receiver: fields.key()?,
                len: fields.u16()?,
                checksum: fields.u16().ok(),
            },
            _ => return Err(ParseError::Length),
        })
    }

    const fn len(&self) -> usize {
        match self {
            CapableKeys::None => 0,
            CapableKeys::Sender(_) => 8,
            CapableKeys::Both { .. } => 16,
            CapableKeys::WithData { checksum: None, .. } => 18,
            CapableKeys::WithData { checksum: Some(_), .. } => 20,
        }
    }

    const fn is_in(&self, version: Version) -> bool {
        matches!(
            (self, version),
            (CapableKeys::Sender(_) | CapableKeys::Both { .. }, _) | (_, Version::V1)
        )
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        match *self {
            CapableKeys::None => Ok(()),
            CapableKeys::Sender(key) => to.put(&key.0),
            CapableKeys::Both { sender, receiver } => {
                to.put(&sender.0)?;
                to.put(&receiver.0)
            }
            CapableKeys::WithData { sender, receiver, len, checksum } => {
                to.put(&sender.0)?;
                to.put(&receiver.0)?;
                to.u16(len)?;
                checksum.map_or(Ok(()), |checksum| to.u16(checksum))
            }
        }
    }
}

impl Body for MpCapable {
    fn nibble(&self) -> u8 {
        match self.version {
            Version::V0 => 0,
            Version::V1 => 1,
        }
    }

    fn len(&self) -> usize {
        1 + self.keys.len()
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        if !self.keys.is_in(self.version) {
            return Err(EmitError::NotInVersion0);
        }
        to.u8(self.flags.0)?;
        self.keys.emit(to)
    }
}

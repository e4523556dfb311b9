//! Errors and resets: MP_FAIL (section 3.7 of RFC 8684, 3.6 of RFC 6824), MP_FASTCLOSE (3.5) and
//! MP_TCPRST (3.6 of RFC 8684).

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, Key, ParseError};

/// MP_FAIL: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpFail {
    /// The data sequence number where the mapping with the wrong checksum began.
    pub data_seq: u64,
}

/// MP_FASTCLOSE: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpFastClose {
    /// The receiver's key, which authenticates the sender.
    pub receiver: Key,
}

/// MP_TCPRST: 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpReset {
    /// Flags U, V, W and T.
    pub flags: ResetFlags,
    /// The reason: 0 unspecified, 1 MPTCP error, 2 lack of resources, 3 prohibited, 4 too much
    /// outstanding data, 5 bad performance, 6 middlebox interference.
    pub reason: u8,
}

/// MP_TCPRST's four flags: U, V and W are not defined yet. They are preserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResetFlags(u8);

impl ResetFlags {
    /// T: the cause is transient, so the subflow may be opened again.
    pub const TRANSIENT: ResetFlags = ResetFlags(0x1);

    /// The flags in the low four bits of `bits`; the others are dropped.
    pub const fn new(bits: u8) -> ResetFlags {
        ResetFlags(bits & 0xf)
    }

    /// The four bits, U the most significant.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True if T is set.
    pub const fn is_transient(self) -> bool {
        self.0 & ResetFlags::TRANSIENT.0 != 0
    }
}

impl MpFail {
    pub(super) fn parse(mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let _reserved = fields.u8()?;
        let data_seq = fields.u64()?;
        fields.end()?;
        Ok(MpFail { data_seq })
    }
}

impl MpFastClose {
    pub(super) fn parse(mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let _reserved = fields.u8()?;
        let receiver = fields.key()?;
        fields.end()?;
        Ok(MpFastClose { receiver })
    }
}

impl MpReset {
    pub(super) fn parse(nibble: u8, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let reason = fields.u8()?;
        fields.end()?;
        Ok(MpReset { flags: ResetFlags::new(nibble), reason })
    }
}

impl Body for MpFail {
    fn len(&self) -> usize {
        9
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.u8(0)?;
        to.u64(self.data_seq)
    }
}

impl Body for MpFastClose {
    fn len(&self) -> usize {
        9
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.u8(0)?;
        to.put(&self.receiver.0)
    }
}

impl Body for MpReset {
    fn nibble(&self) -> u8 {
        self.flags.bits()
    }

    fn len(&self) -> usize {
        1
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        to.u8(self.reason)
    }
}

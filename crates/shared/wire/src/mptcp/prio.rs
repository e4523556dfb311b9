//! MP_PRIO (section 3.3.8): makes a subflow a backup, or no longer one.

use super::body::Body;
use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError};

/// MP_PRIO: 3 bytes, and with an address 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MpPrio {
    /// B: use the subflow only when no other works.
    pub backup: bool,
    /// Version 0: identifier of the sender's address whose subflows are meant, if not this subflow.
    pub address: Option<u8>,
}

/// Bit B, beside the subtype.
const BACKUP: u8 = 1;

impl MpPrio {
    pub(super) fn parse(nibble: u8, mut fields: Reader<'_>) -> Result<Self, ParseError> {
        let address = fields.u8().ok();
        fields.end()?;
        Ok(MpPrio { backup: nibble & BACKUP != 0, address })
    }
}

impl Body for MpPrio {
    fn nibble(&self) -> u8 {
        u8::from(self.backup)
    }

    fn len(&self) -> usize {
        usize::from(self.address.is_some())
    }

    fn emit(&self, to: &mut Writer<'_>) -> Result<(), EmitError> {
        self.address.map_or(Ok(()), |address| to.u8(address))
    }
}

//! MPTCP's TCP options: version 0 (RFC 6824) and version 1 (RFC 8684).
//!
//! The form of an option follows from its subtype, then from its length, and where the versions
//! differ as in the RFCs: MP_CAPABLE by its version field, ADD_ADDR by the four bits that are an
//! address family in version 0 and flags in version 1, MP_PRIO by its length. MP_JOIN, DSS,
//! REMOVE_ADDR, MP_FAIL and MP_FASTCLOSE look the same in both.
//!
//! An emitted option parses to the same value. A parsed option is emitted as the same bytes, except
//! for the reserved bits of both RFCs, which are ignored on parsing and emitted as 0 (section 3 of
//! both). Flags that are defined, or may be defined later (MP_CAPABLE's B to G, MP_TCPRST's U, V,
//! W), are preserved.

mod add_addr;
mod body;
mod capable;
mod dss;
mod failure;
mod join;
mod prio;
mod remove_addr;
#[cfg(test)]
mod tests;

pub use add_addr::{AddAddr, AddAddrForm};
pub use capable::{CapableFlags, CapableKeys, MpCapable};
pub use dss::{DataSeq, Dss, Mapping};
pub use failure::{MpFail, MpFastClose, MpReset, ResetFlags};
pub use join::MpJoin;
pub use prio::MpPrio;
pub use remove_addr::{AddressIds, RemoveAddr};

use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError, tcp};
use body::{Body, FIXED_BYTES};

/// One MPTCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MptcpOption {
    /// MP_CAPABLE: opens a connection.
    Capable(MpCapable),
    /// MP_JOIN: opens another subflow.
    Join(MpJoin),
    /// DSS: maps data to a subflow and acknowledges it.
    Dss(Dss),
    /// ADD_ADDR: offers an address.
    AddAddr(AddAddr),
    /// REMOVE_ADDR: withdraws addresses.
    RemoveAddr(RemoveAddr),
    /// MP_PRIO: makes a subflow a backup, or no longer one.
    Prio(MpPrio),
    /// MP_FAIL: reports a wrong checksum.
    Fail(MpFail),
    /// MP_FASTCLOSE: resets the connection.
    FastClose(MpFastClose),
    /// MP_TCPRST: reason for a reset of a subflow. Version 1 only.
    Reset(MpReset),
}

impl MptcpOption {
    /// Reads a whole TCP option, kind and length included.
    ///
    /// # Errors
    /// [`ParseError`], and never a panic.
    pub fn parse(option: &[u8]) -> Result<MptcpOption, ParseError> {
        let mut fields = Reader::new(option);
        if fields.u8()? != tcp::MPTCP {
            return Err(ParseError::OtherKind);
        }
        if usize::from(fields.u8()?) != option.len() {
            return Err(ParseError::Length);
        }
        let byte = fields.u8()?;
        Self::parse_subtype(byte >> 4, byte & 0xf, fields)
    }

    fn parse_subtype(subtype: u8, nibble: u8, fields: Reader<'_>) -> Result<Self, ParseError> {
        match subtype {
            0x0 => MpCapable::parse(nibble, fields).map(MptcpOption::Capable),
            0x1 => MpJoin::parse(nibble, fields).map(MptcpOption::Join),
            0x2 => Dss::parse(fields).map(MptcpOption::Dss),
            0x3 => AddAddr::parse(nibble, fields).map(MptcpOption::AddAddr),
            0x4 => RemoveAddr::parse(fields).map(MptcpOption::RemoveAddr),
            0x5 => MpPrio::parse(nibble, fields).map(MptcpOption::Prio),
            0x6 => MpFail::parse(fields).map(MptcpOption::Fail),
            0x7 => MpFastClose::parse(fields).map(MptcpOption::FastClose),
            0x8 => MpReset::parse(nibble, fields).map(MptcpOption::Reset),
            other => Err(ParseError::Subtype(other)),
        }
    }

    /// Bytes in a TCP header, kind and length included.
    #[expect(clippy::len_without_is_empty, reason = "no option is empty")]
    pub fn len(&self) -> usize {
        FIXED_BYTES + self.subtype().1.len()
    }

    /// Writes the whole TCP option to the front of `out` and returns its length,
    /// [`MptcpOption::len`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], and [`EmitError::NotInVersion0`] for an MP_CAPABLE in a form of
    /// version 1 only.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let (subtype, body) = self.subtype();
        let mut to = Writer::new(out);
        to.u8(tcp::MPTCP)?;
        to.u8(u8::try_from(self.len()).map_err(|_| EmitError::NoRoom)?)?;
        to.u8(subtype << 4 | body.nibble())?;
        body.emit(&mut to)?;
        Ok(to.written())
    }

    fn subtype(&self) -> (u8, &dyn Body) {
        match self {
            MptcpOption::Capable(body) => (0x0, body),
            MptcpOption::Join(body) => (0x1, body),
            MptcpOption::Dss(body) => (0x2, body),
            MptcpOption::AddAddr(body) => (0x3, body),
            MptcpOption::RemoveAddr(body) => (0x4, body),
            MptcpOption::Prio(body) => (0x5, body),
            MptcpOption::Fail(body) => (0x6, body),
            MptcpOption::FastClose(body) => (0x7, body),
            MptcpOption::Reset(body) => (0x8, body),
        }
    }
}

/// The first well-formed MPTCP option in a TCP header's option area.
///
/// A packet may carry several, such as DSS and ADD_ADDR; [`tcp::options`] returns all of them.
/// Those of the handshakes, MP_CAPABLE and MP_JOIN, are the only MPTCP option of their packet.
pub fn find(options: &[u8]) -> Option<MptcpOption> {
    tcp::options(options).find_map(|option| MptcpOption::parse(option.bytes).ok())
}

//! MP-HULA's header between ToRs (MP-HULA section 2.2).
//!
//! The paper defines two fields, the connection's ID (64 bits) and the subflow's number (4 bits),
//! but not their position in the packet. Here they follow the Ethernet header, or its VLAN tag, as
//! a header with its own EtherType, [`EtherType::SHIM`]:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------------------------------------------------------+
//! |                       Token A (MPTCP ID)                      |
//! +---------------------------------------------------------------+
//! |                       Token B (MPTCP ID)                      |
//! +-------+-----------------------+-------------------------------+
//! | Sub-1 |       reserved        |        next EtherType         |
//! +-------+-----------------------+-------------------------------+
//! ```
//!
//! The reserved bits are 0 when written and ignored when read.
//!
//! A frame grows by [`Shim::BYTES`], and switches may drop frames that are too long without notice:
//! links between ToRs need an MTU 12 bytes above that of the hosts (1512 for 1500).

use crate::bytes::{Reader, Writer};
use crate::{EmitError, EtherType, ParseError};

/// Identifier of an MPTCP connection in the fabric: token A (of the end that opened it) and token
/// B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MptcpId(pub u64);

/// A subflow's number within its connection, 1 to 16: the first subflow is 1. On the wire 4 bits
/// carry the number less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subflow(u8);

/// Header that a ToR adds to the packets of a connection with more than one subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shim {
    /// The connection.
    pub id: MptcpId,
    /// The subflow.
    pub subflow: Subflow,
}

impl Subflow {
    /// Largest subflow number: 4 bits.
    pub const MAX: u8 = 16;

    /// The first subflow, the one that opened the connection.
    pub const FIRST: Subflow = Subflow(1);

    /// The subflow with a number; `None` unless it is 1 to 16.
    pub const fn new(number: u8) -> Option<Subflow> {
        if number >= 1 && number <= Subflow::MAX { Some(Subflow(number)) } else { None }
    }

    /// Its number, from 1.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Shim {
    /// Bytes on the wire: the ID (8), the subflow (4 bits) and 12 reserved bits, the EtherType of
    /// what follows (2).
    pub const BYTES: usize = 12;

    /// Parses the shim at the front of a frame's payload with [`EtherType::SHIM`].
    ///
    /// # Errors
    /// [`ParseError::Length`] for fewer than [`Shim::BYTES`] bytes.
    pub fn parse(payload: &[u8]) -> Result<ShimFrame<'_>, ParseError> {
        let mut fields = Reader::new(payload);
        let id = MptcpId(fields.u64()?);
        let subflow = Subflow((fields.u16()? >> SUBFLOW_SHIFT) as u8 + 1);
        let ether_type = EtherType(fields.u16()?);
        Ok(ShimFrame { shim: Shim { id, subflow }, ether_type, payload: fields.rest() })
    }

    /// Writes the shim in front of a payload of EtherType `next`; returns [`Shim::BYTES`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`].
    pub fn emit(&self, next: EtherType, out: &mut [u8]) -> Result<usize, EmitError> {
        let mut to = Writer::new(out);
        to.u64(self.id.0)?;
        to.u16(u16::from(self.subflow.0 - 1) << SUBFLOW_SHIFT)?;
        to.u16(next.0)?;
        Ok(to.written())
    }
}

/// A frame's payload with a shim at its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimFrame<'a> {
    /// The shim.
    pub shim: Shim,
    /// The bytes behind it.
    pub ether_type: EtherType,
    /// The bytes behind it.
    pub payload: &'a [u8],
}

/// The subflow number is in the top 4 of 16 bits.
const SUBFLOW_SHIFT: u32 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixteenth_subflow_is_number_15_on_the_wire() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 0xf0, 0x00, 0x08, 0x00];
        let shim = Shim { id: MptcpId(0x0102_0304_0506_0708), subflow: Subflow(16) };
        let frame = ShimFrame { shim, ether_type: EtherType::IPV4, payload: &[] };
        assert_eq!(Shim::parse(&bytes), Ok(frame));
        let mut out = [0xff; Shim::BYTES];
        assert_eq!(shim.emit(EtherType::IPV4, &mut out), Ok(Shim::BYTES));
        assert_eq!(out, bytes);
    }

    #[test]
    fn reserved_bits_are_ignored() {
        let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0x1f, 0xff, 0x86, 0xdd, 0x60];
        let shim = Shim { id: MptcpId(0), subflow: Subflow(2) };
        let frame = ShimFrame { shim, ether_type: EtherType::IPV6, payload: &[0x60] };
        assert_eq!(Shim::parse(&bytes), Ok(frame));
    }

    #[test]
    fn eleven_bytes_are_too_few() {
        assert_eq!(Shim::parse(&[0; 11]), Err(ParseError::Length));
        let shim = Shim { id: MptcpId(0), subflow: Subflow::FIRST };
        assert_eq!(shim.emit(EtherType::IPV4, &mut [0; 11]), Err(EmitError::NoRoom));
    }
}

//! Ethernet frames (IEEE Std 802.3), with or without one VLAN tag (IEEE Std 802.1Q).

use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError};

/// EtherType: the protocol of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: EtherType = EtherType(0x0800);
    /// A VLAN tag.
    pub const VLAN: EtherType = EtherType(0x8100);
    /// IPv6.
    pub const IPV6: EtherType = EtherType(0x86dd);
    /// MP-HULA's shim: the first of the two Local Experimental EtherTypes (IEEE Std 802a-2003, now
    /// in IEEE Std 802).
    pub const SHIM: EtherType = EtherType(0x88b5);
    /// HULA's probe: the second of the two.
    pub const PROBE: EtherType = EtherType(0x88b6);
}

/// The header of a frame without a VLAN tag, to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EthernetHeader {
    /// The receiver's address.
    pub destination: [u8; 6],
    /// The sender's address.
    pub source: [u8; 6],
    /// EtherType of the payload.
    pub ether_type: EtherType,
}

impl EthernetHeader {
    /// Bytes of the header.
    pub const BYTES: usize = 14;

    /// Writes the header; returns [`EthernetHeader::BYTES`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let mut to = Writer::new(out);
        to.put(&self.destination)?;
        to.put(&self.source)?;
        to.u16(self.ether_type.0)?;
        Ok(to.written())
    }
}

/// A frame without preamble and check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ethernet<'a> {
    /// The receiver's address.
    pub destination: [u8; 6],
    /// The sender's address.
    pub source: [u8; 6],
    /// The tag control information, if there is a tag: priority (3 bits), drop eligible (1), VLAN
    /// (12).
    pub vlan: Option<u16>,
    /// EtherType of the payload; that after the VLAN tag, if there is one.
    pub ether_type: EtherType,
    /// The payload, and the padding of a short frame.
    pub payload: &'a [u8],
}

impl<'a> Ethernet<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// [`ParseError::Length`] if it ends within the header.
    pub fn parse(frame: &'a [u8]) -> Result<Ethernet<'a>, ParseError> {
        let mut fields = Reader::new(frame);
        let (destination, source) = (fields.array()?, fields.array()?);
        let mut ether_type = EtherType(fields.u16()?);
        let mut vlan = None;
        if ether_type == EtherType::VLAN {
            vlan = Some(fields.u16()?);
            ether_type = EtherType(fields.u16()?);
        }
        Ok(Ethernet { destination, source, vlan, ether_type, payload: fields.rest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_back() {
        let header = EthernetHeader {
            destination: [1, 2, 3, 4, 5, 6],
            source: [7, 8, 9, 10, 11, 12],
            ether_type: EtherType::PROBE,
        };
        let mut bytes = [0; 15];
        assert_eq!(header.emit(&mut bytes), Ok(EthernetHeader::BYTES));
        let read = Ethernet::parse(&bytes).unwrap();
        assert_eq!((read.destination, read.source), (header.destination, header.source));
        assert_eq!((read.ether_type, read.vlan, read.payload), (EtherType::PROBE, None, &[0][..]));
        assert_eq!(header.emit(&mut bytes[..13]), Err(EmitError::NoRoom));
    }
}

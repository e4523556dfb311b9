//! Ethernet frames (IEEE Std 802.3), with or without one VLAN tag (IEEE Std 802.1Q).

use crate::ParseError;
use crate::bytes::Reader;

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
    /// MP-HULA's shim: the first of the two Local Experimental EtherTypes (IEEE Std 802a-2003, now in IEEE Std 802).
    pub const SHIM: EtherType = EtherType(0x88b5);
    /// HULA's probe: the second of the two.
    pub const PROBE: EtherType = EtherType(0x88b6);
}

/// A frame without preamble and check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ethernet<'a> {
    /// The receiver's address.
    pub destination: [u8; 6],
    /// The sender's address.
    pub source: [u8; 6],
    /// The tag control information, if there is a tag: priority (3 bits), drop eligible (1), VLAN (12).
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

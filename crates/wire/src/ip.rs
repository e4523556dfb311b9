//! IPv4 (RFC 791) and IPv6 (RFC 8200): as much as it takes to find a transport's header.
//!
//! Checksums and IPv4's options are passed over.

use core::net::IpAddr;

use crate::bytes::Reader;
use crate::{EtherType, ParseError};

/// The protocol number of TCP.
pub const TCP: u8 = 6;

/// IPv4's header without options.
const V4_HEADER: usize = 20;

/// IPv4's fragment offset, beside its flags.
const FRAGMENT_OFFSET: u16 = 0x1fff;

// IPv6's extension headers.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// A packet of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpPacket<'a> {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// What the payload is; in IPv6, what follows the extension headers that are passed over.
    pub protocol: u8,
    /// The payload, without a frame's padding.
    pub payload: &'a [u8],
}

impl<'a> IpPacket<'a> {
    /// Reads the packet in a frame's payload.
    ///
    /// # Errors
    /// [`ParseError::OtherKind`] unless it is IPv4 or IPv6, and what [`IpPacket::parse_v4`] and [`IpPacket::parse_v6`]
    /// find.
    pub fn parse(ether_type: EtherType, payload: &'a [u8]) -> Result<Self, ParseError> {
        match ether_type {
            EtherType::IPV4 => Self::parse_v4(payload),
            EtherType::IPV6 => Self::parse_v6(payload),
            _ => Err(ParseError::OtherKind),
        }
    }

    /// Reads an IPv4 packet; bytes after its end are padding.
    ///
    /// # Errors
    /// [`ParseError::OtherKind`] of another version, [`ParseError::Length`] if a length is wrong or more than there is,
    /// [`ParseError::Fragment`] of a fragment that is not the first.
    pub fn parse_v4(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut fields = Reader::new(bytes);
        let [version_and_words, _service] = fields.array()?;
        let total_len = usize::from(fields.u16()?);
        let [_identification, fragment] = [fields.u16()?, fields.u16()?];
        let [_time_to_live, protocol, _, _] = fields.array()?;
        let [source, destination] = [fields.array::<4>()?, fields.array()?].map(IpAddr::from);
        if version_and_words >> 4 != 4 {
            return Err(ParseError::OtherKind);
        }
        if fragment & FRAGMENT_OFFSET != 0 {
            return Err(ParseError::Fragment);
        }
        let options = (usize::from(version_and_words & 0xf) * 4).checked_sub(V4_HEADER);
        let header_len = V4_HEADER + options.ok_or(ParseError::Length)?;
        let payload = bytes.get(header_len..total_len).ok_or(ParseError::Length)?;
        Ok(IpPacket { source, destination, protocol, payload })
    }

    /// Reads an IPv6 packet; bytes after its end are padding. Hop-by-hop, routing, destination and fragment headers
    /// are passed over.
    ///
    /// # Errors
    /// As [`IpPacket::parse_v4`].
    pub fn parse_v6(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut fields = Reader::new(bytes);
        let [version, _, _, _] = fields.array()?;
        let payload_len = usize::from(fields.u16()?);
        let [next_header, _hop_limit] = fields.array()?;
        let [source, destination] = [fields.array::<16>()?, fields.array()?].map(IpAddr::from);
        if version >> 4 != 6 {
            return Err(ParseError::OtherKind);
        }
        let payload = fields.rest().get(..payload_len).ok_or(ParseError::Length)?;
        let (protocol, payload) = skip_extensions(next_header, payload)?;
        Ok(IpPacket { source, destination, protocol, payload })
    }
}

/// The protocol behind the extension headers, and its bytes. Each header is at least 8 bytes, so this ends.
fn skip_extensions(mut header: u8, mut bytes: &[u8]) -> Result<(u8, &[u8]), ParseError> {
    while matches!(header, HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT) {
        let [next, len, offset_high, offset_low, ..] = *bytes else {
            return Err(ParseError::Length);
        };
        let eights = if header == FRAGMENT { 0 } else { usize::from(len) };
        if header == FRAGMENT && (offset_high, offset_low & !0b111) != (0, 0) {
            return Err(ParseError::Fragment);
        }
        bytes = bytes.get((eights + 1) * 8..).ok_or(ParseError::Length)?;
        header = next;
    }
    Ok((header, bytes))
}

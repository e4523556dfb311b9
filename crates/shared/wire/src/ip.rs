//! IPv4 (RFC 791) and IPv6 (RFC 8200), as far as needed to find the transport header.
//!
//! Checksums and IPv4 options are skipped.

mod header;

pub(crate) use header::Checksum;
pub use header::Ipv4Header;

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
    /// Protocol number of the payload; in IPv6, that after the skipped extension headers.
    pub protocol: u8,
    /// The payload, without a frame's padding.
    pub payload: &'a [u8],
}

impl<'a> IpPacket<'a> {
    /// Reads the packet in a frame's payload.
    ///
    /// # Errors
    /// [`ParseError::OtherKind`] unless it is IPv4 or IPv6, and the errors of
    /// [`IpPacket::parse_v4`] and [`IpPacket::parse_v6`].
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
    /// [`ParseError::OtherKind`] for another version, [`ParseError::Length`] if a length is wrong
    /// or exceeds the bytes, [`ParseError::Fragment`] for a fragment other than the first.
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
        let header_len = usize::from(version_and_words & 0xf) * 4;
        if header_len < V4_HEADER {
            return Err(ParseError::Length);
        }
        let payload = bytes.get(header_len..total_len).ok_or(ParseError::Length)?;
        Ok(IpPacket { source, destination, protocol, payload })
    }

    /// Parses an IPv6 packet; bytes after its end are padding. Hop-by-hop, routing, destination and
    /// fragment headers are skipped.
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

/// The protocol behind the extension headers, and its bytes. Each header is at least 8 bytes, so
/// this ends.
fn skip_extensions(mut header: u8, mut bytes: &[u8]) -> Result<(u8, &[u8]), ParseError> {
    while matches!(header, HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT) {
        let [next, len, offset_high, offset_low, ..] = *bytes else {
            return Err(ParseError::Length);
        };
        let len = match (header, [offset_high, offset_low & !0b111]) {
            (FRAGMENT, [0, 0]) => 8,
            (FRAGMENT, _) => return Err(ParseError::Fragment),
            _ => (usize::from(len) + 1) * 8,
        };
        bytes = bytes.get(len..).ok_or(ParseError::Length)?;
        header = next;
    }
    Ok((header, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// An IPv4 packet with `words` of header, a total length, flags and fragment offset; 8 bytes
    /// follow the header.
    fn v4(words: u8, total_len: u16, fragment: u16) -> Vec<u8> {
        let mut bytes = Vec::from([0; 20]);
        bytes[0] = 0x40 | words;
        bytes[2..4].copy_from_slice(&total_len.to_be_bytes());
        bytes[6..8].copy_from_slice(&fragment.to_be_bytes());
        bytes[9] = TCP;
        bytes[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        bytes
    }

    /// An IPv6 packet whose first header is of a kind.
    fn v6(next_header: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from([0; 40]);
        bytes[0] = 0x60;
        bytes[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
        bytes[6] = next_header;
        bytes[39] = 1;
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn v4_options_are_passed_over_and_padding_is_left_off() {
        let bytes = v4(6, 26, 0);
        let packet = IpPacket::parse_v4(&bytes).unwrap();
        assert_eq!(packet.source, IpAddr::from([10, 0, 0, 1]));
        assert_eq!(packet.destination, IpAddr::from([10, 0, 0, 2]));
        assert_eq!((packet.protocol, packet.payload), (TCP, &[5, 6][..]));
    }

    #[test]
    fn v4_lengths_that_contradict_each_other_are_errors() {
        for (words, total_len) in [(4, 28), (5, 19), (5, 29), (6, 23), (8, 28)] {
            let bytes = v4(words, total_len, 0);
            assert_eq!(IpPacket::parse_v4(&bytes), Err(ParseError::Length), "{words} {total_len}");
        }
        assert_eq!(IpPacket::parse_v4(&v4(5, 28, 0)[..19]), Err(ParseError::Length));
    }

    #[test]
    fn the_first_fragment_has_the_header_and_the_others_do_not() {
        let (more, first, later) = (0x2000_u16, 0, 1);
        assert!(IpPacket::parse_v4(&v4(5, 28, more | first)).is_ok());
        assert_eq!(IpPacket::parse_v4(&v4(5, 28, more | later)), Err(ParseError::Fragment));
        let fragment = |offset: u8| v6(FRAGMENT, &[TCP, 0, 0, offset | 1, 0, 0, 0, 0, 9]);
        assert_eq!(IpPacket::parse_v6(&fragment(0)).unwrap().payload, [9]);
        assert_eq!(IpPacket::parse_v6(&fragment(8)), Err(ParseError::Fragment));
    }

    #[test]
    fn v6_extension_headers_are_passed_over() {
        let mut headers = Vec::from([ROUTING, 0, 0, 0, 0, 0, 0, 0]);
        headers.extend([TCP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        headers.extend([1, 2, 3]);
        let bytes = v6(HOP_BY_HOP, &headers);
        let packet = IpPacket::parse_v6(&bytes).unwrap();
        assert_eq!((packet.protocol, packet.payload), (TCP, &[1, 2, 3][..]));
        assert_eq!(packet.destination, "::1".parse::<IpAddr>().unwrap());
    }

    #[test]
    fn a_v6_extension_header_that_is_cut_short_is_an_error() {
        for cut in [&[TCP, 0, 0][..], &[TCP, 0, 0, 0, 0, 0, 0], &[TCP, 255, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(IpPacket::parse_v6(&v6(DESTINATION, cut)), Err(ParseError::Length));
        }
    }

    #[test]
    fn the_version_must_be_that_of_the_ether_type() {
        let bytes = v4(5, 28, 0);
        assert!(IpPacket::parse(EtherType::IPV4, &bytes).is_ok());
        let bytes = v6(TCP, &bytes);
        assert_eq!(IpPacket::parse(EtherType::IPV4, &bytes), Err(ParseError::OtherKind));
        assert_eq!(IpPacket::parse(EtherType::PROBE, &bytes), Err(ParseError::OtherKind));
    }
}

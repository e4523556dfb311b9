//! TCP headers and their options (RFC 9293 section 3.1).

mod header;
mod option;

pub use header::TcpHeader;
pub use option::{CommonOption, pad};

use core::ops::BitOr;

use crate::ParseError;
use crate::bytes::Reader;

/// The kind of MPTCP's options (RFC 6824 section 8, RFC 8684 section 3).
pub const MPTCP: u8 = 30;

/// The most bytes of options that a TCP header has room for.
pub const MAX_OPTION_BYTES: usize = 40;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;

/// The least bytes of a TCP header.
const FIXED_BYTES: usize = 20;

/// A TCP segment. Window, checksum and urgent pointer are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpSegment<'a> {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The next sequence number expected, if ACK is set.
    pub ack: u32,
    /// The flags.
    pub flags: TcpFlags,
    /// The option area, padding included: the input of [`options`].
    pub options: &'a [u8],
    /// The data.
    pub payload: &'a [u8],
}

/// TCP's flags, CWR to FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x01);
    /// Opens a connection.
    pub const SYN: TcpFlags = TcpFlags(0x02);
    /// Resets the connection.
    pub const RST: TcpFlags = TcpFlags(0x04);
    /// The acknowledgment number is valid.
    pub const ACK: TcpFlags = TcpFlags(0x10);
    /// Pass the data on at once.
    pub const PSH: TcpFlags = TcpFlags(0x08);
    /// ECN-Echo (RFC 3168 section 6.1).
    pub const ECE: TcpFlags = TcpFlags(0x40);
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub const CWR: TcpFlags = TcpFlags(0x80);

    /// True if all of `flags` are set.
    pub const fn contains(self, flags: TcpFlags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl BitOr for TcpFlags {
    type Output = TcpFlags;

    fn bitor(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}

impl<'a> TcpSegment<'a> {
    /// Reads a segment: the payload of an IP packet.
    ///
    /// # Errors
    /// [`ParseError::Length`] if it ends within its header, or the header's length is less than 20
    /// bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<TcpSegment<'a>, ParseError> {
        let mut fields = Reader::new(bytes);
        let (source_port, destination_port) = (fields.u16()?, fields.u16()?);
        let (seq, ack) = (fields.u32()?, fields.u32()?);
        let [words, flags] = fields.array()?;
        let header_len = usize::from(words >> 4) * 4;
        let options = bytes.get(FIXED_BYTES..header_len).ok_or(ParseError::Length)?;
        let payload = bytes.get(header_len..).ok_or(ParseError::Length)?;
        let flags = TcpFlags(flags);
        Ok(TcpSegment { source_port, destination_port, seq, ack, flags, options, payload })
    }
}

/// One option of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpOption<'a> {
    /// Its kind; never 0 (end of list) or 1 (no operation).
    pub kind: u8,
    /// The whole option, kind and length included; at least 2 bytes.
    pub bytes: &'a [u8],
}

/// Iterates over the options in the option area of a TCP header.
///
/// No-operations are skipped. The iteration stops at an end-of-list, and at an option whose length
/// is less than 2 or exceeds the area, because the position of the next option is unknown then.
pub const fn options(bytes: &[u8]) -> TcpOptions<'_> {
    TcpOptions { rest: bytes }
}

/// The iterator of [`options`].
#[derive(Clone, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        let padding = self.rest.iter().take_while(|&&kind| kind == NO_OPERATION).count();
        let (option, rest) = split_option(self.rest.get(padding..)?).unwrap_or_default();
        self.rest = rest;
        Some(TcpOption { kind: *option.first()?, bytes: option })
    }
}

/// The option at the front of `bytes` and what follows; `None` at the end of the list and at a bad
/// length.
fn split_option(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes {
        [END_OF_LIST, ..] | [_, 0 | 1, ..] => None,
        [_, len, ..] => bytes.split_at_checked(usize::from(*len)),
        _ => None,
    }
}

impl core::iter::FusedIterator for TcpOptions<'_> {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn walk(bytes: &[u8]) -> Vec<(u8, &[u8])> {
        options(bytes).map(|option| (option.kind, option.bytes)).collect()
    }

    #[test]
    fn no_operations_are_passed_over_and_the_end_is_the_end() {
        let area = [1, 1, 3, 3, 7, 1, 4, 2, 0, 4, 2, 1];
        assert_eq!(walk(&area), [(3, &[3, 3, 7][..]), (4, &[4, 2])]);
        assert_eq!(walk(&[1, 1, 1]), []);
        assert_eq!(walk(&[]), []);
    }

    #[test]
    fn a_bad_length_ends_the_walk() {
        for bad in [&[8, 0, 4, 2][..], &[8, 1, 4, 2], &[8, 5, 4, 2], &[8]] {
            let area = [&[4, 2][..], bad].concat();
            assert_eq!(walk(&area), [(4, &[4, 2][..])]);
        }
    }

    /// A SYN with 8 bytes of options and 2 of data.
    fn segment(words: u8) -> [u8; 30] {
        let mut bytes = [0; 30];
        bytes[..4].copy_from_slice(&[0x9c, 0x40, 0x13, 0x88]);
        bytes[7] = 9;
        bytes[12..14].copy_from_slice(&[words << 4, 0x02]);
        bytes[20..].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        bytes
    }

    #[test]
    fn options_lie_between_the_header_and_the_data() {
        let bytes = segment(7);
        let read = TcpSegment::parse(&bytes).unwrap();
        assert_eq!((read.source_port, read.destination_port, read.seq), (40_000, 5000, 9));
        assert!(read.flags.contains(TcpFlags::SYN) && !read.flags.contains(TcpFlags::ACK));
        assert_eq!(read.options, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(read.payload, [9, 10]);
    }

    #[test]
    fn a_data_offset_below_5_or_past_the_end_is_an_error() {
        for words in [0, 4, 8, 15] {
            assert_eq!(TcpSegment::parse(&segment(words)), Err(ParseError::Length), "{words}");
        }
        assert_eq!(TcpSegment::parse(&segment(5)[..19]), Err(ParseError::Length));
    }
}

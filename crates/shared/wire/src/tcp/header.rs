//! Emission of TCP headers.

use core::net::Ipv4Addr;

use super::{FIXED_BYTES, MAX_OPTION_BYTES, TcpFlags};
use crate::EmitError;
use crate::bytes::Writer;
use crate::ip::{self, Checksum};

/// A TCP header to be written. The urgent pointer is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpHeader<'a> {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The sequence number of the first byte.
    pub seq: u32,
    /// The next sequence number expected.
    pub ack: u32,
    /// The flags.
    pub flags: TcpFlags,
    /// The window field, which is not scaled.
    pub window: u16,
    /// The option area: at most [`MAX_OPTION_BYTES`], and a multiple of 4 ([`super::pad`]).
    pub options: &'a [u8],
}

impl TcpHeader<'_> {
    /// Bytes of the header, options included.
    pub const fn len(&self) -> usize {
        FIXED_BYTES + self.options.len()
    }

    /// Always false: a header has 20 bytes at least.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Writes the header of a segment between two IPv4 addresses that carries `payload_len` bytes,
    /// all of them 0: the checksum is that of such data (RFC 9293 section 3.1). Returns its length.
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], also for an option area that no header has.
    pub fn emit(
        &self,
        (source, destination): (Ipv4Addr, Ipv4Addr),
        payload_len: usize,
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        if self.options.len() > MAX_OPTION_BYTES || !self.options.len().is_multiple_of(4) {
            return Err(EmitError::NoRoom);
        }
        let segment_len = u16::try_from(self.len() + payload_len).map_err(|_| EmitError::NoRoom)?;
        let mut to = Writer::new(out);
        to.u16(self.source_port)?;
        to.u16(self.destination_port)?;
        to.u32(self.seq)?;
        to.u32(self.ack)?;
        to.u8((self.len() / 4) as u8 * 16)?;
        to.u8(self.flags.0)?;
        to.u16(self.window)?;
        to.u32(0)?;
        to.put(self.options)?;
        let len = to.written();
        let mut sum = Checksum::default();
        sum.add(&source.octets());
        sum.add(&destination.octets());
        sum.add(&[0, ip::TCP]);
        sum.add(&segment_len.to_be_bytes());
        sum.add(&out[..len]);
        out[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.finish().to_be_bytes());
        Ok(len)
    }
}

/// Position of the checksum.
const CHECKSUM: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpSegment;

    #[test]
    fn a_header_is_read_back_and_its_checksum_sums_to_zero() {
        let ends = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let header = TcpHeader {
            source_port: 40_000,
            destination_port: 5001,
            seq: 0x0102_0304,
            ack: 7,
            flags: TcpFlags::ACK | TcpFlags::ECE,
            window: 0xffff,
            options: &[1, 1, 4, 2],
        };
        let mut bytes = [0; 24];
        assert_eq!(header.emit(ends, 1460, &mut bytes), Ok(24));
        let read = TcpSegment::parse(&bytes).unwrap();
        assert_eq!((read.source_port, read.destination_port), (40_000, 5001));
        assert_eq!((read.seq, read.ack, read.flags), (0x0102_0304, 7, header.flags));
        assert_eq!(read.options, [1, 1, 4, 2]);
        let mut sum = Checksum::default();
        for part in
            [&ends.0.octets()[..], &ends.1.octets(), &[0, 6], &1484u16.to_be_bytes(), &bytes]
        {
            sum.add(part);
        }
        assert_eq!(sum.finish(), 0, "RFC 1071: the sum over a right header is all ones");
    }

    #[test]
    fn areas_that_no_header_has_are_refused() {
        let ends = (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
        let with =
            |options: &[u8], room: usize| {
                let (source_port, destination_port, seq, ack) = (1, 2, 3, 4);
                let flags = TcpFlags::SYN;
                TcpHeader { source_port, destination_port, seq, ack, flags, window: 0, options }
                    .emit(ends, 0, &mut [0; 80][..room])
            };
        assert_eq!(with(&[1; 40], 60), Ok(60));
        for (options, room) in [(&[1u8; 44][..], 80), (&[1; 3], 80), (&[1; 40], 59)] {
            assert_eq!(with(options, room), Err(EmitError::NoRoom));
        }
    }
}

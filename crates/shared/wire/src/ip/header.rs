//! Emission of IPv4 headers, and the Internet checksum (RFC 1071).

use core::net::Ipv4Addr;

use super::V4_HEADER;
use crate::EmitError;
use crate::bytes::Writer;

/// An IPv4 header without options, of a packet that is not to be fragmented: its identification is
/// 0 (RFC 6864 section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4Header {
    /// The sender.
    pub source: Ipv4Addr,
    /// The receiver.
    pub destination: Ipv4Addr,
    /// Protocol number of the payload.
    pub protocol: u8,
    /// Time to live.
    pub ttl: u8,
    /// ECN field (RFC 3168 section 5): 0 not capable, 2 ECT(0), 3 congestion experienced.
    pub ecn: u8,
    /// Bytes of the payload.
    pub payload_len: u16,
}

/// The flag "don't fragment", as the field of flags and offset has it.
const DONT_FRAGMENT: u16 = 0x4000;

/// Position of the checksum.
const CHECKSUM: usize = 10;

impl Ipv4Header {
    /// Bytes of the header.
    pub const BYTES: usize = V4_HEADER;

    /// Writes the header with its checksum; returns [`Ipv4Header::BYTES`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`], also for a packet of more than 65 535 bytes.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let total = self.payload_len.checked_add(V4_HEADER as u16).ok_or(EmitError::NoRoom)?;
        let mut to = Writer::new(out);
        to.put(&[0x45, self.ecn & 3])?;
        to.u16(total)?;
        to.u16(0)?;
        to.u16(DONT_FRAGMENT)?;
        to.put(&[self.ttl, self.protocol, 0, 0])?;
        to.put(&self.source.octets())?;
        to.put(&self.destination.octets())?;
        let len = to.written();
        let mut sum = Checksum::default();
        sum.add(&out[..len]);
        out[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.finish().to_be_bytes());
        Ok(len)
    }
}

/// The sum of RFC 1071, over parts of even length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(2) {
            let [high, low] = [word[0], word.get(1).copied().unwrap_or(0)];
            self.0 += u64::from(u16::from_be_bytes([high, low]));
        }
    }

    /// The complement of the sum.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IpPacket;

    /// RFC 1071 section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
    #[test]
    fn the_sum_is_that_of_the_rfc() {
        let mut sum = Checksum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    #[test]
    fn a_header_is_read_back() {
        let header = Ipv4Header {
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            protocol: crate::ip::TCP,
            ttl: 64,
            ecn: 2,
            payload_len: 3,
        };
        let mut bytes = [7; 23];
        assert_eq!(header.emit(&mut bytes), Ok(20));
        let read = IpPacket::parse_v4(&bytes).unwrap();
        assert_eq!(
            (read.source, read.destination),
            (header.source.into(), header.destination.into())
        );
        assert_eq!((read.protocol, read.payload), (6, &[7, 7, 7][..]));
        let mut sum = Checksum::default();
        sum.add(&bytes[..20]);
        assert_eq!(sum.finish(), 0);
        assert_eq!(header.emit(&mut bytes[..19]), Err(EmitError::NoRoom));
        let long = Ipv4Header { payload_len: 65_516, ..header };
        assert_eq!(long.emit(&mut bytes), Err(EmitError::NoRoom));
    }
}

//! A 5-tuple as the bytes that are hashed.

use heddle_policy::cflb::{Addresses, Fields};

/// Bytes of an IPv6 5-tuple and of a router number.
const MOST: usize = 16 + 16 + 1 + 4 + 4;

/// A 5-tuple in the order of figure 3a and in network order: both addresses, the protocol, both
/// ports (0 where there are none). 13 bytes in IPv4, 37 in IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    bytes: [u8; MOST],
    length: u8,
}

impl Tuple {
    /// Of a packet.
    #[inline]
    pub fn new(fields: &Fields) -> Tuple {
        let mut tuple = Tuple { bytes: [0; MOST], length: 0 };
        match fields.addresses {
            Addresses::V4(source, destination) => {
                tuple.push(source.octets());
                tuple.push(destination.octets());
            }
            Addresses::V6(source, destination) => {
                tuple.push(source.octets());
                tuple.push(destination.octets());
            }
        }
        tuple.push([fields.protocol]);
        tuple.push(fields.ports.unwrap_or_default().bits().to_be_bytes());
        tuple
    }

    /// With a router number behind it.
    #[inline]
    pub fn with_router(mut self, router: u32) -> Tuple {
        let end = usize::from(self.length).min(MOST - 4);
        self.length = end as u8;
        self.push(router.to_be_bytes());
        self
    }

    /// Bytes that are hashed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    #[inline]
    fn push<const N: usize>(&mut self, more: [u8; N]) {
        let end = usize::from(self.length);
        self.bytes[end..end + N].copy_from_slice(&more);
        self.length += N as u8;
    }
}

//! HULA's probe header (HULA section 4.2 and the P4 listing of figure 3a): 4 bytes.
//!
//! The paper sends it after Ethernet and IPv4, under an IP protocol number that it does not
//! specify. Here it follows the Ethernet header under [`crate::EtherType::PROBE`]: probes stay
//! within the fabric and need no address. The frame is padded to Ethernet's minimum of 64 bytes, as
//! in the paper.

use crate::bytes::{Reader, Writer};
use crate::{EmitError, ParseError};

/// A ToR's number: 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TorId(u32);

/// HULA's probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// `dst_tor`: the ToR that originated the probe, the destination of the path.
    pub tor: TorId,
    /// `path_util`: the maximum link utilisation on the best path to that ToR, on a scale common to
    /// all switches.
    pub path_util: u8,
}

impl TorId {
    /// The ToR with a number; `None` unless it fits in 24 bits.
    pub const fn new(number: u32) -> Option<TorId> {
        if number < 1 << 24 { Some(TorId(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl Probe {
    /// Bytes on the wire.
    pub const BYTES: usize = 4;

    /// Reads the probe at the front of a frame's payload; padding may follow.
    ///
    /// # Errors
    /// [`ParseError::Length`] for fewer than [`Probe::BYTES`] bytes.
    pub fn parse(payload: &[u8]) -> Result<Probe, ParseError> {
        let [high, middle, low, path_util] = Reader::new(payload).array()?;
        Ok(Probe { tor: TorId(u32::from_be_bytes([0, high, middle, low])), path_util })
    }

    /// Writes the probe; returns [`Probe::BYTES`].
    ///
    /// # Errors
    /// [`EmitError::NoRoom`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let [_, high, middle, low] = self.tor.0.to_be_bytes();
        let mut to = Writer::new(out);
        to.put(&[high, middle, low, self.path_util])?;
        Ok(to.written())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_four_bits_of_tor_then_eight_of_utilisation() {
        let probe = Probe { tor: TorId(0x01_0203), path_util: 200 };
        let mut out = [0; 60];
        assert_eq!(probe.emit(&mut out), Ok(4));
        assert_eq!(out[..5], [1, 2, 3, 200, 0]);
        assert_eq!(Probe::parse(&out), Ok(probe));
        assert_eq!(Probe::parse(&out[..3]), Err(ParseError::Length));
    }

    #[test]
    fn a_tor_has_24_bits() {
        assert_eq!(TorId::new(0xff_ffff).map(TorId::number), Some(0xff_ffff));
        assert_eq!(TorId::new(0x100_0000), None);
    }
}

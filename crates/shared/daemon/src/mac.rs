//! Ethernet addresses.

use std::fmt;
use std::str::FromStr;

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address as the data plane has it (`settings.macs`): its first byte lowest.
    pub fn bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

/// A text that is no Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an Ethernet address has six bytes, as in 02:00:00:00:00:01")]
pub struct NotAMac;

impl FromStr for Mac {
    type Err = NotAMac;

    fn from_str(text: &str) -> Result<Mac, NotAMac> {
        let byte = |part: &str| {
            let digits = part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
            digits.then(|| u8::from_str_radix(part, 16).ok()).flatten().ok_or(NotAMac)
        };
        let bytes = text.split(':').map(byte).collect::<Result<Vec<u8>, NotAMac>>()?;
        bytes.try_into().map(Mac).map_err(|_| NotAMac)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bits_are_of_the_same_bytes() {
        let mac: Mac = "02:0a:00:00:00:fF".parse().unwrap();
        assert_eq!((mac, mac.bits()), (Mac([2, 10, 0, 0, 0, 255]), 0xff00_0000_0a02));
        assert_eq!(mac.to_string(), "02:0a:00:00:00:ff");
        for text in
            ["", "02:00:00:00:00", "02:00:00:00:00:00:00", "2:0:0:0:0:1", "02:00:00:00:00:+1"]
        {
            assert_eq!(text.parse::<Mac>(), Err(NotAMac), "{text}");
        }
    }
}

//! The hash of a packet's 5-tuple, as bpf/switch/flow.h has it.

use std::net::IpAddr;

use heddle_policy::cflb::hash_words;

/// A packet's addresses, ports and protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiveTuple {
    /// Sender.
    pub source: IpAddr,
    /// Receiver, of the same family.
    pub destination: IpAddr,
    /// Ports of sender and receiver; 0 where the protocol has none.
    pub ports: (u16, u16),
    /// IP's number of the protocol.
    pub protocol: u8,
}

impl FiveTuple {
    /// Its hash at every switch (MurmurHash3, x86, 32 bits).
    pub fn hash(&self) -> u32 {
        let mut words = address_words(self.source);
        words.extend(address_words(self.destination));
        words.push(u32::from(self.ports.0) << 16 | u32::from(self.ports.1));
        words.push(self.protocol.into());
        hash_words(0, &words)
    }
}

/// An address as 32-bit words, the first in front.
fn address_words(address: IpAddr) -> Vec<u32> {
    match address {
        IpAddr::V4(v4) => vec![v4.to_bits()],
        IpAddr::V6(v6) => [96, 64, 32, 0].map(|shift| (v6.to_bits() >> shift) as u32).to_vec(),
    }
}

//! What the eBPF programs share with whoever loads them: Rust's types of bpf/include/abi.h, where comments say more.
//!
//! Addresses are in network order, IPv4 mapped; ports are in network order (`u16::to_be`), other numbers in the machine's.
//! Each enum lists its values (`ALL`), names them as C does (`name`) and is made of a number (`from_number`); structs hold
//! them as numbers.
#![allow(missing_docs)] // Not all of abi.h's names need a comment.
#![allow(unsafe_code)] // aya wants to be told which types are plain old data.

use std::net::{IpAddr, Ipv6Addr};

use aya::Pod;

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

macro_rules! plain_old_data {
    ($($name:ident)*) => {
        // SAFETY: made by bindgen of a C struct of numbers, with its padding as fields: any bytes are a value, and all
        // of a value's bytes are initialised.
        $(unsafe impl Pod for $name {})*
    };
}

plain_old_data! {
    Address AssignedKey BenchFrame BenchState Count Flow FlowKey Fragment FragmentKey Settings Target TokenEntry Trace Vip
    VipKey
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        let v6 = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let bits = v6.to_bits();
        Self { high: ((bits >> 64) as u64).to_be(), low: (bits as u64).to_be() }
    }
}

impl From<Address> for IpAddr {
    fn from(address: Address) -> Self {
        let (high, low) = (u64::from_be(address.high), u64::from_be(address.low));
        let bits = u128::from(high) << 64 | u128::from(low);
        IpAddr::V6(Ipv6Addr::from_bits(bits)).to_canonical()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// abi.h: "16 bytes in network order; IPv4 is mapped (::ffff:a.b.c.d)".
    #[test]
    fn addresses_lie_in_memory_as_in_packets() {
        let bytes = |text: &str| {
            let Address { high, low } = text.parse::<IpAddr>().unwrap().into();
            [high.to_ne_bytes(), low.to_ne_bytes()].concat()
        };
        assert_eq!(bytes("192.0.2.7"), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 7]);
        assert_eq!(bytes("2001:db8::7")[..4], [0x20, 1, 0xd, 0xb8]);
        for text in ["192.0.2.7", "2001:db8::7", "::1"] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(IpAddr::from(Address::from(address)), address);
        }
    }

    #[test]
    fn enums_are_made_of_their_numbers() {
        for (number, state) in FlowState::ALL.iter().enumerate() {
            assert_eq!(FlowState::from_number(number as u32), Some(*state));
        }
        assert_eq!(FlowState::from_number(7), None);
        assert_eq!(Counter::SentSyn.name(), "sent_syn");
        assert_eq!(MptcpMode::SourceIp.name(), "source_ip");
        assert_eq!(Counter::ALL.len(), Counter::ALL_COUNTERS);
        assert_eq!(Counter::FlowAdded as usize, Counter::VERDICTS);
    }
}

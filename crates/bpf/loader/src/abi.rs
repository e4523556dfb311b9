//! Rust types of what every program shares with user space: bpf/include/{address,count,bench}.h,
//! where comments say more.
#![allow(missing_docs)] // Not all names in the headers need a comment.
#![allow(unsafe_code)] // aya wants to be told which types are plain old data.

use std::net::{IpAddr, Ipv6Addr};

pub use aya::Pod;

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

/// Marks types that bindgen made of C structs as plain old data.
///
/// Sound for structs of numbers, with their padding as fields, as heddle-bpf-build makes them: any
/// bytes are a value, and all of a value's bytes are initialised.
#[macro_export]
macro_rules! plain_old_data {
    ($($name:ident)*) => {
        // SAFETY: as the macro's documentation says.
        $(unsafe impl $crate::abi::Pod for $name {})*
    };
}

plain_old_data! { Address BenchFrame BenchState Count }

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

    /// address.h: "16 bytes in network order; IPv4 is mapped (::ffff:a.b.c.d)".
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
}

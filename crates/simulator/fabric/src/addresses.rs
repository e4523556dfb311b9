//! Addresses of a switch's own.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Prefixes set aside for benchmarks of devices (RFC 2544, RFC 5180): IANA's registries let such
/// addresses be a source and be forwarded, and none is on the Internet.
const BENCHMARKS: (Ipv4Addr, Ipv6Addr) =
    (Ipv4Addr::new(198, 18, 0, 0), Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0));

/// The addresses from which a switch sends ICMP errors unless it is given others: each switch has
/// its own ones, so that traceroute tells switches apart. `switch` counts from 0.
pub fn switch_addresses(switch: u32) -> (Ipv4Addr, Ipv6Addr) {
    let v4 = Ipv4Addr::from_bits(BENCHMARKS.0.to_bits() + switch + 1);
    let v6 = Ipv6Addr::from_bits(BENCHMARKS.1.to_bits() + u128::from(switch) + 1);
    (v4, v6)
}

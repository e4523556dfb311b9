//! Addresses of machines.

use std::net::{IpAddr, Ipv4Addr};

use heddle_config::Problem;

use super::super::resolved::Balancer;

/// Refuses an address that no machine can have as its own, and IPv4 addresses written as IPv6.
pub(super) fn check_unicast(key: &str, address: IpAddr) -> Result<(), Problem> {
    if address.to_canonical() != address {
        let message = format!("{address} is an IPv4-mapped IPv6 address");
        return Err(Problem::at(key, message).help(format!("{}", address.to_canonical())));
    }
    let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
    if address.is_unspecified() || address.is_multicast() || is_broadcast {
        let message = format!("{address} is not a unicast address");
        return Err(Problem::at(key, message).help("the address of one machine"));
    }
    Ok(())
}

/// True if the balancer can send to `address`: it has an address of the same family.
pub(super) fn can_reach(balancer: &Balancer, address: IpAddr) -> bool {
    own_addresses(balancer).any(|own| own.is_ipv6() == address.is_ipv6())
}

/// The balancer's own addresses.
pub(super) fn own_addresses(balancer: &Balancer) -> impl Iterator<Item = IpAddr> {
    let v4 = balancer.ipv4.map(IpAddr::V4);
    v4.into_iter().chain(balancer.ipv6.map(IpAddr::V6))
}

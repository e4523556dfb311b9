//! Addresses of machines.

use std::net::{IpAddr, Ipv4Addr};

use heddle_config::Problem;

use super::super::resolved::Balancer;

/// The first byte of addresses that are sources alone (RFC 1122, section 3.2.1.3).
const THIS_NETWORK: u8 = 0;

/// Refuses an address that no machine can have as its own, IPv6 addresses of one link,
/// and IPv4 addresses written as IPv6.
pub(super) fn check_unicast(key: &str, address: IpAddr) -> Result<(), Problem> {
    if address.to_canonical() != address {
        let message = format!("{address} is an IPv4-mapped IPv6 address");
        return Err(Problem::at(key, message).help(format!("{}", address.to_canonical())));
    }
    let is_reserved = match address {
        IpAddr::V4(v4) => v4 == Ipv4Addr::BROADCAST || v4.octets()[0] == THIS_NETWORK,
        IpAddr::V6(v6) => v6.is_unspecified(),
    };
    if is_reserved || address.is_multicast() {
        let message = format!("{address} is not a unicast address");
        return Err(Problem::at(key, message).help("the address of one machine"));
    }
    if matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local()) {
        let message = format!(
            "{address} is a link-local address, which names no machine without an interface"
        );
        return Err(Problem::at(key, message).help("a global or unique local address (fd00::/8)"));
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

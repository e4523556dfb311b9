//! This machine's own addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};

/// Those on some interfaces, with the interface's name.
pub(crate) fn on(interfaces: &[String]) -> BTreeMap<IpAddr, String> {
    let all = getifaddrs().into_iter().flatten();
    let on = all.filter(|one| interfaces.contains(&one.interface_name));
    on.filter_map(|one| Some((ip(&one)?, one.interface_name))).collect()
}

/// All of them.
pub(crate) fn all() -> BTreeSet<IpAddr> {
    getifaddrs().into_iter().flatten().filter_map(|one| ip(&one)).collect()
}

/// The IPv4 networks that they are in, with the interface's name.
pub(crate) fn networks() -> BTreeMap<Ipv4Net, String> {
    let all = getifaddrs().into_iter().flatten();
    all.filter_map(|one| Some((network(&one)?, one.interface_name))).collect()
}

fn ip(one: &InterfaceAddress) -> Option<IpAddr> {
    let address = one.address.as_ref()?;
    let v4 = address.as_sockaddr_in().map(|v4| v4.ip().into());
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip().into()))
}

fn network(one: &InterfaceAddress) -> Option<Ipv4Net> {
    let v4 = |address: Option<&nix::sys::socket::SockaddrStorage>| -> Option<Ipv4Addr> {
        Some(address?.as_sockaddr_in()?.ip())
    };
    let network = Ipv4Net::with_netmask(v4(one.address.as_ref())?, v4(one.netmask.as_ref())?);
    network.ok().map(|network| network.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_named_interfaces() {
        let named = |name: &str| on(&[name.to_owned()]);
        let loopback = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(named("lo").get(&loopback).map(String::as_str), Some("lo"));
        assert!(named("no-such-interface").is_empty() && all().contains(&loopback));
        assert_eq!(networks().get(&"127.0.0.0/8".parse().unwrap()).map(String::as_str), Some("lo"));
    }
}

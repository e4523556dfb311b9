//! Paths to backends and other balancers that have no room for clients' packets with the headers
//! that are put in front (bpf/balancer/forward.h).

use std::net::IpAddr;

use heddle_balancer_api::Forwarding;

use crate::config::{Config, Service};

/// The longest packets of clients behind Ethernet, in bytes of IP.
pub const CLIENTS: u32 = 1500;

/// The least MTU of IPv6 (RFC 8200, section 5): hosts need not send less (RFC 8201, section 4).
const LEAST_IPV6: u32 = 1280;

const UDP: u32 = 8;
const STEERING: u32 = 20;

fn ip(outer: IpAddr) -> u32 {
    if outer.is_ipv4() { 20 } else { 40 }
}

/// Bytes that forwarding to a backend at this address adds.
pub fn forwarding_adds(forwarding: Forwarding, address: IpAddr) -> u32 {
    match forwarding {
        Forwarding::L2 => 0,
        Forwarding::Ipip => ip(address),
        Forwarding::Gue => ip(address) + UDP,
    }
}

/// Bytes that a steering header adds on the way to a balancer at this address.
pub fn steering_adds(address: IpAddr) -> u32 {
    ip(address) + UDP + STEERING
}

/// A path whose MTU cannot carry what is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// The affected traffic and the reason.
    pub message: String,
    /// The least MTU that does, in bytes of IP.
    pub least: u32,
}

/// The paths that are too narrow: one for each service, and one for the other balancers. `mtu` is of
/// the path to an address; none: not known.
pub fn narrow(
    config: &Config,
    others: &[IpAddr],
    mtu: impl Fn(IpAddr) -> Option<u32>,
) -> Vec<Narrow> {
    let services = config.owners().filter_map(|service| of_service(service, &mtu));
    services.chain(of_balancers(others, &mtu)).collect()
}

/// Of several the narrowest.
fn narrowest(
    paths: impl Iterator<Item = (IpAddr, u32)>,
    mtu: impl Fn(IpAddr) -> Option<u32>,
) -> Option<(u32, u32)> {
    let lacking = paths.filter_map(|(address, added)| {
        let mtu = mtu(address)?;
        (mtu < CLIENTS + added).then_some((mtu, added))
    });
    lacking.max_by_key(|(mtu, added)| added.saturating_sub(*mtu))
}

fn of_service(service: &Service, mtu: impl Fn(IpAddr) -> Option<u32>) -> Option<Narrow> {
    let paths = service
        .backends
        .iter()
        .map(|backend| (backend.address, forwarding_adds(service.forwarding, backend.address)));
    let (mtu, added) = narrowest(paths, mtu)?;
    let headers = match added {
        0 => String::new(),
        _ => format!(" with {added} of outer headers"),
    };
    let lost = match service.address.is_ipv6() && mtu < LEAST_IPV6 + added {
        true => format!("; those of {LEAST_IPV6} are lost, less than which IPv6 does not send"),
        false => String::new(),
    };
    let message = format!(
        "service {}: an MTU of {mtu} to a backend has no room for packets of {CLIENTS} bytes{headers}: clients are told to send less (too_big){lost}",
        service.name
    );
    Some(Narrow { message, least: CLIENTS + added })
}

fn of_balancers(others: &[IpAddr], mtu: impl Fn(IpAddr) -> Option<u32>) -> Option<Narrow> {
    let (mtu, added) = narrowest(others.iter().map(|at| (*at, steering_adds(*at))), mtu)?;
    let message = format!(
        "an MTU of {mtu} to another balancer has no room for packets of {CLIENTS} bytes with {added} of a steering header: their fragments wait for questions, registrations for shorter packets"
    );
    Some(Narrow { message, least: CLIENTS + added })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "[balancer]\nname = \"lb1\"\ninterfaces = [\"eth0\"]\naddresses = [\"10.0.0.1\"]\n\
        [[service]]\nname = \"web\"\naddress = \"192.0.2.10\"\nport = 443\nforwarding = \"FORWARDING\"\n\
        [[service.backend]]\nname = \"be1\"\naddress = \"10.0.0.101\"\n";

    fn least(forwarding: &str, others: &[IpAddr], mtu: u32) -> Vec<u32> {
        let text = TWO.replace("FORWARDING", forwarding);
        let config =
            crate::config::load("lb.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        narrow(&config, others, |_| Some(mtu)).into_iter().map(|narrow| narrow.least).collect()
    }

    #[test]
    fn a_narrow_path_without_headers_is_told_and_what_ipv6_loses() {
        let told = |text: &str, mtu| {
            let text = text.replace("FORWARDING", "l2");
            let config = crate::config::load("lb.toml", &text).unwrap();
            narrow(&config, &[], |_| Some(mtu)).into_iter().map(|narrow| narrow.message).collect()
        };
        let v4: Vec<String> = told(TWO, 1200);
        let wanted = "service web: an MTU of 1200 to a backend has no room for packets of 1500 bytes: clients are told to send less (too_big)";
        assert_eq!(v4, [wanted]);
        let v6 = TWO.replace("192.0.2.10", "2001:db8::10").replace("10.0.0.101", "fd00::101");
        let lost = "; those of 1280 are lost, less than which IPv6 does not send";
        assert_eq!(told(&v6, 1279), [wanted.replace("1200", "1279") + lost]);
        assert!(!told(&v6, 1280)[0].ends_with(lost));
    }

    /// packet-path.md, Encapsulation: 20 bytes for IPIP, 28 for GUE, 48 for steering, over IPv4.
    #[test]
    fn each_path_has_room_for_its_headers() {
        let peer = ["10.0.0.2".parse().unwrap()];
        let peer6 = ["fd00::2".parse().unwrap()];
        assert!(least("l2", &[], 1500).is_empty(), "nothing is added");
        assert_eq!(least("ipip", &[], 1519), [1520]);
        assert!(least("ipip", &[], 1520).is_empty());
        assert_eq!(least("gue", &[], 1500), [1528]);
        assert_eq!(least("l2", &peer, 1547), [1548]);
        assert_eq!(least("l2", &peer6, 1567), [1568]);
        assert_eq!(least("gue", &peer, 1500), [1528, 1548]);
        assert!(least("gue", &peer6, 1600).is_empty());
    }
}

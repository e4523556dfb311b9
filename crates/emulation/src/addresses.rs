//! Addresses of hosts and Ethernet addresses of links.
//!
//! Host p of ToR t has `10.t.p.1`, and one more address for each further subflow: the kernel's path
//! manager opens a subflow from an address, not from a port of its choice. So a ToR is a /16 and a
//! host a /24.

use std::fmt;
use std::net::Ipv4Addr;

use heddle_fabric::Fabric;
use heddle_policy::Tor;

use crate::EmulationError;

/// Most ToRs, most hosts of a ToR.
const MOST: usize = 254;

/// The next hop's address in all routes; it stands in the neighbour table of each device.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);

/// Addresses of a fabric's hosts.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// (ToR, place among its hosts), both from 1.
    places: Vec<(u8, u8)>,
    subflows: u8,
}

impl Addresses {
    /// Addresses for hosts whose connections have this many subflows.
    ///
    /// # Errors
    /// More ToRs, or hosts of a ToR, than a byte can number.
    pub fn new(fabric: &Fabric, subflows: u8) -> Result<Addresses, EmulationError> {
        let mut hosts_of = vec![0usize; fabric.tors as usize];
        let place = |&Tor(tor): &Tor| {
            let hosts = &mut hosts_of[usize::from(tor)];
            *hosts += 1;
            Ok((number("ToRs", usize::from(tor) + 1)?, number("hosts of a ToR", *hosts)?))
        };
        let places: Result<_, EmulationError> = fabric.host_tor.iter().map(place).collect();
        Ok(Addresses { places: places?, subflows })
    }

    /// A host's addresses: the one that servers listen on, and those of further subflows.
    pub fn of_host(&self, host: u32) -> Vec<Ipv4Addr> {
        let (tor, place) = self.places[host as usize];
        (1..=self.subflows).map(|last| Ipv4Addr::new(10, tor, place, last)).collect()
    }

    /// The address on which a host listens.
    pub fn first(&self, host: u32) -> Ipv4Addr {
        let (tor, place) = self.places[host as usize];
        Ipv4Addr::new(10, tor, place, 1)
    }

    /// The prefix of a host.
    pub fn host_prefix(&self, host: u32) -> String {
        let (tor, place) = self.places[host as usize];
        format!("10.{tor}.{place}.0/24")
    }

    /// The prefix of a ToR's hosts.
    pub fn tor_prefix(tor: Tor) -> String {
        format!("10.{}.0.0/16", tor.0 + 1)
    }

    /// The first address of the host that has this one: the same for all subflows of a host.
    pub(crate) fn host_of(address: Ipv4Addr) -> Ipv4Addr {
        let [a, b, c, _] = address.octets();
        Ipv4Addr::new(a, b, c, 1)
    }

    /// The host that has this address.
    pub fn host(&self, address: Ipv4Addr) -> Option<u32> {
        let [_, tor, place, _] = address.octets();
        self.places.iter().position(|&at| at == (tor, place)).map(|host| host as u32)
    }
}

fn number(what: &'static str, count: usize) -> Result<u8, EmulationError> {
    u8::try_from(count)
        .ok()
        .filter(|&count| usize::from(count) <= MOST)
        .ok_or(EmulationError::TooMany { what, most: MOST })
}

/// The Ethernet address of one end (0 or 1) of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMac {
    /// The link, as an index of the graph's links.
    pub link: u32,
    /// Its end.
    pub end: u8,
}

impl LinkMac {
    /// Its octets.
    pub fn octets(&self) -> [u8; 6] {
        let [_, a, b, c] = self.link.to_be_bytes();
        // The second bit of the first octet: locally administered.
        [0x02, 0x68, a, b, c, self.end]
    }
}

impl fmt::Display for LinkMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let octets = self.octets().map(|octet| format!("{octet:02x}"));
        write!(f, "{}", octets.join(":"))
    }
}

#[cfg(test)]
mod tests;

//! The numbers that balancers use among themselves for backends and for each other.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;

use heddle_hashing::hash::{self, ServiceKey};

/// A backend of a service, or a balancer, in steering headers (`target.id`, `steering.backend`):
/// the same on all balancers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub NonZeroU32);

impl WireId {
    /// The id of a service's backend. One machine that serves two services has two ids: it may fail
    /// in one of them.
    pub fn of_backend(service: &ServiceKey, address: IpAddr) -> WireId {
        WireId::of(address, service)
    }

    /// The id of a balancer.
    pub fn of_balancer(address: IpAddr) -> WireId {
        let nobody = ServiceKey { address: Ipv6Addr::UNSPECIFIED, port: 0, protocol: 0 };
        WireId::of(address, &nobody)
    }

    /// As a number.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    fn of(address: IpAddr, service: &ServiceKey) -> WireId {
        let address = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let hash = (hash::maglev(0, address, 0, service) >> 32) as u32;
        WireId(NonZeroU32::new(hash).unwrap_or(NonZeroU32::MIN))
    }
}

impl fmt::Display for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

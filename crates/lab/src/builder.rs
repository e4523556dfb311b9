//! Size and settings of a lab.

use std::net::{Ipv4Addr, Ipv6Addr};

use heddle_units::Rate;

use crate::LabError;

/// Limits on the client's addresses, balancers, and backends.
const LIMITS: [(&str, usize); 3] = [("client addresses", 4), ("balancers", 6), ("backends", 8)];

/// Size and settings of a lab to be made. See [`Lab::builder`](crate::Lab::builder) for the
/// defaults.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) clients: usize,
    pub(crate) balancers: usize,
    pub(crate) backends: usize,
    pub(crate) vip4: Ipv4Addr,
    pub(crate) vip6: Ipv6Addr,
    pub(crate) lan_mtu: u16,
    pub(crate) client_rate: Option<Rate>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            clients: 4,
            balancers: 1,
            backends: 2,
            vip4: Ipv4Addr::new(192, 0, 2, 1),
            vip6: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            // Room for the longest header in front of a client's 1500 bytes: IPv6 and UDP, and what
            // balancers add.
            lan_mtu: 1600,
            client_rate: None,
        }
    }
}

impl Builder {
    /// Addresses of the client, each on a link of its own: 1 to 4. A connection has one subflow
    /// from each.
    #[must_use]
    pub fn clients(self, addresses: usize) -> Builder {
        Builder { clients: addresses, ..self }
    }

    /// Balancers: 1 to 6.
    #[must_use]
    pub fn balancers(self, balancers: usize) -> Builder {
        Builder { balancers, ..self }
    }

    /// Backends: 1 to 8.
    #[must_use]
    pub fn backends(self, backends: usize) -> Builder {
        Builder { backends, ..self }
    }

    /// The service's IPv4 address.
    #[must_use]
    pub fn vip4(self, vip4: Ipv4Addr) -> Builder {
        Builder { vip4, ..self }
    }

    /// The service's IPv6 address.
    #[must_use]
    pub fn vip6(self, vip6: Ipv6Addr) -> Builder {
        Builder { vip6, ..self }
    }

    /// Bytes of IP that a frame between router, balancers and backends may hold. Native XDP on veth
    /// takes about 3500.
    #[must_use]
    pub fn lan_mtu(self, lan_mtu: u16) -> Builder {
        Builder { lan_mtu, ..self }
    }

    /// The rate of each of the client's links, in either direction; without it they are as fast as
    /// the machine.
    #[must_use]
    pub fn client_rate(self, rate: Rate) -> Builder {
        Builder { client_rate: Some(rate), ..self }
    }

    /// Checks the sizes against [`LIMITS`].
    pub(crate) fn check_sizes(&self) -> Result<(), LabError> {
        let counts = [self.clients, self.balancers, self.backends];
        for ((what, limit), count) in LIMITS.into_iter().zip(counts) {
            if !(1..=limit).contains(&count) {
                return Err(LabError::Size { what, limit, count });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = Builder::default().backends(9).check_sizes().unwrap_err();
        assert_eq!(error.to_string(), "a lab has backends of 1 to 8, not 9");
        assert!(matches!(
            Builder::default().clients(0).check_sizes(),
            Err(LabError::Size { what: "client addresses", .. })
        ));
    }
}

//! A host: addresses, routes, and the kernel's path manager.

use std::net::Ipv4Addr;

use heddle_scenario::{Scenario, Transport};

use super::Network;
use crate::addresses::GATEWAY;
use crate::roles::{Roles, agent_subflows};
use crate::{EmulationError, settings};

impl Network {
    pub(super) fn set_up_host(&self, host: u32) -> Result<(), EmulationError> {
        // Segments as large as on a wire: a shaper and a switch then see what a network would.
        self.run(host, "ethtool -K eth0 tx off tso off gso off gro off")?;
        let addresses = self.addresses.of_host(host);
        let mut lines: String =
            addresses.iter().map(|address| format!("addr add {address}/32 dev eth0\n")).collect();
        let first = self.addresses.first(host);
        let metrics = settings::route_metrics(&self.scenario.transport.tcp());
        lines +=
            &format!("route add default via {GATEWAY} dev eth0 onlink src {first} {metrics}\n");
        self.ip(host, &lines)?;
        match addresses.len() - 1 {
            0 => Ok(()),
            more => self.ip(host, &mptcp_lines(&addresses, more, &Roles::of(&self.scenario), host)),
        }
    }
}

/// Most subflows that the kernel's path manager lets a limit have.
const MOST_SUBFLOWS: usize = 8;

/// Endpoints and limits of the kernel's path manager. It opens subflows on both ends: those of a
/// server are refused by the client, whose port does not listen, but until then they count against
/// the limit, and the client's joins are rejected. So hosts that only receive have no endpoints,
/// and those that do both have a limit for both ends' attempts.
fn mptcp_lines(own: &[Ipv4Addr], more: usize, roles: &Roles, host: u32) -> String {
    let is_both = roles.sends(host) && roles.receives(host);
    let limit = if is_both { (2 * more).min(MOST_SUBFLOWS) } else { more };
    let limits = format!("mptcp limits set subflow {limit} add_addr_accepted 0\n");
    let line = |address: &Ipv4Addr| format!("mptcp endpoint add {address} dev eth0 subflow\n");
    let further = own.iter().skip(1).filter(|_| roles.sends(host));
    further.map(line).fold(limits, |lines, line| lines + &line)
}

/// Addresses of each host: the kernel's path manager opens a subflow from each, agents open all
/// from one.
pub(super) fn addresses(scenario: &Scenario) -> u8 {
    match &scenario.transport {
        _ if agent_subflows(scenario).is_some() => 1,
        Transport::Tcp(_) | Transport::Uet(_) => 1,
        Transport::Mptcp(mptcp) => mptcp.subflows,
    }
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Source, load};

    use super::*;

    #[test]
    fn a_host_that_only_receives_opens_no_subflows() {
        let text = "scheme = \"ecmp\"\nfabric = { kind = \"two-pod\" }\nmeasure = { duration = \"1s\" }\n\
            workload = { kind = \"long\", pairs = [\"host-1 host-9\", \"host-9 host-2\"] }\n";
        let none = |_: &str| Err(std::io::Error::other("none"));
        let roles = Roles::of(&load(&Source::new("a.toml", text), &none).unwrap());
        let addresses: Vec<Ipv4Addr> = (1..=3).map(|last| Ipv4Addr::new(10, 1, 1, last)).collect();
        let lines = |host| mptcp_lines(&addresses, 2, &roles, host);
        let endpoint = |last| format!("mptcp endpoint add 10.1.1.{last} dev eth0 subflow\n");
        let limits = |most| format!("mptcp limits set subflow {most} add_addr_accepted 0\n");
        assert_eq!(lines(0), limits(2) + &endpoint(2) + &endpoint(3));
        assert_eq!(lines(1), limits(2), "it receives");
        assert_eq!(lines(8), limits(4) + &endpoint(2) + &endpoint(3), "it does both");
    }
}

//! The kernel as a switch: routes with several next hops, chosen by a hash of the 5-tuple.

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_policy::Tor;
use heddle_scenario::{Scenario, Scheme};

use super::{DataPlane, PlaneCounters};
use crate::EmulationError;
use crate::addresses::{Addresses, GATEWAY};
use crate::network::Network;

/// ECMP by the kernel's routes.
#[derive(Clone, Copy, Debug)]
pub struct Kernel;

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    match scenario.scheme {
        Scheme::Ecmp => Ok(()),
        _ => Err(Problem::at(
            "scheme",
            format!("the kernel's routes know ECMP only, not {}", scenario.scheme.name()),
        )
        .help("--dataplane ebpf for this scheme, or --set scheme=ecmp")),
    }
}

impl DataPlane for Kernel {
    fn start(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError> {
        for switch in network.switches() {
            network
                .ip(switch, &(host_lines(network, switch) + &tor_lines(network, switch, routes)))?;
        }
        Ok(())
    }

    fn reroute(
        &mut self,
        network: &Network,
        routes: &Routes,
        _: &[u32],
    ) -> Result<(), EmulationError> {
        for switch in network.switches() {
            network.ip(switch, &tor_lines(network, switch, routes))?;
        }
        Ok(())
    }

    fn counters(&self, _: &Network) -> Result<PlaneCounters, EmulationError> {
        Ok(PlaneCounters::default())
    }
}

/// Routes to the hosts of a ToR.
pub(super) fn host_lines(network: &Network, switch: u32) -> String {
    let to_hosts = network.devices(switch).filter(|device| device.info.to_host);
    let line = |device: crate::network::Device<'_>| {
        let prefix = network.addresses.host_prefix(device.info.to);
        format!("route replace {prefix} via {GATEWAY} dev {} onlink\n", device.name())
    };
    to_hosts.map(line).collect()
}

/// Routes to the ToRs. One without a next hop is refused with an ICMP error no longer than the
/// control plane needs: packets are dropped.
fn tor_lines(network: &Network, switch: u32, routes: &Routes) -> String {
    let tors = (0..network.fabric.tors).filter(|tor| network.fabric.hosts + tor != switch);
    let line = |tor: u32| {
        let tor = Tor(tor as u16);
        let prefix = Addresses::tor_prefix(tor);
        let hops = routes.next_hops(switch - network.fabric.hosts, tor);
        if hops.is_empty() {
            return format!("route replace blackhole {prefix}\n");
        }
        let hops =
            hops.iter().map(|port| format!(" nexthop via {GATEWAY} dev eth{} onlink", port.0));
        format!("route replace {prefix}{}\n", hops.collect::<String>())
    };
    tors.map(line).collect()
}

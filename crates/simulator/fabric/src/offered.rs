//! The load that a workload offers to each link, before anything is simulated.

use std::collections::BTreeSet;

use heddle_policy::Tor;
use heddle_scenario::{Flows, Pattern};
use heddle_units::Rate;

use crate::{Fabric, Routes};

/// Load of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// The link's rate.
    pub rate: Rate,
    /// Offered bits per second over the rate.
    pub share: f64,
}

/// The load that some workloads offer to every direction of every link under equal-cost splitting:
/// each switch divides what it has for a ToR equally among its next hops (ECMP, on average over
/// many flows). Busiest first. Beside each workload stand the bits that a bit of its payload takes
/// on a link.
///
/// Patterns that draw pairs of hosts once for a run (permutation, pairs) count as if each sender
/// sent to every receiver: a seed's own pairs may load a link more.
pub fn offered_load(
    fabric: &Fabric,
    routes: &Routes,
    workloads: &[(&Flows, f64)],
) -> Vec<OfferedLoad> {
    let mut bits = vec![0.0; fabric.ports.len()];
    for (flows, wire) in workloads {
        add_bits(fabric, routes, flows, *wire, &mut bits);
    }
    let named = |(port, bits): (usize, &f64)| {
        let info = fabric.ports[port];
        let rate = fabric.rate_of(&info);
        let name = |node: u32| fabric.node(node).name.clone();
        OfferedLoad { from: name(info.owner), to: name(info.to), rate, share: bits / rate.0 as f64 }
    };
    let mut loads: Vec<OfferedLoad> = bits.iter().enumerate().map(named).collect();
    loads.sort_by(|a, b| b.share.total_cmp(&a.share));
    loads
}

/// Adds the bits per second that a workload offers to each port.
fn add_bits(fabric: &Fabric, routes: &Routes, flows: &Flows, wire: f64, bits: &mut [f64]) {
    let demand = Demand::new(fabric, flows);
    let total = flows.load * flows.capacity.0 as f64 * wire;
    for host in 0..fabric.hosts {
        let (inner, outer): (Vec<u32>, Vec<u32>) =
            fabric.interfaces_of(host).partition(|port| fabric.is_inner(*port));
        for (ports, demand) in [(outer, &demand.outside), (inner, &demand.inside)] {
            let each = total / (ports.len() as f64).max(1.0);
            for port in ports {
                let down = fabric.interface_port[port as usize];
                bits[port as usize] += demand.sent[host as usize] * each;
                bits[down as usize] += demand.received[host as usize] * each;
            }
        }
    }
    for to in 0..fabric.tors {
        split(fabric, routes, to, &demand, total, bits);
    }
}

/// Shares of the whole load.
struct Demand {
    /// On the links that lead to other servers.
    outside: OfHosts,
    /// On those to switches inside of servers.
    inside: OfHosts,
    /// From each ToR to each other, row by row.
    between: Vec<f64>,
}

/// Shares of the whole load by host.
struct OfHosts {
    sent: Vec<f64>,
    received: Vec<f64>,
}

impl OfHosts {
    fn new(hosts: usize) -> OfHosts {
        OfHosts { sent: vec![0.0; hosts], received: vec![0.0; hosts] }
    }
}

impl Demand {
    fn new(fabric: &Fabric, flows: &Flows) -> Demand {
        let all: Vec<u32> = (0..fabric.hosts).collect();
        let (clients, servers) = match &flows.pattern {
            Pattern::Sets { clients, servers } | Pattern::Pairs { clients, servers } => {
                (clients, servers)
            }
            Pattern::Permutation | Pattern::Incast { .. } => (&all, &all),
        };
        let (hosts, tors) = (fabric.hosts as usize, fabric.tors as usize);
        let mut demand = Demand {
            outside: OfHosts::new(hosts),
            inside: OfHosts::new(hosts),
            between: vec![0.0; tors * tors],
        };
        let is_server = members(servers, hosts);
        let interfaces = fabric.interfaces as usize;
        let mut servers_of = vec![vec![0.0; tors]; interfaces];
        for (number, servers_of) in servers_of.iter_mut().enumerate() {
            servers.iter().for_each(|&host| servers_of[tor(fabric, host, number)] += 1.0);
        }
        for &client in clients {
            let share = 1.0 / clients.len() as f64;
            let itself = f64::from(u8::from(is_server[client as usize]));
            let each = share / (servers.len() as f64 - itself).max(1.0);
            demand.outside.sent[client as usize] += share;
            // Connections are spread over the interfaces, and have the same at both ends.
            let outer = outer(fabric, client);
            for &number in &outer {
                let row = tor(fabric, client, number) * tors;
                for (to, &count) in servers_of[number].iter().enumerate() {
                    demand.between[row + to] += each * count / outer.len() as f64;
                }
            }
            for mate in mates(fabric, client).filter(|mate| is_server[*mate as usize]) {
                demand.move_inside(fabric, (client, mate), each);
            }
        }
        let is_client = members(clients, hosts);
        for &server in servers {
            let others = clients.len() - usize::from(is_client[server as usize]);
            let choices = servers.len() - usize::from(is_client[server as usize]);
            let share = others as f64 / (clients.len() * choices.max(1)) as f64;
            demand.outside.received[server as usize] += share;
        }
        demand
    }

    /// Moves a share between hosts of one server from the links that lead out of it.
    fn move_inside(&mut self, fabric: &Fabric, (from, to): (u32, u32), share: f64) {
        let (tors, outer) = (fabric.tors as usize, outer(fabric, from));
        for &number in &outer {
            let pair = tor(fabric, from, number) * tors + tor(fabric, to, number);
            self.between[pair] -= share / outer.len() as f64;
        }
        self.outside.sent[from as usize] -= share;
        self.outside.received[to as usize] -= share;
        self.inside.sent[from as usize] += share;
        self.inside.received[to as usize] += share;
    }
}

/// Numbers of a host's interfaces that lead to other servers.
fn outer(fabric: &Fabric, host: u32) -> Vec<usize> {
    let numbers = fabric.interfaces_of(host).zip(0..);
    numbers.filter(|(port, _)| !fabric.is_inner(*port)).map(|(_, number)| number).collect()
}

/// The other hosts at the switches inside of a host's server.
fn mates(fabric: &Fabric, host: u32) -> impl Iterator<Item = u32> {
    let inner = fabric.interfaces_of(host).filter(|port| fabric.is_inner(*port));
    let at_switch = |port: u32| fabric.ports_of(fabric.ports[port as usize].to);
    let mates: BTreeSet<u32> = inner.flat_map(at_switch).map(|port| port.to).collect();
    mates.into_iter().filter(move |mate| *mate != host)
}

fn members(set: &[u32], hosts: usize) -> Vec<bool> {
    let mut is_member = vec![false; hosts];
    set.iter().for_each(|&host| is_member[host as usize] = true);
    is_member
}

/// ToR of a host's interface of some number, from 0.
fn tor(fabric: &Fabric, host: u32, number: usize) -> usize {
    let interface = fabric.first_port[host as usize] as usize + number;
    usize::from(fabric.interface_tor[interface].0)
}

/// Adds to each port what it has for one ToR.
fn split(fabric: &Fabric, routes: &Routes, to: u32, demand: &Demand, total: f64, bits: &mut [f64]) {
    let switches = fabric.switches() as usize;
    let mut at = vec![0.0; switches];
    for from in (0..fabric.tors).filter(|&from| from != to) {
        at[from as usize] = demand.between[from as usize * fabric.tors as usize + to as usize];
    }
    for switch in upstream_first(fabric, routes, to) {
        let hops = routes.next_hops(switch, Tor(to as u16));
        let each = at[switch as usize] / hops.len().max(1) as f64;
        for hop in hops {
            let port = fabric.first_port_of_switch(switch) + u32::from(hop.0);
            bits[port as usize] += each * total;
            at[(fabric.ports[port as usize].to - fabric.hosts) as usize] += each;
        }
    }
}

/// Switches on paths to a ToR, each before its next hops.
fn upstream_first(fabric: &Fabric, routes: &Routes, to: u32) -> Vec<u32> {
    let mut done = vec![false; fabric.switches() as usize];
    let mut order = Vec::new();
    for from in 0..fabric.tors {
        let mut stack = vec![(from, false)];
        while let Some((switch, expanded)) = stack.pop() {
            if expanded {
                order.push(switch);
            } else if switch != to && !std::mem::replace(&mut done[switch as usize], true) {
                stack.push((switch, true));
                for hop in routes.next_hops(switch, Tor(to as u16)) {
                    let port = fabric.first_port_of_switch(switch) + u32::from(hop.0);
                    stack.push((fabric.ports[port as usize].to - fabric.hosts, false));
                }
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Scenario, Source, Workload, load};

    use super::*;

    fn scenario(fabric: &str, workload: &str) -> Scenario {
        let text = format!(
            "scheme = \"ecmp\"\nfabric = {fabric}\nworkload = {workload}\n[measure]\nflows = 1\n"
        );
        let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
        load(&Source::new("x.toml", text), &no_files).unwrap()
    }

    fn loads(fabric: &str, workload: &str) -> Vec<OfferedLoad> {
        let scenario = scenario(fabric, workload);
        let Workload::Flows(flows) = &scenario.workload else { panic!("flows") };
        let fabric = Fabric::new(&scenario.fabric.graph).unwrap();
        let name = |node: u32| fabric.node(node).name.clone();
        let up = |link: u32| {
            let (a, b) = fabric.graph.links[link as usize].ends;
            !scenario.fabric.failed.contains(&(name(a), name(b)))
        };
        offered_load(&fabric, &fabric.routes(up).unwrap(), &[(flows, 1.0)])
    }

    fn share(loads: &[OfferedLoad], from: &str, to: &str) -> f64 {
        loads.iter().find(|load| load.from == from && load.to == to).unwrap().share
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// 4 hosts of 10 Gbps at half load; 2 of 3 receivers are across. 13.3 of the 20 Gbps cross,
    /// half from each leaf, half over each spine.
    #[test]
    fn all_to_all_on_two_leaves() {
        let fabric = r#"{ kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, parallel_links = 1, spine_rate = "10Gbps" }"#;
        let found = loads(fabric, r#"{ kind = "flows", sizes = "fixed:1KB", load = 0.5 }"#);
        near(share(&found, "host-1", "leaf-1"), 0.5);
        near(share(&found, "leaf-2", "host-4"), 0.5);
        near(share(&found, "leaf-1", "spine-1"), 0.5 * 2.0 / 3.0);
        near(share(&found, "spine-2", "leaf-2"), 0.5 * 2.0 / 3.0);
        assert!(found.is_sorted_by(|a, b| a.share >= b.share));
    }

    /// Hosts with two ToRs: all pairs share both, so that nothing crosses the spines, and each leaf
    /// has half of what a host sends. Of two groups of two hosts, 2 of 3 receivers are across.
    #[test]
    fn hosts_with_two_tors_offer_half_to_each() {
        let fabric = |leaves: u32| {
            format!(
                "{{ kind = \"leaf-spine\", leaves = {leaves}, spines = 1, hosts_per_leaf = 1, parallel_links = 1, spine_rate = \"10Gbps\", tors_per_host = 2 }}"
            )
        };
        let workload =
            r#"{ kind = "flows", sizes = "fixed:1KB", load = 0.3, pattern = "all-to-all" }"#;
        let found = loads(&fabric(2), workload);
        near(share(&found, "host-1", "leaf-2"), 0.3);
        near(share(&found, "leaf-1", "spine-1"), 0.0);
        let found = loads(&fabric(4), workload);
        near(share(&found, "leaf-4", "host-4"), 0.3);
        near(share(&found, "leaf-1", "spine-1"), 0.3 * 2.0 * 2.0 / 3.0);
    }

    /// HULA's asymmetric fabric: core-2 reaches agg-3 alone, so that its link carries half of
    /// agg-1's and agg-2's cross-pod traffic over half of the links: ECMP offers it twice what it
    /// should.
    #[test]
    fn equal_splitting_overloads_what_a_failure_leaves() {
        let fabric = r#"{ kind = "two-pod", failed = ["core-2 agg-4"] }"#;
        let found = loads(fabric, r#"{ kind = "flows", sizes = "fixed:1KB", load = 0.8 }"#);
        let worst = &found[0];
        assert_eq!((worst.from.as_str(), worst.to.as_str()), ("core-2", "agg-3"));
        near(worst.share, 1.6);
        near(share(&found, "core-1", "agg-4"), 0.8);
    }
}

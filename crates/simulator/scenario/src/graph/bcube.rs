//! BCube, whose servers relay for each other (Guo et al., SIGCOMM 2009, section 3).
//!
//! A server has the address a_k..a_0, digits below n. At level i it is linked to the switch whose
//! number is the address without a_i, so that the n servers of a switch differ in that digit alone.
//! A host of the simulator has one link and does not relay, so a server is two nodes: the host, and
//! its relay with the server's k + 1 ports.

use heddle_config::Problem;
use heddle_units::{Rate, Time};

use super::limits::{Base, Counts};
use super::{AGG, Builder, HOST, TOR, check_rate};
use crate::raw::BCube;
use crate::{Graph, Link, Routing};

/// BCube_k of n-port switches: n^(k+1) servers and k + 1 levels of n^k switches.
pub(crate) fn bcube(shape: &BCube, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    let inside = check(shape, most_links)?;
    let (ports, levels) = (shape.ports, shape.levels + 1);
    let servers = ports.pow(levels);
    let mut fabric = Builder::new(delay);
    fabric.graph.routing = Routing::Shortest;
    let hosts = fabric.nodes("host", HOST, servers, None);
    let relays = fabric.nodes("relay", TOR, servers, None);
    for ends in hosts.zip(relays.clone()) {
        fabric.graph.links.push(Link::new(ends, inside, Time::ZERO));
    }
    for level in 0..levels {
        let switches = fabric.nodes(&format!("switch-{level}"), AGG, servers / ports, None);
        for (server, relay) in relays.clone().enumerate() {
            fabric.link(
                relay,
                switches.start + without_digit(server as u32, level, ports),
                shape.rate,
            );
        }
    }
    Ok(fabric.graph)
}

/// An address without its digit at `level`.
fn without_digit(address: u32, level: u32, ports: u32) -> u32 {
    let place = ports.pow(level);
    address / place / ports * place + address % place
}

/// Gives the rate between a host and its relay: that of all the server's ports.
fn check(shape: &BCube, most_links: u64) -> Result<Rate, Problem> {
    if shape.ports < 2 {
        return Err(Problem::at("ports", "a switch joins at least 2 servers"));
    }
    let ports = u64::from(shape.ports);
    let levels = shape.levels.saturating_add(1);
    let servers = ports.saturating_pow(levels);
    let links = servers.saturating_mul(u64::from(levels) + 1);
    let upper = (servers / ports).saturating_mul(levels.into());
    Counts { hosts: servers, tors: servers, upper, links }.check(most_links)?;
    let inside = Rate(shape.rate.0.saturating_mul(levels.into()));
    check_rate("rate", shape.rate)?;
    check_rate("rate", inside)?;
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(ports: u32, levels: u32) -> Graph {
        let shape = BCube { ports, levels, rate: Rate::gbps(1) };
        bcube(&shape, Time::micros(1)).map_err(|_| ()).unwrap()
    }

    /// Section 3.1: n^(k+1) servers of k + 1 ports, (k+1) n^k switches of n ports.
    #[test]
    fn sizes_and_ports_are_the_papers() {
        for (n, k) in [(2u32, 0u32), (4, 1), (3, 2), (8, 2), (2, 5)] {
            let graph = build(n, k);
            let servers = n.pow(k + 1);
            let mut ports = vec![0; graph.nodes.len()];
            for (a, b) in graph.links.iter().map(|link| link.ends) {
                (ports[a as usize], ports[b as usize]) =
                    (ports[a as usize] + 1, ports[b as usize] + 1);
            }
            let (servers, switches) = (servers as usize, ((k + 1) * n.pow(k)) as usize);
            assert_eq!(ports[..servers], vec![1; servers]);
            assert_eq!(ports[servers..2 * servers], vec![1 + k + 1; servers], "one to its host");
            assert_eq!(ports[2 * servers..], vec![n; switches]);
        }
    }

    /// Figure 1(b): in BCube_1 of 4-port switches, server 10 (a_1 = 1, a_0 = 0) is on switch <0, 1>
    /// with servers 11 to 13 and on switch <1, 0> with servers 00, 20 and 30.
    #[test]
    fn servers_of_a_switch_differ_in_one_digit() {
        let graph = build(4, 1);
        let name = |node: u32| graph.nodes[node as usize].name.as_str();
        let on = |switch: &str| {
            let links = graph.links.iter().filter(|link| name(link.ends.1) == switch);
            links.map(|link| name(link.ends.0)).collect::<Vec<_>>()
        };
        assert_eq!(on("switch-0-2"), ["relay-5", "relay-6", "relay-7", "relay-8"]);
        assert_eq!(on("switch-1-1"), ["relay-1", "relay-5", "relay-9", "relay-13"]);
    }

    /// A server can send and receive on all of its ports at once, and its own bytes do not wait
    /// inside it.
    #[test]
    fn the_link_inside_a_server_is_as_fast_as_its_ports() {
        let graph = build(4, 2);
        assert_eq!(graph.links[0], Link::new((0, 64), Rate::gbps(3), Time::ZERO));
        assert_eq!(graph.links[64].rate, Rate::gbps(1));
        assert_eq!(graph.routing, Routing::Shortest);
    }
}

//! BIRD in each switch: links, addresses and routes as a network's operator has them.
//!
//! Each switch is an autonomous system (RFC 7938). A ToR announces the prefix of its hosts with a
//! community that names it, which becomes the realm of the kernel's routes. What a switch has heard
//! from above it does not tell upwards, so that paths go up and then down.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;
use std::time::Duration;

use heddle_fabric::Routes;
use heddle_lab::{eventually, tools};
use heddle_policy::Tor;

use super::kernel::host_lines;
use crate::EmulationError;
use crate::addresses::Addresses;
use crate::daemons::Daemons;
use crate::network::{Device, Network};
use crate::state;

const PROGRAM: &str = "bird";
/// The first autonomous system for private use with 32 bits (RFC 6996).
const FIRST_AS: u32 = 4_200_000_000;
/// Link n has 172.16.0.0 + 2 n and the address behind it (RFC 3021).
const FIRST_LINK: u32 = 0xac10_0000;
/// Router ids, which are no interface's address.
const FIRST_ROUTER: u32 = 0xac1f_0001;
/// Longest time until BGP has told all prefixes to all switches, on a busy machine.
const CONVERGED: Duration = Duration::from_secs(60);

/// A failed link is found within half a second; routes of all sessions share filters.
const COMMON: &str = "\
log stderr all;
protocol device {}
protocol bfd { interface \"eth*\" { interval 100 ms; multiplier 5; }; }
define ABOVE = (64513, 1);
filter from_above { bgp_community.add(ABOVE); accept; }
filter with_realm {
    if source != RTS_BGP then reject;
    for pair mark in bgp_community do
        if mark.asn = 64512 then krt_realm = mark.data;
    accept;
}
protocol kernel { merge paths on limit 64; ipv4 { export filter with_realm; }; }
";

/// True if BIRD is here.
pub(super) fn is_installed() -> bool {
    tools::require(&[(PROGRAM, "bird2")]).is_ok()
}

/// BIRD's number of a ToR: realm 0 is none.
pub(super) fn number(tor: u32) -> u32 {
    tor + 1
}

/// Gives each switch's links their addresses, and starts BIRD there.
pub(super) fn start(network: &Network) -> Result<Daemons, EmulationError> {
    let folder = state::folder(&network.state.name);
    let mut birds = Daemons::new(PROGRAM, "Started").with_log("bird.log");
    for switch in network.switches() {
        network.ip(switch, &(address_lines(network, switch) + &host_lines(network, switch)))?;
        let name = &network.fabric.node(switch).name;
        let (file, socket) =
            (folder.join(format!("{name}.bird.conf")), folder.join(format!("{name}.ctl")));
        fs::write(&file, config(network, switch))
            .map_err(EmulationError::system(file.display().to_string()))?;
        let words: [OsString; 5] =
            ["-f".into(), "-c".into(), file.into(), "-s".into(), socket.into()];
        birds.spawn(network, switch, words)?;
    }
    birds.wait_until_running(network)?;
    Ok(birds)
}

/// Waits until the kernels' routes have as many next hops as `routes`.
pub(super) fn wait_for(network: &Network, routes: &Routes) -> Result<(), EmulationError> {
    for switch in network.switches() {
        let name = &network.fabric.node(switch).name;
        let others = (0..network.fabric.tors).filter(|tor| network.fabric.hosts + tor != switch);
        let wanted: Vec<(String, usize)> = others
            .map(|tor| {
                let tor = Tor(tor as u16);
                let hops = routes.next_hops(switch - network.fabric.hosts, tor);
                (Addresses::tor_prefix(tor), hops.len())
            })
            .collect();
        eventually(CONVERGED, || {
            let table = network.run(switch, "ip route show proto bird");
            let table = table.map_err(|error| error.to_string())?;
            let differs = wanted.iter().find(|(prefix, hops)| next_hops(&table, prefix) != *hops);
            differs.map_or(Ok(()), |(prefix, hops)| {
                Err(format!("{name} has no {hops} next hops to {prefix}: {table}"))
            })
        })?;
    }
    Ok(())
}

/// The next hops of a prefix in what `ip route show` prints.
fn next_hops(table: &str, prefix: &str) -> usize {
    let mut lines = table.lines().skip_while(|line| line.split(' ').next() != Some(prefix));
    let first = lines.next().map_or(0, |line| line.matches(" dev ").count());
    first + lines.take_while(|line| line.starts_with(char::is_whitespace)).count()
}

/// The address of a link's end (0 or 1).
fn address(link: u32, end: u8) -> Ipv4Addr {
    (FIRST_LINK + 2 * link + u32::from(end)).into()
}

/// The devices of links to other switches.
fn fabric_devices(network: &Network, switch: u32) -> impl Iterator<Item = Device<'_>> {
    network.devices(switch).filter(|device| !device.info.to_host)
}

fn address_lines(network: &Network, switch: u32) -> String {
    let line = |device: Device<'_>| {
        let (own, peer) = (network.own_mac(&device), network.peer_mac(&device));
        let (link, name) = (device.info.link, device.name());
        // Permanent, as all neighbours of the lab are.
        format!(
            "addr add {}/31 dev {name}\nneigh replace {} lladdr {peer} dev {name} nud permanent\n",
            address(link, own.end),
            address(link, peer.end)
        )
    };
    fabric_devices(network, switch).map(line).collect()
}

fn config(network: &Network, switch: u32) -> String {
    let number_of = |node: u32| node - network.fabric.hosts;
    let own = number_of(switch);
    let tor = Some(own).filter(|&own| own < network.fabric.tors);
    let mut text = format!("router id {};\n{COMMON}", Ipv4Addr::from(FIRST_ROUTER + own));
    let announces = match tor {
        Some(tor) => {
            let prefix = Addresses::tor_prefix(Tor(tor as u16));
            // Writing into a string does not fail.
            let _ = writeln!(text, "protocol static {{ ipv4; route {prefix} blackhole; }}");
            format!(
                "if source = RTS_STATIC then bgp_community.add((64512, {})); else ",
                number(tor)
            )
        }
        None => String::new(),
    };
    let tells = format!("{announces}if source != RTS_BGP then reject;\n    accept;");
    let _ = write!(
        text,
        "filter to_above {{\n    if ABOVE ~ bgp_community then reject;\n    {tells}\n}}\n\
         filter to_below {{\n    bgp_community.delete(ABOVE);\n    {tells}\n}}\n"
    );
    for (side, import) in [("above", "filter from_above"), ("below", "all")] {
        let _ = write!(
            text,
            "template bgp {side} {{\n    local as {};\n    connect delay time 1; connect retry time 2; error wait time 1, 8;\n    \
             bfd on;\n    ipv4 {{ import {import}; export filter to_{side}; }};\n}}\n",
            FIRST_AS + own
        );
    }
    for device in fabric_devices(network, switch) {
        let (side, peer) = (side(network, &device), device.info.to);
        let far = address(device.info.link, network.peer_mac(&device).end);
        let number = FIRST_AS + number_of(peer);
        let _ = writeln!(
            text,
            "protocol bgp {} from {side} {{ neighbor {far} as {number}; }}",
            device.name()
        );
    }
    text
}

/// The far end's place: above or below.
fn side(network: &Network, device: &Device<'_>) -> &'static str {
    let tier = |node: u32| network.fabric.node(node).tier;
    if tier(device.info.to) > tier(device.node) { "above" } else { "below" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_hops_are_those_of_the_prefixs_own_lines() {
        let table = "10.2.0.0/16 realm 2 metric 32 \n\tnexthop via 172.16.0.9 dev eth2 weight 1 \n\tnexthop via 172.16.0.13 dev eth3 weight 1 \n10.3.0.0/16 via 172.16.0.9 dev eth2 realm 3 metric 32 \n";
        let found = ["10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16"];
        assert_eq!(found.map(|prefix| next_hops(table, prefix)), [2, 1, 0]);
    }
}

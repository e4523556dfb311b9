//! `[addresses]` of a fabric file: an address for each host, none of them twice.

use std::collections::BTreeMap;
use std::net::IpAddr;

use heddle_config::Problem;
use heddle_policy::cflb::Field;
use ipnet::IpNet;

use crate::graph::Names;
use crate::{Graph, raw};

/// A protocol's key and an example of its prefixes.
type Family = (&'static str, &'static str);

const IPV4: Family = ("ipv4", "10.0.0.0/8");
const IPV6: Family = ("ipv6", "fd00::/64");

/// Addresses of each host, in the order of the graph's nodes.
pub(super) fn resolve(
    raw: &raw::Addresses,
    graph: &Graph,
    field: Field,
) -> Result<Vec<Vec<IpAddr>>, Problem> {
    by_host(raw, graph, field).map_err(|problem| problem.inside("addresses"))
}

fn by_host(raw: &raw::Addresses, graph: &Graph, field: Field) -> Result<Vec<Vec<IpAddr>>, Problem> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let mut addresses: Vec<Vec<IpAddr>> = numbered(&raw.ipv4, IPV4, hosts)?;
    if let Some(prefix) = &raw.ipv6 {
        let ipv6 = numbered(prefix, IPV6, hosts)?;
        addresses.iter_mut().zip(ipv6).for_each(|(host, ipv6)| host.extend(ipv6));
    }
    let names = Names::new(graph);
    for (name, texts) in &raw.hosts {
        let inside = |problem: Problem| problem.inside(&format!("hosts.{name}"));
        let host = names.host(name).map_err(inside)?;
        addresses[host as usize] = own(texts).map_err(inside)?;
    }
    check_unique(raw, graph, &addresses)?;
    check_labels(graph, &addresses, field)?;
    Ok(addresses)
}

/// The addresses of a prefix from the first after the network's own, one a host.
fn numbered(text: &str, (key, example): Family, hosts: usize) -> Result<Vec<Vec<IpAddr>>, Problem> {
    let problem = |message: String| Problem::at(key, message);
    let prefix: Option<IpNet> = text.trim().parse().ok();
    let is_family = |prefix: &IpNet| matches!(prefix, IpNet::V4(_)) == (key == IPV4.0);
    let Some(prefix) = prefix.filter(is_family) else {
        return Err(
            problem(format!("\"{text}\" is not a prefix")).help(format!("as in \"{example}\""))
        );
    };
    if prefix.addr() != prefix.network() {
        return Err(problem(format!("\"{text}\" has bits set beyond its length"))
            .help(format!("\"{}\"", prefix.trunc())));
    }
    // The first address of an IPv6 subnet is its routers' (RFC 4291 section 2.6.1).
    let routers = usize::from(key == IPV6.0);
    let addresses: Vec<Vec<IpAddr>> =
        prefix.hosts().skip(routers).take(hosts).map(|address| vec![address]).collect();
    if addresses.len() < hosts {
        let message = format!("{text} has {} addresses for {hosts} hosts", addresses.len());
        return Err(problem(message).help("a shorter prefix"));
    }
    Ok(addresses)
}

/// A host's own addresses.
fn own(texts: &[String]) -> Result<Vec<IpAddr>, Problem> {
    if texts.is_empty() {
        return Err(Problem::new("there are no addresses")
            .help("leave the host out for an address by its number"));
    }
    let one = |(index, text): (usize, &String)| {
        let address = text.trim().parse::<IpAddr>().ok();
        let usable = address.filter(|ip| !ip.is_unspecified() && !ip.is_multicast());
        let message = || format!("\"{text}\" is not a host's address");
        usable.ok_or_else(|| {
            Problem::at(&index.to_string(), message())
                .help("as in \"192.0.2.7\" or \"2001:db8::7\"")
        })
    };
    texts.iter().enumerate().map(one).collect()
}

/// Refuses an address that two hosts have, or one host twice. At least one of the two is of the
/// file's `hosts`.
fn check_unique(
    raw: &raw::Addresses,
    graph: &Graph,
    addresses: &[Vec<IpAddr>],
) -> Result<(), Problem> {
    let mut owner: BTreeMap<IpAddr, usize> = BTreeMap::new();
    let name = |host: usize| graph.nodes[host].name.as_str();
    for (host, own) in addresses.iter().enumerate() {
        for address in own {
            let Some(other) = owner.insert(*address, host) else { continue };
            let (listed, other) =
                if raw.hosts.contains_key(name(host)) { (host, other) } else { (other, host) };
            let message = format!("{address} is {}'s address too", name(other));
            return Err(Problem::at(&format!("hosts.{}", name(listed)), message)
                .help("give each host addresses of its own, outside the prefix"));
        }
    }
    Ok(())
}

/// A flow label needs IPv6.
fn check_labels(graph: &Graph, addresses: &[Vec<IpAddr>], field: Field) -> Result<(), Problem> {
    let without = addresses.iter().position(|own| !own.iter().any(IpAddr::is_ipv6));
    let Some(host) = without.filter(|_| field == Field::FlowLabel) else { return Ok(()) };
    let message = format!(
        "{} has no IPv6 address, so no flow label to name paths by",
        graph.nodes[host].name
    );
    Err(Problem::new(message).help(format!("ipv6 = \"{}\"", IPV6.1)))
}

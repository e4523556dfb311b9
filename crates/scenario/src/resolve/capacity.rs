//! What a load means, and how much of it the hosts' links can carry.

use heddle_units::Rate;

use super::fabric::Resolved;
use crate::error::Problem;
use crate::{Flows, Graph, Pattern};

/// Rate of each host's link.
fn access_rates(graph: &Graph) -> Vec<Rate> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let mut rates = vec![Rate(0); hosts];
    for link in &graph.links {
        let host = link.ends.0.min(link.ends.1) as usize;
        rates.get_mut(host).into_iter().for_each(|rate| *rate = link.rate);
    }
    rates
}

/// What the hosts' links carry together, before any was changed.
pub(super) fn of_hosts(resolved: &Resolved) -> Rate {
    sum(resolved, |graph, ends| graph.nodes[ends.0.min(ends.1) as usize].tier == 0)
}

/// What the links from the switches of `pod` to the rest of the fabric carry, before any failed or was changed.
pub(super) fn of_pod(resolved: &Resolved, pod: u16) -> Rate {
    let is_inside = |graph: &Graph, node: u32| graph.nodes[node as usize].pod == Some(pod);
    sum(resolved, |graph, (a, b)| is_inside(graph, a) != is_inside(graph, b))
}

fn sum(resolved: &Resolved, counts: impl Fn(&Graph, (u32, u32)) -> bool) -> Rate {
    let graph = &resolved.fabric.graph;
    let links = graph.links.iter().zip(&resolved.nominal);
    let counted = links.filter(|(link, _)| counts(graph, link.ends));
    Rate(counted.fold(0, |sum, (_, rate)| sum.saturating_add(rate.0)))
}

/// Refuses a load at which queues would grow without end whatever the scheme: 1 or more, or more than a host's link.
pub(super) fn check_load(flows: &Flows, graph: &Graph) -> Result<(), Problem> {
    let Flows { load, capacity, .. } = *flows;
    if load.is_nan() || load <= 0.0 {
        return Err(
            Problem::at("load", format!("{load} is not a load")).help("above 0 and below 1")
        );
    }
    if load >= 1.0 {
        let message = format!("{load} is more than any link can carry (a load of 1 is {capacity})");
        return Err(Problem::at("load", message).help("above 0 and below 1"));
    }
    let rates = access_rates(graph);
    let all: Vec<u32> = (0..rates.len() as u32).collect();
    match &flows.pattern {
        Pattern::Sets { clients, servers } => {
            check_share(flows, graph, &rates, clients, "senders")?;
            check_share(flows, graph, &rates, servers, "receivers")
        }
        Pattern::Permutation | Pattern::Incast { .. } => {
            check_share(flows, graph, &rates, &all, "hosts")
        }
    }
}

/// Each of `hosts` has an equal share of the load.
fn check_share(
    flows: &Flows,
    graph: &Graph,
    rates: &[Rate],
    hosts: &[u32],
    role: &str,
) -> Result<(), Problem> {
    let offered = flows.load * flows.capacity.0 as f64;
    let share = offered / hosts.len().max(1) as f64;
    let too_slow = |host: &&u32| rates[**host as usize].0 as f64 <= share;
    let Some(&host) = hosts.iter().find(too_slow) else { return Ok(()) };
    let (name, rate) = (&graph.nodes[host as usize].name, rates[host as usize]);
    let message = format!(
        "{} is more than any link can carry ({} over {} {role} is {} each; {name} has {rate})",
        flows.load,
        rounded(offered),
        hosts.len(),
        rounded(share),
    );
    let most = (flows.load * rate.0 as f64 / share * 100.0).floor() / 100.0;
    Err(Problem::at("load", message).help(format!("below {most}, or a smaller `capacity`")))
}

/// To a millionth, for messages.
fn rounded(rate: f64) -> Rate {
    let unit = if rate < 1e9 { 1e3 } else { 1e6 };
    Rate((rate / unit).round() as u64 * unit as u64)
}

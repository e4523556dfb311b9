//! Loads that cannot be run: too much for the hosts' links whatever the scheme, or so little that
//! no flow arrives.

use heddle_config::Problem;
use heddle_units::Rate;

use crate::{Flows, Graph, Link, Pattern};

/// Flows further apart than this on average are a mistake.
const LONGEST_GAP_SECONDS: f64 = 86_400.0;

/// Refuses a load at which queues would grow without end or nothing would happen.
pub(super) fn check(flows: &Flows, graph: &Graph) -> Result<(), Problem> {
    check_range(flows)?;
    check_gap(flows)?;
    let links = AccessLinks {
        graph,
        sending: access_rates(graph, |_, host| host),
        receiving: access_rates(graph, |link, host| link.ends.0 + link.ends.1 - host),
        flows,
    };
    match &flows.pattern {
        Pattern::Sets { clients, servers } | Pattern::Pairs { clients, servers } => {
            links.check(clients, &links.sending, "senders")?;
            links.check(servers, &links.receiving, "receivers")
        }
        Pattern::Permutation | Pattern::Incast { .. } => {
            let hosts: Vec<u32> = (0..links.sending.len() as u32).collect();
            links.check(&hosts, &links.sending, "hosts")?;
            links.check(&hosts, &links.receiving, "hosts")
        }
    }
}

fn check_range(Flows { load, capacity, .. }: &Flows) -> Result<(), Problem> {
    let message = match *load {
        load if load >= 1.0 => {
            format!("{load} is more than any link can carry (a load of 1 is {capacity})")
        }
        load if load > 0.0 => return Ok(()),
        load => format!("{load} is not a load"),
    };
    Err(Problem::at("load", message).help("above 0 and below 1"))
}

fn check_gap(Flows { load, capacity, sizes, .. }: &Flows) -> Result<(), Problem> {
    let seconds = sizes.mean() * 8.0 / (load * capacity.0 as f64);
    if seconds <= LONGEST_GAP_SECONDS {
        return Ok(());
    }
    let message = format!("{load} of {capacity} is a flow every {seconds:.0} s");
    Err(Problem::at("load", message).help("a larger load, or a larger `capacity`"))
}

/// The hosts' links and what is asked of them.
struct AccessLinks<'a> {
    graph: &'a Graph,
    /// Rate at which each host can send.
    sending: Vec<Rate>,
    /// Rate at which each host can receive.
    receiving: Vec<Rate>,
    flows: &'a Flows,
}

impl AccessLinks<'_> {
    /// Each of `hosts` has an equal share of the load, which its link must carry.
    fn check(&self, hosts: &[u32], rates: &[Rate], role: &str) -> Result<(), Problem> {
        let load = self.flows.load;
        let offered = load * self.flows.capacity.0 as f64;
        let share = offered / hosts.len().max(1) as f64;
        let is_too_slow = |host: &&u32| rates[**host as usize].0 as f64 <= share;
        let Some(&host) = hosts.iter().find(is_too_slow) else { return Ok(()) };
        let (name, rate) = (&self.graph.nodes[host as usize].name, rates[host as usize]);
        let (total, each, count) = (rounded(offered), rounded(share), hosts.len());
        let most = (load * rate.0 as f64 / share * 100.0).floor() / 100.0;
        Err(Problem::at(
            "load",
            format!("{load} is more than any link can carry ({total} over {count} {role} is {each} each; {name} has {rate})"),
        )
        .help(format!("below {most}, or a smaller `capacity`")))
    }
}

/// Rate of each host's links to other servers together, in the direction of the `sender` of each.
fn access_rates(graph: &Graph, sender: impl Fn(&Link, u32) -> u32) -> Vec<Rate> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let (mut rates, is_inner) = (vec![Rate(0); hosts], graph.inner_switches());
    let leads_out = |link: &&Link| !is_inner[link.ends.0.max(link.ends.1) as usize];
    for link in graph.links.iter().filter(leads_out) {
        let host = link.ends.0.min(link.ends.1);
        let rate = link.rate_from(sender(link, host)).0;
        rates.get_mut(host as usize).into_iter().for_each(|sum| sum.0 += rate);
    }
    rates
}

/// Short enough for a message.
fn rounded(rate: f64) -> Rate {
    let unit = if rate < 1e9 { 1e3 } else { 1e6 };
    Rate((rate / unit).round() as u64 * unit as u64)
}

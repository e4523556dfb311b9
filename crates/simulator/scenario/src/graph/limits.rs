//! Limits of a fabric's size, checked before it is built, and of its links.

use heddle_config::Problem;
use heddle_units::{Rate, Time};

use crate::Graph;

/// Hosts, ToRs and ports are numbered with 16 bits.
const MOST_NUMBERED: u64 = 65_535;

/// Switches and links beyond this would not fit into memory.
const MOST_LINKS: u64 = 1 << 22;

/// Rates outside this are mistakes (a packet would take a second, or no time).
const RATES: (Rate, Rate) = (Rate(10_000), Rate(100_000_000_000_000));

/// Delays above this are mistakes.
const LONGEST_DELAY: Time = Time::secs(1);

/// Numbers of nodes and links.
pub(super) struct Counts {
    pub(super) hosts: u64,
    pub(super) tors: u64,
    pub(super) upper: u64,
    pub(super) links: u64,
}

impl Counts {
    /// Refuses what the simulator cannot number, and more links than `most_links`.
    pub(super) fn check(&self, most_links: u64) -> Result<(), Problem> {
        most(self.hosts, "hosts", MOST_NUMBERED)?;
        most(self.tors, "ToRs", MOST_NUMBERED)?;
        most(self.upper, "switches above the ToRs", MOST_NUMBERED)?;
        most(self.links, "links", MOST_LINKS.min(most_links))
    }
}

/// Limits and counts that fabrics of all shapes are built with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// Delay of a link.
    pub(crate) delay: Time,
    /// Links that the caller takes: more are refused before they are built.
    pub(crate) most_links: u64,
}

impl From<Time> for Base {
    /// As many links as fit into memory.
    fn from(delay: Time) -> Base {
        Base { delay, most_links: MOST_LINKS }
    }
}

fn most(count: u64, what: &str, limit: u64) -> Result<(), Problem> {
    if count <= limit {
        return Ok(());
    }
    Err(Problem::new(format!("{count} {what} are too many")).help(format!("at most {limit}")))
}

/// Refuses a node with more ports than a switch can number.
pub(crate) fn check_ports(graph: &Graph) -> Result<(), Problem> {
    let mut ports = vec![0; graph.nodes.len()];
    for (a, b) in graph.links.iter().map(|link| link.ends) {
        ports[a as usize] += 1;
        ports[b as usize] += 1;
    }
    let largest = graph.nodes.iter().zip(ports).max_by_key(|(_, count)| *count);
    largest.map_or(Ok(()), |(node, count)| {
        most(count, &format!("ports of {}", node.name), MOST_NUMBERED)
    })
}

/// Refuses 0, for the value of `key`.
pub(super) fn some(key: &str, count: u32) -> Result<(), Problem> {
    match count {
        0 => Err(Problem::at(key, "must be at least 1")),
        _ => Ok(()),
    }
}

/// Refuses rates that cannot be meant, for the value of `key`.
pub(crate) fn check_rate(key: &str, rate: Rate) -> Result<(), Problem> {
    if (RATES.0..=RATES.1).contains(&rate) {
        return Ok(());
    }
    let (low, high) = RATES;
    Err(Problem::at(key, format!("{rate} is not a link's rate"))
        .help(format!("rates from {low} to {high} can be simulated")))
}

/// Refuses delays that cannot be meant, for the value of `key`.
pub(crate) fn check_delay(key: &str, delay: Time) -> Result<(), Problem> {
    if delay <= LONGEST_DELAY {
        return Ok(());
    }
    Err(Problem::at(key, format!("{delay} is not a link's delay"))
        .help(format!("delays up to {LONGEST_DELAY} can be simulated")))
}

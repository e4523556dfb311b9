//! Path diversity of a fabric (CFLB section 2.2, figures 1 and 2).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use heddle_policy::Tor;
use serde::Serialize;

use crate::paths::PathCounts;
use crate::{Fabric, Routes};

/// Path diversity of a fabric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// Servers.
    pub servers: u32,
    /// Ordered pairs of different servers by how many load-balanced paths they have; 0 where there
    /// is none (figure 1).
    pub pairs_by_paths: BTreeMap<u64, u64>,
    /// The fraction of ordered pairs with 2 paths or more, 0 to 1.
    pub several_paths: f64,
    /// Ordered pairs by how many switches their packets pass (relaying servers are switches as
    /// well).
    pub pairs_by_switches: BTreeMap<u32, u64>,
    /// For each switch the fraction of destinations (servers of other switches) for which it has
    /// several next hops, 0 to 1; ascending (figure 2). Switches without such destinations are left
    /// out.
    pub several_next_hops: Vec<f64>,
    /// The mean of `several_next_hops`.
    pub mean_several_next_hops: f64,
    /// The same mean over the switches of each tier, 1 for ToRs.
    pub mean_by_tier: BTreeMap<u8, f64>,
    /// The most next hops that any switch has towards any destination.
    pub most_next_hops: u16,
}

/// Counts paths and next hops of all pairs of servers, by pairs of ToRs.
pub fn stats(fabric: &Fabric, routes: &Routes) -> Stats {
    let (pairs_by_paths, pairs_by_switches) = pairs(fabric, routes);
    let all: u64 = pairs_by_paths.values().sum();
    let several: u64 = pairs_by_paths.range(2..).map(|(_, pairs)| pairs).sum();
    let shares = shares(fabric, routes);
    let mut several_next_hops: Vec<f64> = shares.iter().map(|(_, share)| *share).collect();
    several_next_hops.sort_by(f64::total_cmp);
    Stats {
        servers: fabric.hosts,
        several_paths: ratio(several, all),
        pairs_by_paths,
        pairs_by_switches,
        mean_several_next_hops: mean(&several_next_hops),
        several_next_hops,
        mean_by_tier: by_tier(&shares),
        most_next_hops: most_next_hops(fabric, routes),
    }
}

/// Ordered pairs of servers by paths, and by switches on the way.
fn pairs(fabric: &Fabric, routes: &Routes) -> (BTreeMap<u64, u64>, BTreeMap<u32, u64>) {
    let homes = homes(fabric);
    let (mut by_paths, mut by_switches) = (BTreeMap::new(), BTreeMap::new());
    for (to, servers) in &homes {
        let mut counts: Vec<PathCounts> = to.iter().map(|&to| PathCounts::to(fabric, to)).collect();
        for (from, senders) in &homes {
            let pairs = senders * (servers - u64::from(from == to));
            let mut paths = 0_u64;
            for (counts, from) in counts.iter_mut().zip(from) {
                counts.count_from(fabric, routes, from.0.into());
                paths = paths.saturating_add(counts.from(from.0.into()));
            }
            *by_paths.entry(paths).or_insert(0) += pairs;
            let between = |(from, to): (&Tor, &Tor)| {
                switches_between(fabric, routes, from.0.into(), to.0.into())
            };
            if let Some(switches) = from.iter().zip(to).filter_map(between).min() {
                *by_switches.entry(switches).or_insert(0) += pairs;
            }
        }
    }
    by_paths.retain(|_, pairs| *pairs > 0);
    by_switches.retain(|_, pairs| *pairs > 0);
    (by_paths, by_switches)
}

/// ToRs that have servers.
fn occupied(servers: &[u64]) -> impl Iterator<Item = u32> + Clone {
    (0..servers.len() as u32).filter(|tor| servers[*tor as usize] > 0)
}

/// Servers by their ToRs. Those of several take each to that of the same place at the other end.
fn homes(fabric: &Fabric) -> BTreeMap<Vec<Tor>, u64> {
    let mut homes = BTreeMap::new();
    for host in 0..fabric.hosts {
        *homes.entry(fabric.tors_of(host)).or_insert(0) += 1;
    }
    homes
}

/// Servers of each ToR; those of several count at each.
fn servers_of_tors(fabric: &Fabric) -> Vec<u64> {
    let mut servers = vec![0; fabric.tors as usize];
    for (tors, count) in homes(fabric) {
        tors.iter().for_each(|tor| servers[usize::from(tor.0)] += count);
    }
    servers
}

/// Switches from one ToR to another, both counted, by the first next hops: all paths are as long.
fn switches_between(fabric: &Fabric, routes: &Routes, from: u32, to: u32) -> Option<u32> {
    let (mut switch, mut passed) = (from, 1);
    while switch != to {
        let port = routes.next_hops(switch, Tor(to as u16)).first()?;
        (switch, passed) = (fabric.next_switch(switch, *port), passed + 1);
    }
    Some(passed)
}

/// Each switch's tier and the share of other switches' servers for which it has several next hops.
fn shares(fabric: &Fabric, routes: &Routes) -> Vec<(u8, f64)> {
    let servers = servers_of_tors(fabric);
    let share = |switch: u32| {
        let others = occupied(&servers).filter(|tor| *tor != switch);
        let several = |tor: &u32| routes.next_hops(switch, Tor(*tor as u16)).len() > 1;
        let count = |tor: u32| servers[tor as usize];
        let all: u64 = others.clone().map(count).sum();
        let tier = fabric.node(fabric.hosts + switch).tier;
        (all > 0).then(|| (tier, ratio(others.filter(several).map(count).sum(), all)))
    };
    (0..fabric.switches()).filter_map(share).collect()
}

fn by_tier(shares: &[(u8, f64)]) -> BTreeMap<u8, f64> {
    let mut tiers: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for (tier, share) in shares {
        tiers.entry(*tier).or_default().push(*share);
    }
    tiers.into_iter().map(|(tier, shares)| (tier, mean(&shares))).collect()
}

fn most_next_hops(fabric: &Fabric, routes: &Routes) -> u16 {
    let servers = servers_of_tors(fabric);
    let next_hops = |switch: u32, tor: u32| routes.next_hops(switch, Tor(tor as u16)).len();
    let most = |switch: u32| occupied(&servers).map(|tor| next_hops(switch, tor)).max();
    (0..fabric.switches()).filter_map(most).max().unwrap_or(0) as u16
}

fn ratio(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

//! The fat-tree of k-port switches (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008, section 3).

use heddle_config::Problem;

use super::limits::{Base, Counts, some};
use super::{AGG, Builder, CORE, HOST, TOR, check_rate, part};
use crate::Graph;
use crate::raw::FatTree;

/// The largest k whose core switches can be numbered.
const LARGEST_K: u32 = 510;

/// k pods of k/2 ToRs and k/2 aggregation switches; the jth aggregation switch of each pod has the
/// jth k/2 core switches.
pub(crate) fn fat_tree(shape: &FatTree, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    let (k, half) = (shape.k, shape.k / 2);
    if k < 2 || k % 2 != 0 || k > LARGEST_K {
        return Err(Problem::at("k", format!("{k} is not a fat-tree's number of ports"))
            .help(format!("an even number from 2 to {LARGEST_K}")));
    }
    let per_tor = shape.hosts_per_tor.unwrap_or(half);
    some("hosts_per_tor", per_tor)?;
    check_size(k, per_tor, most_links)?;
    let [host_rate, edge_rate, core_rate] = rates(shape)?;

    let mut fabric = Builder::new(delay);
    let hosts = fabric.nodes("host", HOST, k * half * per_tor, Some(half * per_tor));
    let tors = fabric.nodes("tor", TOR, k * half, Some(half));
    let aggs = fabric.nodes("agg", AGG, k * half, Some(half));
    let cores = fabric.nodes("core", CORE, half * half, None);
    fabric.link_hosts(hosts, tors.clone(), per_tor, host_rate);
    for pod in 0..k {
        fabric.mesh(part(&tors, half, pod), part(&aggs, half, pod), edge_rate);
    }
    for (index, agg) in aggs.enumerate() {
        fabric.mesh(agg..agg + 1, part(&cores, half, index as u32 % half), core_rate);
    }
    Ok(fabric.graph)
}

fn check_size(k: u32, per_tor: u32, most_links: u64) -> Result<(), Problem> {
    let (k, half) = (u64::from(k), u64::from(k / 2));
    let hosts = k * half * u64::from(per_tor);
    let tors = k * half;
    Counts { hosts, tors, upper: tors + half * half, links: hosts + 2 * tors * half }
        .check(most_links)
}

/// Rates of the hosts', the ToRs' and the core's links.
fn rates(shape: &FatTree) -> Result<[heddle_units::Rate; 3], Problem> {
    check_rate("rate", shape.rate)?;
    let keys = ["host_rate", "edge_rate", "core_rate"];
    let rates =
        [shape.host_rate, shape.edge_rate, shape.core_rate].map(|r| r.unwrap_or(shape.rate));
    keys.iter().zip(rates).try_for_each(|(key, rate)| check_rate(key, rate))?;
    Ok(rates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_units::{Rate, Time};

    fn build(k: u32) -> Graph {
        let rate = Rate::gbps(10);
        let shape = FatTree {
            k,
            hosts_per_tor: None,
            rate,
            host_rate: None,
            edge_rate: None,
            core_rate: None,
        };
        fat_tree(&shape, Time::micros(1)).map_err(|_| ()).unwrap()
    }

    /// Section 3: k^3/4 hosts, 5k^2/4 switches, each of k ports.
    #[test]
    fn sizes_are_the_papers() {
        for k in [2, 4, 8, 16] {
            let graph = build(k);
            let hosts = graph.nodes.iter().filter(|n| n.tier == HOST).count() as u32;
            assert_eq!((hosts, graph.nodes.len() as u32 - hosts), (k * k * k / 4, 5 * k * k / 4));
            let mut ports = vec![0; graph.nodes.len()];
            for link in &graph.links {
                ports[link.ends.0 as usize] += 1;
                ports[link.ends.1 as usize] += 1;
            }
            assert!(ports[hosts as usize..].iter().all(|&count| count == k), "k = {k}");
        }
    }

    /// Each core switch has one link to each pod.
    #[test]
    fn each_core_switch_reaches_each_pod_once() {
        let graph = build(4);
        for core in 0..graph.nodes.len() as u32 {
            let pods = graph
                .links
                .iter()
                .filter(|l| l.ends.1 == core && graph.nodes[core as usize].tier == CORE);
            let pods: Vec<_> = pods.map(|l| graph.nodes[l.ends.0 as usize].pod.unwrap()).collect();
            assert!(pods.is_empty() || pods == [1, 2, 3, 4], "{pods:?}");
        }
    }
}

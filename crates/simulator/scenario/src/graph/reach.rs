//! Reachability: every ToR must have a path to every other; where hosts have several, some of
//! those of each host to some of every other's.

use std::collections::{BTreeMap, BTreeSet};

use heddle_config::Problem;

use super::shortest::Switches;
use crate::{Graph, Routing};

/// Refuses a fabric in which links that are `up` do not connect all hosts.
pub(crate) fn check_reachable(graph: &Graph, is_up: impl Fn(u32) -> bool) -> Result<(), Problem> {
    match graph.routing {
        Routing::UpDown => check_up_down(graph, is_up),
        Routing::Shortest | Routing::Minimal => {
            check_hosts(graph, &is_up)?;
            let switches = Switches::new(graph, &is_up);
            if has_several_tors(graph) {
                let part = switches.parts();
                return check_homes(graph, &homes(graph, is_up, &part), |a, b| a == b);
            }
            switches.cut().map_or(Ok(()), |(a, b)| Err(unreachable(graph, a, b, "to")))
        }
    }
}

/// True if a host has links to several ToRs.
fn has_several_tors(graph: &Graph) -> bool {
    let itself: Vec<u32> = (0..graph.nodes.len() as u32).collect();
    homes(graph, |_| true, &itself).keys().any(|tors| tors.len() > 1)
}

/// Sets of what stands for hosts' ToRs, over links that are up, each with the first host that has
/// it.
fn homes(
    graph: &Graph,
    is_up: impl Fn(u32) -> bool,
    stand_in: &[u32],
) -> BTreeMap<BTreeSet<u32>, u32> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let mut tors = vec![BTreeSet::new(); hosts];
    for (link, _) in graph.links.iter().zip(0..).filter(|(_, index)| is_up(*index)) {
        let (low, high) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
        if let Some(tors) = tors.get_mut(low as usize) {
            tors.insert(stand_in[high as usize]);
        }
    }
    (0..hosts as u32).zip(tors).rev().map(|(host, tors)| (tors, host)).collect()
}

/// Some ToR of each host must reach some of every other's.
fn check_homes(
    graph: &Graph,
    homes: &BTreeMap<BTreeSet<u32>, u32>,
    reaches: impl Fn(u32, u32) -> bool,
) -> Result<(), Problem> {
    let reach =
        |a: &BTreeSet<u32>, b: &BTreeSet<u32>| a.iter().any(|&a| b.iter().any(|&b| reaches(a, b)));
    for (index, (a, host)) in homes.iter().enumerate() {
        if let Some((_, other)) = homes.iter().skip(index).find(|(b, _)| !reach(a, b)) {
            return Err(unreachable(graph, *host.min(other), *host.max(other), "to"));
        }
    }
    Ok(())
}

/// Refuses also a link that joins two nodes of one tier.
///
/// ToRs whose links lead up to the same nodes reach the same, so one stands for all: a fabric has
/// few kinds of them.
fn check_up_down(graph: &Graph, is_up: impl Fn(u32) -> bool) -> Result<(), Problem> {
    let uplinks = uplinks(graph, &is_up)?;
    check_hosts(graph, &is_up)?;
    let kinds = kinds_of_tor(graph, &uplinks);
    if has_several_tors(graph) {
        let first: BTreeMap<&BTreeSet<u32>, u32> =
            kinds.iter().rev().map(|(tor, _)| (&uplinks[*tor as usize], *tor)).collect();
        let nodes = (0..graph.nodes.len() as u32).zip(&uplinks);
        let kind: Vec<u32> = nodes
            .map(|(node, up)| if up.is_empty() { node } else { *first.get(up).unwrap_or(&node) })
            .collect();
        let above: BTreeMap<u32, BTreeSet<u32>> = kinds.into_iter().collect();
        return check_homes(graph, &homes(graph, is_up, &kind), |a, b| {
            a == b || !above[&a].is_disjoint(&above[&b])
        });
    }
    for (index, (a, above_a)) in kinds.iter().enumerate() {
        for (b, above_b) in &kinds[index + 1..] {
            if above_a.is_disjoint(above_b) {
                return Err(unreachable(graph, *a, *b, "up and then down to"));
            }
        }
    }
    Ok(())
}

/// The nodes that each node is linked to one or more tiers up, over links that are up.
fn uplinks(graph: &Graph, is_up: impl Fn(u32) -> bool) -> Result<Vec<BTreeSet<u32>>, Problem> {
    let mut uplinks = vec![BTreeSet::new(); graph.nodes.len()];
    for (link, index) in graph.links.iter().zip(0..) {
        let (a, b) = link.ends;
        let tier = |node: u32| graph.nodes[node as usize].tier;
        if tier(a) == tier(b) {
            return Err(flat(graph, a, b));
        }
        let (low, high) = if tier(a) < tier(b) { (a, b) } else { (b, a) };
        if is_up(index) {
            uplinks[low as usize].insert(high);
        }
    }
    Ok(uplinks)
}

/// A host's link must be up.
fn check_hosts(graph: &Graph, is_up: impl Fn(u32) -> bool) -> Result<(), Problem> {
    let mut linked = vec![false; graph.nodes.len()];
    let up = graph.links.iter().zip(0..).filter(|(_, index)| is_up(*index));
    up.for_each(|(link, _)| linked[link.ends.0.min(link.ends.1) as usize] = true);
    let cut = graph.nodes.iter().zip(linked).find(|(node, linked)| node.tier == 0 && !linked);
    match cut {
        Some((host, _)) => Err(Problem::new(format!("{} has no link that is up", host.name))),
        None => Ok(()),
    }
}

/// One ToR of each kind with all the nodes above it; each ToR that has nothing above is a kind of
/// its own.
fn kinds_of_tor(graph: &Graph, uplinks: &[BTreeSet<u32>]) -> Vec<(u32, BTreeSet<u32>)> {
    let tors = graph.nodes.iter().zip(0..).filter(|(node, _)| node.tier == 1);
    let mut seen = BTreeSet::new();
    let new = |tor: &u32| {
        let up = &uplinks[*tor as usize];
        seen.insert(up) || up.is_empty()
    };
    tors.map(|(_, tor)| tor).filter(new).map(|tor| (tor, above(tor, uplinks))).collect()
}

/// A node and all that can be reached from it by going up.
fn above(node: u32, uplinks: &[BTreeSet<u32>]) -> BTreeSet<u32> {
    let (mut seen, mut next) = (BTreeSet::from([node]), vec![node]);
    while let Some(node) = next.pop() {
        next.extend(uplinks[node as usize].iter().copied().filter(|&up| seen.insert(up)));
    }
    seen
}

fn flat(graph: &Graph, a: u32, b: u32) -> Problem {
    let (a, b) = (&graph.nodes[a as usize], &graph.nodes[b as usize]);
    Problem::new(format!("the link between {} and {} joins two nodes of tier {}", a.name, b.name, a.tier))
        .help("packets go up and then down: give the nodes a `tier` so that each link joins a lower and a higher one, or write `routing = \"shortest\"` at the top of its file")
}

fn unreachable(graph: &Graph, a: u32, b: u32, way: &str) -> Problem {
    let (a, b) = (&graph.nodes[a as usize], &graph.nodes[b as usize]);
    let help = match a.tier {
        0 => "leave links up that join a ToR of each host",
        _ => "leave links up that join all ToRs",
    };
    Problem::new(format!("no path leads from {} {way} {}", a.name, b.name)).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Names, fat_tree, two_pod};
    use crate::raw::{FatTree, TwoPod};
    use heddle_config::ConfigError;
    use heddle_units::{Rate, Time};

    fn without(graph: &Graph, failed: &[&str]) -> Result<(), String> {
        let names = Names::new(graph);
        let down = failed.iter().flat_map(|text| names.links(text).map_err(|_| ()).unwrap());
        let down: Vec<u32> = down.collect();
        let message = |problem| ConfigError::from(problem).message().to_owned();
        check_reachable(graph, |link| !down.contains(&link)).map_err(message)
    }

    #[test]
    fn paths_go_up_and_then_down() {
        let graph = two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap();
        assert_eq!(without(&graph, &[]), Ok(()));
        assert_eq!(without(&graph, &["core-2 agg-4"]), Ok(()));
        assert_eq!(without(&graph, &["core-1", "core-2 agg-1", "core-2 agg-3"]), Ok(()));
        let cut = without(&graph, &["core-1", "core-2"]);
        assert_eq!(cut.unwrap_err(), "no path leads from tor-1 up and then down to tor-3");
        // The graph is connected, but only through tor-1: down and up again.
        let valley = without(
            &graph,
            &["core-1 agg-1", "core-2 agg-1", "core-1 agg-3", "core-2 agg-3", "tor-2 agg-2"],
        );
        assert_eq!(valley.unwrap_err(), "no path leads from tor-2 up and then down to tor-3");
        let alone = without(&graph, &["tor-1 host-3"]);
        assert_eq!(alone.unwrap_err(), "host-3 has no link that is up");
    }

    /// Two groups of two leaves in two planes of a spine: leaves 1 and 3, 2 and 4.
    #[test]
    fn hosts_with_several_tors_need_one_path() {
        let text = "scheme = \"ecmp\"\n[workload]\nkind = \"long\"\n[measure]\nduration = \"1ms\"\n[fabric]\nkind = \"leaf-spine\"\n\
            leaves = 4\nhosts_per_leaf = 1\nparallel_links = 1\ntors_per_host = 2\nplanes = 2";
        let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let scenario = crate::load(&crate::Source::new("x.toml", text), &no_files).unwrap();
        let mut graph = scenario.fabric.graph;
        for routing in [Routing::UpDown, Routing::Shortest] {
            graph.routing = routing;
            assert_eq!(without(&graph, &[]), Ok(()), "the planes are apart");
            assert_eq!(without(&graph, &["leaf-1"]), Ok(()));
            assert_eq!(without(&graph, &["spine-1", "leaf-4 host-4"]).map_err(drop), Err(()));
            assert_eq!(without(&graph, &["host-1 leaf-1", "host-2 leaf-1"]), Ok(()));
            let cut = without(&graph, &["host-1 leaf-1", "spine-2"]);
            assert_eq!(cut.unwrap_err(), "no path leads from host-1 to host-3", "{routing:?}");
        }
    }

    #[test]
    fn a_large_fat_tree_is_checked_at_once() {
        let rate = Rate::gbps(10);
        let shape = FatTree {
            k: 32,
            hosts_per_tor: None,
            rate,
            host_rate: None,
            edge_rate: None,
            core_rate: None,
        };
        let graph = fat_tree(&shape, Time::ZERO).map_err(|_| ()).unwrap();
        assert_eq!(without(&graph, &["core-1"]), Ok(()));
        assert!(without(&graph, &["agg-1 tor-1"]).is_ok());
    }
}

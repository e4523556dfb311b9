//! Four spines and a fat-tree.

use heddle_policy::cflb::hash_words;
use heddle_scenario::{Graph, Link, Source, load_fabric};

use super::*;
use crate::Routes;

fn graph(keys: &str) -> Graph {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let source = Source::new("fabric.toml", format!("[fabric]\n{keys}"));
    load_fabric(&source, &no_files).unwrap().fabric.graph
}

/// Two leaves with `hosts` hosts each below some spines, all links 10 Gbps.
fn leaf_spine(hosts: u32, spines: u32) -> Graph {
    graph(&format!(
        "kind = \"leaf-spine\"\nhosts_per_leaf = {hosts}\nspines = {spines}\nparallel_links = 1\nspine_rate = \"10Gbps\""
    ))
}

fn fat_tree(k: u32) -> Graph {
    graph(&format!("kind = \"fat-tree\"\nk = {k}"))
}

fn routed(graph: &Graph) -> (Fabric, Routes) {
    let fabric = Fabric::new(graph).unwrap();
    let routes = fabric.routes(|_| true).unwrap();
    (fabric, routes)
}

/// The next hop of the source's ToR, which is the spine.
fn spine(placement: &Placement) -> u16 {
    placement.path.hops[0].next_hop
}

/// Al-Fares et al., NSDI 2010, section 4.2: links of 10 Gbps, the first path with room.
#[test]
fn first_fit_takes_the_first_path_with_room() {
    let (fabric, routes) = routed(&leaf_spine(4, 3));
    let mut placer = Placer::new(&fabric, Scheduler::FirstFit);
    let paths = fabric.paths(&routes, 0, 4).unwrap();
    let mut place = |gbps| {
        let demand = Demand { rate: Some(Rate::gbps(gbps)), ..Demand::default() };
        let placement = placer.place(&paths, &demand);
        (spine(&placement), placement.fit)
    };
    assert_eq!(place(6), (0, Fit::Fits));
    assert_eq!(place(6), (1, Fit::Fits));
    assert_eq!(place(4), (0, Fit::Fits), "4 beside 6");
    assert_eq!(place(9), (2, Fit::Fits));
    assert_eq!(
        place(5),
        (1, Fit::Oversubscribed { by: Rate::gbps(1) }),
        "6 + 5; 10 + 5 and 9 + 5 are worse"
    );
}

/// Everything fits everywhere: without rates the first path would be given to all.
#[test]
fn first_fit_without_rates_counts_flows() {
    let (fabric, routes) = routed(&leaf_spine(4, 3));
    let mut placer = Placer::new(&fabric, Scheduler::FirstFit);
    let paths = fabric.paths(&routes, 0, 4).unwrap();
    let mut place = |rate| {
        let placement = placer.place(&paths, &Demand { rate, ..Demand::default() });
        (spine(&placement), placement.fit)
    };
    let without = [(); 4].map(|()| place(None));
    assert_eq!(without, [0, 1, 2, 0].map(|spine| (spine, Fit::Fits)));
    assert_eq!(place(Some(Rate::gbps(6))), (0, Fit::Fits), "flows without a rate reserve nothing");
    assert_eq!(place(None), (1, Fit::Fits), "3, 1 and 1 flows");
}

#[test]
fn room_returns_when_a_flow_is_released() {
    let (fabric, routes) = routed(&leaf_spine(4, 2));
    let mut placer = Placer::new(&fabric, Scheduler::FirstFit);
    let paths = fabric.paths(&routes, 0, 4).unwrap();
    let demand = Demand { rate: Some(Rate::gbps(7)), ..Demand::default() };
    let first = placer.place(&paths, &demand);
    assert_eq!(spine(&placer.place(&paths, &demand)), 1);
    placer.release(&first);
    assert_eq!(spine(&placer.place(&paths, &demand)), 0);
}

/// Section 4.2.1, one flow after the other: 8 flows between the same leaves over 4 spines, two on
/// each.
#[test]
fn fewest_flows_fills_links_evenly() {
    let (fabric, routes) = routed(&leaf_spine(8, 4));
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    let mut used = [0; 4];
    for host in 0..8 {
        let paths = fabric.paths(&routes, host, host + 8).unwrap();
        let placement = placer.place(&paths, &Demand::default());
        used[usize::from(spine(&placement))] += 1;
        assert!(
            used.iter().max().unwrap() - used.iter().min().unwrap() <= 1,
            "after {host}: {used:?}"
        );
    }
    assert_eq!(used, [2; 4]);
}

/// A spine with two flows of others is better than an empty one that another subflow of the
/// connection takes.
#[test]
fn a_connection_keeps_its_subflows_apart_first() {
    let (fabric, routes) = routed(&leaf_spine(4, 2));
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    let paths = fabric.paths(&routes, 0, 4).unwrap();
    let all: Vec<Path> = paths.iter().collect();
    for _ in 0..2 {
        placer.place(&paths, &Demand { avoid: &all[..1], ..Demand::default() });
    }
    assert_eq!(placer.flows(all[1].fabric_ports(&fabric).next().unwrap()), 2);
    let placement = placer.place(&paths, &Demand { avoid: &all[..1], ..Demand::default() });
    assert_eq!(
        (placement.path, placement.shared),
        (all[1].clone(), 0),
        "3 flows on spine 2 and none on spine 1"
    );
}

/// Four spines: of equal paths the first, then the first of those left.
#[test]
fn of_equal_paths_the_first_is_taken() {
    let (fabric, routes) = routed(&leaf_spine(4, 4));
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    let paths = fabric.paths(&routes, 0, 4).unwrap();
    let mut place = || spine(&placer.place(&paths, &Demand::default()));
    assert_eq!([(); 6].map(|()| place()), [0, 1, 2, 3, 0, 1]);
}

/// Claim C5's fabric: k = 8, every host sends to the host one pod further. No link need have more
/// than one flow; placed one by one they have at most two.
#[test]
fn a_permutation_over_a_fat_tree_has_few_flows_on_each_link() {
    let (fabric, routes) = routed(&fat_tree(8));
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    for host in 0..fabric.hosts {
        let paths = fabric.paths(&routes, host, (host + 16) % fabric.hosts).unwrap();
        placer.place(&paths, &Demand::default());
    }
    let most = (0..fabric.ports.len() as u32).map(|port| placer.flows(port)).max().unwrap();
    assert!(most <= 2, "{most}");
}

/// The sum of the max-min fair rates of flows over links of rate 1 (progressive filling: all rates
/// grow until a link is full, which stops the flows on it).
fn max_min(fabric: &Fabric, flows: &[Vec<u32>]) -> f64 {
    let mut room = vec![1.0; fabric.ports.len()];
    let (mut rates, mut growing) = (vec![0.0; flows.len()], vec![true; flows.len()]);
    while growing.contains(&true) {
        let mut on = vec![0.0; room.len()];
        let grow = |flow: usize| flows[flow].iter().map(|link| *link as usize);
        let alive: Vec<usize> = (0..flows.len()).filter(|flow| growing[*flow]).collect();
        alive.iter().flat_map(|flow| grow(*flow)).for_each(|link| on[link] += 1.0);
        let share = |link: usize| if on[link] > 0.0 { room[link] / on[link] } else { f64::MAX };
        let step = (0..room.len()).map(share).fold(f64::MAX, f64::min);
        alive.iter().for_each(|flow| rates[*flow] += step);
        alive.iter().flat_map(|flow| grow(*flow)).for_each(|link| room[link] -= step);
        alive.iter().for_each(|flow| growing[*flow] = grow(*flow).all(|link| room[link] > 1e-9));
    }
    rates.iter().sum()
}

/// 0 to `count` in an order that a seed decides.
fn shuffled(count: u32, seed: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    numbers.sort_by_key(|number| hash_words(seed, &[*number]));
    numbers
}

/// Claim C5's traffic: each host sends to the next in a random order, `subflows` flows each, placed
/// round by round in another order. The share of what hosts' links can carry.
fn share_of_a_permutation(subflows: u32, seed: u32) -> f64 {
    let (fabric, routes) = routed(&fat_tree(8));
    let hosts = fabric.hosts;
    let ring = shuffled(hosts, 2 * seed);
    let turns = shuffled(hosts, 2 * seed + 1);
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    let (mut own, mut flows) = (vec![Vec::new(); hosts as usize], Vec::new());
    for turn in turns.repeat(subflows as usize) {
        let (from, to) = (ring[turn as usize], ring[(turn as usize + 1) % ring.len()]);
        let paths = fabric.paths(&routes, from, to).unwrap();
        let avoid = &mut own[from as usize];
        let placement = placer.place(&paths, &Demand { avoid, rate: None });
        let ends = [fabric.first_port[from as usize], fabric.host_port[to as usize]];
        flows.push([placement.links(), &ends].concat());
        avoid.push(placement.path);
    }
    max_min(&fabric, &flows) / f64::from(hosts)
}

/// Placed one by one: 84 % of the links with one flow a host, 90 % with two, on average over
/// permutations. (The figures are the scheduler's own; the book states them.)
#[test]
fn most_of_a_permutation_fits_with_one_flow_a_host_and_nearly_all_with_two() {
    let [one, two] = [1, 2].map(|subflows| {
        (0..16).map(|seed| share_of_a_permutation(subflows, seed)).sum::<f64>() / 16.0
    });
    assert!((one - 0.84).abs() < 0.01 && (two - 0.90).abs() < 0.01, "{one} {two}");
}

/// 2 * 8^5 paths: more than are considered. The sample is spread over the first choice too.
#[test]
fn of_very_many_paths_a_sample_is_considered() {
    let bundle = |a, b| vec![(a, b); 16];
    let ends = [vec![(0, 2), (1, 3)], bundle(2, 4), bundle(4, 6), bundle(6, 5), bundle(5, 3)];
    let mut graph = leaf_spine(1, 3);
    (graph.nodes[4].tier, graph.nodes[5].tier, graph.nodes[6].tier) = (2, 2, 3);
    let link = graph.links[0];
    graph.links = ends.concat().into_iter().map(|ends| Link { ends, ..link }).collect();
    let (fabric, routes) = routed(&graph);
    let paths = fabric.paths(&routes, 0, 1).unwrap();
    assert_eq!(paths.count(), 1 << 16);
    let mut placer = Placer::new(&fabric, Scheduler::FewestFlows);
    for _ in 0..16 {
        placer.place(&paths, &Demand::default());
    }
    let first_links =
        (0..16).map(|port| placer.flows(fabric.port_of_switch(0, heddle_policy::Port(port + 1))));
    assert_eq!(first_links.collect::<Vec<_>>(), [1; 16]);
}

//! Paths of small fabrics, numbered hosts first, then switches.

use std::collections::BTreeSet;

use heddle_scenario::{Graph, Link, Node, Routing, Source, load_fabric};
use heddle_units::{Rate, Time};
use proptest::prelude::*;

use super::*;

/// A graph of nodes in these tiers, called `n0` and up, and links between them.
fn graph(tiers: &[u8], links: &[(u32, u32)]) -> Graph {
    let node = |(index, &tier)| Node { name: format!("n{index}"), tier, pod: None };
    let link = |&ends| Link::new(ends, Rate::gbps(10), Time::micros(1));
    Graph {
        nodes: tiers.iter().enumerate().map(node).collect(),
        links: links.iter().map(link).collect(),
        routing: Routing::UpDown,
    }
}

/// A fabric by the keys of a scenario's `[fabric]`.
pub(crate) fn fabric(keys: &str) -> Fabric {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let file = load_fabric(&Source::new("fabric.toml", format!("[fabric]\n{keys}")), &no_files);
    Fabric::new(&file.unwrap().fabric.graph).unwrap()
}

/// A fat-tree of switches with `k` ports.
pub(crate) fn fat_tree(k: u32) -> Fabric {
    fabric(&format!("kind = \"fat-tree\"\nk = {k}"))
}

/// The switches of a path and its place among the next hops of each.
fn choices(path: &Path) -> Vec<(u32, u16, u16)> {
    path.hops.iter().map(|hop| (hop.switch, hop.next_hop, hop.next_hops)).collect()
}

fn all(paths: &Paths<'_>) -> Vec<Path> {
    paths.iter().collect()
}

/// Al-Fares et al. (SIGCOMM 2008): (k/2)^2 paths between pods, k/2 between racks of a pod.
#[test]
fn the_paths_of_a_fat_tree() {
    let fabric = fat_tree(4);
    let routes = fabric.routes(|_| true).unwrap();
    let shape = |from, to| {
        let paths = fabric.paths(&routes, from, to).unwrap();
        let lengths: Vec<usize> = paths.iter().map(|path| path.hops.len()).collect();
        (paths.count(), lengths)
    };
    assert_eq!(shape(0, 1), (1, vec![1]), "in a rack");
    assert_eq!(shape(0, 2), (2, vec![3; 2]), "in a pod");
    assert_eq!(shape(0, 15), (4, vec![5; 4]), "between pods");
}

/// Guo et al. (SIGCOMM 2009), section 3: between servers whose addresses differ in d digits, d!
/// paths of d switches, and the servers at both ends and between them relay.
#[test]
fn the_paths_of_a_bcube() {
    let fabric = fabric("kind = \"bcube\"\nports = 3\nlevels = 2");
    let routes = fabric.routes(|_| true).unwrap();
    let shape = |to| {
        let paths = fabric.paths(&routes, 0, to).unwrap();
        let length = paths.iter().next().unwrap().hops.len();
        (paths.count(), length, paths.disjoint(9).len())
    };
    assert_eq!(shape(2), (1, 3, 1), "002");
    assert_eq!(shape(7), (2, 5, 2), "021");
    assert_eq!(shape(26), (6, 7, 3), "222");
}

/// Two hosts, their ToRs (switches 0, 1), of which the first has a choice of 2 and 3, and 2 two
/// links to 1.
#[test]
fn paths_are_numbered_in_the_order_of_their_choices() {
    let links = [(0, 2), (1, 3), (2, 4), (2, 5), (4, 3), (4, 3), (5, 3)];
    let fabric = Fabric::new(&graph(&[0, 0, 1, 1, 2, 2], &links)).unwrap();
    let routes = fabric.routes(|_| true).unwrap();
    let paths = fabric.paths(&routes, 0, 1).unwrap();
    let end = (1, 0, 1);
    let expected = [
        vec![(0, 0, 2), (2, 0, 2), end],
        vec![(0, 0, 2), (2, 1, 2), end],
        vec![(0, 1, 2), (3, 0, 1), end],
    ];
    assert_eq!(all(&paths).iter().map(choices).collect::<Vec<_>>(), expected);
    let mut path = Path::default();
    for (index, expected) in expected.iter().enumerate() {
        assert!(paths.nth(index as u64, &mut path));
        assert_eq!(&choices(&path), expected);
    }
    assert!(!paths.nth(3, &mut path) && !paths.advance(&mut path), "that was the last one");
    assert_eq!(choices(&path), expected[2], "and it is untouched");
    let last: Vec<u32> = path.ports(&fabric).map(|port| fabric.ports[port as usize].to).collect();
    assert_eq!((last, path.fabric_ports(&fabric).count()), (vec![5, 3, 1], 2), "by nodes");
}

#[test]
fn another_choice_is_followed_by_first_ones() {
    let fabric = fat_tree(4);
    let routes = fabric.routes(|_| true).unwrap();
    let paths = fabric.paths(&routes, 0, 15).unwrap();
    let mut path = Path::default();
    paths.nth(3, &mut path);
    let next_hops = |path: &Path| path.hops.iter().map(|hop| hop.next_hop).collect::<Vec<_>>();
    assert_eq!(next_hops(&path), [1, 1, 0, 0, 0]);
    assert!(paths.choose(&mut path, 0, 0));
    assert_eq!(next_hops(&path), [0; 5]);
    assert!(
        !paths.choose(&mut path, 0, 2)
            && !paths.choose(&mut path, 4, 0)
            && !paths.choose(&mut path, 5, 0)
    );
}

#[test]
fn pairs_without_paths_are_refused() {
    let links = [(0, 2), (1, 3), (2, 4), (4, 3)];
    let fabric = Fabric::new(&graph(&[0, 0, 1, 1, 2], &links)).unwrap();
    let routes = fabric.routes(|link| link != 3).unwrap();
    let error = |from, to| fabric.paths(&routes, from, to).unwrap_err();
    assert_eq!(error(0, 1), PathError::Unreachable("n0".into(), "n1".into()));
    assert_eq!(error(1, 1), PathError::SameHost("n1".into()));
    assert_eq!(error(0, 2), PathError::NoSuchHost(2, 2), "2 is a switch");
}

/// Six bundles of 4096 links one behind the other: 2^72 paths.
#[test]
fn a_count_beyond_64_bits_saturates() {
    let chain = [(2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)];
    let bundles = chain.iter().flat_map(|ends| std::iter::repeat_n(*ends, 4096));
    let links: Vec<(u32, u32)> = [(0, 2), (1, 8)].into_iter().chain(bundles).collect();
    // Hosts, ToRs, then up and down: the nodes are listed by tier.
    let place = |node: u32| [0, 1, 2, 4, 6, 8, 7, 5, 3][node as usize];
    let links: Vec<_> = links.iter().map(|(a, b)| (place(*a), place(*b))).collect();
    let fabric = Fabric::new(&graph(&[0, 0, 1, 1, 2, 2, 3, 3, 4], &links)).unwrap();
    let routes = fabric.routes(|_| true).unwrap();
    let paths = fabric.paths(&routes, 0, 1).unwrap();
    let mut path = Path::default();
    assert_eq!(paths.count(), u64::MAX);
    assert!(paths.nth(u64::MAX - 1, &mut path));
    assert_eq!(path.hops.len(), 7);
}

/// k/2 paths between pods share no link.
#[test]
fn disjoint_paths_of_a_fat_tree() {
    let fabric = fat_tree(8);
    let routes = fabric.routes(|_| true).unwrap();
    let paths = fabric.paths(&routes, 0, 127).unwrap();
    assert_eq!((paths.count(), paths.disjoint(8).len(), paths.disjoint(3).len()), (16, 4, 3));
    assert_eq!(fabric.paths(&routes, 0, 1).unwrap().disjoint(8).len(), 1, "in a rack");
}

prop_compose! {
    /// A host on each ToR and three tiers of switches; each link is there or not, and some skip a
    /// tier.
    fn any_fabric()(
        (tors, aggs, cores) in (1u32..5, 1u32..5, 1u32..4),
        present in prop::collection::vec(prop::bool::weighted(0.7), 64),
        skips in prop::collection::vec(prop::bool::weighted(0.2), 16),
    ) -> Fabric {
        let (first_agg, first_core) = (2 * tors, 2 * tors + aggs);
        let mesh = |low: std::ops::Range<u32>, high: std::ops::Range<u32>| {
            low.flat_map(move |a| high.clone().map(move |b| (a, b))).collect::<Vec<_>>()
        };
        let (tor, agg, core) = (tors..first_agg, first_agg..first_core, first_core..first_core + cores);
        let chosen = |links: Vec<(u32, u32)>, keep: &[bool]| {
            links.into_iter().zip(keep.to_vec()).filter(|(_, keep)| *keep).map(|(link, _)| link).collect::<Vec<_>>()
        };
        let next_tier = [mesh(tor.clone(), agg.clone()), mesh(agg, core.clone())].concat();
        let hosts = (0..tors).map(|host| (host, tors + host)).collect();
        let links = [hosts, chosen(next_tier, &present), chosen(mesh(tor, core), &skips)].concat();
        let tiers = [vec![0; tors as usize], vec![1; tors as usize], vec![2; aggs as usize], vec![3; cores as usize]];
        Fabric::new(&graph(&tiers.concat(), &links)).unwrap()
    }
}

/// True if each hop's port is the next hop of that number, and leads to the switch of the hop after
/// it.
fn is_walked(paths: &Paths<'_>, path: &Path) -> bool {
    let leads = path.hops.windows(2).all(|pair| {
        let next_hops = paths.routes.next_hops(pair[0].switch, paths.tor);
        let is_so = next_hops[usize::from(pair[0].next_hop)] == pair[0].port;
        let next = paths.fabric.next_switch(pair[0].switch, pair[0].port);
        is_so && next_hops.len() == usize::from(pair[0].next_hops) && next == pair[1].switch
    });
    leads && path.hops[0].switch == paths.from && path.hops.last() == Some(&paths.last)
}

proptest! {
    /// Every path is walked by next hops, all differ, as many as are counted, and each has its
    /// number.
    #[test]
    fn paths_are_all_there_once(fabric in any_fabric()) {
        let routes = fabric.routes(|_| true).unwrap();
        let pairs = (0..fabric.hosts).flat_map(|from| (0..fabric.hosts).map(move |to| (from, to)));
        for (from, to) in pairs {
            let Ok(paths) = fabric.paths(&routes, from, to) else { continue };
            let listed = all(&paths);
            prop_assert_eq!(paths.count(), listed.len() as u64);
            prop_assert_eq!(paths.count(), fabric.count_paths(from, to), "one host a ToR");
            prop_assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len());
            let mut path = Path::default();
            for (index, expected) in listed.iter().enumerate() {
                prop_assert!(is_walked(&paths, expected) && paths.nth(index as u64, &mut path));
                prop_assert_eq!(&path, expected);
            }
        }
    }

    /// Disjoint paths share no link, and every other path shares one with them.
    #[test]
    fn disjoint_paths_leave_no_other(fabric in any_fabric()) {
        let routes = fabric.routes(|_| true).unwrap();
        let Ok(paths) = fabric.paths(&routes, 0, fabric.hosts - 1) else { return Ok(()) };
        let disjoint = paths.disjoint(usize::MAX);
        let links: Vec<u32> = disjoint.iter().flat_map(|path| path.fabric_ports(&fabric)).collect();
        let taken: BTreeSet<u32> = links.iter().copied().collect();
        prop_assert_eq!(taken.len(), links.len());
        prop_assert!(disjoint.iter().all(|path| is_walked(&paths, path)));
        for path in &paths {
            prop_assert!(path.fabric_ports(&fabric).any(|link| taken.contains(&link)));
        }
    }
}

//! Fabrics whose figures can be worked out by hand.

use heddle_scenario::{Source, load};

use super::*;
use crate::paths::tests::{fabric, fat_tree};

/// k = 4: 16 servers, 2 a rack, 4 a pod; 8 ToRs, 8 aggregation switches, 4 cores.
#[test]
fn the_path_diversity_of_a_fat_tree_of_four() {
    let fabric = fat_tree(4);
    let stats = stats(&fabric, &fabric.routes(|_| true).unwrap());
    let (rack, pod, other_pods) = (16, 16 * 2, 16 * 12);
    assert_eq!(stats.servers, 16);
    assert_eq!(stats.pairs_by_paths, [(1, rack), (2, pod), (4, other_pods)].into());
    assert_eq!(stats.pairs_by_switches, [(1, rack), (3, pod), (5, other_pods)].into());
    assert_eq!(stats.several_paths, 224.0 / 240.0);
    // ToRs have a choice for all others, aggregation switches for the 12 of other pods, cores for
    // none.
    assert_eq!(stats.mean_by_tier, [(1, 1.0), (2, 0.75), (3, 0.0)].into());
    let expected = [[0.0; 4].as_slice(), &[0.75; 8], &[1.0; 8]].concat();
    assert_eq!(stats.several_next_hops, expected);
    assert!((stats.mean_several_next_hops - 0.7).abs() < 1e-12, "the paper's figure 2: 70 %");
    assert_eq!(stats.most_next_hops, 2);
}

/// n = 4, k = 1: 16 servers, of which each shares a switch with 6 and reaches 9 by two paths.
#[test]
fn the_path_diversity_of_a_bcube() {
    let fabric = fabric("kind = \"bcube\"\nports = 4\nlevels = 1");
    let stats = stats(&fabric, &fabric.routes(|_| true).unwrap());
    assert_eq!(stats.pairs_by_paths, [(1, 16 * 6), (2, 16 * 9)].into());
    assert_eq!(stats.pairs_by_switches, [(3, 16 * 6), (5, 16 * 9)].into());
    assert!((stats.mean_by_tier[&1] - 9.0 / 15.0).abs() < 1e-12, "relays");
    // A switch reaches its own 4 servers directly, and each of the others through the one server
    // that it is linked to.
    assert_eq!((stats.mean_by_tier[&2], stats.most_next_hops), (0.0, 2));
}

/// Without its links to one ToR (its host links are 0 to 15), that rack is unreachable.
#[test]
fn pairs_without_a_path_are_counted_as_such() {
    let fabric = fat_tree(4);
    let tor = fabric.hosts;
    let is_cut = |link: u32| {
        let (a, b) = fabric.graph.links[link as usize].ends;
        a.min(b) >= fabric.hosts && (a == tor || b == tor)
    };
    let stats = stats(&fabric, &fabric.routes(|link| !is_cut(link)).unwrap());
    assert_eq!(stats.pairs_by_paths[&0], 2 * 14 * 2, "to and from 2 servers");
    assert_eq!(stats.pairs_by_paths.values().sum::<u64>(), 240);
    assert_eq!(stats.pairs_by_switches.values().sum::<u64>(), 240 - 56);
}

/// Two pairs of leaves under two spines: each pair of servers has the two paths of each leaf
/// across, and the leaves themselves inside.
#[test]
fn servers_with_two_tors_have_the_paths_of_both() {
    let text = "scheme = \"ecmp\"\n[fabric]\nkind = \"leaf-spine\"\nleaves = 4\nhosts_per_leaf = 1\n\
        parallel_links = 1\ntors_per_host = 2\n[workload]\nkind = \"long\"\n[measure]\nduration = \"1ms\"";
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let scenario = load(&Source::new("x.toml", text), &no_files).unwrap();
    let fabric = Fabric::new(&scenario.fabric.graph).unwrap();
    let stats = stats(&fabric, &fabric.routes(|_| true).unwrap());
    assert_eq!(stats.pairs_by_paths, [(2, 4), (4, 8)].into());
    assert_eq!(stats.pairs_by_switches, [(1, 4), (3, 8)].into());
}

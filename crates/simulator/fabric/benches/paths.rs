//! Speed of path enumeration in a fat-tree of k = 32 (8192 hosts, 1280 switches, 256 paths between
//! pods).
//!
//! A query asks for the load-balanced paths of a pair of hosts drawn at random. `all` lists every
//! path and writes every hop of each into one buffer that is used again: 256 paths of 5 switches
//! for nearly all pairs. `count` only counts them, `disjoint` gives up to 8 that share no link. A
//! million queries in 10 s are 10 us each.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use heddle_fabric::{Fabric, Hop, Path, Paths, Routes};
use heddle_scenario::{Source, load};

const FAT_TREE: &str = r#"
scheme = "ecmp"
[fabric]
kind = "fat-tree"
k = 32
[workload]
kind = "flows"
sizes = "websearch"
load = 0.4
[measure]
flows = 100
"#;

fn fat_tree() -> (Fabric, Routes) {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let scenario = load(&Source::new("fat-tree.toml", FAT_TREE), &no_files).expect("sound");
    let fabric = Fabric::new(&scenario.fabric.graph).expect("a fabric");
    let routes = fabric.routes(|_| true).expect("routes");
    (fabric, routes)
}

/// Pairs of different hosts, by a linear congruential generator (Knuth's MMIX).
fn pairs(hosts: u32) -> impl FnMut() -> (u32, u32) {
    let mut state = 1u64;
    let mut draw = move |below: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * u64::from(below)) >> 32) as u32
    };
    move || {
        let from = draw(hosts);
        let to = draw(hosts - 1);
        (from, if to >= from { to + 1 } else { to })
    }
}

/// Every hop of every path, one path after the other.
fn list(paths: &Paths<'_>, path: &mut Path, hops: &mut Vec<Hop>) {
    hops.clear();
    paths.first(path);
    hops.extend_from_slice(&path.hops);
    while paths.advance(path) {
        hops.extend_from_slice(&path.hops);
    }
}

fn queries(criterion: &mut Criterion) {
    let (fabric, routes) = fat_tree();
    let query = |(from, to)| fabric.paths(&routes, from, to).expect("all are reachable");
    let mut group = criterion.benchmark_group("paths/fat-tree-32");
    group.bench_function("all", |bencher| {
        let (mut pair, mut path, mut hops) = (pairs(fabric.hosts), Path::default(), Vec::new());
        bencher.iter(|| {
            list(&query(pair()), &mut path, &mut hops);
            black_box(&hops);
        });
    });
    group.bench_function("count", |bencher| {
        let mut pair = pairs(fabric.hosts);
        bencher.iter(|| black_box(query(pair()).count()));
    });
    group.bench_function("disjoint", |bencher| {
        let mut pair = pairs(fabric.hosts);
        bencher.iter(|| black_box(query(pair()).disjoint(8)));
    });
    group.finish();
}

criterion_group!(benches, queries);
criterion_main!(benches);

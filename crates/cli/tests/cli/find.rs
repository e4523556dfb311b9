//! `heddle path find`, on the fat-tree that comes with Heddle: 128 hosts, host-1 in the first pod
//! and host-128 in the last, so 4 aggregation switches and 4 core switches of each to choose from.

use std::collections::BTreeSet;

use crate::support::{Folder, keys, words};

#[test]
fn find_lists_every_path_with_its_choices() {
    let folder = Folder::with_fabric();
    let text = folder.heddle("path find fabric.toml host-1 host-128").ok();
    assert!(text.starts_with("host-1 to host-128: 16 paths, 5 routers each\n"), "{text}");
    let row = "│ 6    ┆ tor-1,agg-2,core-7,agg-30,tor-32  ┆ 1 of 0-3, 2 of 0-3, -, -, - │";
    assert!(text.contains(row), "{text}");
    let found = folder.heddle("path find fabric.toml host-1 host-128 --json").json();
    assert_eq!(keys(&found), ["from", "paths", "to", "total"]);
    let paths = found["paths"].as_array().unwrap();
    assert_eq!((&found["total"], paths.len()), (&16.into(), 16));
    let different: BTreeSet<_> = paths.iter().map(|path| words(path, "nodes")).collect();
    assert_eq!(different.len(), 16);
    for (number, path) in paths.iter().enumerate() {
        assert_eq!(path["path"], number);
        assert_eq!(path["next_hops"], serde_json::json!([number / 4, number % 4, 0, 0, 0]));
        assert_eq!(path["out_of"], serde_json::json!([4, 4, 1, 1, 1]));
    }
}

/// Inside a rack one path, inside a pod one for each aggregation switch; addresses are names too.
#[test]
fn near_hosts_have_fewer_paths() {
    let folder = Folder::with_fabric();
    let total = |words: &str| {
        folder.heddle(&format!("path find fabric.toml --json {words}")).json()["total"].clone()
    };
    assert_eq!((total("host-1 host-4"), total("host-1 host-5")), (1.into(), 4.into()));
    assert_eq!((total("10.0.0.1 192.0.2.7"), total("fd00::1 2001:db8::7")), (16.into(), 16.into()));
}

#[test]
fn find_lists_as_many_as_asked_or_those_that_are_apart() {
    let folder = Folder::with_fabric();
    let few = folder.heddle("path find fabric.toml host-1 host-128 --limit 3");
    assert_eq!(few.out.lines().filter(|line| line.starts_with("│ ")).count(), 1 + 3);
    assert!(few.out.contains("16 paths") && few.err.contains("the first 3"), "{}", few.err);
    let apart = folder.heddle("path find fabric.toml host-1 host-128 --disjoint 9 --json").json();
    let paths = apart["paths"].as_array().unwrap();
    let numbers: Vec<u64> = paths.iter().map(|path| path["path"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 4, 8, 12], "one for each aggregation switch of the ToR");
}

#[test]
fn failed_switches_take_their_paths_away() {
    let folder = Folder::with_fabric();
    let found = folder.heddle(
        "path find fabric.toml host-1 host-128 --json --set fabric.failed=[\"agg-1\",\"core-5\"]",
    );
    assert_eq!(found.json()["total"], 16 - 4 - 1);
}

//! `heddle fabric stats`, `show` and `schema`.

use serde_json::Value;

use crate::support::{Folder, examples, keys};

/// A fat-tree of k ports has k^3/4 hosts and, between pods, k^2/4 paths.
#[test]
fn stats_of_a_shape() {
    let folder = Folder::new();
    let shape = "--shape=kind=\"fat-tree\",k=4";
    let list = folder.heddle(&format!("fabric stats --json {shape}")).json();
    let stats = &list[0];
    assert_eq!(stats["fabric"], "kind=\"fat-tree\",k=4");
    for (key, value) in [("servers", 16), ("switches", 20), ("links", 48), ("most_next_hops", 2)] {
        assert_eq!(stats[key], value, "{key}");
    }
    // Of a host's 15 peers 1 is in its rack, 2 are in its pod, 12 elsewhere.
    assert_eq!(stats["pairs_by_paths"], serde_json::json!({ "1": 16, "2": 32, "4": 192 }));
    assert_eq!(stats["pairs_by_switches"], serde_json::json!({ "1": 16, "3": 32, "5": 192 }));
    let text = folder.heddle(&format!("fabric stats {shape}")).ok();
    for (row, figure) in
        [("hosts", "16"), ("pairs with 2 paths or more", "93.3 %"), ("most paths", "4")]
    {
        let line = text.lines().find(|line| line.starts_with(&format!("│ {row} "))).unwrap();
        assert_eq!(line.trim_end_matches([' ', '│']).rsplit("┆ ").next().unwrap().trim(), figure);
    }
}

/// A scenario, a fabric file and a shape side by side.
#[test]
fn stats_of_files_of_both_kinds() {
    let folder = Folder::with_fabric();
    let mut command =
        folder.command("fabric stats small.toml fabric.toml --json --shape kind=\"leaf-spine\"");
    let ran = command.arg(examples().join("hula-fig5.toml")).output().unwrap();
    let list: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let hosts: Vec<_> =
        list.as_array().unwrap().iter().map(|of| of["servers"].as_u64().unwrap()).collect();
    assert_eq!(hosts, [8, 128, 32, 64]);
    assert!(folder.heddle("fabric stats").failed(2).contains("--shape"));
    let said = folder.heddle("fabric stats --shape kind=\"fat-tree\",k=5").failed(3);
    assert!(said.starts_with("error: --shape:1: fabric.k: "), "{said}");
}

/// Links that are down from the start offer no paths.
#[test]
fn stats_leave_failed_links_out() {
    let folder = Folder::with_fabric();
    let text = folder.read("fabric.toml").replace("k = 8", "k = 8\nfailed = [\"core-1\"]");
    folder.put("failed.toml", &text);
    let list = folder.heddle("fabric stats fabric.toml failed.toml --json").json();
    let most = |of: &Value| {
        of["pairs_by_paths"].as_object().unwrap().keys().map(|key| key.parse().unwrap()).max()
    };
    assert_eq!((most(&list[0]), most(&list[1])), (Some(16u64), Some(15)));
}

#[test]
fn show_prints_what_defaults_are() {
    let folder = Folder::new();
    folder.put("least.toml", "[fabric]\nkind = \"fat-tree\"\nk = 4\n");
    let text = folder.heddle("fabric show least.toml --set cflb.ttl=32").ok();
    for line in [
        "addresses = \"16 addresses, 16 hosts\"",
        "cipher = \"rc5\"",
        "radix = 2",
        "ttl = 32",
        "graph = \"36 nodes, 48 links\"",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    let file = folder.heddle("fabric show least.toml --json").json();
    assert_eq!(keys(&file), ["addresses", "cflb", "fabric"]);
    assert!(
        folder.heddle("fabric show small.toml").failed(3).contains("a fabric file is wanted here")
    );
}

#[test]
fn the_schema_is_that_of_fabric_files() {
    let folder = Folder::new();
    let schema = folder.heddle("fabric schema").json();
    assert_eq!(keys(&schema["properties"]), ["addresses", "cflb", "fabric"]);
}

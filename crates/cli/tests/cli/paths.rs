//! `heddle path encode` and `decode`, on the fabric of the tests of `find`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Folder, examples, words};

/// Options for paths in the source port alone.
const BY_SOURCE_PORT: &str = "--set cflb.field=source-port --set cflb.cipher=feistel";

/// The routers on a packet's way.
fn routers(hops: &Value) -> Vec<&str> {
    hops.as_array().unwrap().iter().map(|hop| hop["router"].as_str().unwrap()).collect()
}

/// `heddle path decode` of a header that was encoded.
fn decoded(folder: &Folder, header: &Value, options: &str) -> Value {
    let text = |key: &str| header[key].as_str().map_or(header[key].to_string(), str::to_owned);
    let ran = folder.heddle(&format!(
        "path decode fabric.toml --json {options} --from {} --to {} --source-port {} --destination-port {} \
         --protocol {} --ttl {} --flow-label {}",
        text("source"),
        text("destination"),
        text("source_port"),
        text("destination_port"),
        text("protocol"),
        text("ttl"),
        text("flow_label"),
    ));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.json()
}

/// By number and by names, in every field: what is encoded is decoded as the same path.
#[test]
fn every_path_of_a_pair_is_named_and_followed() {
    let folder = Folder::with_fabric();
    let found = folder.heddle("path find fabric.toml host-1 host-128 --json").json();
    for (index, path) in found["paths"].as_array().unwrap().iter().enumerate() {
        let nodes = words(path, "nodes");
        let switches = &nodes[1..nodes.len() - 1];
        let by_name = format!("--via {}", switches.join(","));
        for which in [format!("--path {index}"), by_name] {
            let named =
                folder.heddle(&format!("path encode fabric.toml host-1 host-128 --json {which}"));
            let named = named.json();
            assert_eq!(
                (&named["path"]["path"], words(&named["path"], "nodes")),
                (&index.into(), nodes.clone())
            );
            let header = &named["names"][0]["header"];
            assert!(
                header["source_port"].as_u64().unwrap() > 1023
                    && header["destination_port"].as_u64().unwrap() > 1023
            );
            let taken = decoded(&folder, header, "");
            assert_eq!((&taken["path"], &taken["outcome"]), (&index.into(), &"delivered".into()));
            assert_eq!(routers(&taken["hops"]), switches);
            let reasons = [
                "controlled",
                "controlled",
                "single-next-hop",
                "single-next-hop",
                "single-next-hop",
            ];
            let hops = taken["hops"].as_array().unwrap();
            assert!(hops.iter().zip(reasons).all(|(hop, reason)| hop["reason"] == reason));
        }
    }
}

#[test]
fn the_source_port_alone_names_paths_too() {
    let folder = Folder::with_fabric();
    for number in 0..16 {
        let words = format!(
            "path encode fabric.toml host-1 host-128 --path {number} {BY_SOURCE_PORT} --destination-port 443"
        );
        let header = folder.heddle(&format!("{words} --json")).json()["names"][0]["header"].clone();
        assert_eq!(header["destination_port"], 443);
        assert_eq!(decoded(&folder, &header, BY_SOURCE_PORT)["path"], number);
    }
}

#[test]
fn flow_labels_name_paths_too() {
    let folder = Folder::with_fabric();
    let text = folder.read("fabric.toml");
    let by_label = text.replace("\"ports\"  ", "\"flow-label\"").replace("\"rc5\"", "\"feistel\"");
    let reserved = by_label.lines().filter(|line| !line.starts_with("reserved"));
    folder.put("fabric.toml", &reserved.collect::<Vec<_>>().join("\n"));
    let words = "path encode fabric.toml host-1 host-128 --path 9 --source-port 40000 --destination-port 443";
    let text = folder.heddle(words).ok();
    assert!(text.contains("fd00::1 to 2001:db8::7: flow label 0x"), "{text}");
    let header = folder.heddle(&format!("{words} --json")).json()["names"][0]["header"].clone();
    assert_eq!(decoded(&folder, &header, "")["path"], 9);
    let said = folder.heddle("path encode fabric.toml host-1 host-128 --path 9").failed(2);
    assert!(said.contains("--source-port is missing"), "{said}");
}

#[test]
fn encode_says_what_to_write_and_why() {
    let folder = Folder::with_fabric();
    let text = folder.heddle("path encode fabric.toml host-1 host-128 --path 6 --explain").ok();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "path 6: tor-1,agg-2,core-7,agg-30,tor-32");
    assert!(
        lines[1].starts_with("10.0.0.1 to 192.0.2.7: source port ")
            && lines[1].ends_with(", TTL 64")
    );
    // Base 4 in 32 bits: 16 digits. 64 mod 16 = 0, 63 mod 16 = 15.
    for row in [
        "│ tor-1  ┆ 64  ┆ 0        ┆ 1     ┆ 1 of 0-3 ┆ agg-2    ┆ controlled        │",
        "│ agg-2  ┆ 63  ┆ 15       ┆ 2     ┆ 2 of 0-3 ┆ core-7   ┆ controlled        │",
        "│ core-7 ┆ 62  ┆ -        ┆ -     ┆ -        ┆ agg-30   ┆ only one next hop │",
        "position = TTL mod 16; digits are 0-3; paths, next hops and digits are numbered from 0",
    ] {
        assert!(lines.contains(&row), "{row}\n{text}");
    }
}

#[test]
fn one_path_has_many_names() {
    let folder = Folder::with_fabric();
    let words = "path encode fabric.toml host-1 host-128 --path 5 --json --count 50";
    let named = folder.heddle(words).json();
    let names = named["names"].as_array().unwrap();
    let header = |name: &Value| {
        (name["header"]["source_port"].clone(), name["header"]["destination_port"].clone())
    };
    let different: BTreeSet<String> =
        names.iter().map(|name| format!("{:?}", header(name))).collect();
    assert_eq!((names.len(), different.len()), (50, 50));
    let way = routers(&names[0]["hops"]);
    assert!(names.iter().all(|name| routers(&name["hops"]) == way));
    let taken = names[0]["header"]["source_port"].as_u64().unwrap();
    let others = folder.heddle(&format!("{words} --taken {taken}")).json();
    assert!(
        others["names"]
            .as_array()
            .unwrap()
            .iter()
            .all(|name| name["header"]["source_port"] != taken)
    );
    assert_eq!(folder.heddle(words).json(), named, "the same question has the same answer");
}

/// 16 ports are 2 digits in base 4: the path takes both, so that each TTL has one name for it, and
/// TTLs two apart the same one.
#[test]
fn names_run_out() {
    let folder = Folder::with_fabric();
    let words = format!(
        "path encode fabric.toml host-1 host-128 --path 3 --destination-port 443 {BY_SOURCE_PORT} --set cflb.source_ports=40000-40015"
    );
    let few = folder.heddle(&format!("{words} --count 4"));
    assert!(few.err.contains("the path has 2 free names, 4 were asked for"), "{}", few.err);
    assert_eq!(few.ok().lines().count(), 1 + 2);
    let all: Vec<String> = (40000..=40015).map(|port: u32| port.to_string()).collect();
    let said = folder.heddle(&format!("{words} --taken {}", all.join(","))).failed(1);
    assert!(said.starts_with("error: no encoding of the path is free, 2 tried; "), "{said}");
}

#[test]
fn paths_that_cannot_be_named() {
    let folder = Folder::with_fabric();
    for (words, code, message) in [
        ("--path 16", 1, "there is no path number 16: the pair has 16"),
        (
            "--via tor-1,agg-2,core-1,agg-29,tor-32",
            1,
            "agg-2 has no next hop core-1 towards host-128: it has core-5, core-6",
        ),
        ("--via agg-2,core-5", 1, "the path from host-1 must begin at tor-1 and end at tor-32"),
        ("--path 3 --ttl 5", 1, "a TTL of 5 does not reach host-128: the path needs 6 or more"),
        (
            "--path 3 --set cflb.radix=3",
            3,
            "a radix of 3 is below a router's next hops, 4\nhelp: 4 or more",
        ),
        ("--path 3 --destination-port 443", 2, "--destination-port cannot be chosen"),
        (
            "--path 3 --set fabric.failed=[\"agg-1\",\"agg-2\",\"agg-3\",\"agg-4\"]",
            3,
            "no path leads from tor-1 up and then down to tor-2",
        ),
    ] {
        let said =
            folder.heddle(&format!("path encode fabric.toml host-1 host-128 {words}")).failed(code);
        assert!(said.starts_with("error: ") && said.contains(message), "{words}: {said}");
    }
}

/// 8 ports hold one digit in base 4, which both routers of the path read.
#[test]
fn a_long_path_does_not_fit_a_small_field() {
    let folder = Folder::with_fabric();
    let words = format!(
        "path encode fabric.toml host-1 host-128 --destination-port 443 {BY_SOURCE_PORT} --set cflb.source_ports=40000-40007"
    );
    let said = folder.heddle(&format!("{words} --path 3")).failed(1);
    assert!(
        said.contains("tor-1 and agg-1 read the same digit, and are to choose differently"),
        "{said}"
    );
    assert!(said.contains("take a wider field"), "{said}");
    folder.heddle(&format!("{words} --path 5")).ok();
}

#[test]
fn hosts_that_are_not_there() {
    let folder = Folder::with_fabric();
    for words in ["find fabric.toml hst-1 host-2", "encode fabric.toml hst-1 host-2 --path 0"] {
        let said = folder.heddle(&format!("path {words}")).failed(1);
        assert_eq!(said, "error: there is no host `hst-1`: did you mean `host-1`?\n");
    }
    let ran = folder.heddle("path find fabric.toml host-1 198.51.100.1 --json");
    assert_eq!((ran.code, &ran.json()["error"]), (Some(1), &"failed".into()));
}

#[test]
fn decode_says_why_each_hop_is_taken() {
    let folder = Folder::with_fabric();
    folder.put("fat-tree-8.key", "000102030405060708090a0b0c0d0e0f");
    let words = "path decode fabric.toml --from host-1 --to host-128";
    let text = folder.heddle(&format!("{words} --source-port 40000 --destination-port 443")).ok();
    assert!(text.contains("┆ controlled ") && text.contains("┆ only one next hop "), "{text}");
    let [.., note, end] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!(note, "paths, next hops and digits are numbered from 0");
    assert!(
        end.starts_with("delivered to host-128, by path ") && end.ends_with(" of 0-15"),
        "{end}"
    );
    assert!(folder.heddle(words).ok().contains("hashed: the packet has no ports"));
    // With base 5 a digit of 4 names no next hop: some of these packets have one.
    let reasons: BTreeSet<String> = (40000..40040)
        .flat_map(|port| {
            let words = format!(
                "{words} --source-port {port} --destination-port 443 --set cflb.radix=5 --json"
            );
            let hops = folder.heddle(&words).json()["hops"].clone();
            hops.as_array().unwrap()[..2]
                .iter()
                .map(|hop| hop["detail"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(
        reasons.contains("controlled") && reasons.contains("hashed: the digit is not below 4"),
        "{reasons:?}"
    );
    assert!(
        reasons.contains("hashed: these ports name no path"),
        "5^13 of 2^32 values: {reasons:?}"
    );
}

#[test]
fn a_packet_can_die_on_the_way() {
    let folder = Folder::with_fabric();
    let words = "path decode fabric.toml --from host-1 --to host-128 --source-port 40000 --destination-port 443";
    let text = folder.heddle(&format!("{words} --ttl 3")).ok();
    assert!(text.lines().last().unwrap().starts_with("lost: the TTL runs out at core-"), "{text}");
    assert_eq!(
        folder.heddle(&format!("{words} --ttl 1")).ok(),
        "lost: the TTL runs out at tor-1, before host-128\n"
    );
    let lost = folder.heddle(&format!("{words} --ttl 3 --json")).json();
    assert_eq!((&lost["outcome"], &lost["path"]), (&"ttl-expired".into(), &Value::Null));
    assert_eq!(lost["hops"].as_array().unwrap().len(), 2);
}

/// The example for ordinary hosts: every path by many client ports, always with the TTL that Linux
/// writes.
#[test]
fn ordinary_hosts_name_paths_by_their_source_port() {
    let folder = Folder::new();
    let file = examples().join("fabrics/leaf-spine-source-port.toml");
    folder.put("fabric.toml", &std::fs::read_to_string(file).unwrap());
    folder.heddle("path keygen leaf-spine-source-port.key --cipher feistel").ok();
    for number in 0..4 {
        let words = format!(
            "path encode fabric.toml host-1 host-64 --destination-port 443 --path {number} --count 1000 --json"
        );
        let named = folder.heddle(&words).json();
        let names = named["names"].as_array().unwrap();
        assert_eq!(names.len(), 1000);
        for header in names.iter().map(|name| &name["header"]) {
            assert!((32_768..61_000).contains(&header["source_port"].as_u64().unwrap()));
            assert_eq!((&header["destination_port"], &header["ttl"]), (&443.into(), &64.into()));
        }
        assert_eq!(decoded(&folder, &names[999]["header"], "")["path"], number);
    }
}

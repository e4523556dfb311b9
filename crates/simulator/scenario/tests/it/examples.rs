//! The scenario files of the repository load, and say what they are said to.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_policy::cflb::Field;
use heddle_scenario::{
    Change, FabricFile, Pattern, Placing, Routing, Scenario, Scheme, Source, Transport, Until,
    Workload, complete, load, load_fabric,
};
use heddle_transport::Control;
use heddle_units::{Bytes, Rate, Time};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios")
}

fn example(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let text = fs::read_to_string(folder().join(name)).expect(name);
    let with = |source: Source, &(key, value): &(&str, &str)| source.with(key, value);
    let source = overrides.iter().fold(Source::new(name, text), with);
    let files = |path: &str| fs::read_to_string(folder().join(path));
    load(&source, &files).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_example_loads_and_can_be_shown() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            let scenario = example(&name, &[]);
            toml::to_string(&scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
            let shown = serde_json::to_value(&scenario).unwrap();
            let (key, timeout) = match name.as_str() {
                // Linux's own where the paths are those of a wide area.
                "full-window.toml" => ("min_rto", "200ms"),
                // 15 us, and six times what 180 KB take at 100 Gbps.
                "uet-permutation.toml" => ("rto", "101.4us"),
                _ => ("min_rto", "10ms"),
            };
            assert_eq!(shown["transport"][key], timeout, "{name}");
            count += 1;
        }
    }
    assert!(count >= 17, "{count}");
}

#[test]
fn hosts_that_speak_no_tcp_have_no_frames_to_capture() {
    let refused = example("uet-permutation.toml", &[]).check_frames().unwrap_err();
    assert!(refused.to_string().starts_with("captures hold frames of TCP"), "{refused}");
    let tcp = example("uet-permutation.toml", &[("transport", r#"{ kind = "tcp" }"#)]);
    assert_eq!(tcp.check_frames(), Ok(()));
}

/// The fabric files, by name.
fn fabric_files() -> Vec<(String, FabricFile)> {
    let folder = folder().join("fabrics");
    let load = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("UTF-8");
        let text = fs::read_to_string(entry.path()).expect(&name);
        let files = |path: &str| fs::read_to_string(folder.join(path));
        let file = load_fabric(&Source::new(name.as_str(), text), &files);
        (name, file.unwrap_or_else(|error| panic!("{error}")))
    };
    let entries = fs::read_dir(&folder).expect("scenarios/fabrics");
    entries.map(|entry| load(entry.expect("it can be read"))).collect()
}

#[test]
fn every_fabric_file_loads_and_can_be_shown() {
    let files = fabric_files();
    assert!(!files.is_empty());
    for (name, file) in files {
        toml::to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_readme_lists_every_example() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let is_listed = |name: &str| assert!(readme.contains(&format!("`{name}`")), "{name}");
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            is_listed(&name);
        }
    }
    fabric_files().iter().for_each(|(name, _)| is_listed(&format!("fabrics/{name}")));
}

/// CFLB section 4.2.1: 128 servers, 80 switches of eight ports, 100 Mbps; a permutation.
#[test]
fn cflbs_data_centre_is_as_the_paper_says() {
    let scenario = example("cflb-fig9-permutation.toml", &[]);
    let graph = &scenario.fabric.graph;
    let hosts = graph.nodes.iter().filter(|node| node.tier == 0).count();
    assert_eq!((hosts, graph.nodes.len() - hosts), (128, 80));
    assert!(graph.links.iter().all(|link| link.rate == Rate::mbps(100)));
    let Scheme::Cflb(cflb) = scenario.scheme else { panic!("cflb") };
    assert_eq!(
        (cflb.constants.radix, cflb.constants.field, cflb.placing),
        (4, Field::Ports, Placing::FewestFlows)
    );
    assert_eq!(scenario.fabric.port.packets, Some(100));
    assert!(matches!(scenario.workload, Workload::Long(long) if long.pairs.is_none()));
}

/// CFLB section 4.2.2: seven paths of 100 Mbps between hosts of 1 Gbps; then a load balancer with
/// seven next hops, and two links into the destination.
#[test]
fn cflbs_testbed_is_as_the_paper_says() {
    let seven = example("cflb-seven-links.toml", &[]);
    let Scheme::Cflb(cflb) = seven.scheme else { panic!("cflb") };
    assert_eq!(cflb.constants.radix, 7);
    let Transport::Mptcp(mptcp) = seven.transport else { panic!("mptcp") };
    assert_eq!(mptcp.subflows, 7);

    let two = example("cflb-two-interfaces.toml", &[]);
    let Scheme::Cflb(cflb) = two.scheme else { panic!("cflb") };
    assert_eq!(cflb.constants.radix, 7);
    let graph = &two.fabric.graph;
    let rates_at = |name: &str| {
        let at = |node: u32| graph.nodes[node as usize].name == name;
        let links = graph.links.iter().filter(|link| at(link.ends.0) || at(link.ends.1));
        links.map(|link| link.rate).collect::<Vec<Rate>>()
    };
    let (fast, slow) = (Rate::gbps(1), Rate::mbps(100));
    assert_eq!(rates_at("lb"), [&[fast][..], &[slow; 7]].concat());
    assert_eq!(rates_at("nic"), [fast, slow, slow]);
    assert_eq!(rates_at("router"), [slow; 7]);
}

#[test]
fn small_vl2_and_bcube() {
    assert_eq!(example("vl2.toml", &[]).fabric.graph.routing, Routing::UpDown);
    let bcube = example("bcube.toml", &[]);
    assert_eq!(bcube.fabric.graph.routing, Routing::Shortest);
    assert_eq!(bcube.fabric.graph.nodes.len(), 16 + 16 + 8);
}

/// HULA section 6: T_p 200 us, gap 100 us, three connections, load over 160 Gbps in the asymmetric
/// case too.
#[test]
fn hula_figures_are_as_the_paper_says() {
    for (name, load) in [("hula-fig5.toml", 0.7), ("hula-fig6.toml", 0.6), ("hula-fig7.toml", 0.8)]
    {
        let scenario = example(name, &[]);
        let Workload::Flows(flows) = &scenario.workload else { panic!("{name}") };
        assert_eq!((flows.load, flows.capacity), (load, Rate::gbps(160)), "{name}");
        let Pattern::Pairs { clients, servers } = &flows.pattern else { panic!("{name}") };
        assert_eq!((clients, servers), (&(0..16).collect(), &(16..32).collect()));
        let Scheme::Hula(hula) = scenario.scheme else { panic!("{name}") };
        assert_eq!((hula.probe_period, hula.flowlet_gap), (Time::micros(200), Time::micros(100)));
        assert_eq!((hula.fail_after(), hula.tau()), (Time::micros(600), Time::micros(400)));
    }
    assert_eq!(example("hula-fig6.toml", &[]).fabric.failed, [("agg-4".into(), "core-2".into())]);
}

#[test]
fn a_scheme_can_be_swapped_by_name() {
    for (name, is_right) in [
        ("ecmp", (|scheme| matches!(scheme, Scheme::Ecmp)) as fn(Scheme) -> bool),
        ("conga-prime", |scheme| matches!(scheme, Scheme::CongaPrime(_))),
        ("letitflow", |scheme| matches!(scheme, Scheme::LetItFlow(_))),
        ("drill", |scheme| matches!(scheme, Scheme::Drill(_))),
        ("flowcut", |scheme| matches!(scheme, Scheme::Flowcut(_))),
        ("spray", |scheme| matches!(scheme, Scheme::Spray)),
        ("mp-hula", |scheme| matches!(scheme, Scheme::MpHula(_))),
        ("shuttle", |scheme| matches!(scheme, Scheme::Shuttle(_))),
        ("ideal", |scheme| matches!(scheme, Scheme::Ideal)),
    ] {
        assert!(is_right(example("hula-fig5.toml", &[("scheme", name)]).scheme), "{name}");
    }
}

#[test]
fn the_failure_is_of_one_link_and_is_mended() {
    let scenario = example("hula-fig9-failure.toml", &[]);
    let [down, up] = &scenario.events[..] else { panic!("two events") };
    assert_eq!((down.at, down.change), (Time::millis(40), Change::Fail));
    assert_eq!((up.at, up.change), (Time::millis(60), Change::Recover));
    assert_eq!((down.links.len(), &down.links), (1, &up.links));
    let conga = example("leaf-spine-conga.toml", &[]);
    assert_eq!(conga.events[0].links.len(), 1);
}

#[test]
fn bench_a_is_a_permutation_of_full_packets() {
    let scenario = example("bench-a.toml", &[]);
    let hosts = scenario.fabric.graph.nodes.iter().filter(|node| node.tier == 0).count();
    assert_eq!((hosts, scenario.fabric.graph.nodes.len() - hosts), (128, 80));
    assert_eq!(u32::from(scenario.transport.tcp().mss) + heddle_transport::HEADER_BYTES, 1500);
    assert_eq!(scenario.fabric.port.packets, Some(100));
    assert!(scenario.fabric.graph.links.iter().all(|l| l.rate == Rate::mbps(100)));
    assert!(scenario.fabric.graph.links.iter().all(|l| l.delay == Time::micros(100)));
    assert!(matches!(scenario.workload, Workload::Long(long) if long.pairs.is_none()));
}

#[test]
fn incast_marks_at_65_packets() {
    let scenario = example("incast-dctcp.toml", &[]);
    assert_eq!(scenario.transport.tcp().control, Control::Dctcp);
    assert_eq!(scenario.fabric.port.mark_above, Some(Bytes(65 * 1500)));
    let default = example("hula-fig5.toml", &[("transport.control", "dctcp")]);
    assert_eq!(default.fabric.port.mark_above, Some(Bytes(65 * 1500)));
    assert_eq!(example("hula-fig5.toml", &[]).fabric.port.mark_above, None);
}

#[test]
fn a_replay_measures_all_of_its_flows() {
    let scenario = example("file-graph.toml", &[]);
    assert_eq!(scenario.measure.until, Until::Flows(4));
    let names: Vec<&str> = scenario.fabric.graph.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(&names[..4], ["web-1", "web-2", "db-1", "db-2"]);
    let tiers: Vec<u8> = scenario.fabric.graph.nodes.iter().map(|n| n.tier).collect();
    assert_eq!(tiers, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3]);
}

/// The other reading of HULA's traffic: a server drawn for each flow.
#[test]
fn a_server_can_be_drawn_for_each_flow() {
    let scenario = example("hula-fig5.toml", &[("workload.pattern", "cross-pod")]);
    let Workload::Flows(flows) = &scenario.workload else { panic!("flows") };
    assert!(matches!(flows.pattern, Pattern::Sets { .. }));
}

/// The output of `heddle show` is a scenario file, and the same scenario.
#[test]
fn a_scenario_with_every_default_written_out_is_the_same_scenario() {
    let schemes: &[&[(&str, &str)]] = &[
        &[],
        &[("scheme", "ecmp")],
        &[("scheme", "ideal")],
        &[("scheme", "hula"), ("scheme.tau", "300us")],
        &[("scheme", "mp-hula"), ("scheme.best_k", "1")],
        &[("scheme", "cflb")],
        &[
            ("scheme", "{ kind = \"cflb\", field = \"source-port\" }"),
            ("fabric.port_buffer", "20MB"),
        ],
        &[("scheme", "letitflow"), ("transport", "{ kind = \"tcp\", control = \"dctcp\" }")],
        &[("transport", "{ kind = \"mptcp\", subflows = 3, delayed_ack = \"1ms\" }")],
    ];
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        let text = fs::read_to_string(folder().join(&name)).unwrap();
        let files = |path: &str| fs::read_to_string(folder().join(path));
        for overrides in schemes {
            let source = overrides
                .iter()
                .fold(Source::new(name.as_str(), text.as_str()), |s, (k, v)| s.with(*k, *v));
            let Ok(scenario) = load(&source, &files) else { continue };
            let shown = complete(&source, &scenario).unwrap();
            let shown = toml::to_string(&shown).unwrap();
            let again = load(&Source::new("shown.toml", shown.as_str()), &files);
            assert_eq!(again.as_ref(), Ok(&scenario), "{name} {overrides:?}\n{shown}");
            assert!(shown.contains("host_buffer") && shown.contains("rto = "), "{shown}");
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

/// Flows of hosts that stay cut off would never end.
#[test]
fn hosts_that_are_cut_off_for_ever_are_refused() {
    let text = r#"
        scheme = "ecmp"
        fabric = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2 }
        workload = { kind = "flows", sizes = "fixed:20KB", load = 0.1 }
        measure = { flows = 100 }
        [[event]]
        at = "5ms"
        fail = ["spine-1", "spine-2"]
    "#;
    let files = |path: &str| fs::read_to_string(path);
    let error = load(&Source::new("x.toml", text), &files).unwrap_err();
    assert_eq!(error.key(), "event.0");
    assert!(error.message().contains("no path leads from leaf-1"), "{error}");
    let recovered = format!("{text}\n[[event]]\nat = \"6ms\"\nrecover = [\"spine-1\"]\n");
    assert!(load(&Source::new("x.toml", recovered), &files).is_ok());
}

/// The book's list of schemes says which run on packets.
#[test]
fn the_index_of_schemes_has_their_planes() {
    let index = include_str!("../../../../../docs/src/schemes/index.md");
    let rows = index.lines().filter_map(|line| line.strip_prefix("| [`")?.split_once('`'));
    let planes: Vec<(&str, &str)> = rows
        .map(|(name, row)| (name, row.trim_end_matches('|').rsplit('|').next().unwrap_or("")))
        .collect();
    for (plane, expected) in [("eBPF", &Scheme::IN_EBPF[..]), ("P4", &Scheme::IN_P4)] {
        let mut listed: Vec<&str> =
            planes.iter().filter(|(_, on)| on.contains(plane)).map(|&(name, _)| name).collect();
        let mut expected = expected.to_vec();
        listed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(listed, expected, "{plane}");
    }
}

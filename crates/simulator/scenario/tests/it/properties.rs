//! Properties that hold for every input.

use std::io;

use heddle_scenario::{SizeDistribution, Source, load, load_fabric};
use proptest::prelude::*;

const KEYS: [&str; 64] = [
    "fabric.kind",
    "fabric.hosts_per_tor",
    "fabric.host_rate",
    "fabric.core_rate",
    "fabric.link_delay",
    "fabric.port_buffer",
    "fabric.port_packets",
    "fabric.mark_above",
    "fabric.shared_buffer",
    "fabric.shared_buffer.alpha",
    "fabric.priority_bytes",
    "fabric.control_first",
    "fabric.trim_above",
    "fabric.scale_buffers",
    "fabric.red",
    "fabric.red.min",
    "fabric.red.weight",
    "fabric.link.0.reverse_rate",
    "fabric.convergence",
    "fabric.routing",
    "fabric.intermediate",
    "fabric.failed",
    "fabric.k",
    "fabric.leaves",
    "fabric.ports",
    "fabric.routers",
    "fabric.groups",
    "fabric.levels",
    "fabric.rate",
    "fabric.aggregation_ports",
    "fabric.intermediate_ports",
    "transport.kind",
    "transport.mss",
    "transport.min_rto",
    "transport.max_rto",
    "transport.receive_window",
    "transport.initial_window",
    "transport.control",
    "transport.subflows",
    "transport.coupling",
    "scheme",
    "scheme.kind",
    "scheme.tau",
    "scheme.probe_period",
    "scheme.flowlet_slots",
    "scheme.best_k",
    "scheme.mapping_rows",
    "scheme.long_flows",
    "scheme.field",
    "scheme.source_ports",
    "scheme.cipher",
    "scheme.radix",
    "scheme.rules",
    "scheme.elephants",
    "scheme.placing",
    "workload.load",
    "workload.capacity",
    "workload.senders",
    "workload.pattern",
    "measure.time_limit",
    "measure.probe_warm_up",
    "measure.warm_up",
    "measure.duration",
    "event.0.at",
];

const VALUES: [&str; 44] = [
    "0",
    "1",
    "-1",
    "2",
    "510",
    "4294967295",
    "9223372036854775807",
    "1e308",
    "nan",
    "inf",
    "0s",
    "1ps",
    "200us",
    "86400s",
    "18446744s",
    "1bps",
    "10Gbps",
    "100Tbps",
    "0B",
    "64KB",
    "16GiB",
    "fat-tree",
    "leaf-spine",
    "bcube",
    "dragonfly",
    "valiant",
    "ugal-l",
    "packet",
    "vl2",
    "cflb",
    "source-port",
    "1024-65535",
    "feistel",
    "conga",
    "hula",
    "mp-hula",
    "shuttle",
    "mptcp",
    "uet",
    "uncoupled",
    "dctcp",
    "incast",
    "[\"core-1\"]",
    "{}",
];

const FABRIC_KEYS: [&str; 12] = [
    "fabric.k",
    "fabric.hosts_per_tor",
    "cflb.field",
    "cflb.source_ports",
    "cflb.radix",
    "cflb.cipher",
    "cflb.ttl",
    "cflb.ttls",
    "cflb.reserved",
    "cflb.key_check",
    "addresses.ipv4",
    "addresses.hosts",
];

const FABRIC_VALUES: [&str; 20] = [
    "0",
    "2",
    "64",
    "65535",
    "flow-label",
    "source-port",
    "feistel",
    "skip32",
    "64-255",
    "65535-65535",
    "7-1",
    "[]",
    "[\"0-65535\"]",
    "0011aaff",
    "10.0.0.0/24",
    "10.0.0.0/25",
    "0.0.0.0/0",
    "fd00::/64",
    "{ host-1 = [\"10.0.0.2\"] }",
    "{ host-1 = [\"10.0.0.1\"], host-2 = [\"fd00::1\", \"::1\"] }",
];

fn no_files(path: &str) -> io::Result<String> {
    Ok(path.to_owned())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = load(&Source::new("x", text), &no_files);
    }

    #[test]
    fn a_file_with_a_hole_is_read_or_refused(from in 0usize..1200, length in 0usize..60, patch in "\\PC{0,4}") {
        let mut text = include_str!("../../../../../scenarios/hula-fig5.toml").to_owned();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        if text.is_char_boundary(from) && text.is_char_boundary(to) {
            text.replace_range(from..to, &patch);
        }
        let _ = load(&Source::new("x", text), &no_files);
    }

    #[test]
    fn any_values_are_taken_or_refused(
        changes in prop::collection::vec((prop::sample::select(&KEYS[..]), prop::sample::select(&VALUES[..])), 1..5),
    ) {
        let text = include_str!("../../../../../scenarios/hula-fig9-failure.toml");
        let set = |source: Source, (key, value): (&str, &str)| source.with(key, value);
        let source = changes.into_iter().fold(Source::new("x", text), set);
        let _ = load(&source, &no_files);
    }

    /// A file that is accepted has an address for each host, none of them twice.
    #[test]
    fn any_fabric_file_is_taken_or_refused(
        changes in prop::collection::vec((prop::sample::select(&FABRIC_KEYS[..]), prop::sample::select(&FABRIC_VALUES[..])), 1..4),
    ) {
        let text = include_str!("../../../../../scenarios/fabrics/fat-tree-8.toml");
        let set = |source: Source, (key, value): (&str, &str)| source.with(key, value);
        let source = changes.into_iter().fold(Source::new("x", text), set);
        if let Ok(file) = load_fabric(&source, &no_files) {
            let hosts = file.fabric.graph.nodes.iter().filter(|node| node.tier == 0).count();
            let mut addresses = file.addresses.concat();
            prop_assert!(file.addresses.len() == hosts && file.addresses.iter().all(|own| !own.is_empty()));
            let count = addresses.len();
            addresses.sort_unstable();
            addresses.dedup();
            prop_assert_eq!(addresses.len(), count);
        }
    }

    #[test]
    fn a_file_of_sizes_is_read_or_refused(text in "(bytes|packets),(cdf|percent)\n([0-9.e+-]{1,5},[0-9.e+-]{1,5}\n){0,6}") {
        let scenario = include_str!("../../../../../scenarios/hula-fig5.toml");
        let source = Source::new("x", scenario).with("workload.sizes", "{ file = \"sizes.csv\" }");
        let _ = load(&source, &|_: &str| Ok(text.clone()));
    }

    /// The mean is the integral of the quantile function: n strips of a rising function err by at
    /// most its range over n.
    #[test]
    fn the_mean_is_that_of_the_samples(sizes in distribution()) {
        const STRIPS: u32 = 10_000;
        let middle = |i: u32| sizes.quantile((f64::from(i) + 0.5) / f64::from(STRIPS));
        let sampled = (0..STRIPS).map(middle).sum::<f64>() / f64::from(STRIPS);
        let range = sizes.quantile(1.0) - sizes.quantile(0.0);
        prop_assert!((sampled - sizes.mean()).abs() <= range / f64::from(STRIPS) + 1e-6, "{sampled} {}", sizes.mean());
    }

    #[test]
    fn quantiles_rise_and_invert_the_distribution(sizes in distribution(), u in 0.0f64..1.0, v in 0.0f64..1.0) {
        prop_assert!(sizes.quantile(u.min(v)) <= sizes.quantile(u.max(v)));
        let (low, high) = (sizes.points[0].0, sizes.points[sizes.points.len() - 1].0);
        prop_assert!((low..=high).contains(&sizes.quantile(u)));
        for &(bytes, cdf) in &sizes.points {
            prop_assert!(sizes.quantile(cdf) <= bytes);
        }
    }
}

/// Points that rise to a probability of 1.
fn distribution() -> impl Strategy<Value = SizeDistribution> {
    prop::collection::vec((0u32..1_000_000, 0u32..1000), 1..12).prop_map(|steps| {
        let total: u32 = steps.iter().map(|(_, weight)| weight).sum();
        let mut sizes: Vec<u32> = steps.iter().map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        let mut sum = 0;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (size, (_, weight)) in sizes.into_iter().zip(steps) {
            sum += weight;
            points.push((f64::from(size), f64::from(sum) / f64::from(total.max(1))));
        }
        if let Some(last) = points.last_mut() {
            last.1 = 1.0;
        }
        SizeDistribution { name: "any".into(), points }
    })
}

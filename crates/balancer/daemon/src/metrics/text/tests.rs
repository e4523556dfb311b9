//! The text is read back by a parser of its own, written from the OpenMetrics 1.0 specification.

use super::*;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::metrics::names::Kind;
use crate::metrics::{
    Backend, Build, Checks, Event, Health, Members, Reloads, Service, Table, Verdict,
};

#[derive(Debug, Default)]
struct Family {
    kind: String,
    help: String,
    /// By suffix and labels.
    samples: BTreeMap<(String, BTreeMap<String, String>), f64>,
}

/// `key="value",...` with `\\`, `\"` and `\n` escaped.
fn labels(mut text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    while !text.is_empty() {
        let (key, rest) = text.split_once("=\"").unwrap();
        let (mut value, mut rest) = (String::new(), rest.chars());
        loop {
            match rest.next().unwrap() {
                '"' => break,
                '\\' => value.push(match rest.next().unwrap() {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    c => panic!("\\{c}"),
                }),
                '\n' => panic!("a line break in a label"),
                c => value.push(c),
            }
        }
        assert!(found.insert(key.into(), value).is_none(), "label {key} twice");
        let rest = rest.as_str();
        assert!(rest.is_empty() || rest.len() > 1 && rest.starts_with(','), "{rest}");
        text = rest.strip_prefix(',').unwrap_or("");
    }
    found
}

fn parse(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("ends with # EOF");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in body.lines() {
        if let Some(meta) = line.strip_prefix("# ") {
            let [word, name, rest] = meta.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
            if name != current {
                assert!(!families.contains_key(name), "{name} is in two places");
                current = name.into();
            }
            let family = families.entry(name.into()).or_default();
            match word {
                "HELP" => family.help = rest.into(),
                "TYPE" => family.kind = rest.into(),
                other => panic!("{other}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, inside) = match series.split_once('{') {
            Some((name, rest)) => (name, rest.strip_suffix('}').unwrap()),
            None => (series, ""),
        };
        let suffix = name.strip_prefix(&current).expect("samples follow their own TYPE").to_owned();
        let family = families.get_mut(&current).unwrap();
        let before = family.samples.insert((suffix, labels(inside)), value.parse().unwrap());
        assert!(before.is_none(), "twice: {series}");
    }
    families
}

fn open_metrics(snapshot: Snapshot) -> String {
    text(snapshot, Format::OpenMetrics).unwrap()
}

fn example() -> Snapshot {
    let verdict =
        |name: &str, packets| Verdict { name: name.into(), packets, bytes: packets * 100 };
    Snapshot {
        services: vec![Service {
            name: "we\"ird\\name\nhere".into(),
            verdicts: vec![verdict("sent_flow", 7), verdict("sent_join", 3), verdict("too_big", 0)],
            events: vec![
                Event { name: "flow_added".into(), count: u64::MAX },
                Event { name: "flow_full".into(), count: 0 },
            ],
        }],
        backends: vec![Backend {
            service: "web".into(),
            name: "b1".into(),
            packets: 9,
            bytes: 900,
            up: true,
            draining: false,
            weight: 50,
        }],
        checks: vec![Checks {
            target: "b1".into(),
            passed: 5,
            failed: 2,
            spent: Duration::from_millis(1500),
        }],
        tables: vec![Table {
            name: "flows".into(),
            capacity: 4096,
            used: vec![("established".into(), 12), ("new".into(), 1)],
        }],
        members: Members {
            count: 3,
            ring_share: 0.25,
            changes: 4,
            store_up: false,
            shared_used: 2,
            shared_ignored: 1,
        },
        peers: vec![crate::metrics::Peer {
            name: "lb2".into(),
            up: true,
            round_trip: Some(Duration::from_micros(250)),
            missed: 6,
            refused: 7,
            differs: true,
        }],
        health: Health { programs_detached: Some("eth0".into()), ..Health::default() },
        reloads: Reloads { succeeded: 2, failed: 1, loaded: Duration::from_secs(1_700_000_000) },
        build: Build { version: "0.1.0".into(), kernel: "6.18.0".into() },
    }
}

fn value(of: &BTreeMap<String, Family>, name: &str, suffix: &str, with: &[(&str, &str)]) -> f64 {
    let with = with.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    of[&format!("heddle_lb_{name}")].samples[&(suffix.into(), with)]
}

#[test]
fn numbers_arrive_as_they_were() {
    let read = parse(&open_metrics(example()));
    let odd = ("service", "we\"ird\\name\nhere");
    assert_eq!(value(&read, "packets", "_total", &[odd, ("verdict", "sent_join")]), 3.0);
    assert_eq!(value(&read, "bytes", "_total", &[odd, ("verdict", "sent_flow")]), 700.0);
    assert_eq!(value(&read, "events", "_total", &[odd, ("event", "flow_added")]), u64::MAX as f64);
    let b1 = [("service", "web"), ("backend", "b1")];
    assert_eq!(value(&read, "backend_bytes", "_total", &b1), 900.0);
    assert_eq!(value(&read, "backend_up", "", &b1), 1.0);
    assert_eq!(value(&read, "backend_draining", "", &b1), 0.0);
    let lb2 = [("peer", "lb2")];
    assert_eq!(value(&read, "peer_up", "", &lb2), 1.0);
    assert_eq!(value(&read, "peer_round_trip_seconds", "", &lb2), 0.000_25);
    assert_eq!(value(&read, "peer_heartbeats_missed", "_total", &lb2), 6.0);
    assert_eq!(value(&read, "peer_refused", "_total", &lb2), 7.0);
    assert_eq!(value(&read, "peer_fingerprint_differs", "", &lb2), 1.0);
    assert_eq!(
        value(&read, "health_checks", "_total", &[("target", "b1"), ("outcome", "failed")]),
        2.0
    );
    assert_eq!(value(&read, "health_check_duration_seconds", "_total", &[("target", "b1")]), 1.5);
    assert_eq!(
        value(&read, "table_entries", "", &[("table", "flows"), ("state", "established")]),
        12.0
    );
    assert_eq!(value(&read, "ring_share_ratio", "", &[]), 0.25);
    assert_eq!(value(&read, "member_store_up", "", &[]), 0.0);
    assert_eq!(value(&read, "shared_changes", "", &[("state", "used")]), 2.0);
    assert_eq!(value(&read, "shared_changes", "", &[("state", "ignored")]), 1.0);
    let gauges = ["maps_in_sync", "health_checks_running", "neighbour_watcher_running"];
    assert_eq!(gauges.map(|name| value(&read, name, "", &[])), [1.0; 3]);
    assert_eq!(value(&read, "programs_attached", "", &[]), 0.0);
    assert_eq!(value(&read, "config_loaded_timestamp_seconds", "", &[]), 1.7e9);
    assert_eq!(value(&read, "build", "_info", &[("version", "0.1.0"), ("kernel", "6.18.0")]), 1.0);
}

#[test]
fn every_name_is_served_with_its_help_type_and_labels() {
    let read = parse(&open_metrics(example()));
    assert_eq!(read.len(), names::ALL.len());
    for name in names::ALL {
        let family = &read[&format!("heddle_lb_{}", name.name)];
        let (kind, suffix) = match name.kind {
            Kind::Counter => ("counter", "_total"),
            Kind::Gauge => ("gauge", ""),
            Kind::Info => ("info", "_info"),
        };
        assert_eq!(family.kind, kind);
        assert_eq!(family.help, name.help);
        assert!(!family.samples.is_empty());
        for (got, labels) in family.samples.keys() {
            assert_eq!(got, suffix);
            let wanted: BTreeSet<_> = name.labels.iter().map(|l| (*l).to_owned()).collect();
            assert_eq!(labels.keys().cloned().collect::<BTreeSet<_>>(), wanted);
        }
    }
}

/// <https://prometheus.io/docs/practices/naming/>
#[test]
fn names_follow_the_conventions() {
    let snake = |name: &str| {
        name.split('_').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
    };
    let not_base =
        ["ms", "milliseconds", "microseconds", "minutes", "bits", "kilobytes", "percent"];
    for name in names::ALL {
        assert!(snake(name.name), "{}", name.name);
        assert!(name.labels.iter().all(|label| snake(label)), "{:?}", name.labels);
        for suffix in ["_total", "_count", "_sum", "_bucket", "_info", "_created"] {
            assert!(!name.name.ends_with(suffix), "{} ends in a suffix of the format", name.name);
        }
        assert!(name.name.split('_').all(|word| !not_base.contains(&word)), "{}", name.name);
        assert!(!name.help.ends_with('.') && !name.help.contains('\n'), "{}", name.help);
        assert!(!name.labels.contains(&"le") && !name.labels.contains(&"quantile"));
    }
    let distinct: BTreeSet<_> = names::ALL.iter().map(|name| name.name).collect();
    assert_eq!(distinct.len(), names::ALL.len());
}

#[test]
fn an_empty_daemon_is_still_valid() {
    let read = parse(&open_metrics(Snapshot::default()));
    assert_eq!(value(&read, "members", "", &[]), 0.0);
    assert!(read["heddle_lb_packets"].samples.is_empty());
}

#[test]
fn what_has_not_occurred_has_no_line() {
    for format in [Format::OpenMetrics, Format::Prometheus] {
        let text = text(example(), format).unwrap();
        assert!(!text.contains("too_big") && !text.contains("flow_full"), "{text}");
        assert!(
            text.contains("heddle_lb_backend_draining{service=\"web\",backend=\"b1\"} 0"),
            "a gauge"
        );
    }
}

/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>: HELP and
/// TYPE name what the samples are named.
#[test]
fn prometheus_format_names_families_as_their_samples() {
    let text = text(example(), Format::Prometheus).unwrap();
    let mut family = String::new();
    for line in text.lines() {
        if let Some(meta) = line.strip_prefix("# TYPE ") {
            let (name, kind) = meta.split_once(' ').unwrap();
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            family = name.into();
        } else if !line.starts_with('#') {
            assert_eq!(line.split(['{', ' ']).next(), Some(&*family), "{line}");
        }
    }
    assert!(text.contains("# TYPE heddle_lb_packets_total counter\n"));
    assert!(text.contains("# TYPE heddle_lb_build_info gauge\n") && !text.contains("EOF"));
}

#[test]
fn promtool_accepts_the_text_and_has_no_complaint() {
    heddle_testing::require_program("promtool", "prometheus");
    for snapshot in [example(), Snapshot::default()] {
        let text = text(snapshot, Format::Prometheus).unwrap();
        let mut promtool = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let said = promtool.wait_with_output().unwrap();
        let complaints =
            String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success() && complaints.is_empty(), "{complaints}");
    }
}

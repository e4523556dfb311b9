//! The files of packaging/ for heddled agree with heddled.

use heddled::config::{Config, load, schema};
use heddled::metrics::names;
use heddled::privilege;
use serde_json::Value;

const EXAMPLE: &str = include_str!("../../../../../packaging/heddled.toml");
const UNIT: &str = include_str!("../../../../../packaging/systemd/heddled.service");
/// The units of daemons.
const UNITS: [&str; 3] = [
    UNIT,
    include_str!("../../../../../packaging/systemd/heddle-agent.service"),
    include_str!("../../../../../packaging/systemd/heddle-switch@.service"),
];

const RULES: &str = include_str!("../../../../../packaging/prometheus/heddled.rules.yml");
const DASHBOARD: &str = include_str!("../../../../../packaging/grafana/heddled.json");

fn example(text: &str) -> Config {
    load("heddled.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_is_sound() {
    let config = example(EXAMPLE);
    assert_eq!(config.members().len(), 2);
    assert_eq!(config.services.len(), 3);
}

/// `# key = value` is a default; what is no default is indented further.
#[test]
fn what_the_example_shows_as_defaults_are_defaults() {
    let defaults = EXAMPLE.lines().filter_map(|line| line.strip_prefix("# "));
    let defaults = defaults.filter(|line| line.contains(" = ") && !line.starts_with([' ', '`']));
    assert!(defaults.clone().count() > 10);
    for line in defaults {
        let text = EXAMPLE.replacen(&format!("# {line}"), line, 1);
        assert!(example(&text) == example(EXAMPLE), "{line}");
    }
}

#[test]
fn the_example_has_every_key() {
    let schema = schema();
    let mut keys = Vec::new();
    collect_keys(&schema, &mut keys);
    assert!(keys.len() > 40, "{keys:?}");
    let missing: Vec<&String> = keys.iter().filter(|key| !EXAMPLE.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    if let Some(properties) = value.get("properties").and_then(Value::as_object) {
        keys.extend(properties.keys().cloned());
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|field| collect_keys(field, keys)),
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

#[test]
fn the_unit_has_started_when_the_daemon_says_so() {
    assert!(UNIT.lines().any(|line| line == "Type=notify"));
}

fn setting<'a>(unit: &'a str, key: &str) -> Option<&'a str> {
    unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
}

/// systemd gives a runtime directory to the unit's user, and removes it with all that is in it when
/// the unit stops, unless it is preserved.
#[test]
fn no_unit_takes_away_a_runtime_directory_of_others() {
    let directory = |unit| setting(unit, "RuntimeDirectory");
    for unit in UNITS {
        let users = UNITS.into_iter().filter(|other| directory(other) == directory(unit)).count();
        let stays = setting(unit, "RuntimeDirectoryPreserve") == Some("yes");
        let is_roots = setting(unit, "DynamicUser").is_none();
        assert!(users == 1 || (stays && is_roots), "{unit}");
    }
}

#[test]
fn systemd_starts_daemons_again_without_end() {
    for unit in UNITS {
        assert_eq!(setting(unit, "StartLimitIntervalSec"), Some("0"), "{unit}");
    }
}

#[test]
fn the_unit_allows_the_capabilities_that_starting_takes_and_no_others() {
    let allowed = UNIT.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let mut allowed: Vec<&str> = allowed.unwrap().split(' ').collect();
    let mut needed: Vec<String> = (privilege::STARTING | privilege::CapabilitySet::NET_RAW)
        .iter_names()
        .map(|(name, _)| format!("CAP_{name}"))
        .collect();
    allowed.sort_unstable();
    needed.sort_unstable();
    assert_eq!(allowed, needed);
}

/// Names as samples have them, with suffixes.
fn served() -> Vec<String> {
    let suffix = |kind| match kind {
        names::Kind::Counter => "_total",
        names::Kind::Gauge => "",
        names::Kind::Info => "_info",
    };
    let all = names::ALL.iter();
    all.map(|name| format!("{}_{}{}", names::PREFIX, name.name, suffix(name.kind))).collect()
}

/// The words of a text that begin as metrics' names do; one pattern names several.
fn named(text: &str) -> Vec<String> {
    let plain = text.replace("heddle_lb_(", "(");
    let words = plain.split(|c: char| !c.is_ascii_lowercase() && c != '_');
    words.filter(|word| word.starts_with(names::PREFIX)).map(str::to_owned).collect()
}

#[test]
fn rules_and_dashboard_name_metrics_that_are_served() {
    let served = served();
    for text in [RULES, DASHBOARD] {
        let named = named(text);
        assert!(named.len() > 10, "{named:?}");
        let unknown: Vec<&String> = named.iter().filter(|name| !served.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let pattern = text.split("heddle_lb_(").nth(1).and_then(|rest| rest.split(')').next());
        for name in pattern.unwrap().split('|') {
            assert!(served.contains(&format!("heddle_lb_{name}")), "{name}");
        }
    }
}

/// Verdicts and events in rules and dashboard are the program's.
#[test]
fn rules_and_dashboard_name_verdicts_and_events_that_exist() {
    let page = include_str!("../../../../../docs/src/balancer/packet-path.md");
    for text in [RULES, &DASHBOARD.replace("\\\"", "\"")] {
        for label in ["verdict=\"", "verdict=~\"", "event=\"", "event=~\""] {
            for value in text.split(label).skip(1).filter_map(|rest| rest.split('"').next()) {
                for name in value.split('|').filter(|name| !name.contains('*')) {
                    assert!(page.contains(&format!("`{name}`")), "{name}");
                }
            }
        }
    }
}

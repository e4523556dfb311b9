//! The files of packaging/ for heddled agree with heddled.
#![allow(missing_docs)]

use heddled::config::{Config, load, schema};
use heddled::privilege;
use serde_json::Value;

const EXAMPLE: &str = include_str!("../../../../packaging/heddled.toml");
const UNIT: &str = include_str!("../../../../packaging/systemd/heddled.service");

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
fn the_unit_allows_the_capabilities_that_starting_takes_and_no_others() {
    let allowed = UNIT.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let mut allowed: Vec<&str> = allowed.unwrap().split(' ').collect();
    let mut needed: Vec<String> =
        privilege::STARTING.iter_names().map(|(name, _)| format!("CAP_{name}")).collect();
    allowed.sort_unstable();
    needed.sort_unstable();
    assert_eq!(allowed, needed);
}

//! A scheme with the parameters that a scenario file gives for another.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use heddle_program::Failure;
use toml::{Table, Value};

/// Keys of every scheme with flowlets.
const FLOWLETS: [&str; 2] = ["flowlet_gap", "flowlet_slots"];

/// Keys that HULA, MP-HULA and Shuttle share.
const HULA: [&str; 8] = [
    "flowlet_gap",
    "flowlet_slots",
    "probe_period",
    "fail_after",
    "tau",
    "util_bits",
    "update",
    "local_detection",
];

/// Keys that MP-HULA and Shuttle have besides.
const MPTCP: [&str; 4] = ["best_k", "association_slots", "association_idle", "mapping_rows"];

/// The value of `scheme` for a scheme of this name, with the file's keys that it has.
pub(super) fn value(file: &Path, scheme: &str) -> Result<String, Failure> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    // What is wrong with the file is said when it is loaded.
    Ok(with_keys_of(&text.parse().unwrap_or_default(), scheme))
}

fn with_keys_of(scenario: &Table, scheme: &str) -> String {
    let empty = Table::new();
    let given = scenario.get("scheme").and_then(Value::as_table).unwrap_or(&empty);
    let is_same = given.get("kind").and_then(Value::as_str) == Some(scheme);
    let has = |key: &str| match scheme {
        _ if is_same => true,
        "letitflow" => FLOWLETS.contains(&key),
        "conga" => FLOWLETS.contains(&key) || key == "tau",
        "hula" => HULA.contains(&key),
        "mp-hula" | "shuttle" => HULA.contains(&key) || MPTCP.contains(&key),
        _ => false,
    };
    let keys = given.iter().filter(|(key, _)| *key != "kind" && has(key));
    let keys: String = keys.map(|(key, value)| format!(", {key} = {value}")).collect();
    format!("{{ kind = \"{scheme}\"{keys} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_takes_the_keys_that_it_has() {
        let scenario: Table =
            "[scheme]\nkind = \"mp-hula\"\nprobe_period = \"20ms\"\nbest_k = 2\n".parse().unwrap();
        let keys_of = |scheme| with_keys_of(&scenario, scheme);
        assert_eq!(keys_of("ecmp"), "{ kind = \"ecmp\" }");
        assert_eq!(keys_of("hula"), "{ kind = \"hula\", probe_period = \"20ms\" }");
        assert_eq!(
            keys_of("mp-hula"),
            "{ kind = \"mp-hula\", best_k = 2, probe_period = \"20ms\" }"
        );
        assert_eq!(
            keys_of("shuttle"),
            "{ kind = \"shuttle\", best_k = 2, probe_period = \"20ms\" }"
        );
        let scenario: Table =
            "[scheme]\nkind = \"hula\"\nprobe_period = \"20ms\"\nflowlet_gap = \"60ms\"\ntau = \"9ms\"\n"
                .parse()
                .unwrap();
        let keys_of = |scheme| with_keys_of(&scenario, scheme);
        assert_eq!(keys_of("letitflow"), "{ kind = \"letitflow\", flowlet_gap = \"60ms\" }");
        assert_eq!(keys_of("conga"), "{ kind = \"conga\", flowlet_gap = \"60ms\", tau = \"9ms\" }");
        assert_eq!(with_keys_of(&Table::new(), "hula"), "{ kind = \"hula\" }");
    }
}

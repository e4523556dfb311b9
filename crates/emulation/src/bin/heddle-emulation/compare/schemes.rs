//! A scheme with the parameters that a scenario file gives for another.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use heddle_config::Document;
use heddle_program::Failure;
use heddle_scenario::SchemeTable;
use serde::Deserialize;
use toml::{Table, Value};

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
    let keys =
        given.iter().filter(|&(key, value)| key != "kind" && (is_same || has(scheme, key, value)));
    let keys: String = keys.map(|(key, value)| format!(", {key} = {value}")).collect();
    format!("{{ kind = \"{scheme}\"{keys} }}")
}

/// True if the scheme has the key with such a value.
fn has(scheme: &str, key: &str, value: &Value) -> bool {
    #[derive(Deserialize)]
    struct File {
        #[serde(rename = "scheme")]
        _scheme: SchemeTable,
    }
    let text = format!("[scheme]\nkind = \"{scheme}\"\n{key} = {value}\n");
    Document::parse("scheme", &text).and_then(|document| document.read::<File>()).is_ok()
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

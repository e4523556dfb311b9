//! The origin of a result: program, engine, command, scenario.

use heddle_scenario::Scenario;
use heddle_sim::engine_digest;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The origin of a result, in every file of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// Heddle's version.
    pub heddle: String,
    /// Digest of golden runs of this engine ([`engine_digest`]).
    pub engine: String,
    /// SHA-256 of the program's file, the first 16 hexadecimal digits; empty if it cannot be read.
    pub program: String,
    /// The command line.
    pub command: String,
    /// The scenario file as it was given.
    pub scenario_file: String,
    /// Overrides of its keys (`--set`).
    pub overrides: Vec<String>,
    /// The scenario with its overrides and with every default written out, as `heddle show` prints it.
    pub scenario: Value,
}

impl Provenance {
    /// Of the running program with its command line.
    pub fn of_program() -> Provenance {
        let command: Vec<String> =
            std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
        Provenance {
            heddle: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine_digest().to_owned(),
            program: program_digest().unwrap_or_default(),
            command: command.join(" "),
            ..Provenance::default()
        }
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn program_digest() -> Option<String> {
    let bytes = std::fs::read(std::env::current_exe().ok()?).ok()?;
    let digest = Sha256::digest(&bytes);
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Links of a graph beyond which results name it by its digest.
const MOST_LINKS: usize = 64;

/// The resolved scenario of a run; a large graph is named by its digest.
pub(crate) fn resolved(scenario: &Scenario) -> Value {
    let mut value = serde_json::to_value(scenario).unwrap_or_default();
    let graph = &scenario.fabric.graph;
    if graph.links.len() > MOST_LINKS {
        let digest = Sha256::digest(format!("{graph:?}"));
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let (nodes, links) = (graph.nodes.len(), graph.links.len());
        value["fabric"]["graph"] = json!({ "nodes": nodes, "links": links, "digest": digest });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_divide_them() {
        for (word, expected) in [
            ("scheme=ecmp,hula", "scheme=ecmp,hula"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn a_program_knows_itself() {
        let made = Provenance::of_program();
        assert_eq!((made.engine.len(), made.program.len()), (16, 16));
        assert!(!made.command.is_empty());
    }
}

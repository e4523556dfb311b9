//! The origin of a result: program, engine, command, scenario.

use heddle_claims::Origin;
use heddle_scenario::{Scenario, ScenarioError, Source};
use heddle_sim::engine_digest;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The origin of a result of a scenario, in every file of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// Program, engine and command line.
    #[serde(flatten)]
    pub origin: Origin,
    /// The scenario file as it was given.
    pub scenario_file: String,
    /// Overrides of its keys (`--set`).
    pub overrides: Vec<String>,
    /// The scenario with its overrides and with every default written out, as `heddle show` prints
    /// it.
    pub scenario: Value,
}

/// The running program with its engine ([`engine_digest`]) and its command line.
pub fn origin() -> Origin {
    Origin::of_program().with_engine(engine_digest())
}

impl Provenance {
    /// Of the running program with its command line.
    pub fn of_program() -> Provenance {
        Provenance { origin: origin(), ..Provenance::default() }
    }

    /// Of the running program with a scenario file, and the scenario that it gives.
    ///
    /// # Errors
    /// If the file does not parse, which it did for the scenario.
    pub fn of_scenario(source: &Source, scenario: &Scenario) -> Result<Provenance, ScenarioError> {
        let set = source.overrides.iter().map(|(key, value)| format!("{key}={value}"));
        Ok(Provenance {
            scenario_file: source.name.clone(),
            overrides: set.collect(),
            scenario: heddle_scenario::complete(source, scenario)?,
            ..Provenance::of_program()
        })
    }
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
    fn a_program_knows_its_engine() {
        let json = serde_json::to_value(Provenance::of_program()).unwrap();
        assert_eq!(json["engine"], engine_digest());
        assert!(json["command"].is_string() && json["heddle"].is_string(), "{json}");
    }
}

//! `heddle validate` and `heddle show`: scenarios without running them.

use anyhow::Context as _;
use heddle_scenario::{Scenario, Source};
use heddle_sim::Fabric;

use crate::args::{Common, ScenarioArgs, Show, Validate};
use crate::failure::Failure;
use crate::{files, output};

/// Checks every file; the last that is wrong decides the exit code, but all are named.
pub(crate) fn validate(args: &Validate, common: &Common) -> Result<(), Failure> {
    let mut reports = Vec::new();
    let mut failed = None;
    for path in &args.scenarios {
        let name = path.display().to_string();
        let source = files::source(&ScenarioArgs { scenario: path.clone(), set: Vec::new() });
        match source.and_then(|source| check(&source)) {
            Ok(line) => reports.push(serde_json::json!({ "file": name, "ok": true, "is": line })),
            Err(failure) => {
                reports.push(
                    serde_json::json!({ "file": name, "ok": false, "why": failure.to_json() }),
                );
                if let Some(before) = failed.replace(failure) {
                    eprintln!("{before}");
                }
            }
        }
    }
    match failed {
        Some(failure) if common.json => {
            println!("{:#}", serde_json::Value::from(reports));
            eprintln!("{failure}");
            std::process::exit(3);
        }
        Some(failure) => Err(failure),
        None if common.json => files::print_json(&reports),
        None => {
            for report in &reports {
                output::line(format_args!(
                    "{}: ok: {}",
                    text(&report["file"]),
                    text(&report["is"])
                ))?;
            }
            Ok(())
        }
    }
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Resolves a scenario, builds its fabric and says in a line what it is.
fn check(source: &Source) -> Result<String, Failure> {
    let scenario = files::resolve(source)?;
    let fabric = Fabric::new(&scenario.fabric.graph).context(source.name.clone())?;
    let (hosts, switches) = (fabric.hosts(), fabric.switches());
    let (scheme, seeds) = (scenario.scheme.name(), scenario.seeds.len());
    Ok(format!("{hosts} hosts, {switches} switches, {scheme}, {seeds} seed(s)"))
}

/// Prints the resolved scenario.
pub(crate) fn show(args: &Show, common: &Common) -> Result<(), Failure> {
    let scenario = files::resolve(&files::source(&args.source)?)?;
    if common.json {
        return files::print_json(&scenario);
    }
    output::line(readable(&scenario)?.trim_end())
}

/// The scenario as TOML, its graph as a line: the nodes and links themselves are for programs (`--json`).
fn readable(scenario: &Scenario) -> anyhow::Result<String> {
    let mut value = toml::Table::try_from(scenario)?;
    let graph = &scenario.fabric.graph;
    let line = format!("{} nodes, {} links", graph.nodes.len(), graph.links.len());
    if let Some(fabric) = value.get_mut("fabric").and_then(toml::Value::as_table_mut) {
        fabric.insert("graph".into(), line.into());
    }
    Ok(toml::to_string(&value)?)
}

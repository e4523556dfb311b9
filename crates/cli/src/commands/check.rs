//! `heddle validate` and `heddle show`: scenarios without running them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use heddle_fabric::Fabric;
use heddle_scenario::{Graph, Scenario, Source};
use heddle_study::estimate::Estimate;
use heddle_study::plan::Combination;
use serde_json::{Value, json};

use crate::args::{Axes, Common, ScenarioArgs, Show, Validate};
use crate::commands::run::warn_of_overload;
use crate::commands::sweep::{axes, plan};
use crate::failure::{Failure, describe};
use crate::output::counted;
use crate::{files, output};

/// Checks every file and prints the result of each; the exit code is the highest of theirs.
pub(crate) fn validate(args: &Validate, common: &Common) -> Result<ExitCode, Failure> {
    let checked: Vec<Checked> =
        args.scenarios.iter().map(|path| Checked::new(path, args)).collect();
    if common.json {
        let list: Vec<Value> = checked.iter().map(Checked::to_json).collect();
        files::print_json(&list)?;
    }
    for Checked { file, is } in &checked {
        match is {
            Err(failure) => eprintln!("{}", failure.report(describe).text),
            Ok(_) if common.json => {}
            Ok(sound) => {
                output::line(format_args!("{file}: ok: {}", sound.is))?;
                if !common.quiet {
                    output::line(format_args!("  {}", sound.estimate.text()))?;
                }
                for said in sound.overload.iter().chain(&sound.warnings) {
                    warn_of_overload(Some(&format!("{file}: {said}")), common);
                }
            }
        }
    }
    let failures = checked.iter().filter_map(|checked| checked.is.as_ref().err());
    Ok(ExitCode::from(failures.map(|failure| failure.report(describe).code).max().unwrap_or(0)))
}

/// A file and what it is.
struct Checked {
    file: String,
    is: Result<Sound, Failure>,
}

/// A scenario, or a sweep, that can run.
struct Sound {
    /// Its description, in a line.
    is: String,
    /// A warning, if links are offered more than they carry.
    overload: Option<String>,
    /// Work, time and memory of all its runs.
    estimate: Estimate,
    /// Notices of its files, and settings that are absurd.
    warnings: Vec<String>,
}

impl Checked {
    fn new(path: &Path, args: &Validate) -> Checked {
        let set = args.set.clone();
        let source = files::source(&ScenarioArgs { scenario: path.to_owned(), set });
        let is = source.and_then(|source| check(&source, &args.axes));
        Checked { file: path.display().to_string(), is }
    }

    fn to_json(&self) -> Value {
        match &self.is {
            Ok(Sound { is, overload, estimate, warnings }) => json!({
                "file": self.file, "ok": true, "is": is,
                "estimate": estimate, "overload": overload, "warnings": warnings,
            }),
            Err(failure) => {
                json!({ "file": self.file, "ok": false, "reason": failure.report(describe).json })
            }
        }
    }
}

/// Checks a scenario, or every combination of a sweep.
fn check(source: &Source, args: &Axes) -> Result<Sound, Failure> {
    let axes = axes(source, args)?;
    if axes.is_empty() {
        let scenario = files::resolve(source)?;
        let is = describe_scenario(source, &scenario)?;
        let seeds = scenario.seeds.clone();
        let one = Combination::new(Vec::new(), scenario, seeds).map_err(anyhow::Error::from)?;
        let overload = one.offered.as_ref().and_then(|it| it.warning(&one.scenario.scheme));
        return sound(is, overload, &[one]);
    }
    let plan = plan(source, &axes)?;
    let first = match plan.combinations.first() {
        Some(first) => describe_scenario(source, &first.scenario)?,
        None => return sound("no combinations".into(), None, &[]),
    };
    let (combinations, runs) = (plan.combinations.len() as u64, plan.cells().len() as u64);
    let (combinations, runs) = (counted(combinations, "combination"), counted(runs, "run"));
    let is = format!("{combinations}, {runs}; the first: {first}");
    sound(is, plan.overload(), &plan.combinations)
}

/// With an estimate and the warnings of all combinations.
fn sound(
    is: String,
    overload: Option<String>,
    combinations: &[Combination],
) -> Result<Sound, Failure> {
    let mut estimate = Estimate::default();
    let (mut notices, mut absurd) = (Vec::new(), Vec::new());
    for one in combinations {
        let of_one = Estimate::of(&one.scenario, &one.seeds, one.offered.as_ref())
            .map_err(anyhow::Error::from)?;
        estimate = estimate.and(of_one);
        let new = one.scenario.notices.iter().filter(|notice| !notices.contains(*notice));
        let new: Vec<String> = new.cloned().collect();
        notices.extend(new);
        // Of combinations that say the same with other figures, one is enough.
        if absurd.is_empty() {
            absurd = of_one.warnings(&one.scenario, one.offered.as_ref());
        }
    }
    let warnings = [notices, absurd].concat();
    Ok(Sound { is, overload, estimate, warnings })
}

/// Builds a scenario's fabric and says in a line what it is.
fn describe_scenario(source: &Source, scenario: &Scenario) -> Result<String, Failure> {
    let fabric = Fabric::new(&scenario.fabric.graph).context(source.name.clone())?;
    let (hosts, switches) = (fabric.hosts, fabric.switches());
    let (scheme, seeds) = (scenario.scheme.name(), counted(scenario.seeds.len() as u64, "seed"));
    Ok(format!("{hosts} hosts, {switches} switches, {scheme}, {seeds}"))
}

/// Prints the resolved scenario.
pub(crate) fn show(args: &Show, common: &Common) -> Result<(), Failure> {
    let source = files::source(&args.source)?;
    let scenario = files::resolve(&source)?;
    if common.json {
        return files::print_json(&scenario);
    }
    let complete = heddle_scenario::complete(&source, &scenario)?;
    output::line(toml::to_string(&complete).map_err(anyhow::Error::from)?.trim_end())
}

/// Puts a line in the place of a graph's nodes and links.
pub(crate) fn shorten_graph(file: &mut toml::Table, graph: &Graph) {
    let line = format!("{} nodes, {} links", graph.nodes.len(), graph.links.len());
    if let Some(fabric) = file.get_mut("fabric").and_then(toml::Value::as_table_mut) {
        fabric.insert("graph".into(), line.into());
    }
}

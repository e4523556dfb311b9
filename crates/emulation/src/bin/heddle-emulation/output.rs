//! Results of a run: the files of `heddle run`, `lab.json`, and a table.

use std::path::Path;

use heddle_claims::files::{write_atomically, write_report};
use heddle_emulation::{Facts, Paths, Scaling};
use heddle_program::output::counted;
use heddle_program::{Common, Failure, output, table};
use heddle_report::{Report, Section};
use heddle_scenario::Scenario;
use heddle_sim::Outcome;
use heddle_study::remarks::remarks;
use heddle_study::results::{self, OverSeeds, ScenarioResult};
use heddle_study::summary::RunSummary;
use heddle_study::view;
use serde::Serialize;

use crate::paths;
use crate::prepared::{Prepared, note};

/// The content of `lab.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Lab<'a> {
    pub(crate) dataplane: &'static str,
    pub(crate) kernel: String,
    pub(crate) processors: usize,
    pub(crate) scaling: Scaling,
    pub(crate) notes: &'a [String],
    /// Each seed's facts.
    pub(crate) facts: Vec<(u64, Facts)>,
}

impl<'a> Lab<'a> {
    pub(crate) fn new(prepared: &'a Prepared, facts: &[(u64, Facts)]) -> Lab<'a> {
        Lab {
            dataplane: prepared.plane.name(),
            kernel: kernel(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            scaling: prepared.scaling,
            notes: &prepared.possible.notes,
            facts: facts.to_vec(),
        }
    }
}

/// The kernel's release, as `uname -r` has it.
pub(crate) fn kernel() -> String {
    let uname = rustix::system::uname();
    format!("Linux {}", uname.release().to_string_lossy())
}

/// Says how the scenario was fitted to the machine and the kernel.
pub(crate) fn say_scaling(prepared: &Prepared, common: &Common) {
    note(common, &scaling_text(prepared.scaling));
    for text in &prepared.possible.notes {
        note(common, &format!("note: {text}"));
    }
}

pub(crate) fn scaling_text(scaling: Scaling) -> String {
    let (rate, size, time) = (scaling.rate, scaling.size, scaling.time());
    format!("rates x {rate}, flow sizes x {size}, times x {time}")
}

/// Writes and prints everything.
pub(crate) fn write(
    folder: &Path,
    prepared: &Prepared,
    outcomes: &[(u64, Outcome)],
    facts: &[(u64, Facts)],
    paths: &[(u64, Paths)],
    common: &Common,
) -> Result<(), Failure> {
    let scenario = &prepared.possible.scenario;
    let runs: Vec<RunSummary> = outcomes
        .iter()
        .map(|(seed, outcome)| RunSummary::new(scenario, *seed, outcome, 0.0))
        .collect();
    let remarks = remarks(&[(scenario.scheme.name(), &runs)]);
    let result = ScenarioResult {
        provenance: &prepared.made,
        resolved: scenario,
        offered: None,
        remarks: &remarks,
        over_seeds: OverSeeds::new(&runs),
        runs: &runs,
    };
    results::write(folder, &result, outcomes)?;
    let lab = Lab::new(prepared, facts);
    let json = serde_json::to_vec_pretty(&lab).map_err(anyhow::Error::from)?;
    write_atomically(&folder.join("lab.json"), &json)?;
    let report = with_facts(view::of_run(scenario, &runs), &lab);
    let report = paths::add_to(report, paths);
    paths::write(folder, paths)?;
    write_report(folder, &view::with_origin(report, &prepared.made, &remarks))?;
    if common.json {
        return output::json(&serde_json::json!({ "lab": lab, "result": result }));
    }
    print(scenario, &lab, &runs, &result.over_seeds)?;
    paths::print(paths)?;
    note(
        common,
        &format!(
            "wrote {}, summary.json, flows.csv, lab.json",
            folder.join("report.html").display()
        ),
    );
    Ok(())
}

/// The report of real kernels says so, and has what differs from the scenario's file.
pub(crate) fn with_facts(report: Report, lab: &Lab<'_>) -> Report {
    let report = report
        .subtitle("Real kernels in network namespaces, by heddle lab")
        .fact("Kernel", lab.kernel.clone())
        .fact("Processors", lab.processors.to_string())
        .fact("Data plane", lab.dataplane)
        .fact("Scaling", scaling_text(lab.scaling));
    if lab.notes.is_empty() {
        return report;
    }
    let section = Section::new("differences", "Differences from the scenario's file");
    report.section(lab.notes.iter().fold(section, |section, note| section.block(note.as_str())))
}

fn print(
    scenario: &Scenario,
    lab: &Lab<'_>,
    runs: &[RunSummary],
    over: &OverSeeds,
) -> Result<(), Failure> {
    let name = scenario.scheme.name();
    output::line(format_args!("{} ({name}, {}, {})", scenario.title, lab.dataplane, lab.kernel))?;
    let mut times =
        table::new(&["seed", "flows", "mean FCT", "median", "p95", "p99", "slowdown", "goodput"]);
    for run in runs {
        let class = run.fct.all.as_ref();
        let time = |of: fn(&heddle_study::summary::Spread) -> f64| {
            class.map_or("-".to_owned(), |class| format!("{:.2} ms", of(&class.seconds) * 1e3))
        };
        times.add_row([
            run.seed.to_string(),
            class.map_or(0, |class| class.flows).to_string(),
            time(|s| s.mean),
            time(|s| s.p50),
            time(|s| s.p95),
            time(|s| s.p99),
            class.map_or("-".to_owned(), |class| format!("{:.2}x", class.slowdown.mean)),
            format!("{:.2} Mbps", run.totals.goodput_bps / 1e6),
        ]);
    }
    output::line(times)?;
    if runs.len() > 1
        && let Some(mean) = over.fct_mean
    {
        output::line(format_args!("mean FCT over the seeds: {:.2} ms", mean.mean * 1e3))?;
    }
    for (run, (seed, facts)) in runs.iter().zip(&lab.facts) {
        let t = &run.totals;
        output::line(format_args!(
            "seed {seed}: {}, {}, {}, {}, {} broken, {} with wrong bytes; flows started {:.2} ms late in the median, {:.2} ms at p99; processors {:.0} % busy",
            counted(t.dropped, "drop"),
            counted(t.retransmitted, "retransmission"),
            counted(t.timeouts, "timeout"),
            counted(t.unfinished, "unfinished flow"),
            facts.broken,
            facts.corrupt,
            facts.late_median * 1e3,
            facts.late_p99 * 1e3,
            facts.processors_busy * 100.0,
        ))?;
        if let Some(error) = &facts.first_error {
            output::line(format_args!("seed {seed}: the first broken connection: {error}"))?;
        }
        if !facts.subflows.is_empty() {
            let counts = facts
                .subflows
                .iter()
                .map(|(used, flows)| format!("{} on {used}", counted(*flows, "flow")));
            output::line(format_args!(
                "seed {seed}: subflows that carried bytes, of {}: {}",
                counted(t.measured, "measured flow"),
                counts.collect::<Vec<_>>().join(", ")
            ))?;
        }
    }
    Ok(())
}

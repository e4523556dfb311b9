//! `heddle lab compare`: a scenario under several schemes, on real kernels and in the simulator, in
//! one report.

mod schemes;

use std::path::Path;

use heddle_claims::files::{make_folder, write_atomically, write_report};
use heddle_claims::stats::{Estimate, mean};
use heddle_program::{Common, Failure, interrupt, output, table};
use heddle_report::{Section, Table};
use heddle_sim::{Next, Progress};
use heddle_study::cell::seeded;
use heddle_study::grid::timed;
use heddle_study::metric;
use heddle_study::provenance::Provenance;
use heddle_study::summary::RunSummary;
use heddle_study::view::{head, plots, with_origin};
use serde::Serialize;

use crate::args::{Compare, Source};
use crate::kept::Kept;
use crate::output::{Lab, scaling_text, with_facts};
use crate::prepared::{Prepared, note, prepare};
use crate::run::{Bar, remove_left_over};

/// Ratios that differ by less agree.
const AGREEMENT: f64 = 0.2;

/// One scheme's runs, in both.
struct Both {
    scheme: String,
    lab: Vec<RunSummary>,
    simulated: Vec<RunSummary>,
}

/// One scheme's figures. Times are in seconds, or bits per second for flows without end.
#[derive(Clone, Debug, Serialize)]
struct Row {
    scheme: String,
    lab: f64,
    simulated: f64,
    /// This scheme's figure over the first scheme's.
    lab_ratio: f64,
    simulated_ratio: f64,
    /// The lab's ratio over the simulator's, less 1.
    difference: f64,
    lab_drops: f64,
    simulated_drops: f64,
    /// The figure of each seed.
    lab_by_seed: Vec<f64>,
    simulated_by_seed: Vec<f64>,
    /// The ratio to the first scheme, seed by seed, with its confidence interval.
    lab_ratios: Option<Estimate>,
    simulated_ratios: Option<Estimate>,
}

/// The content of `compare.json`.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    #[serde(flatten)]
    made: &'a Provenance,
    title: &'a str,
    measure: &'static str,
    lab: Lab<'a>,
    seeds: &'a [u64],
    same_order: bool,
    ratios_agree: bool,
    rows: &'a [Row],
}

pub(crate) fn compare(args: &Compare, common: &Common) -> Result<(), Failure> {
    let stem = args.source.scenario.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder =
        args.out.clone().unwrap_or_else(|| Path::new("out").join(format!("compare-{stem}")));
    make_folder(&folder)?;
    remove_left_over(common)?;
    let (mut all, mut first) = (Vec::new(), None);
    for scheme in &args.schemes {
        let prepared = prepare(&with_scheme(&args.source, scheme)?)?;
        if first.is_none() {
            crate::output::say_scaling(&prepared, common);
        }
        all.push(both(scheme, &prepared, &folder, common)?);
        first.get_or_insert(prepared);
    }
    let Some(prepared) = first else { return Ok(()) };
    write(&folder, &prepared, &all, common)
}

/// The scenario with another scheme, whose parameters are the file's as far as that scheme has
/// them.
fn with_scheme(source: &Source, scheme: &str) -> Result<Source, Failure> {
    let mut changed = source.clone();
    let value = schemes::value(&source.scenario, scheme)?;
    changed.set.insert(0, ("scheme".to_owned(), value));
    Ok(changed)
}

/// A scheme's runs on kernels, those that the folder does not have yet, and in the simulator.
fn both(
    scheme: &str,
    prepared: &Prepared,
    folder: &Path,
    common: &Common,
) -> Result<Both, Failure> {
    let scenario = &prepared.possible.scenario;
    let cells = seeded(scheme, scenario, &scenario.seeds);
    let kept = Kept::open(folder, prepared)?;
    let (mut lab, mut simulated) = (Vec::new(), Vec::new());
    for cell in &cells {
        note(common, &format!("{}: kernels", cell.label));
        lab.push(kept.run(prepared, cell, &Bar::new(cell.seed, common))?);
        note(common, &format!("{}: simulator", cell.label));
        let mut watch =
            |_: Progress<'_>| if interrupt::stopped() { Next::Stop } else { Next::Continue };
        let (outcome, seconds) =
            timed(scenario, cell.seed, &mut watch).map_err(anyhow::Error::from)?;
        simulated.push(RunSummary::new(scenario, cell.seed, &outcome, seconds));
    }
    Ok(Both { scheme: scheme.to_owned(), lab, simulated })
}

/// The figure by which schemes are compared: the mean flow completion time, or the goodput of flows
/// without end; of each seed.
fn figures(runs: &[RunSummary]) -> (&'static str, Vec<f64>) {
    let figures_of = |metric: metric::Metric| runs.iter().filter_map(metric).collect::<Vec<f64>>();
    match figures_of(metric::mean_all) {
        times if !times.is_empty() => ("mean flow completion time, seconds", times),
        _ => ("goodput, bits per second", figures_of(metric::goodput)),
    }
}

fn rows(all: &[Both]) -> Vec<Row> {
    let figures: Vec<[Vec<f64>; 2]> =
        all.iter().map(|both| [&both.lab, &both.simulated].map(|runs| figures(runs).1)).collect();
    let Some(first) = figures.first() else { return Vec::new() };
    let over = |values: &[f64]| mean(values).unwrap_or(0.0);
    let row = |(both, [lab, simulated]): (&Both, &[Vec<f64>; 2])| {
        let lab_ratio = over(lab) / over(&first[0]);
        let simulated_ratio = over(simulated) / over(&first[1]);
        Row {
            scheme: both.scheme.clone(),
            lab: over(lab),
            simulated: over(simulated),
            lab_ratio,
            simulated_ratio,
            difference: lab_ratio / simulated_ratio - 1.0,
            lab_drops: drops(&both.lab),
            simulated_drops: drops(&both.simulated),
            lab_ratios: Estimate::of(&ratios(lab, &first[0])),
            simulated_ratios: Estimate::of(&ratios(simulated, &first[1])),
            lab_by_seed: lab.clone(),
            simulated_by_seed: simulated.clone(),
        }
    };
    all.iter().zip(&figures).map(row).collect()
}

fn drops(runs: &[RunSummary]) -> f64 {
    mean(&runs.iter().filter_map(metric::dropped).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// The figures of one scheme over another's, seed by seed.
fn ratios(of: &[f64], over: &[f64]) -> Vec<f64> {
    of.iter().zip(over).map(|(a, b)| a / b).collect()
}

/// The schemes from the least figure to the greatest.
fn order(rows: &[Row], of: fn(&Row) -> f64) -> Vec<&str> {
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by(|a, b| of(a).total_cmp(&of(b)));
    sorted.into_iter().map(|row| row.scheme.as_str()).collect()
}

fn write(folder: &Path, prepared: &Prepared, all: &[Both], common: &Common) -> Result<(), Failure> {
    let scenario = &prepared.possible.scenario;
    let rows = rows(all);
    let comparison = Comparison {
        made: &prepared.made,
        title: &scenario.title,
        measure: all.first().map_or("", |both| figures(&both.lab).0),
        lab: Lab::new(prepared, &[]),
        seeds: &scenario.seeds,
        same_order: order(&rows, |row| row.lab) == order(&rows, |row| row.simulated),
        ratios_agree: rows.iter().all(|row| row.difference.abs() <= AGREEMENT),
        rows: &rows,
    };
    let json = serde_json::to_vec_pretty(&comparison).map_err(anyhow::Error::from)?;
    write_atomically(&folder.join("compare.json"), &json)?;
    write_report(folder, &report(prepared, all, &comparison))?;
    if common.json {
        return output::json(&comparison);
    }
    print(&comparison)?;
    note(common, &format!("wrote {}, compare.json", folder.join("report.html").display()));
    Ok(())
}

const HEADER: [&str; 8] = [
    "scheme",
    "kernels",
    "simulator",
    "ratio, kernels",
    "ratio, simulator",
    "difference",
    "drops, kernels",
    "drops, simulator",
];

fn cells(row: &Row) -> [String; 8] {
    let shown = |figure: f64| {
        if figure > 1e4 {
            format!("{:.2} Mbps", figure / 1e6)
        } else {
            format!("{:.1} ms", figure * 1e3)
        }
    };
    [
        row.scheme.clone(),
        shown(row.lab),
        shown(row.simulated),
        ratio(row.lab_ratio, row.lab_ratios),
        ratio(row.simulated_ratio, row.simulated_ratios),
        format!("{:+.1} %", row.difference * 100.0),
        format!("{:.0}", row.lab_drops),
        format!("{:.0}", row.simulated_drops),
    ]
}

/// A ratio of means, with half the width of the confidence interval of the ratios of the seeds.
fn ratio(of_means: f64, of_seeds: Option<Estimate>) -> String {
    match of_seeds.and_then(|estimate| estimate.half_width) {
        Some(half) => format!("{of_means:.3} ± {half:.3}"),
        None => format!("{of_means:.3}"),
    }
}

fn verdict(comparison: &Comparison<'_>) -> String {
    let order = if comparison.same_order { "the same order" } else { "another order" };
    let ratios = if comparison.ratios_agree { "all ratios agree" } else { "not all ratios agree" };
    format!("{order} of schemes; {ratios} within {:.0} %", AGREEMENT * 100.0)
}

fn print(comparison: &Comparison<'_>) -> Result<(), Failure> {
    output::line(format_args!("{}: {}", comparison.title, comparison.measure))?;
    let mut shown = table::new(&HEADER);
    comparison.rows.iter().for_each(|row| {
        shown.add_row(cells(row));
    });
    output::line(shown)?;
    output::line(verdict(comparison))
}

fn report(prepared: &Prepared, all: &[Both], comparison: &Comparison<'_>) -> heddle_report::Report {
    let scenario = &prepared.possible.scenario;
    let named: Vec<(String, &[RunSummary])> = all
        .iter()
        .flat_map(|both| {
            let name = |of: &str| format!("{} ({of})", both.scheme);
            [(name("kernels"), both.lab.as_slice()), (name("simulator"), both.simulated.as_slice())]
        })
        .collect();
    let named: Vec<(&str, &[RunSummary])> =
        named.iter().map(|(n, runs)| (n.as_str(), *runs)).collect();
    let results =
        comparison.rows.iter().fold(Table::new(HEADER), |table, row| table.row(cells(row)));
    let mut section = Section::new("results", "Kernels and simulator")
        .block(
            format!(
                "{}; {}. {}.",
                comparison.measure,
                scaling_text(prepared.scaling),
                verdict(comparison)
            )
            .as_str(),
        )
        .block(results.caption(
            "Ratios are to the first scheme: of the means, with half the width of the 95 % confidence interval of the seeds' ratios.",
        ));
    if all.iter().any(|both| both.lab.iter().any(|run| run.fct.all.is_some())) {
        section = section.block(plots::fct_cdf(
            "fct-cdf",
            "Distribution of flow completion times",
            &named,
        ));
    }
    let sampled: Vec<(&str, &RunSummary)> = named
        .iter()
        .filter_map(|(name, runs)| Some((*name, runs.first()?)))
        .filter(|(_, run)| !run.ports.is_empty())
        .collect();
    if !sampled.is_empty() {
        let graph = &scenario.fabric.graph;
        section = section.block(plots::fabric_map(
            "utilisation",
            "Link utilisation over time",
            graph,
            &sampled,
        ));
    }
    let runs = all.iter().flat_map(|both| &both.lab);
    let report = with_facts(head(&scenario.title, runs), &comparison.lab).section(section);
    with_origin(report, &prepared.made, &[])
}

//! Reports of runs, sweeps and papers: tables and plots.

mod columns;
pub mod events;
mod levels;
pub mod panel;
pub mod path_use;
pub mod plots;
mod setup;
mod sweep_curves;
mod tables;

use heddle_claims::table::OVERLOADED;
use heddle_report::{Block, FabricMap, Mark, Plot, Report, Section, Table};
use heddle_scenario::{Scenario, VARIANT, Variant};

use crate::paired::{Baseline, Ratio};
use crate::provenance::Provenance;
use crate::results::OverSeeds;
use crate::summary::RunSummary;
use crate::sweep::{Axis, Row};
use plots::{Curve, FctMetric};
use sweep_curves::SweepCurves;
use tables::{
    class_table, classes, collective_table, fct_table, long_table, request_table, step_table,
    totals_table, workload_table,
};

/// Curves of one plot: more would share colours.
const MOST_CURVES: usize = 7;

/// A report with what made its figures, and what a reader must know before they are compared.
pub fn with_origin(report: Report, made: &Provenance, remarks: &[String]) -> Report {
    let report = remarks.iter().fold(report, |report, remark| report.warning(remark));
    let scenario = toml_text(&made.scenario);
    let origin = Table::new(["", "value"]);
    let mut facts = made.origin.facts();
    let overrides = made.overrides.join("; ");
    facts.extend([("Scenario file", made.scenario_file.as_str()), ("Overrides", &overrides)]);
    let row = |table: Table, (label, value): (&str, &str)| {
        table.row([label.to_owned(), value.to_owned()])
    };
    let origin = facts.into_iter().fold(origin, row);
    let section = Section::new("origin", "Scenario and command").block(origin);
    let title = "The scenario, with every default".to_owned();
    report.section(section.block(Block::Code { title, text: scenario }))
}

/// A scenario as JSON in the order of its keys: it is a scenario file's tables.
fn toml_text(scenario: &serde_json::Value) -> String {
    toml::to_string(scenario).unwrap_or_default()
}

/// Distributions of completion times and slowdowns of named runs, and slowdowns over size where
/// there are several sizes, in groups that one plot can tell apart. `place` says in titles what the
/// runs have in common; empty for nothing.
fn distributions(id: &str, place: &str, named: &[(&str, &[RunSummary])]) -> Vec<Plot> {
    let groups = named.chunks(MOST_CURVES).enumerate();
    let plots = |(index, group): (usize, &[(&str, &[RunSummary])])| {
        let part = if index == 0 { String::new() } else { format!("-{}", index + 1) };
        let fct = "Distribution of flow completion times";
        let fct = plots::fct_cdf(&format!("fct-cdf{id}{part}"), fct, group);
        let slowdown = plots::slowdown_cdf(&format!("slowdown-cdf{id}{part}"), group);
        let by_size = plots::slowdown_by_size(&format!("slowdown-by-size{id}{part}"), group);
        [fct, slowdown].into_iter().chain(by_size)
    };
    let placed = |mut plot: Plot| {
        if !place.is_empty() {
            plot.title = format!("{}, {place}", plot.title);
        }
        plot
    };
    groups.flat_map(plots).map(placed).collect()
}

/// The report of one scenario.
pub fn of_run(scenario: &Scenario, runs: &[RunSummary]) -> Report {
    let name = scenario.scheme.name();
    let over = [(vec![name.to_owned()], OverSeeds::new(runs))];
    let marks = events::marks(scenario);
    let by_class = class_table(&["scheme"], &over);
    let mut results = Section::new("results", "Results");
    results = results.block(fct_table(&["scheme"], &over, by_class.is_none()));
    let more = [workload_table, long_table, collective_table, step_table, request_table];
    let more = more.into_iter().filter_map(|table| table(runs));
    results = by_class.into_iter().chain(more).fold(results, Section::block);
    results = results.block(totals_table(runs));
    if runs.iter().any(|run| run.path_use.is_some()) {
        let load = 100.0 * runs[0].load.unwrap_or(0.0);
        let curve = Curve { name: name.to_owned(), points: vec![(load, runs.to_vec())] };
        results = results.block(path_use::table(&[curve]));
    }
    let over_time = runs.first().map(|run| plots::slowdowns_over_time("slowdowns-over-time", run));
    let over_time = over_time.map(|plot| marked(plot, &marks, runs));
    let times = Section::new("fct", "Flow completion times")
        .plots(distributions("", "", &[(name, runs)]).into_iter().chain(over_time));
    let report = head(&scenario.title, runs).section(setup::section(scenario)).section(results);
    let report = if times.blocks.is_empty() { report } else { report.section(times) };
    links(scenario, &marks, (name, runs)).into_iter().fold(report, Report::section)
}

/// A plot over the time of a run with lines where something happened.
fn marked(plot: Plot, marks: &[Mark], runs: &[RunSummary]) -> Plot {
    let end = runs.first().and_then(|run| run.frames.last().copied()).unwrap_or(0.0);
    let within = marks.iter().filter(|mark| mark.at <= end);
    within.fold(plot, |plot, mark| plot.vertical(mark.at, mark.label.clone()))
}

/// The report of a sweep: a curve for each setting of the first axis, over the last one if it is a
/// number or a quantity.
pub fn of_sweep(axes: &[Axis], rows: &[Row]) -> Report {
    let named: Vec<tables::Named> =
        rows.iter().map(|row| (row.settings.clone(), row.over_seeds.clone())).collect();
    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    let by_class = class_table(&keys, &named);
    let has_classes = by_class.is_some();
    let results = Section::new("results", "Results").block(fct_table(&keys, &named, !has_classes));
    let results = axes.iter().filter_map(variants).fold(results, Section::block);
    let results = by_class.into_iter().fold(results, Section::block);
    let curves = SweepCurves::of(axes, rows);
    let shown = if has_classes { classes(&named) } else { &[] };
    let over = curves.as_ref().map_or_else(Vec::new, |curves| {
        let groups = curves.curves.chunks(MOST_CURVES);
        let of_group = |group: &[Curve]| {
            let metrics = [FctMetric::Mean, FctMetric::P99];
            let (key, axis) = (&curves.key, &curves.axis);
            let all = metrics.map(|metric| plots::over(key, axis, metric, group)).into_iter();
            let by_class =
                shown.iter().map(|c| plots::of_class(key, axis, (&c.name, &c.title), group));
            all.chain(by_class).collect::<Vec<_>>()
        };
        groups.flat_map(of_group).collect()
    });
    let title = format!("Sweep over {}", keys.join(", "));
    let mut report =
        head(&title, rows.iter().flat_map(|row| &row.runs)).section(results.plots(over));
    let shapes = shapes(curves, rows);
    if !shapes.blocks.is_empty() {
        report = report.section(shapes);
    }
    report
}

/// Distributions: of all curves at some abscissas, or of all rows where there are no curves.
fn shapes(curves: Option<SweepCurves>, rows: &[Row]) -> Section {
    let section = Section::new("fct", "Flow completion times");
    let Some(curves) = curves.filter(|curves| curves.curves.len() > 1) else {
        let names: Vec<String> = rows.iter().map(|row| row.settings.join(" ")).collect();
        let named = names.iter().zip(rows).map(|(name, row)| (name.as_str(), &*row.runs));
        return section.plots(distributions("", "", &named.collect::<Vec<_>>()));
    };
    let drawn = curves.drawn_places();
    let section = match curves.places.len() - drawn.len() {
        0 => section,
        _ => section.block(format!(
            "Distributions at {} of the {} values of {}; `tidy.csv` has the figures of all.",
            drawn.len(),
            curves.places.len(),
            curves.key
        )),
    };
    let at = |(index, (x, text)): (usize, &(f64, String))| {
        let of_curve = |curve: &'_ Curve| curve.points.iter().position(|(at, _)| at == x);
        let named = curves.curves.iter().filter_map(|curve| {
            Some((curve.name.as_str(), curve.points[of_curve(curve)?].1.as_slice()))
        });
        let id = if index == 0 { String::new() } else { format!("-at-{text}") };
        let place = format!("{} = {text}", curves.axis.label.to_lowercase());
        distributions(&id, &place, &named.collect::<Vec<_>>())
    };
    section.plots(drawn.into_iter().enumerate().flat_map(at))
}

/// The keys that the variants of an axis set; `None` of an axis of values.
fn variants(axis: &Axis) -> Option<Table> {
    let settings = |variant: &Variant| {
        let pairs = variant.settings.iter().map(|(key, value)| format!("{key} = {value}"));
        [variant.name.clone(), pairs.collect::<Vec<_>>().join(", ")]
    };
    let table = Table::new([VARIANT, "settings"]);
    let add = |table: Table, variant| table.row(settings(variant));
    (!axis.variants.is_empty()).then(|| axis.variants.iter().fold(table, add))
}

/// The ratios to a baseline, a row for each figure of each setting.
pub fn with_ratios(report: Report, baseline: &Baseline, ratios: &[Ratio]) -> Report {
    let header = ["settings", "figure", "ratio", "95 % interval", "seeds"];
    let table = ratios.iter().fold(Table::new(header), |table, ratio| {
        let interval = ratio.interval;
        let interval = interval.map_or_else(|| "-".into(), |(a, b)| format!("{a:.3} to {b:.3}"));
        let (shown, interval) = match ratio.overloaded {
            true => (OVERLOADED.to_owned(), "-".to_owned()),
            false => (format!("{:.3}", ratio.ratio), interval),
        };
        table.row([
            ratio.settings.join(" "),
            figure_in_words(&ratio.figure),
            shown,
            interval,
            ratio.seeds.to_string(),
        ])
    });
    let Baseline { key, value } = baseline;
    let title = format!("Ratios to {key} = {value}");
    let text = "Seed by seed: geometric means of the ratios of runs with the same seed, and so with the same flows. Below 1, a row has less than the baseline: a shorter time, a \
                lower goodput. An interval that contains 1 shows no difference.";
    report.section(Section::new("ratios", title).block(text).block(table))
}

/// A figure's name as tables have it: "p99 FCT, small" of `fct_p99_small`.
fn figure_in_words(figure: &str) -> String {
    const NAMES: [(&str, &str); 6] = [
        ("fct_mean", "mean FCT"),
        ("fct_p50", "median FCT"),
        ("fct_p99", "p99 FCT"),
        ("slowdown_mean", "mean slowdown"),
        ("slowdown_p99", "p99 slowdown"),
        ("goodput_bps", "goodput"),
    ];
    let known = NAMES.iter().find_map(|(name, words)| Some((figure.strip_prefix(name)?, words)));
    match known {
        Some(("", words)) => (*words).to_owned(),
        Some((class, words)) => format!("{words}, {}", class.trim_start_matches('_')),
        None => figure.to_owned(),
    }
}

/// An empty report with its title and the facts that every report of simulations has.
pub fn head<'a>(title: &str, runs: impl IntoIterator<Item = &'a RunSummary>) -> Report {
    let (mut seeds, mut hops) = (Vec::new(), 0);
    for run in runs {
        seeds.push(run.seed);
        hops += run.totals.packet_hops;
    }
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    Report::new(title)
        .subtitle("Packet-level simulation with Heddle")
        .fact("Heddle", env!("CARGO_PKG_VERSION"))
        .fact("Seeds", seeds.join(", "))
        .fact("Packet-hops", format!("{:.0} million", hops as f64 / 1e6))
}

/// Utilisation on the fabric and queues, where the runs have samples.
fn links(
    scenario: &Scenario,
    marks: &[Mark],
    (name, runs): (&str, &[RunSummary]),
) -> Option<Section> {
    let run = runs.first().filter(|run| !run.ports.is_empty())?;
    let graph = &scenario.fabric.graph;
    let map = plots::fabric_map("utilisation", "Link utilisation over time", graph, &[(name, run)]);
    let queues = [
        plots::busiest_queue("queues", &[(name, run)]),
        marked(plots::queues_over_time("queues-over-time", run), marks, runs),
    ];
    let section = Section::new("links", "Links and queues")
        .block("Utilisation of each direction of each link between switches, in the first seed's run. Press play, or move the slider.")
        .block(FabricMap { marks: marks.to_vec(), ..map })
        .block(plots::heat_map("heat", graph, run, marks))
        .plots(queues);
    Some(section)
}

#[cfg(test)]
mod tests;

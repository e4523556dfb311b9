//! Reports of runs, sweeps and papers: tables and plots.

pub mod panel;
pub mod path_use;
pub mod plots;

use heddle_claims::stats::Estimate;
use heddle_report::{Block, Cell, Report, Section, Table};
use heddle_scenario::{Graph, Scenario};

use crate::provenance::Provenance;
use crate::results::OverSeeds;
use crate::summary::RunSummary;
use crate::sweep::{Axis, Row};
use plots::{Curve, FctMetric};

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

/// Named runs in groups that one plot can tell apart.
fn cdfs(named: &[(&str, &[RunSummary])]) -> Vec<heddle_report::Plot> {
    let groups = named.chunks(MOST_CURVES).enumerate();
    let plot = |(index, group): (usize, &[(&str, &[RunSummary])])| {
        let id = if index == 0 { "fct-cdf".to_owned() } else { format!("fct-cdf-{}", index + 1) };
        plots::fct_cdf(&id, "Distribution of flow completion times", group)
    };
    groups.map(plot).collect()
}

/// The report of one scenario.
pub fn of_run(scenario: &Scenario, runs: &[RunSummary]) -> Report {
    let name = scenario.scheme.name();
    let mut results = Section::new("results", "Results")
        .block(fct_table("scheme", &[(name.to_owned(), OverSeeds::new(runs))]))
        .block(totals_table(runs));
    if runs.iter().any(|run| run.path_use.is_some()) {
        let load = 100.0 * runs[0].load.unwrap_or(0.0);
        let curve = Curve { name: name.to_owned(), points: vec![(load, runs.to_vec())] };
        results = results.block(path_use::table(&[curve]));
    }
    let distributions = Section::new("fct", "Flow completion times").block(plots::fct_cdf(
        "fct-cdf",
        "Distribution of flow completion times",
        &[(name, runs)],
    ));
    let mut report = head(&scenario.title, runs).section(results).section(distributions);
    if let Some(section) = links(&scenario.fabric.graph, &[(name, runs)]) {
        report = report.section(section);
    }
    report
}

/// The report of a sweep: a curve for each setting of the first axis, over the last one if it is a number.
pub fn of_sweep(axes: &[Axis], rows: &[Row]) -> Report {
    let named: Vec<(String, OverSeeds)> =
        rows.iter().map(|row| (row.settings.join(" "), row.over_seeds.clone())).collect();
    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    let runs: Vec<RunSummary> = rows.iter().flat_map(|row| row.runs.clone()).collect();
    let mut section = Section::new("results", "Results").block(fct_table(&keys.join(" "), &named));
    let named_runs: Vec<(&str, &[RunSummary])> =
        named.iter().zip(rows).map(|((name, _), row)| (name.as_str(), &*row.runs)).collect();
    if let Some((key, curves)) = sweep_curves(axes, rows) {
        for curves in curves.chunks(MOST_CURVES) {
            for metric in FctMetric::ALL {
                section = section.block(plots::over(&key, metric, curves));
            }
        }
    }
    let title = format!("Sweep over {}", keys.join(", "));
    let shapes = Section::new("fct", "Flow completion times");
    let shapes = cdfs(&named_runs).into_iter().fold(shapes, Section::block);
    head(&title, &runs).section(section).section(shapes)
}

/// The last axis whose values are all numbers, and a curve over it for each setting of the others.
fn sweep_curves(axes: &[Axis], rows: &[Row]) -> Option<(String, Vec<Curve>)> {
    let numeric = |axis: &Axis| axis.values.iter().all(|value| number(value).is_some());
    let x = axes.iter().rposition(numeric)?;
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows {
        let others = row.settings.iter().enumerate().filter(|(i, _)| *i != x);
        let name = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ");
        let name = if name.is_empty() { "all".to_owned() } else { name };
        let point = (number(&row.settings[x])?, row.runs.clone());
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    Some((axes[x].key.clone(), curves))
}

/// The number that a value starts with; its unit, if any, must be that of its neighbours to make sense of a plot.
fn number(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    value[..end].parse().ok()
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

/// Flow completion times, a row for each name.
fn fct_table(key: &str, rows: &[(String, OverSeeds)]) -> Table {
    let header = [
        key,
        "mean FCT",
        "median",
        "p95",
        "p99",
        "< 100 KB",
        "100 KB-10 MB",
        "> 10 MB",
        "slowdown",
        "bound of the mean",
        "unfinished",
        "drops",
        "timeouts",
    ];
    rows.iter().fold(Table::new(header), |table, (name, o)| {
        let times = [
            o.fct_mean,
            o.fct_p50,
            o.fct_p95,
            o.fct_p99,
            o.fct_mean_small,
            o.fct_mean_medium,
            o.fct_mean_large,
        ];
        let mut cells = vec![Cell::from(name.clone())];
        cells.extend(times.map(|time| Cell::from(estimate(time, 1e3, " ms"))));
        cells.push(Cell::from(estimate(o.slowdown_mean, 1.0, "")));
        let bound =
            o.fct_mean_bound.map_or_else(|| "-".into(), |b| format!("{:.3} ms", b.mean * 1e3));
        cells.push(Cell::from(bound));
        let flows = &o.flows;
        cells.push(Cell::from(format!("{} of {}", flows.unfinished, flows.measured)));
        cells.extend([flows.dropped, flows.timeouts].map(|count| Cell::from(count.to_string())));
        table.row(cells)
    })
}

/// Totals, a row for each run.
fn totals_table(runs: &[RunSummary]) -> Table {
    let header = [
        "seed",
        "goodput",
        "drops",
        "retransmitted",
        "timeouts",
        "reordered",
        "reinjected",
        "flowlets",
        "subflows placed",
        "probe bytes",
        "unfinished",
        "digest",
    ];
    runs.iter().fold(Table::new(header), |table, run| {
        let t = &run.totals;
        table.row([
            run.seed.to_string(),
            format!("{:.2} Gbps", t.goodput_bps / 1e9),
            t.dropped.to_string(),
            t.retransmitted.to_string(),
            t.timeouts.to_string(),
            t.reordered.to_string(),
            format!("{} B", t.reinjected_bytes),
            t.flowlets.to_string(),
            t.placed.to_string(),
            t.probe_bytes.to_string(),
            t.unfinished.to_string(),
            run.digest.clone(),
        ])
    })
}

/// Utilisation on the fabric and queues, where the runs have samples.
fn links(graph: &Graph, runs: &[(&str, &[RunSummary])]) -> Option<Section> {
    let sampled: Vec<(&str, &RunSummary)> = runs
        .iter()
        .filter_map(|(name, runs)| Some((*name, runs.first()?)))
        .filter(|(_, run)| !run.ports.is_empty())
        .collect();
    if sampled.is_empty() {
        return None;
    }
    let section = Section::new("links", "Links and queues")
        .block("Utilisation of each direction of each link between switches, in the first seed's run. Press play, or move the slider.")
        .block(plots::fabric_map("utilisation", "Link utilisation over time", graph, &sampled))
        .block(plots::busiest_queue("queues", &sampled));
    Some(section)
}

/// A figure with its confidence interval.
fn estimate(estimate: Option<Estimate>, scale: f64, unit: &str) -> String {
    match estimate {
        None => "-".into(),
        Some(Estimate { mean, half_width: Some(half), .. }) => {
            format!("{:.3} ± {:.3}{unit}", mean * scale, half * scale)
        }
        Some(Estimate { mean, .. }) => format!("{:.3}{unit}", mean * scale),
    }
}

#[cfg(test)]
mod tests;

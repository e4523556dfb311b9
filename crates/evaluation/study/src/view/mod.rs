//! Reports of runs, sweeps and papers: tables and plots.

pub mod panel;
pub mod path_use;
pub mod plots;

use heddle_claims::stats::Estimate;
use heddle_claims::table::OVERLOADED;
use heddle_report::{Block, Cell, Report, Section, Table};
use heddle_scenario::{Graph, Scenario, VARIANT, Variant};

use crate::paired::{Baseline, Ratio};
use crate::provenance::Provenance;
use crate::results::{ClassOverSeeds, OverSeeds};
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

/// Slowdowns of named runs, in groups that one plot can tell apart: their distributions, and their
/// tails over size where there are several sizes.
fn slowdown_plots(named: &[(&str, &[RunSummary])]) -> Vec<heddle_report::Plot> {
    let groups = named.chunks(MOST_CURVES).enumerate();
    let plots = |(index, group): (usize, &[(&str, &[RunSummary])])| {
        let suffix = if index == 0 { String::new() } else { format!("-{}", index + 1) };
        let cdf = plots::slowdown_cdf(&format!("slowdown-cdf{suffix}"), group);
        let by_size = plots::slowdown_by_size(&format!("slowdown-by-size{suffix}"), group);
        std::iter::once(cdf).chain(by_size)
    };
    groups.flat_map(plots).collect()
}

/// The report of one scenario.
pub fn of_run(scenario: &Scenario, runs: &[RunSummary]) -> Report {
    let name = scenario.scheme.name();
    let over = [(name.to_owned(), OverSeeds::new(runs))];
    let mut results = Section::new("results", "Results").block(fct_table("scheme", &over));
    results = class_table("scheme", &over).into_iter().fold(results, Section::block);
    results = results.block(totals_table(runs));
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
    let slowdowns = slowdown_plots(&[(name, runs)]);
    let distributions = slowdowns.into_iter().fold(distributions, Section::block);
    let mut report = head(&scenario.title, runs).section(results).section(distributions);
    if let Some(section) = links(&scenario.fabric.graph, &[(name, runs)]) {
        report = report.section(section);
    }
    report
}

/// The report of a sweep: a curve for each setting of the first axis, over the last one if it is a
/// number.
pub fn of_sweep(axes: &[Axis], rows: &[Row]) -> Report {
    let named: Vec<(String, OverSeeds)> =
        rows.iter().map(|row| (row.settings.join(" "), row.over_seeds.clone())).collect();
    let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    let runs: Vec<RunSummary> = rows.iter().flat_map(|row| row.runs.clone()).collect();
    let key = keys.join(" ");
    let mut section = Section::new("results", "Results").block(fct_table(&key, &named));
    section = axes.iter().filter_map(variants).fold(section, Section::block);
    section = class_table(&key, &named).into_iter().fold(section, Section::block);
    let named_runs: Vec<(&str, &[RunSummary])> =
        named.iter().zip(rows).map(|((name, _), row)| (name.as_str(), &*row.runs)).collect();
    let has_classes = class_table(&key, &named).is_some();
    if let Some((key, curves)) = sweep_curves(axes, rows) {
        for curves in curves.chunks(MOST_CURVES) {
            for metric in [FctMetric::Mean, FctMetric::P99] {
                section = section.block(plots::over(&key, metric, curves));
            }
            for class in classes(&named).iter().filter(|_| has_classes) {
                section = section.block(plots::of_class(&key, &class.name, &class.title, curves));
            }
        }
    }
    let title = format!("Sweep over {}", keys.join(", "));
    let shapes = Section::new("fct", "Flow completion times");
    let shapes = cdfs(&named_runs).into_iter().fold(shapes, Section::block);
    let shapes = slowdown_plots(&named_runs).into_iter().fold(shapes, Section::block);
    head(&title, &runs).section(section).section(shapes)
}

/// What the variants of an axis set; `None` of an axis of values.
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
            ratio.figure.clone(),
            shown,
            interval,
            ratio.seeds.to_string(),
        ])
    });
    let Baseline { key, value } = baseline;
    let title = format!("Ratios to {key} = {value}, seed by seed");
    let text = "Geometric means of the ratios of runs with the same seed, and so with the same flows. Below 1, a row has less than the baseline: a shorter time, a \
                lower goodput. An interval that contains 1 shows no difference.";
    report.section(Section::new("ratios", title).block(text).block(table))
}

/// The last axis whose values are all numbers, and a curve over it for each setting of the others.
fn sweep_curves(axes: &[Axis], rows: &[Row]) -> Option<(String, Vec<Curve>)> {
    let is_number = |value: &String| number(value).is_some();
    let numeric = |axis: &Axis| axis.variants.is_empty() && axis.values.iter().all(is_number);
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

/// The number that a value starts with; its unit, if any, must be that of its neighbours to make
/// sense of a plot.
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

/// Flow completion times, a row for each name; the classes of sizes are those of the first row.
fn fct_table(key: &str, rows: &[(String, OverSeeds)]) -> Table {
    let classes = classes(rows);
    let titles = classes.iter().map(|class| class.title.as_str());
    let first = [key, "mean FCT", "median", "p95", "p99"].into_iter();
    let last = ["slowdown", "bound of the mean", "unfinished", "drops", "timeouts", "state"];
    let header: Vec<&str> = first.chain(titles).chain(last).collect();
    rows.iter().fold(Table::new(header), |table, (name, o)| {
        let times = [o.fct_mean, o.fct_p50, o.fct_p95, o.fct_p99].into_iter();
        let by_class = classes.iter().map(|class| o.classes.named(&class.name)?.fct_mean);
        let mut cells = vec![Cell::from(name.clone())];
        cells.extend(times.chain(by_class).map(|time| Cell::from(estimate(time, 1e3, " ms"))));
        cells.push(Cell::from(estimate(o.slowdown_mean, 1.0, "")));
        let bound =
            o.fct_mean_bound.map_or_else(|| "-".into(), |b| format!("{:.3} ms", b.mean * 1e3));
        cells.push(Cell::from(bound));
        let flows = &o.flows;
        cells.push(Cell::from(format!("{} of {}", flows.unfinished, flows.measured)));
        cells.extend([flows.dropped, flows.timeouts].map(|count| Cell::from(count.to_string())));
        cells.push(Cell::from(o.steadiness.text()));
        table.row(cells)
    })
}

/// The classes of sizes of the first row.
fn classes(rows: &[(String, OverSeeds)]) -> &[ClassOverSeeds] {
    rows.first().map_or(&[], |(_, over)| &over.classes.0)
}

/// Times and slowdowns of each class of sizes that has flows, a row for each name and class; `None`
/// if fewer than two have any.
fn class_table(key: &str, rows: &[(String, OverSeeds)]) -> Option<Table> {
    let has_flows = |class: &&ClassOverSeeds| class.fct_mean.is_some();
    if rows.iter().all(|(_, over)| over.classes.0.iter().filter(has_flows).count() < 2) {
        return None;
    }
    let header = [key, "flows of", "mean FCT", "p99 FCT", "mean slowdown", "p99 slowdown"];
    let classes = rows.iter().flat_map(|(name, o)| o.classes.0.iter().map(move |c| (name, c)));
    let of_flows = classes.filter(|(_, class)| has_flows(class));
    Some(of_flows.fold(Table::new(header), |table, (name, class)| {
        table.row([
            name.clone(),
            class.title.clone(),
            estimate(class.fct_mean, 1e3, " ms"),
            estimate(class.fct_p99, 1e3, " ms"),
            estimate(class.slowdown_mean, 1.0, ""),
            estimate(class.slowdown_p99, 1.0, ""),
        ])
    }))
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
        .block(plots::busiest_queue("queues", &sampled))
        .block(plots::queues_over_time("queues-over-time", sampled[0].1));
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

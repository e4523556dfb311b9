//! Sweeps: every combination of some values of some keys.

use std::fmt::Write as _;

use heddle_claims::stats::Estimate;
use serde::Serialize;

use crate::overload::Offered;
use crate::results::OverSeeds;
use crate::summary::RunSummary;

/// A key of the scenario and the values to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Dotted key.
    pub key: String,
    /// Values, as `--set` would take them.
    pub values: Vec<String>,
}

impl Axis {
    /// From values separated by commas; commas inside brackets, braces or quotes do not separate.
    pub fn new(key: &str, values: &str) -> Axis {
        Axis { key: key.to_owned(), values: split(values) }
    }
}

fn split(values: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0u32, false);
    for c in values.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// Every combination of the axes' values; the last axis turns fastest.
pub fn combinations(axes: &[Axis]) -> Vec<Vec<String>> {
    axes.iter().fold(vec![Vec::new()], |rows, axis| {
        let extend = |row: Vec<String>| {
            axis.values.iter().map(move |value| [row.clone(), vec![value.clone()]].concat())
        };
        rows.into_iter().flat_map(extend).collect()
    })
}

/// One combination with its runs.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The value of each axis.
    pub settings: Vec<String>,
    /// The load that is offered to links, where the workload has one.
    pub offered: Option<Offered>,
    /// Means over the seeds.
    pub over_seeds: OverSeeds,
    /// Each seed's run.
    pub runs: Vec<RunSummary>,
}

/// Deals runs out to the rows they belong to, in order; each row has as many as it has seeds.
pub fn rows(settings: Vec<(Vec<String>, usize)>, runs: Vec<RunSummary>) -> Vec<Row> {
    let mut runs = runs.into_iter();
    let row = |(settings, seeds): (Vec<String>, usize)| {
        let runs: Vec<RunSummary> = runs.by_ref().take(seeds).collect();
        Row { settings, offered: None, over_seeds: OverSeeds::new(&runs), runs }
    };
    settings.into_iter().map(row).collect()
}

/// One line a row: settings, then figures in seconds (means over the seeds), those of the classes
/// of sizes last.
pub fn to_csv(axes: &[Axis], rows: &[Row]) -> String {
    let keys = axes.iter().map(|axis| quoted(&axis.key));
    let classes = class_names(rows);
    let of_class = |name: &String| {
        ["fct_mean_NAME_s", "fct_p99_NAME_s", "slowdown_mean_NAME", "slowdown_p99_NAME"]
            .map(|column| column.replace("NAME", name))
    };
    let columns = COLUMNS.iter().map(|&column| column.to_owned());
    let header: Vec<String> =
        keys.chain(columns).chain(classes.iter().flat_map(of_class)).collect();
    let mut csv = format!("{}\n", header.join(","));
    for row in rows {
        let settings = row.settings.iter().map(|value| quoted(value));
        let line: Vec<String> = settings.chain(figures(&row.over_seeds, &classes)).collect();
        let _ = writeln!(csv, "{}", line.join(","));
    }
    csv
}

/// Columns of [`to_csv`] behind the settings, but for those of the classes of sizes.
const COLUMNS: [&str; 16] = [
    "fct_mean_s",
    "fct_p50_s",
    "fct_p95_s",
    "fct_p99_s",
    "slowdown_mean",
    "slowdown_p99",
    "goodput_bps",
    "fct_mean_bound_s",
    "long_flow_share",
    "flows_started",
    "flows_measured",
    "flows_finished",
    "flows_unfinished",
    "dropped",
    "timeouts",
    "state",
];

/// Names of the classes of sizes that any row has.
fn class_names(rows: &[Row]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for class in rows.iter().flat_map(|row| &row.over_seeds.classes.0) {
        if !names.contains(&class.name) {
            names.push(class.name.clone());
        }
    }
    names
}

/// The cells of a row under [`COLUMNS`] and the columns of some classes.
fn figures(o: &OverSeeds, classes: &[String]) -> Vec<String> {
    let estimates = [
        o.fct_mean,
        o.fct_p50,
        o.fct_p95,
        o.fct_p99,
        o.slowdown_mean,
        o.slowdown_p99,
        o.goodput_bps,
        o.fct_mean_bound,
        o.long_flow_share,
    ];
    let f = &o.flows;
    let counts = [f.started, f.measured, f.finished, f.unfinished, f.dropped, f.timeouts];
    let of_class = |name: &String| {
        let class = o.classes.named(name);
        [
            class.and_then(|c| c.fct_mean),
            class.and_then(|c| c.fct_p99),
            class.and_then(|c| c.slowdown_mean),
            class.and_then(|c| c.slowdown_p99),
        ]
    };
    let figures = estimates.into_iter().map(plain).chain(counts.map(|count| count.to_string()));
    let figures = figures.chain([quoted(o.steadiness.text())]);
    figures.chain(classes.iter().flat_map(of_class).map(plain)).collect()
}

fn plain(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(String::new, |estimate| format!("{:.9}", estimate.mean))
}

/// Fields of a CSV file, each with the comma behind it.
pub fn csv_fields(values: &[String]) -> String {
    values.iter().map(|value| format!("{},", quoted(value))).collect()
}

/// A field of a CSV file (RFC 4180).
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_every_combination() {
        let axes = [Axis::new("scheme", "ecmp, hula"), Axis::new("workload.load", "0.3,0.5")];
        let grid = combinations(&axes);
        assert_eq!(grid, [["ecmp", "0.3"], ["ecmp", "0.5"], ["hula", "0.3"], ["hula", "0.5"]]);
        assert_eq!(combinations(&[]), [Vec::<String>::new()]);
    }

    #[test]
    fn commas_inside_values_do_not_separate() {
        assert_eq!(split("[1, 2],{ a = \"x,y\" }, z"), ["[1, 2]", "{ a = \"x,y\" }", "z"]);
    }

    #[test]
    fn csv_fields_are_quoted_when_they_must_be() {
        assert_eq!(quoted("[1, \"a\"]"), "\"[1, \"\"a\"\"]\"");
        assert_eq!(quoted("40Gbps"), "40Gbps");
    }
}

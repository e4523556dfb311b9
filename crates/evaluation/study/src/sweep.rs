//! Sweeps: every combination of some values of some keys.

use std::fmt::Write as _;

use heddle_claims::stats::Estimate;
use heddle_scenario::{ScenarioError, VARIANT, Variant, check_values, check_variants, split};
use serde::Serialize;

use crate::overload::Offered;
use crate::results::OverSeeds;
use crate::summary::RunSummary;

/// A key of the scenario and the values to try, or variants by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Dotted key; [`VARIANT`] of variants.
    pub key: String,
    /// Values, as `--set` would take them; names of variants.
    pub values: Vec<String>,
    /// The variants, one a value; empty where the values are the key's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
}

impl Axis {
    /// From values separated by commas; commas inside brackets, braces or quotes do not separate.
    pub fn new(key: &str, values: &str) -> Axis {
        Axis::of(key.to_owned(), split(values))
    }

    /// A key with these values.
    pub fn of(key: String, values: Vec<String>) -> Axis {
        Axis { key, values, variants: Vec::new() }
    }

    /// The variant that a value names, if it names one.
    pub fn variant(&self, value: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == value)
    }

    /// The overrides that a value stands for.
    pub fn settings(&self, value: &str) -> Vec<(String, String)> {
        let key = || vec![(self.key.clone(), value.to_owned())];
        self.variant(value).map_or_else(key, |variant| variant.settings.clone())
    }
}

/// The axes of a sweep: its variants, if there are any, precede its keys.
///
/// # Errors
/// As [`check_variants`] and [`check_values`].
pub fn axes(over: Vec<Axis>, variants: Vec<Variant>) -> Result<Vec<Axis>, ScenarioError> {
    over.iter().try_for_each(|axis| check_values(&axis.key, &axis.values))?;
    check_variants(&variants, &over.iter().map(|axis| axis.key.as_str()).collect::<Vec<_>>())?;
    let values = variants.iter().map(|variant| variant.name.clone()).collect();
    let named = Axis { key: VARIANT.to_owned(), values, variants };
    Ok((!named.values.is_empty()).then_some(named).into_iter().chain(over).collect())
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

/// One line a row: settings, then figures in seconds (means over the seeds, each with the half width
/// of its 95 % interval by Student's t and the ends of that by the bootstrap, empty with one seed)
/// and counts, then the figures of the classes of sizes.
pub fn to_csv(axes: &[Axis], rows: &[Row]) -> String {
    let keys = axes.iter().map(|axis| quoted(&axis.key));
    let classes = class_names(rows);
    let of_class = |name: &String| {
        ["fct_mean_NAME_s", "fct_p99_NAME_s", "slowdown_mean_NAME", "slowdown_p99_NAME"]
            .map(|column| column.replace("NAME", name))
    };
    let figures = FIGURES.iter().map(|&column| column.to_owned()).flat_map(with_interval);
    let counts = COUNTS.iter().map(|&column| column.to_owned());
    let of_classes = classes.iter().flat_map(of_class).flat_map(with_interval);
    let header: Vec<String> = keys.chain(figures).chain(counts).chain(of_classes).collect();
    let mut csv = format!("{}\n", header.join(","));
    for row in rows {
        let settings = row.settings.iter().map(|value| quoted(value));
        let line: Vec<String> = settings.chain(cells(&row.over_seeds, &classes)).collect();
        let _ = writeln!(csv, "{}", line.join(","));
    }
    csv
}

/// A column, and those of its interval.
fn with_interval(column: String) -> [String; 4] {
    let [half_width, low, high] =
        ["half_width", "low", "high"].map(|ending| format!("{column}_{ending}"));
    [column, half_width, low, high]
}

/// Columns of [`to_csv`] with intervals, of all flows.
const FIGURES: [&str; 9] = [
    "fct_mean_s",
    "fct_p50_s",
    "fct_p95_s",
    "fct_p99_s",
    "slowdown_mean",
    "slowdown_p99",
    "goodput_bps",
    "fct_mean_bound_s",
    "long_flow_share",
];

/// Columns of [`to_csv`] without.
const COUNTS: [&str; 7] = [
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

/// The cells of a row under [`FIGURES`], [`COUNTS`] and the columns of some classes.
fn cells(o: &OverSeeds, classes: &[String]) -> Vec<String> {
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
    let counts = counts.map(|count| count.to_string());
    let figures = estimates.into_iter().flat_map(plain).chain(counts);
    let figures = figures.chain([quoted(o.steadiness.text())]);
    figures.chain(classes.iter().flat_map(of_class).flat_map(plain)).collect()
}

/// An estimate, its half width, and the ends of its interval.
fn plain(estimate: Option<Estimate>) -> [String; 4] {
    let ends = estimate.and_then(|one| one.interval).unzip();
    [estimate.map(|one| one.mean), estimate.and_then(|one| one.half_width), ends.0, ends.1]
        .map(|figure| figure.map_or_else(String::new, |figure| format!("{figure:.9}")))
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
    use crate::testing::{cell, run};

    #[test]
    fn a_grid_is_every_combination() {
        let axes = [Axis::new("scheme", "ecmp, hula"), Axis::new("workload.load", "0.3,0.5")];
        let grid = combinations(&axes);
        assert_eq!(grid, [["ecmp", "0.3"], ["ecmp", "0.5"], ["hula", "0.3"], ["hula", "0.5"]]);
        assert_eq!(combinations(&[]), [Vec::<String>::new()]);
    }

    #[test]
    fn no_key_is_swept_twice_and_no_value_taken_twice() {
        let said = |over: &[(&str, &str)]| {
            let over = over.iter().map(|(key, values)| Axis::new(key, values)).collect();
            axes(over, Vec::new()).map_err(|error| error.to_string())
        };
        let twice = said(&[("scheme", "ecmp,hula"), ("scheme", "drill")]).unwrap_err();
        let help = "help: give all of its values at once: scheme=V1,V2";
        assert_eq!(twice, format!("scheme is swept twice\n{help}"));
        let same = said(&[("workload.load", "0.3,0.5,0.3")]).unwrap_err();
        assert!(same.starts_with("workload.load has the value 0.3 twice\n"), "{same}");
        assert!(said(&[("scheme", "ecmp,hula"), ("scheme.flowlet_gap", "50us")]).is_ok());
    }

    #[test]
    fn variants_are_an_axis_before_the_keys() {
        let named = ["reps=scheme=ecmp,entropy=reps", "hula=scheme=hula"];
        let named = named.map(|text| Variant::parse(text).unwrap()).to_vec();
        let axes = axes(vec![Axis::new("workload.load", "0.3,0.5")], named).unwrap();
        assert_eq!(
            (axes[0].key.as_str(), axes[0].values.join(" ")),
            ("variant", "reps hula".into())
        );
        assert_eq!(combinations(&axes)[2], ["hula", "0.3"]);
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(axes[0].settings("reps"), [pair("scheme", "ecmp"), pair("entropy", "reps")]);
        assert_eq!(axes[1].settings("0.5"), [pair("workload.load", "0.5")]);
        let json = serde_json::to_value(&axes).unwrap();
        assert_eq!(
            json[0]["variants"][1],
            serde_json::json!({ "name": "hula", "settings": [["scheme", "hula"]] })
        );
        assert_eq!(json[1].as_object().unwrap().len(), 2);
    }

    /// Means of 1, 2 and 6 s: 3 s, t = 4.303 times the deviation of 2.646 over the root of 3.
    #[test]
    fn each_figure_has_the_half_width_and_the_ends_of_its_interval() {
        let run_of = |(seed, mean): (u64, f64)| {
            let mut run = run(&cell(seed, &[]));
            run.fct.all.as_mut().unwrap().seconds.mean = mean;
            run
        };
        let runs: Vec<RunSummary> = [(1, 1.0), (2, 2.0), (3, 6.0)].map(run_of).to_vec();
        let axes = [Axis::new("scheme", "ecmp,hula")];
        let settings = |name: &str, seeds| (vec![name.to_owned()], seeds);
        let all = [runs.clone(), runs[..1].to_vec()].concat();
        let csv = to_csv(&axes, &rows(vec![settings("ecmp", 3), settings("hula", 1)], all));
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let columns = ["fct_mean_s", "fct_mean_s_half_width", "fct_mean_s_low", "fct_mean_s_high"];
        assert_eq!((lines[0][0], &lines[0][1..5]), ("scheme", &columns[..]));
        assert_eq!(lines[1][..2], ["ecmp", "3.000000000"]);
        let half: f64 = lines[1][2].parse().unwrap();
        assert!((half - 4.303 * 7f64.sqrt() / 3f64.sqrt()).abs() < 1e-6, "{half}");
        let [low, high] = [3, 4].map(|column| lines[1][column].parse::<f64>().unwrap());
        assert!(0.0 < low && low < 1.0 && 6.0 < high, "{low} {high}: where 3 - {half} is below 0");
        let alone = ["hula", "1.000000000", "", "", ""];
        assert_eq!(lines[2][..5], alone, "one seed has no interval");
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
        assert_eq!(lines[0].last(), Some(&"slowdown_p99_large_high"));
    }

    #[test]
    fn csv_fields_are_quoted_when_they_must_be() {
        assert_eq!(quoted("[1, \"a\"]"), "\"[1, \"\"a\"\"]\"");
        assert_eq!(quoted("40Gbps"), "40Gbps");
    }
}

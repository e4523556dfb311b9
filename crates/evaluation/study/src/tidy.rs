//! One tidy table: a row for each combination, seed, workload, class of sizes and statistic, so that
//! a data frame groups and plots it as it is.

use std::fmt::Write as _;

use heddle_claims::stats::Estimate;
use serde::Serialize;

use crate::summary::{ClassSummary, LongSummary, RequestSummary, RunSummary, Spread};
use crate::sweep::{Axis, Row, quoted};

/// A value of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The flows that it is of.
    pub flows: Flows,
    /// The statistic, as in `fct_mean`, `slowdown_p99`, `flows`, `dropped`.
    pub statistic: String,
    /// The value, in `unit`.
    pub value: f64,
    /// `s`, `x`, `bit/s`, `1/s`, `flows`, `packets` or `1`.
    pub unit: &'static str,
}

/// A part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flows {
    /// The workload's name; empty for all together.
    pub workload: String,
    /// `all`, or a class of sizes (`small`, `medium`, `large` by default); empty for values that are
    /// of no flows.
    pub size_class: String,
}

impl Flows {
    fn of(workload: &str, size_class: &str) -> Flows {
        Flows { workload: workload.to_owned(), size_class: size_class.to_owned() }
    }

    fn value(&self, statistic: impl Into<String>, value: f64, unit: &'static str) -> Value {
        Value { flows: self.clone(), statistic: statistic.into(), value, unit }
    }
}

/// Every value of a run that tables have.
pub fn values(run: &RunSummary) -> Vec<Value> {
    let mut values = Vec::new();
    values.extend(run.fct.all.iter().flat_map(|all| class_values(&Flows::of("", "all"), all)));
    for class in &run.fct.classes {
        let flows = Flows::of("", &class.name);
        values.extend(class.summary.iter().flat_map(|summary| class_values(&flows, summary)));
    }
    for workload in &run.workloads {
        let flows = Flows::of(&workload.name, "all");
        values.extend(workload.fct.iter().flat_map(|summary| class_values(&flows, summary)));
        values.extend(workload.long_flows.iter().flat_map(|long| long_values(&flows, long)));
    }
    values.extend(totals(run));
    for collective in &run.collectives {
        values.push(Flows::of(&collective.name, "").value("collective", collective.seconds, "s"));
    }
    values.extend(run.requests.iter().flat_map(request_values));
    let all = Flows::of("", "all");
    values.extend(run.long_flows.iter().flat_map(|long| long_values(&all, long)));
    values
}

/// Values of the whole run.
fn totals(run: &RunSummary) -> Vec<Value> {
    let t = &run.totals;
    let counts = [
        ("flows_started", t.flows_started, "flows"),
        ("flows_measured", t.measured, "flows"),
        ("flows_unfinished", t.unfinished, "flows"),
        ("dropped", t.dropped, "packets"),
        ("dropped_at_senders", t.dropped_at_senders, "packets"),
        ("retransmitted", t.retransmitted, "packets"),
        ("reordered", t.reordered, "packets"),
        ("ecn_marked", t.ecn_marked, "packets"),
        ("timeouts", t.timeouts, "1"),
    ];
    let run_of = Flows::default();
    let counts = counts.map(|(statistic, count, unit)| run_of.value(statistic, count as f64, unit));
    let goodput = run_of.value("goodput", t.goodput_bps, "bit/s");
    let bound = run.bound_mean_seconds.map(|bound| run_of.value("fct_mean_bound", bound, "s"));
    counts.into_iter().chain([goodput]).chain(bound).collect()
}

fn long_values(flows: &Flows, long: &LongSummary) -> [Value; 3] {
    [
        flows.value("long_flow_goodput_mean", long.goodput_bps.mean, "bit/s"),
        flows.value("long_flow_goodput_min", long.goodput_bps.min, "bit/s"),
        flows.value("long_flow_share_mean", long.share.mean, "1"),
    ]
}

fn request_values(requests: &RequestSummary) -> [Value; 5] {
    let flows = Flows::of(&requests.name, "");
    let Spread { mean, p50, p95, p99 } = requests.seconds;
    [
        flows.value("requests_per_second", requests.per_second, "1/s"),
        flows.value("request_mean", mean, "s"),
        flows.value("request_p50", p50, "s"),
        flows.value("request_p95", p95, "s"),
        flows.value("request_p99", p99, "s"),
    ]
}

fn class_values(flows: &Flows, summary: &ClassSummary) -> Vec<Value> {
    let spread = |name: &str, spread: &Spread, unit| {
        let figures =
            [("mean", spread.mean), ("p50", spread.p50), ("p95", spread.p95), ("p99", spread.p99)];
        figures.map(|(statistic, value)| flows.value(format!("{name}_{statistic}"), value, unit))
    };
    let count = flows.value("flows", summary.flows as f64, "flows");
    let times = spread("fct", &summary.seconds, "s");
    let slowdowns = spread("slowdown", &summary.slowdown, "x");
    std::iter::once(count).chain(times).chain(slowdowns).collect()
}

/// Columns of [`to_csv`] behind those of the axes.
const COLUMNS: &str = "seed,workload,size_class,statistic,value,unit";

/// The table of a sweep as CSV: the axes, then a value of a seed's run.
pub fn to_csv(axes: &[Axis], rows: &[Row]) -> String {
    let keys: Vec<String> = axes.iter().map(|axis| quoted(&axis.key)).collect();
    let mut csv = format!("{},{COLUMNS}\n", keys.join(","));
    for row in rows {
        let settings: Vec<String> = row.settings.iter().map(|value| quoted(value)).collect();
        for run in &row.runs {
            for Value { flows, statistic, value, unit } in values(run) {
                let Flows { workload, size_class } = flows;
                let (workload, size_class) = (quoted(&workload), quoted(&size_class));
                let labels = format!("{},{},{workload},{size_class}", settings.join(","), run.seed);
                let _ = writeln!(csv, "{labels},{statistic},{value},{unit}");
            }
        }
    }
    csv
}

/// A value over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The flows that it is of.
    #[serde(flatten)]
    pub flows: Flows,
    /// The statistic, as [`Value::statistic`].
    pub statistic: String,
    /// Its unit, as [`Value::unit`].
    pub unit: &'static str,
    /// Mean and interval.
    #[serde(flatten)]
    pub over_seeds: Estimate,
}

/// Every value of some runs of one scenario over their seeds.
pub fn over_seeds(runs: &[RunSummary]) -> Vec<Figure> {
    let mut all: Vec<(Value, Vec<f64>)> = Vec::new();
    for value in runs.iter().flat_map(values) {
        let is_it = |(of, _): &&mut (Value, _)| {
            (&of.flows, &of.statistic) == (&value.flows, &value.statistic)
        };
        match all.iter_mut().find(is_it) {
            Some((_, figures)) => figures.push(value.value),
            None => {
                let figures = vec![value.value];
                all.push((value, figures));
            }
        }
    }
    let figure = |(Value { flows, statistic, unit, .. }, figures): (Value, Vec<f64>)| {
        Some(Figure { flows, statistic, unit, over_seeds: Estimate::of(&figures)? })
    };
    all.into_iter().filter_map(figure).collect()
}

/// The table over the seeds as CSV: the axes, then mean and ends of the 95 % interval of a value.
pub fn means_to_csv(axes: &[Axis], rows: &[Row]) -> String {
    let keys: Vec<String> = axes.iter().map(|axis| quoted(&axis.key)).collect();
    let columns = "workload,size_class,statistic,mean,low,high,seeds,unit";
    let mut csv = format!("{},{columns}\n", keys.join(","));
    for row in rows {
        let settings: Vec<String> = row.settings.iter().map(|value| quoted(value)).collect();
        for Figure { flows, statistic, unit, over_seeds } in over_seeds(&row.runs) {
            let Flows { workload, size_class } = flows;
            let (workload, size_class) = (quoted(&workload), quoted(&size_class));
            let Estimate { mean, interval, seeds, .. } = over_seeds;
            let ends =
                interval.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low},{high}"));
            let labels = format!("{},{workload},{size_class},{statistic}", settings.join(","));
            let _ = writeln!(csv, "{labels},{mean},{ends},{seeds},{unit}");
        }
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::rows;
    use crate::testing::{cell, run};

    #[test]
    fn each_combination_seed_class_and_statistic_has_a_row() {
        let axes = [Axis::new("scheme", "ecmp")];
        let runs = vec![run(&cell(1, &[])), run(&cell(2, &[]))];
        let mean = runs[1].fct.all.as_ref().unwrap().seconds.mean;
        let csv = to_csv(&axes, &rows(vec![(vec!["ecmp".into()], 2)], runs));
        let mut lines = csv.lines();
        assert_eq!(lines.next(), Some("scheme,seed,workload,size_class,statistic,value,unit"));
        assert!(csv.contains(&format!("ecmp,2,,all,fct_mean,{mean},s\n")), "{csv}");
        assert!(csv.contains("ecmp,1,,,flows_measured,20,flows\n"), "{csv}");
        let mut keys: Vec<Vec<&str>> =
            lines.map(|line| line.split(',').take(5).collect()).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "each row has a key of its own");
    }

    /// A row for each value of a seed, with the mean over both.
    #[test]
    fn means_have_the_ends_of_their_intervals() {
        let axes = [Axis::new("scheme", "ecmp")];
        let runs = vec![run(&cell(1, &[])), run(&cell(2, &[]))];
        let p99 = |run: &RunSummary| run.fct.all.as_ref().unwrap().seconds.p99;
        let mean = (p99(&runs[0]) + p99(&runs[1])) / 2.0;
        let count = values(&runs[0]).len();
        let csv = means_to_csv(&axes, &rows(vec![(vec!["ecmp".into()], 2)], runs));
        let mut lines = csv.lines();
        let header = "scheme,workload,size_class,statistic,mean,low,high,seeds,unit";
        assert_eq!((lines.next(), csv.lines().count()), (Some(header), 1 + count));
        let line = lines.find(|line| line.starts_with("ecmp,,all,fct_p99,")).unwrap();
        let cells: Vec<&str> = line.split(',').collect();
        let [found, low, high] = [4, 5, 6].map(|cell| cells[cell].parse::<f64>().unwrap());
        assert!((found / mean - 1.0).abs() < 1e-12 && 0.0 < low && low < mean && mean < high);
        assert_eq!(cells[7..], ["2", "s"]);
    }

    #[test]
    fn a_workload_and_a_class_of_sizes_have_columns_of_their_own() {
        let part = "kind = \"flows\", load = 0.2";
        let two = format!(
            "[{{ name = \"web\", {part}, sizes = \"fixed:20KB\" }}, {{ name = \"log\", {part}, sizes = \"fixed:200KB\" }}]"
        );
        let values = values(&run(&cell(1, &[("workload", &two)])));
        let flows = |workload: &str, size_class: &str| {
            let wanted = Flows::of(workload, size_class);
            let mut values = values.iter();
            values.find(|v| v.flows == wanted && v.statistic == "flows").map(|v| v.value)
        };
        let parts = [flows("web", "all"), flows("log", "all")].map(Option::unwrap);
        assert_eq!(parts.iter().sum::<f64>(), 20.0);
        assert_eq!([flows("", "small"), flows("", "medium")].map(Option::unwrap), parts);
        assert_eq!((flows("", "all"), flows("web", "small")), (Some(20.0), None));
    }
}

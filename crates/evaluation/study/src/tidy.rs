//! One tidy table: a row for each combination, seed, class and statistic, so that a data frame
//! groups and plots it as it is.

use std::fmt::Write as _;

use crate::summary::{ClassSummary, LongSummary, RequestSummary, RunSummary, Spread};
use crate::sweep::{Axis, Row, quoted};

/// A value of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The class of flows: `all`, a class of sizes (`small`, `medium`, `large` by default), or a
    /// workload's name; `run` for values of the whole run.
    pub class: String,
    /// The statistic, as in `fct_mean`, `slowdown_p99`, `flows`, `dropped`.
    pub statistic: String,
    /// The value, in `unit`.
    pub value: f64,
    /// `s`, `x`, `bit/s`, `1/s`, `flows`, `packets` or `1`.
    pub unit: &'static str,
}

/// Every value of a run that tables have.
pub fn values(run: &RunSummary) -> Vec<Value> {
    let of_class = |(class, summary): (&str, &Option<ClassSummary>)| {
        summary.as_ref().map_or_else(Vec::new, |summary| class_values(class, summary))
    };
    let by_size = run.fct.classes.iter().map(|class| (class.name.as_str(), &class.summary));
    let classes = std::iter::once(("all", &run.fct.all)).chain(by_size);
    let mut values: Vec<Value> = classes.flat_map(of_class).collect();
    values.extend(run.workloads.iter().flat_map(|w| of_class((&w.name, &w.fct))));
    for workload in &run.workloads {
        values
            .extend(workload.long_flows.iter().flat_map(|long| long_values(&workload.name, long)));
    }
    let t = &run.totals;
    let mut add = |statistic: &str, value: f64, unit| {
        let class = "run".to_owned();
        values.push(Value { class, statistic: statistic.to_owned(), value, unit });
    };
    add("flows_started", t.flows_started as f64, "flows");
    add("flows_measured", t.measured as f64, "flows");
    add("flows_unfinished", t.unfinished as f64, "flows");
    add("goodput", t.goodput_bps, "bit/s");
    add("dropped", t.dropped as f64, "packets");
    add("dropped_at_senders", t.dropped_at_senders as f64, "packets");
    add("retransmitted", t.retransmitted as f64, "packets");
    add("reordered", t.reordered as f64, "packets");
    add("ecn_marked", t.ecn_marked as f64, "packets");
    add("timeouts", t.timeouts as f64, "1");
    if let Some(bound) = run.bound_mean_seconds {
        add("fct_mean_bound", bound, "s");
    }
    for collective in &run.collectives {
        let class = if collective.name.is_empty() { "run" } else { &collective.name };
        values.push(Value {
            class: class.to_owned(),
            statistic: "collective".to_owned(),
            value: collective.seconds,
            unit: "s",
        });
    }
    for requests in &run.requests {
        let class = if requests.name.is_empty() { "run" } else { &requests.name };
        values.extend(request_values(class, requests));
    }
    values.extend(run.long_flows.iter().flat_map(|long| long_values("run", long)));
    values
}

fn long_values(class: &str, long: &LongSummary) -> [Value; 3] {
    let value = |statistic: &str, value, unit| Value {
        class: class.to_owned(),
        statistic: statistic.to_owned(),
        value,
        unit,
    };
    [
        value("long_flow_goodput_mean", long.goodput_bps.mean, "bit/s"),
        value("long_flow_goodput_min", long.goodput_bps.min, "bit/s"),
        value("long_flow_share_mean", long.share.mean, "1"),
    ]
}

fn request_values(class: &str, requests: &RequestSummary) -> Vec<Value> {
    let value = |statistic: &str, value, unit| Value {
        class: class.to_owned(),
        statistic: statistic.to_owned(),
        value,
        unit,
    };
    let Spread { mean, p50, p95, p99 } = requests.seconds;
    vec![
        value("requests_per_second", requests.per_second, "1/s"),
        value("request_mean", mean, "s"),
        value("request_p50", p50, "s"),
        value("request_p95", p95, "s"),
        value("request_p99", p99, "s"),
    ]
}

fn class_values(class: &str, summary: &ClassSummary) -> Vec<Value> {
    let spread = |name: &str, spread: &Spread, unit| {
        let figures =
            [("mean", spread.mean), ("p50", spread.p50), ("p95", spread.p95), ("p99", spread.p99)];
        let value = |(statistic, value): (&str, f64)| Value {
            class: class.to_owned(),
            statistic: format!("{name}_{statistic}"),
            value,
            unit,
        };
        figures.map(value)
    };
    let flows = Value {
        class: class.to_owned(),
        statistic: "flows".into(),
        value: summary.flows as f64,
        unit: "flows",
    };
    let times = spread("fct", &summary.seconds, "s");
    let slowdowns = spread("slowdown", &summary.slowdown, "x");
    std::iter::once(flows).chain(times).chain(slowdowns).collect()
}

/// The table of a sweep as CSV: the axes, then `seed,class,statistic,value,unit`.
pub fn to_csv(axes: &[Axis], rows: &[Row]) -> String {
    let keys: Vec<String> = axes.iter().map(|axis| quoted(&axis.key)).collect();
    let mut csv = format!("{},seed,class,statistic,value,unit\n", keys.join(","));
    for row in rows {
        let settings: Vec<String> = row.settings.iter().map(|value| quoted(value)).collect();
        for run in &row.runs {
            for Value { class, statistic, value, unit } in values(run) {
                let (settings, seed) = (settings.join(","), run.seed);
                let _ = writeln!(csv, "{settings},{seed},{class},{statistic},{value},{unit}");
            }
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
        assert_eq!(lines.next(), Some("scheme,seed,class,statistic,value,unit"));
        assert!(csv.contains(&format!("ecmp,2,all,fct_mean,{mean},s\n")), "{csv}");
        assert!(csv.contains("ecmp,1,run,flows_measured,20,flows\n"), "{csv}");
        let mut keys: Vec<Vec<&str>> =
            lines.map(|line| line.split(',').take(4).collect()).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "each row has a key of its own");
    }
}

//! Tables of results.

use heddle_claims::stats::Estimate;
use heddle_report::Table;

use super::columns::{Column, Quantity, table};
use crate::results::{ClassOverSeeds, OverSeeds};
use crate::summary::{
    CollectiveSummary, LongSummary, RequestSummary, RunSummary, StepSummary, TotalsSummary,
    WorkloadSummary,
};

/// Means over the seeds under some settings, one for each key.
pub(super) type Named = (Vec<String>, OverSeeds);

/// A column for each key.
fn of_settings(keys: &[&str], rows: &[Named]) -> Vec<Column> {
    let cell = |row: &Named, index: usize| row.0.get(index).cloned().unwrap_or_default();
    let column =
        |(index, key): (usize, &&str)| Column::texts(key, rows.iter().map(|row| cell(row, index)));
    keys.iter().enumerate().map(column).collect()
}

/// Flow completion times, a row for each setting. The means of the classes of sizes are those of
/// the first row's classes; they are left out where [`class_table`] has them.
pub(super) fn fct_table(keys: &[&str], rows: &[Named], has_classes: bool) -> Table {
    let times = |name: &str, of: &dyn Fn(&OverSeeds) -> Option<Estimate>| {
        let figures: Vec<_> = rows.iter().map(|(_, over)| of(over)).collect();
        Column::figures(name, Quantity::Time, &figures)
    };
    let counts = |name: &str, of: fn(&OverSeeds) -> String| {
        Column::texts(name, rows.iter().map(|(_, over)| of(over)))
    };
    let mut columns = of_settings(keys, rows);
    columns.extend([
        times("mean FCT", &|over| over.fct_mean),
        times("median", &|over| over.fct_p50),
        times("p95", &|over| over.fct_p95),
        times("p99", &|over| over.fct_p99),
    ]);
    let classes = if has_classes { classes(rows) } else { &[] };
    columns.extend(classes.iter().map(|class| {
        let name = format!("mean, {}", class.title);
        times(&name, &|over| over.classes.named(&class.name)?.fct_mean)
    }));
    let slowdowns: Vec<_> = rows.iter().map(|(_, over)| over.slowdown_mean).collect();
    columns.extend([
        Column::figures("slowdown", Quantity::Number, &slowdowns),
        times("bound", &|over| {
            over.fct_mean_bound.map(|bound| Estimate { interval: None, ..bound })
        }),
        counts("unfinished", |over| match over.flows.measured {
            0 => "-".to_owned(),
            measured => format!("{} of {measured}", over.flows.unfinished),
        }),
        counts("drops", |over| over.flows.dropped.to_string()),
        counts("timeouts", |over| over.flows.timeouts.to_string()),
        counts("state", |over| over.steadiness.text().to_owned()),
    ]);
    table(columns)
}

/// The classes of sizes of the first row.
pub(super) fn classes(rows: &[Named]) -> &[ClassOverSeeds] {
    rows.first().map_or(&[], |(_, over)| &over.classes.0)
}

/// Times and slowdowns of each class of sizes that has flows, a row for each setting and class;
/// `None` if fewer than two have any.
pub(super) fn class_table(keys: &[&str], rows: &[Named]) -> Option<Table> {
    let has_flows = |class: &&ClassOverSeeds| class.fct_mean.is_some();
    if rows.iter().all(|(_, over)| over.classes.0.iter().filter(has_flows).count() < 2) {
        return None;
    }
    let with_flows: Vec<(&Vec<String>, &ClassOverSeeds)> = rows
        .iter()
        .flat_map(|(names, over)| over.classes.0.iter().map(move |class| (names, class)))
        .filter(|(_, class)| has_flows(class))
        .collect();
    let figures = |name: &str, quantity, of: fn(&ClassOverSeeds) -> Option<Estimate>| {
        let figures: Vec<_> = with_flows.iter().map(|(_, class)| of(class)).collect();
        Column::figures(name, quantity, &figures)
    };
    let setting = |(index, key): (usize, &&str)| {
        let cells =
            with_flows.iter().map(|(names, _)| names.get(index).cloned().unwrap_or_default());
        Column::texts(key, cells)
    };
    let mut columns: Vec<Column> = keys.iter().enumerate().map(setting).collect();
    columns.extend([
        Column::texts("flows of", with_flows.iter().map(|(_, class)| unbroken(&class.title))),
        figures("mean FCT", Quantity::Time, |class| class.fct_mean),
        figures("p99 FCT", Quantity::Time, |class| class.fct_p99),
        figures("mean slowdown", Quantity::Number, |class| class.slowdown_mean),
        figures("p99 slowdown", Quantity::Number, |class| class.slowdown_p99),
    ]);
    Some(table(columns))
}

/// A text that a narrow column does not break at spaces and hyphens.
fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}").replace('-', "\u{2011}")
}

/// A counter of a run.
type Count = fn(&TotalsSummary) -> u64;

/// Totals, a row for each run; counters that are 0 in all runs are left out.
pub(super) fn totals_table(runs: &[RunSummary]) -> Table {
    let counts =
        |name: &str, of: Count| Column::texts(name, runs.iter().map(|run| of(&run.totals)));
    let values = |name: &str, quantity, of: fn(&TotalsSummary) -> f64| {
        Column::values(name, quantity, runs.iter().map(|run| of(&run.totals)))
    };
    let any = |of: Count| runs.iter().any(|run| of(&run.totals) > 0);
    let mut columns = vec![
        Column::texts("seed", runs.iter().map(|run| run.seed)),
        values("goodput", Quantity::Rate, |t| t.goodput_bps),
        counts("drops", |t| t.dropped),
        counts("retransmitted", |t| t.retransmitted),
        counts("timeouts", |t| t.timeouts),
    ];
    let optional: [(&str, Count); 3] = [
        ("reordered", |t| t.reordered),
        ("flowlets", |t| t.flowlets),
        ("subflows placed", |t| t.placed),
    ];
    columns
        .extend(optional.into_iter().filter(|(_, of)| any(*of)).map(|(name, of)| counts(name, of)));
    if any(|t| t.reinjected_bytes) {
        columns.push(values("reinjected", Quantity::Size, |t| t.reinjected_bytes as f64));
    }
    if any(|t| t.probe_bytes) {
        columns.push(values("probes", Quantity::Size, |t| t.probe_bytes as f64));
    }
    columns.extend([
        counts("unfinished", |t| t.unfinished),
        Column::texts("digest", runs.iter().map(|run| &run.digest)),
    ]);
    table(columns)
}

/// The mean over the seeds of a figure of each of some parts that the runs name alike.
fn over_seeds<T>(
    runs: &[RunSummary],
    parts: fn(&RunSummary) -> &[T],
    figure: impl Fn(&T) -> Option<f64>,
) -> Vec<Option<Estimate>> {
    let count = runs.iter().map(|run| parts(run).len()).max().unwrap_or(0);
    let of_part = |index: usize| {
        let figures = runs.iter().filter_map(|run| figure(parts(run).get(index)?));
        Estimate::of(&figures.collect::<Vec<_>>())
    };
    (0..count).map(of_part).collect()
}

/// Names of the parts, those of the run that has most.
fn names<T>(
    runs: &[RunSummary],
    parts: fn(&RunSummary) -> &[T],
    name: fn(&T) -> &str,
) -> Vec<String> {
    let longest = runs.iter().map(parts).max_by_key(|parts| parts.len()).unwrap_or(&[]);
    longest.iter().map(|part| name(part).to_owned()).collect()
}

/// The flows of each workload; `None` where workloads have no names.
pub(super) fn workload_table(runs: &[RunSummary]) -> Option<Table> {
    let parts: fn(&RunSummary) -> &[WorkloadSummary] = |run| &run.workloads;
    let figures = |name: &str, quantity, of: fn(&WorkloadSummary) -> Option<f64>| {
        Column::figures(name, quantity, &over_seeds(runs, parts, of))
    };
    let names = names(runs, parts, |workload| &workload.name);
    let sum = |index: usize, of: fn(&WorkloadSummary) -> u64| -> u64 {
        runs.iter().filter_map(|run| run.workloads.get(index)).map(of).sum()
    };
    let count = |name: &str, of: fn(&WorkloadSummary) -> u64| {
        Column::texts(name, (0..names.len()).map(|index| sum(index, of)))
    };
    (!names.is_empty()).then(|| {
        table(vec![
            Column::texts("workload", &names),
            count("flows", |workload| workload.fct.as_ref().map_or(0, |fct| fct.flows)),
            count("unfinished", |workload| workload.unfinished),
            figures("mean FCT", Quantity::Time, |one| Some(one.fct.as_ref()?.seconds.mean)),
            figures("median", Quantity::Time, |one| Some(one.fct.as_ref()?.seconds.p50)),
            figures("p99", Quantity::Time, |one| Some(one.fct.as_ref()?.seconds.p99)),
            figures("mean slowdown", Quantity::Number, |one| Some(one.fct.as_ref()?.slowdown.mean)),
            figures("p99 slowdown", Quantity::Number, |one| Some(one.fct.as_ref()?.slowdown.p99)),
        ])
    })
}

/// Flows without end, of each workload that has any.
pub(super) fn long_table(runs: &[RunSummary]) -> Option<Table> {
    let of_run: fn(&RunSummary) -> Vec<(&str, &LongSummary)> = |run| {
        let named = run.workloads.iter();
        let named: Vec<_> =
            named.filter_map(|one| Some((one.name.as_str(), one.long_flows.as_ref()?))).collect();
        let all = run.long_flows.as_ref().filter(|_| run.workloads.is_empty());
        named.into_iter().chain(all.map(|long| ("all", long))).collect()
    };
    let first: Vec<(&str, &LongSummary)> = runs.first().map_or_else(Vec::new, of_run);
    let figures = |name: &str, quantity, of: fn(&LongSummary) -> f64| {
        let over = |workload: &str| {
            let of_seed = |run| of_run(run).into_iter().find(|(name, _)| *name == workload);
            let figures = runs.iter().filter_map(|run| Some(of(of_seed(run)?.1)));
            Estimate::of(&figures.collect::<Vec<_>>())
        };
        let figures: Vec<_> = first.iter().map(|(name, _)| over(name)).collect();
        Column::figures(name, quantity, &figures)
    };
    (!first.is_empty()).then(|| {
        table(vec![
            Column::texts("flows without end", first.iter().map(|(name, _)| name)),
            Column::texts("flows", first.iter().map(|(_, long)| long.flows)),
            figures("mean goodput", Quantity::Rate, |long| long.goodput_bps.mean),
            figures("least", Quantity::Rate, |long| long.goodput_bps.min),
            figures("most", Quantity::Rate, |long| long.goodput_bps.max),
            figures("share of the hosts' links", Quantity::Share, |long| long.share.mean),
        ])
    })
}

/// Collective operations and flow graphs, where there are any.
pub(super) fn collective_table(runs: &[RunSummary]) -> Option<Table> {
    let parts: fn(&RunSummary) -> &[CollectiveSummary] = |run| &run.collectives;
    let names = names(runs, parts, |one| or_all(&one.name));
    let over = |of: fn(&CollectiveSummary) -> f64| over_seeds(runs, parts, |one| Some(of(one)));
    (!names.is_empty()).then(|| {
        table(vec![
            Column::texts("collective", &names),
            Column::figures("time", Quantity::Time, &over(|one| one.seconds)),
            Column::figures("in an empty fabric", Quantity::Time, &over(|one| one.ideal_seconds)),
            Column::figures(
                "ratio",
                Quantity::Number,
                &over(|one| one.seconds / one.ideal_seconds),
            ),
        ])
    })
}

/// The steps of collective operations and flow graphs, where there are any.
pub(super) fn step_table(runs: &[RunSummary]) -> Option<Table> {
    let parts: fn(&RunSummary) -> &[StepSummary] = |run| &run.steps;
    let names = names(runs, parts, |step| &step.name);
    let workloads = names_of_workloads(runs);
    let over = |of: fn(&StepSummary) -> f64| over_seeds(runs, parts, |step| Some(of(step)));
    let time =
        |name: &str, of: fn(&StepSummary) -> f64| Column::figures(name, Quantity::Time, &over(of));
    (!names.is_empty()).then(|| {
        let workload = workloads.map(|names| Column::texts("collective", names));
        table(
            workload
                .into_iter()
                .chain([
                    Column::texts("step", &names),
                    time("first start", |step| step.start_seconds),
                    time("last end", |step| step.end_seconds),
                    time("time", |step| step.end_seconds - step.start_seconds),
                ])
                .collect(),
        )
    })
}

/// The workload of each step, where workloads have names.
fn names_of_workloads(runs: &[RunSummary]) -> Option<Vec<String>> {
    let names = names(runs, |run| &run.steps, |step: &StepSummary| &step.workload);
    names.iter().any(|name| !name.is_empty()).then_some(names)
}

/// Requests in closed loops, where there are any.
pub(super) fn request_table(runs: &[RunSummary]) -> Option<Table> {
    let parts: fn(&RunSummary) -> &[RequestSummary] = |run| &run.requests;
    let names = names(runs, parts, |one| or_all(&one.name));
    let over = |of: fn(&RequestSummary) -> f64| over_seeds(runs, parts, |one| Some(of(one)));
    (!names.is_empty()).then(|| {
        table(vec![
            Column::texts("requests", &names),
            Column::figures("answered", Quantity::Number, &over(|one| one.requests as f64)),
            Column::figures("a second", Quantity::Number, &over(|one| one.per_second)),
            Column::figures("mean time", Quantity::Time, &over(|one| one.seconds.mean)),
            Column::figures("median", Quantity::Time, &over(|one| one.seconds.p50)),
            Column::figures("p99", Quantity::Time, &over(|one| one.seconds.p99)),
        ])
    })
}

/// The name of a workload that is alone.
fn or_all(name: &str) -> &str {
    if name.is_empty() { "all" } else { name }
}

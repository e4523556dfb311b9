//! Remarks on results: what a reader must know before figures are compared.

use heddle_claims::table::OVERLOADED;

use crate::steady::Steadiness;
use crate::summary::RunSummary;

/// Runs under a name: a scheme, or the settings of a row.
pub type Named<'a> = (&'a str, &'a [RunSummary]);

/// Remarks on some sets of runs, each set one row of a table. Empty if all flows finished in a
/// steady state.
pub fn remarks(rows: &[Named<'_>]) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(unmeasured(rows));
    remarks.extend(unfinished(rows));
    remarks.extend(limited(rows));
    remarks.extend(unsettled(rows));
    remarks.extend(unsteady(rows));
    let sum =
        |of: fn(&RunSummary) -> u64| -> u64 { rows.iter().flat_map(|row| row.1).map(of).sum() };
    let at_senders = sum(|run| run.totals.dropped_at_senders);
    if at_senders > 0 {
        remarks.push(format!(
            "{} dropped by their senders' own ports: a larger `fabric.host_buffer` makes hosts wait instead",
            counted(at_senders, "packet was", "packets were")
        ));
    }
    let joins = sum(|run| run.totals.refused_joins);
    if joins > 0 {
        remarks.push(format!(
            "{} sent again: there was no connection at the server yet",
            counted(joins, "join was", "joins were")
        ));
    }
    let stalled = sum(|run| u64::from(run.totals.stalled));
    if stalled > 0 {
        remarks.push(format!(
            "{} stopped: no packet had arrived anywhere for 10 s and the longest retransmission timeout, and nothing was to come that could help",
            counted(stalled, "run was", "runs were")
        ));
    }
    remarks
}

/// A count and its noun with its verb, in the singular or the plural.
fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Runs that ended at the scenario's time limit with flows unfinished.
fn limited(rows: &[Named<'_>]) -> Option<String> {
    let ended = |run: &&RunSummary| run.time_limit_seconds.is_some() && run.totals.unfinished > 0;
    let runs: Vec<_> = rows.iter().flat_map(|row| row.1).filter(ended).collect();
    let flows: u64 = runs.iter().map(|run| run.totals.unfinished).sum();
    let limits = runs.iter().filter_map(|run| run.time_limit_seconds);
    let limit = limits.reduce(f64::max)?;
    Some(format!(
        "{} unfinished when {} reached measure.time_limit = {limit} s; raise it, or offer a load that the links carry",
        counted(flows, "flow was", "flows were"),
        if runs.len() == 1 { "a run".to_owned() } else { format!("{} runs", runs.len()) },
    ))
}

/// Rows of which no flow was measured.
fn unmeasured(rows: &[Named<'_>]) -> Option<String> {
    let has_none = |run: &RunSummary| run.totals.measured == 0 && run.long_flows.is_none();
    let is_empty = |row: &&Named<'_>| row.1.iter().all(has_none);
    let empty: Vec<&str> = rows.iter().filter(is_empty).map(|row| row.0).collect();
    (!empty.is_empty()).then(|| {
        format!(
            "no flow was measured ({}): none started in the measured phase; give a longer `measure.duration`, a higher load, or smaller flows",
            empty.join(", ")
        )
    })
}

/// Flows that did not finish, and the rows with most and fewest of them.
fn unfinished(rows: &[Named<'_>]) -> Option<String> {
    let count = |of: fn(&RunSummary) -> u64, row: &Named<'_>| row.1.iter().map(of).sum::<u64>();
    let open = |row: &Named<'_>| count(|run| run.totals.unfinished, row);
    let measured: u64 = rows.iter().map(|row| count(|run| run.totals.measured, row)).sum();
    let all: u64 = rows.iter().map(open).sum();
    if all == 0 {
        return None;
    }
    let text = format!(
        "{all} of {} had not finished at the end; completion times are of the others, which are the shorter ones",
        counted(measured, "measured flow", "measured flows")
    );
    let (least, most) =
        (rows.iter().min_by_key(|row| open(row))?, rows.iter().max_by_key(|row| open(row))?);
    if open(least) == open(most) {
        return Some(text);
    }
    Some(format!(
        "{text}. The rows are over different sets of flows, from {} unfinished ({}) to {} ({}): with `measure.flows` instead of \
         `measure.duration`, and a `measure.time_limit` that is long enough, every flow finishes",
        open(least),
        least.0,
        open(most),
        most.0
    ))
}

/// Runs whose warm-up ended by its limit.
fn unsettled(rows: &[Named<'_>]) -> Option<String> {
    let warm_ups = rows.iter().flat_map(|row| row.1).filter_map(|run| run.open_warm_up);
    let limits: Vec<f64> = warm_ups.filter(|w| !w.passed).map(|w| w.seconds).collect();
    let longest = limits.iter().copied().reduce(f64::max)?;
    Some(format!(
        "{} measured from `measure.warm_up_limit` on, after {longest:.3} s: the flows under way had not settled",
        counted(limits.len() as u64, "run was", "runs were")
    ))
}

/// Rows in no steady state.
fn unsteady(rows: &[Named<'_>]) -> Option<String> {
    let overloaded =
        |row: &Named<'_>| Some(format!("{}: {}", row.0, Steadiness::of(row.1).reason()?));
    let overloaded: Vec<String> = rows.iter().filter_map(overloaded).collect();
    (!overloaded.is_empty()).then(|| {
        format!(
            "{OVERLOADED}: {}. Means depend on the length of the run; give a longer `measure.warm_up`, or a load that the links carry",
            overloaded.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cell, run};

    #[test]
    fn finished_runs_in_a_steady_state_have_no_remarks() {
        let runs = [run(&cell(1, &[]))];
        assert_eq!(remarks(&[("ecmp", &runs)]), [""; 0]);
    }

    /// At 90 % of a link of two thirds of the rate the flows under way never settle; at 40 % of a whole fabric
    /// they do.
    #[test]
    fn a_warm_up_that_did_not_settle_is_said() {
        let until = |changes: &[(&str, &str)]| {
            let limit = [("measure.warm_up", "20ms"), ("measure.warm_up_limit", "200ms")];
            run(&cell(1, &[&limit, changes].concat()))
        };
        let steady = until(&[]);
        let settled = steady.open_warm_up.unwrap();
        assert!(settled.passed && settled.seconds >= 0.02, "{settled:?}");
        assert_eq!(remarks(&[("ecmp", &[steady])]), [""; 0]);
        let overloaded = until(&[
            ("workload.load", "0.9"),
            ("fabric.parallel_links", "1"),
            ("fabric.failed", "[\"leaf-1 spine-1\"]"),
        ]);
        let said = remarks(&[("ecmp", &[overloaded])]).join("\n");
        let expected = "1 run was measured from `measure.warm_up_limit` on, after 0.200 s";
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn rows_over_different_sets_of_flows_are_named() {
        let run = run(&cell(1, &[]));
        let with = |unfinished| {
            let mut run = run.clone();
            run.totals.unfinished = unfinished;
            run.totals.measured = 20;
            [run]
        };
        let (few, many) = (with(2), with(7));
        let said = remarks(&[("spray", &few), ("ecmp", &many)]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("9 of 40 measured flows"), "{said:?}");
        assert!(said[0].contains("from 2 unfinished (spray) to 7 (ecmp)"), "{said:?}");
        assert!(!remarks(&[("spray", &few)])[0].contains("different sets"));
    }

    #[test]
    fn rows_without_a_measured_flow_are_named() {
        let some = [run(&cell(1, &[]))];
        let mut none = some.clone();
        none[0].totals.measured = 0;
        let said = remarks(&[("ecmp", &some), ("hula", &none)]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("no flow was measured (hula): none started"), "{said:?}");
    }

    #[test]
    fn what_senders_and_servers_lost_is_said() {
        let mut run = run(&cell(1, &[]));
        (run.totals.dropped_at_senders, run.totals.refused_joins) = (3, 4);
        run.totals.stalled = true;
        let said = remarks(&[("x", &[run])]);
        assert_eq!(said.len(), 3);
        assert!(said[0].contains("host_buffer") && said[1].starts_with("4 joins"), "{said:?}");
        assert!(said[2].starts_with("1 run was stopped"), "{said:?}");
    }

    #[test]
    fn a_run_that_reached_its_time_limit_names_it() {
        let limit = [("measure.time_limit", "3ms"), ("measure.flows", "200")];
        let cells = [1, 2].map(|seed| run(&cell(seed, &limit)));
        assert!(cells.iter().all(|run| run.totals.unfinished > 0));
        let open = cells[0].totals.unfinished;
        let said = remarks(&[("ecmp", &cells[..1])]);
        let expected = format!(
            "{open} flows were unfinished when a run reached measure.time_limit = 0.003 s; raise it"
        );
        assert!(said.iter().any(|said| said.starts_with(&expected)), "{said:?}");
        let said = remarks(&[("ecmp", &cells)]).join("\n");
        assert!(said.contains("when 2 runs reached measure.time_limit"), "{said}");
        let ended = run(&cell(1, &[("measure", r#"{ duration = "1ms" }"#)]));
        assert_eq!(ended.time_limit_seconds, None);
    }
}

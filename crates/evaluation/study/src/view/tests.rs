use heddle_report::{Annotation, Unit};

use super::*;
use crate::summary::PathUse;
use crate::sweep::{axes, combinations, rows};
use crate::testing::{cell, run, scenario};

#[test]
fn a_scenario_without_runs() {
    let page = of_run(&scenario(&[]), &[]).to_html();
    assert!(page.starts_with("<!doctype html>") && page.contains("Two leaves"));
}

#[test]
fn a_run_with_its_links() {
    let sampled = cell(1, &[("measure.sample_every", "100us")]);
    let report = of_run(&sampled.scenario, &[run(&sampled)]);
    let ids: Vec<String> = report.svgs().into_iter().map(|(id, _)| id).collect();
    let over_time = ["slowdowns-over-time", "queues", "queues-over-time"];
    assert_eq!(ids, [&["fct-cdf", "slowdown-cdf"][..], &over_time].concat());
    let page = report.to_html();
    for text in ["id=\"utilisation\"", "id=\"heat\"", "spine-2", ">Leaf</text>", ">Spine</text>"] {
        assert!(page.contains(text), "{text}");
    }
    let sections: Vec<&str> = report.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(sections, ["setup", "results", "fct", "links"]);
}

/// Every plot over time has a line for the failure, and one for the repair if it lasts that long.
#[test]
fn events_are_marked_in_plots_over_time() {
    let events = r#"[{ at = "1ms", fail = ["leaf-1 spine-2"] }, { at = "1s", recover = ["leaf-1 spine-2"] }]"#;
    let keys =
        [("measure.sample_every", "100us"), ("fabric.parallel_links", "1"), ("event", events)];
    let cell = cell(1, &keys);
    let report = of_run(&cell.scenario, &[run(&cell)]);
    for plot in report.plots().into_iter().filter(|plot| plot.x.label == "Time") {
        let label = "leaf-1 spine-2 fails".to_owned();
        assert_eq!(plot.annotations, [Annotation::Vertical { x: 1e-3, label }], "{}", plot.id);
    }
    let page = report.to_html();
    let heat = page.split("id=\"heat\"").nth(1).unwrap().split("</figure>").next().unwrap();
    assert_eq!(heat.matches(">leaf-1 spine-2 fails</text>").count(), 2, "wide and narrow");
    assert!(page.contains("label=\"leaf-1 spine-2 fails\"></option>"), "a tick of the slider");
}

/// Flows without end have no completion times: no panel says "no data", and they have a table.
#[test]
fn plots_without_a_curve_are_left_out() {
    let cell =
        cell(1, &[("workload", "{ kind = \"long\" }"), ("measure", "{ duration = \"2ms\" }")]);
    let report = of_run(&cell.scenario, &[run(&cell)]);
    assert_eq!(report.svgs(), []);
    let page = report.to_html();
    assert!(
        page.contains("mean goodput (") && !page.contains("mean FCT") && !page.contains("no data")
    );
}

/// Each workload has its own row of results; times are in the unit that fits them, and counters of
/// nothing have no column.
#[test]
fn workloads_and_units_are_told_by_column() {
    let several = r#"[
        { name = "web", kind = "flows", sizes = "fixed:20KB", load = 0.3 },
        { name = "burst", kind = "flows", sizes = "fixed:2KB", pattern = "incast", senders = 2, load = 0.1 },
    ]"#;
    let cell = cell(1, &[("workload", several)]);
    let report = of_run(&cell.scenario, &[run(&cell)]);
    let Block::Table(totals) = report.sections[1].blocks.last().unwrap() else { panic!("a table") };
    assert!(!totals.columns.contains(&"flowlets".to_owned()), "{:?}", totals.columns);
    assert!(totals.columns[1] == "goodput (Gbps)" || totals.columns[1] == "goodput (Mbps)");
    let tables: Vec<&Table> = report.sections[1]
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    let workloads = tables.iter().find(|table| table.columns[0] == "workload").unwrap();
    let names: Vec<&str> = workloads.rows.iter().map(|row| row[0].text.as_str()).collect();
    assert_eq!(names, ["web", "burst"]);
    assert_eq!(workloads.columns[3], "mean FCT (µs)");
}

/// The map shows a link that is down from the start as such; one of two long flows a host may be
/// left without any figure.
#[test]
fn failed_links_and_workloads_without_flow_times() {
    for changes in [
        [("fabric.failed", "[\"leaf-1 spine-2\"]"), ("measure.sample_every", "100us")],
        [
            ("workload", "{ kind = \"long\" }"),
            ("measure", "{ duration = \"2ms\", sample_every = \"100us\" }"),
        ],
    ] {
        let cell = cell(1, &changes);
        let page = of_run(&cell.scenario, &[run(&cell)]).to_html();
        assert!(page.contains("id=\"utilisation\"") && !page.contains("NaN"));
    }
}

#[test]
fn sweeps_of_nothing() {
    assert!(of_sweep(&[], &[]).to_html().contains("Sweep over"));
    let axes = [Axis::new("workload.load", "0.2,0.4")];
    let empty =
        rows(combinations(&axes).into_iter().map(|values| (values, 0)).collect(), Vec::new());
    assert!(of_sweep(&axes, &empty).to_html().contains("workload.load"));
}

/// Loads on the abscissa although they are not the last axis, a curve for each scheme.
#[test]
fn a_sweep_is_drawn_over_its_numbers() {
    let axes = [Axis::new("workload.load", "0.2,0.4"), Axis::new("scheme", "ecmp,spray")];
    let grid = combinations(&axes);
    let runs = grid
        .iter()
        .map(|values| run(&cell(1, &[("workload.load", &values[0]), ("scheme", &values[1])])));
    let runs = runs.collect();
    let rows = rows(grid.iter().map(|values| (values.clone(), 1)).collect(), runs);
    let SweepCurves { key, axis, curves, .. } = SweepCurves::of(&axes, &rows).unwrap();
    let drawn: Vec<(&str, Vec<f64>)> = curves
        .iter()
        .map(|curve| (curve.name.as_str(), curve.points.iter().map(|(x, _)| *x).collect()))
        .collect();
    assert_eq!((key.as_str(), axis.unit), ("workload.load", Unit::None));
    assert_eq!(drawn, [("ecmp", vec![0.2, 0.4]), ("spray", vec![0.2, 0.4])]);
    let words = [Axis::new("scheme", "ecmp,spray")];
    assert!(SweepCurves::of(&words, &[]).is_none(), "words have no abscissa");
    let report = of_sweep(&axes, &rows);
    let titles: Vec<&str> = report.plots().iter().map(|plot| plot.title.as_str()).collect();
    let distribution = "Distribution of flow completion times, load = 0.2";
    assert!(titles.contains(&"Mean FCT, all flows, over load"), "{titles:?}");
    assert!(titles.contains(&distribution), "{titles:?}");
    let by_load = report.plots().into_iter().find(|plot| plot.title == distribution).unwrap();
    assert_eq!(by_load.series.len(), 2, "a curve for each scheme");
}

/// A curve for each variant, even where its name is a number, and a table of what it sets.
#[test]
fn variants_are_curves_and_are_explained() {
    let named = ["1=scheme=ecmp", "2=scheme=spray"].map(|text| Variant::parse(text).unwrap());
    let axes = axes(vec![Axis::new("workload.load", "0.2,0.4")], named.to_vec()).unwrap();
    let grid = combinations(&axes);
    let runs = grid.iter().map(|values| run(&cell(1, &[("workload.load", &values[1])]))).collect();
    let rows = rows(grid.into_iter().map(|values| (values, 1)).collect(), runs);
    let SweepCurves { key, curves, .. } = SweepCurves::of(&axes, &rows).unwrap();
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!((key.as_str(), names), ("workload.load", vec!["1", "2"]));
    let page = of_sweep(&axes, &rows).to_html();
    assert!(page.contains("Sweep over variant, workload.load") && page.contains("scheme = spray"));
}

/// Two seeds with shared links in 2 and 4 of 10 samples: 30 %, and ends far out, but not below 0.
#[test]
fn shares_of_paths_have_intervals() {
    let sharing = |shared| {
        let path_use = PathUse { samples: 10, shared, ..PathUse::default() };
        RunSummary { path_use: Some(path_use), ..run(&cell(1, &[])) }
    };
    let curve = Curve { name: "a".into(), points: vec![(60.0, vec![sharing(2), sharing(4)])] };
    let (plot, _) = path_use::plots("p", &[curve]).unwrap();
    let point = plot.series[0].points[0];
    let (low, high) = point.bar.unwrap();
    assert_eq!((point.x, point.y.round()), (60.0, 30.0));
    assert!(0.0 < low && low < 20.0 && 40.0 < high, "{low} {high}");
}

/// A single value makes no curve: the table has it.
#[test]
fn a_sweep_over_one_number_has_no_curves() {
    let axes = [Axis::new("scheme", "ecmp,spray"), Axis::new("workload.load", "0.4")];
    let grid = combinations(&axes);
    let runs = grid.iter().map(|values| run(&cell(1, &[("scheme", &values[0])]))).collect();
    let rows = rows(grid.into_iter().map(|values| (values, 1)).collect(), runs);
    let ids: Vec<String> = of_sweep(&axes, &rows).svgs().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["fct-cdf", "slowdown-cdf"]);
}

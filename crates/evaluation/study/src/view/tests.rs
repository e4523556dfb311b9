use super::*;
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
    assert_eq!(ids, ["fct-cdf", "slowdown-cdf", "queues", "queues-over-time"]);
    let page = report.to_html();
    for text in ["id=\"utilisation\"", "spine-2", "Queue at", "slowdown"] {
        assert!(page.contains(text), "{text}");
    }
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
    let (key, curves) = sweep_curves(&axes, &rows).unwrap();
    let drawn: Vec<(&str, Vec<f64>)> = curves
        .iter()
        .map(|curve| (curve.name.as_str(), curve.points.iter().map(|(x, _)| *x).collect()))
        .collect();
    assert_eq!(key, "workload.load");
    assert_eq!(drawn, [("ecmp", vec![0.2, 0.4]), ("spray", vec![0.2, 0.4])]);
    let words = [Axis::new("scheme", "ecmp,spray")];
    assert!(sweep_curves(&words, &[]).is_none(), "words have no abscissa");
}

/// A curve for each variant, even where its name is a number, and a table of what it sets.
#[test]
fn variants_are_curves_and_are_explained() {
    let named = ["1=scheme=ecmp", "2=scheme=spray"].map(|text| Variant::parse(text).unwrap());
    let axes = axes(vec![Axis::new("workload.load", "0.2,0.4")], named.to_vec()).unwrap();
    let grid = combinations(&axes);
    let runs = grid.iter().map(|values| run(&cell(1, &[("workload.load", &values[1])]))).collect();
    let rows = rows(grid.into_iter().map(|values| (values, 1)).collect(), runs);
    let (key, curves) = sweep_curves(&axes, &rows).unwrap();
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!((key.as_str(), names), ("workload.load", vec!["1", "2"]));
    let page = of_sweep(&axes, &rows).to_html();
    assert!(page.contains("Sweep over variant, workload.load") && page.contains("scheme = spray"));
}

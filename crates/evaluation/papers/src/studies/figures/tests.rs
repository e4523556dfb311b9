use super::*;
use crate::mp_hula::points::System;
use crate::studies::{Broken, LongFlows, Routing, markdown};
use heddle_claims::Effort;
use heddle_study::cell::Cell;
use heddle_study::testing::run;

/// A run at each of some points, with some keys changed so that it is short.
fn results(points: &[Point], changes: &[(&str, &str)]) -> Results<Point> {
    let run = |point: &Point| {
        let scenario = point.changed(Effort::Quick, changes).unwrap();
        run(&Cell { label: point.label(), scenario, seed: 1 })
    };
    Results::new(points, Effort::Quick, points.iter().map(run).collect())
}

const FEW: [(&str, &str); 2] = [("measure.flows", "10"), ("measure.warm_up", "1ms")];

fn plots(study: Study, results: &Results<Point>) -> Vec<String> {
    let report = report(&[study], results);
    assert!(!report.to_html().contains("NaN"));
    report.svgs().into_iter().map(|(id, _)| id).collect()
}

#[test]
fn of_nothing() {
    let report = report(&Study::ALL, &Results::default()).to_html();
    assert!(report.contains(Study::Paths.title()) && report.contains(Study::Failures.title()));
    assert!(markdown(Study::Paths, &Results::default()).starts_with("## How many best hops"));
}

#[test]
fn a_report_has_the_title_of_its_studies() {
    let title = |studies: &[Study]| {
        let html = report(studies, &Results::default()).to_html();
        let (_, title) = html.split_once("<h1>").expect("a headline");
        title.split_once("</h1>").expect("its end").0.to_owned()
    };
    assert_eq!(title(&[Study::Rivals]), Study::Rivals.title());
    assert_eq!(title(&[Study::Paths, Study::Failures]), "MP-HULA beyond its paper");
    assert_eq!(title(&Study::ALL), "Studies of load balancing");
}

#[test]
fn subflows_are_the_abscissa_of_paths() {
    let small = [FEW.as_slice(), &[("fabric.k", "4")]].concat();
    let point = |routing, subflows| Point::Paths { load: 60, routing, subflows };
    let points =
        [point(Routing::Ecmp, 1), point(Routing::MpHula(2), 2), point(Routing::MpHula(2), 4)];
    let results = results(&points, &small);
    let ids = ["mean", "p99", "large", "sharing"].map(|id| format!("paths-60-{id}"));
    assert_eq!(plots(Study::Paths, &results), ids);
    let text = markdown(Study::Paths, &results);
    assert!(text.contains("| TCP, ECMP | 60 % |"), "{text}");
    assert!(text.contains("| MPTCP x 4, MP-HULA k = 2 | 60 % |"), "{text}");
}

#[test]
fn priorities_over_the_load() {
    let point = |load, long_flows| Point::Priorities { load, long_flows };
    let points = [point(50, LongFlows::Alike), point(50, LongFlows::YieldBest)];
    let results = results(&points, &FEW);
    let ids = ["small", "small-p99", "large"].map(|id| format!("priorities-{id}"));
    assert_eq!(plots(Study::Priorities, &results), ids);
    let table = serde_json::to_value(Table::new(Study::Priorities, &results)).unwrap();
    let row = &table["rows"][1];
    assert_eq!((&row["setting"], &row["load"]), (&"MP-HULA, yield-best".into(), &50.into()));
    assert!(row["fct_mean_small"]["mean"].as_f64().unwrap() > 0.0, "{row}");
}

#[test]
fn failures_over_time() {
    let broken = Broken::CoreLink;
    let points = [Point::Failures { broken, system: System::TcpHula }];
    let before = [("measure.duration", "1ms"), ("measure.warm_up", "1ms")];
    let results = results(&points, &before);
    let ids = ["throughput", "slowdown"].map(|id| format!("failures-link-{id}"));
    assert_eq!(plots(Study::Failures, &results), ids);
}

#[test]
fn rivals_by_hosts() {
    let point = |hosts, selection| {
        let rival = Rival { hosts, selection };
        Point::Rivals { setup: Setup::Web, load: 60, rival }
    };
    let points = [
        point(Hosts::Dctcp, PathSelection::Hula),
        point(Hosts::Dctcp, PathSelection::Reps),
        point(Hosts::Mptcp, PathSelection::MpHula),
        point(Hosts::Uet, PathSelection::Shuttle),
    ];
    let results = results(&points, &FEW);
    let ids = [
        "rivals-dctcp-switches",
        "rivals-dctcp-hosts",
        "rivals-mptcp-switches",
        "rivals-uet-switches",
    ];
    assert_eq!(plots(Study::Rivals, &results), ids);
}

#[test]
fn gaps_by_fabric() {
    let rival = Rival { hosts: Hosts::Dctcp, selection: PathSelection::LetItFlow };
    let point = |pods, micros| Point::Gaps { pods, load: 45, rival, micros };
    let points = [point(Pods::Whole, 50), point(Pods::Whole, 200), point(Pods::LinkDown, 50)];
    let results = results(&points, &FEW);
    assert_eq!(plots(Study::Gaps, &results), ["gaps-whole", "gaps-link-down"]);
    let text = markdown(Study::Gaps, &results);
    assert!(text.contains("| two pods: DCTCP, LetItFlow, 50 us | 45 % |"), "{text}");
}

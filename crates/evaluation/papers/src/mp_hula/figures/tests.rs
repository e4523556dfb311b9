use super::*;
use heddle_claims::{Effort, Finding, Paper as _};
use heddle_claims::{report, table::markdown};
use heddle_study::cell::Cell;
use heddle_study::paper::SimulatedPaper as _;
use heddle_study::point::{Point as _, Results, cells};
use heddle_study::testing::run;

/// A few flows at each of some points.
fn evidence(points: &[Point]) -> Evidence<MpHula> {
    let few = [("measure.flows", "12"), ("measure.warm_up", "1ms")];
    let run = |point: &Point| {
        let scenario = point.changed(Effort::Quick, &few).unwrap();
        run(&Cell { label: point.label(), scenario, seed: 1 })
    };
    let runs = points.iter().map(run).collect();
    let graph = MpHula::whole_fabric().scenario(Effort::Quick).unwrap().fabric.graph;
    let results = Results::new(points, Effort::Quick, runs);
    Evidence { results, experiments: Vec::new(), graph }
}

#[test]
fn without_any_evidence() {
    let evidence = Evidence::default();
    let findings: Vec<Finding> = MpHula::CLAIMS.iter().map(|c| c.find(&evidence)).collect();
    let page = report::<MpHula>("MP-HULA", &evidence, &findings).to_html();
    assert!(page.contains("not run") && !page.contains("Unevenness"));
    assert_eq!(markdown(&findings).lines().count(), 2 + MpHula::CLAIMS.len());
}

/// Figures 7 and 9: every system is simulated, drawn beside what the paper states, and judged.
#[test]
fn the_uncoupled_systems_from_end_to_end() {
    let system = System::all(Coupling::Uncoupled);
    let (shape, sizes, load) = (Shape::Symmetric, Sizes::WebSearch, 80);
    let evidence = evidence(&system.map(|system| Point { shape, sizes, system, load }));
    let findings: Vec<Finding> = MpHula::CLAIMS.iter().map(|c| c.find(&evidence)).collect();
    let judged: Vec<&str> =
        findings.iter().filter(|f| f.here.is_some()).map(|finding| finding.id).collect();
    assert_eq!(judged, ["M3", "M3", "M5", "M5", "M5", "M7", "M7"]);
    let report = report::<MpHula>("MP-HULA", &evidence, &findings);
    let ids: Vec<String> = report.svgs().into_iter().map(|(id, _)| id).collect();
    let of_figure = |id: &str| format!("symmetric-websearch-uncoupled-{id}");
    for id in ["speedup", "cdf", "sharing", "reordering"].map(of_figure) {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    let without_a_curve = ["mean", "small", "large", "p99"].map(of_figure);
    assert!(!without_a_curve.iter().any(|id| ids.contains(id)), "one load: {ids:?}");
    assert!(ids.contains(&"link-utilisation".to_owned()));
    let page = report.to_html();
    for text in ["MPTCP + HULA (paper)", "agg-4 to tor-4", "unevenness", "shared the first hop"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("NaN"));
}

/// The points that a command simulates are those that the report looks for.
#[test]
fn every_figure_finds_its_points() {
    let points = MpHula::curves(Effort::Full);
    let cells = cells(&points, Effort::Full).unwrap();
    assert_eq!(cells.len(), points.len() * Effort::Full.seeds().len());
    for figure in FIGURES {
        for system in System::all(figure.coupling) {
            let is_drawn =
                |p: &&Point| (p.shape, p.sizes, p.system) == (figure.shape, figure.sizes, system);
            let loads: Vec<u8> = points.iter().filter(is_drawn).map(|point| point.load).collect();
            assert!([50, 80].iter().all(|load| loads.contains(load)), "{figure:?} {system:?}");
        }
    }
}

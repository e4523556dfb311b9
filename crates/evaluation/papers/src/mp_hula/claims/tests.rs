use super::*;
use heddle_claims::Effort;
use heddle_claims::Verdict::{self, Agrees, Differs, DirectionOnly, NotRun};
use heddle_study::paper::Evidence;
use heddle_study::point::Results;
use heddle_study::summary::PortSummary;
use heddle_study::testing::{cell, run};

/// A run whose flows all took some seconds.
fn took(seconds: f64) -> RunSummary {
    let mut run = run(&cell(1, &[]));
    let small = &mut run.fct.classes[0].summary;
    for class in [&mut run.fct.all, small] {
        class.as_mut().unwrap().seconds.mean = seconds;
    }
    run
}

/// A run of each system at figure 5's 50 %, in the order of legends without the ideal.
fn evidence(seconds: [f64; 5]) -> Evidence<Paper> {
    let points: Vec<Point> =
        System::all(Coupling::Coupled)[..5].iter().map(|&system| web(system, 50)).collect();
    let runs = seconds.into_iter().map(took).collect();
    let results = Results::new(&points, Effort::Quick, runs);
    Evidence { results, ..Evidence::default() }
}

/// Verdicts on M1 at 50 %: over MPTCP + HULA, the best, and MPTCP + ECMP the worst.
fn m1(seconds: [f64; 5]) -> [Verdict; 3] {
    let evidence = evidence(seconds);
    let at_50 = CLAIMS.iter().filter(|c| c.id == "M1" && c.source.contains("50 %"));
    let verdicts: Vec<Verdict> = at_50.map(|claim| claim.find(&evidence).verdict).collect();
    verdicts.try_into().unwrap()
}

#[test]
fn the_headline_at_50_percent() {
    let as_published = [1.4, 1.3, 1.6, 1.27, 1.0];
    assert_eq!(m1(as_published), [Agrees, Agrees, Agrees]);
    let tcp_is_better = [0.9, 1.3, 1.6, 1.27, 1.0];
    assert_eq!(m1(tcp_is_better), [Agrees, Differs, Agrees]);
    let nothing_gained = [1.4, 1.3, 1.2, 1.0, 1.0];
    assert_eq!(m1(nothing_gained), [Differs, Agrees, Differs]);
    let much_gained = [4.0, 4.0, 4.1, 3.0, 1.0];
    assert_eq!(m1(much_gained), [DirectionOnly, Agrees, Agrees]);
}

#[test]
fn without_evidence_only_arithmetic_is_judged() {
    for claim in CLAIMS {
        let verdict = claim.find(&Evidence::default()).verdict;
        assert_eq!(verdict, if claim.id == "M7" { Agrees } else { NotRun }, "{}", claim.text);
    }
}

#[test]
fn claims_are_m1_to_m7_in_order() {
    let mut ids: Vec<u32> = CLAIMS.iter().map(|c| c.id[1..].parse().unwrap()).collect();
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids, (1..=7).collect::<Vec<_>>());
}

/// An uncoupled point's rivals are uncoupled where they can be.
#[test]
fn rivals_are_the_other_four() {
    let rivals = rivals(web(MP_HULA_UNCOUPLED, 80));
    let systems: Vec<System> = rivals.iter().map(|point| point.system).collect();
    let [ecmp, hula] = [uncoupled(Routing::Ecmp), HULA_UNCOUPLED];
    assert_eq!(systems, [System::TcpEcmp, TcpHula, ecmp, hula]);
    assert!(rivals.iter().all(|point| point.load == 80));
}

/// Only links that lead from pod 1 to pod 2 count: 0.2 and 0.6 are 0.4 on average, each half of
/// that away.
#[test]
fn links_count_in_the_direction_of_the_traffic() {
    let port = |from: &str, to: &str, utilisation| PortSummary {
        from: from.into(),
        to: to.into(),
        parallel: None,
        utilisation,
        queue: Vec::new(),
        dropped: 0,
        series: Vec::new(),
        queue_peaks: Vec::new(),
    };
    let mut run = took(1.0);
    assert_eq!((mean_utilisation(&run), unevenness(&run)), (None, None));
    run.ports = vec![
        port("tor-1", "agg-2", 0.2),
        port("agg-2", "tor-1", 0.9),
        port("core-2", "agg-3", 0.6),
        port("core-2", "agg-1", 0.9),
        port("agg-3", "core-2", 0.9),
    ];
    assert!((mean_utilisation(&run).unwrap() - 0.4).abs() < 1e-12);
    assert!((unevenness(&run).unwrap() - 0.5).abs() < 1e-12);
}

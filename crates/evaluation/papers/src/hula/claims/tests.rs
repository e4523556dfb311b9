use super::*;
use heddle_claims::Verdict::{Agrees, NotRun};
use heddle_study::paper::Evidence;
use heddle_study::testing::{cell, run};

#[test]
fn without_evidence_only_arithmetic_is_judged() {
    let evidence = Evidence::default();
    for claim in CLAIMS {
        let verdict = claim.find(&evidence).verdict;
        let computed = matches!(claim.measure, Measure::Computed(_));
        assert_eq!(verdict, if computed { Agrees } else { NotRun }, "{}", claim.text);
    }
}

#[test]
fn claims_are_h1_to_h12_in_order() {
    let mut ids: Vec<u32> = CLAIMS.iter().map(|claim| claim.id[1..].parse().unwrap()).collect();
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids, (1..=12).collect::<Vec<_>>());
}

/// 201 quantiles of the bottleneck's queue: 181 of at most one frame, then a rise. The 95th
/// percentile is quantile 190.
#[test]
fn the_bottlenecks_queue() {
    let mut run = run(&cell(1, &[]));
    assert_eq!((empty_share(&run), queue_p95(&run), bottleneck_drops(&run)), (None, None, None));
    let queue = (0..=200).map(|i| if i <= 180 { 1518.0 } else { f64::from(i) * 1e3 }).collect();
    let (from, to) = ("core-2".to_owned(), "agg-3".to_owned());
    let (utilisation, series) = (0.5, Vec::new());
    let queue_peaks = Vec::new();
    run.ports = vec![PortSummary { from, to, utilisation, queue, dropped: 4, series, queue_peaks }];
    assert!((empty_share(&run).unwrap() - 100.0 * 181.0 / 201.0).abs() < 1e-9);
    assert_eq!((queue_p95(&run), bottleneck_drops(&run)), (Some(190_000.0), Some(4.0)));
}

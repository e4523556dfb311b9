use Verdict::{Agrees, Differs, DirectionOnly, NotRun};

use super::*;
use crate::hula::plan::Effort;
use crate::summary::PortSummary;
use crate::testing::{cell, run};

fn verdict(bound: Bound, unit: &'static str, paper: f64, here: f64) -> Verdict {
    let measure = Measure::Computed(|| 0.0);
    other("H0", "", "", paper, unit, bound, measure).judge(here)
}

/// The paper's 3.7x is an excess of 2.7: half of it is 2.35x, twice is 6.4x.
#[test]
fn ratios_are_judged_by_their_excess_over_one() {
    for (here, expected) in [
        (3.7, Agrees),
        (2.36, Agrees),
        (6.39, Agrees),
        (2.34, DirectionOnly),
        (6.41, DirectionOnly),
        (100.0, DirectionOnly),
        (1.03, DirectionOnly),
        (1.01, Differs),
        (1.0, Differs),
        (0.5, Differs),
    ] {
        assert_eq!(verdict(About, "x", 3.7, here), expected, "{here}");
    }
}

#[test]
fn ratios_near_one_say_equal() {
    for (paper, here, expected) in [
        (1.0, 1.0, Agrees),
        (1.0, 1.09, Agrees),
        (1.0, 0.91, Agrees),
        (1.04, 0.95, Agrees),
        (1.0, 1.11, Differs),
        (1.0, 0.89, Differs),
        (1.06, 0.95, Differs),
    ] {
        assert_eq!(verdict(About, "x", paper, here), expected, "{paper} {here}");
    }
}

#[test]
fn bounds_exact_figures_and_figures_within_a_third() {
    for (bound, paper, here, expected) in [
        (AtMost, 0.5, 0.5, Agrees),
        (AtMost, 0.5, 0.0, Agrees),
        (AtMost, 0.5, 0.51, Differs),
        (AtMost, 0.0, 0.0, Agrees),
        (AtMost, 0.0, 1.0, Differs),
        (Exact, 944.0, 944.0, Agrees),
        (Exact, 1.28, 1.28 + 1e-12, Agrees),
        (Exact, 944.0, 945.0, Differs),
        (Exact, 0.0, 0.0, Agrees),
        (Exact, 0.0, 1e-6, Differs),
        (About, 90.0, 61.0, Agrees),
        (About, 90.0, 119.0, Agrees),
        (About, 90.0, 59.0, Differs),
        (About, 90.0, 121.0, Differs),
    ] {
        assert_eq!(verdict(bound, "%", paper, here), expected, "{bound:?} {paper} {here}");
    }
}

/// A run whose flows all took some seconds.
fn took(seed: u64, seconds: f64) -> RunSummary {
    let mut run = run(&cell(seed, &[]));
    run.fct.all.as_mut().unwrap().seconds.mean = seconds;
    run
}

/// H1: ECMP at 70 % over HULA at 70 %, three seeds each.
fn evidence(ecmp: [f64; 3], hula: [f64; 3]) -> Evidence {
    let points = [sym(Ecmp, 70), sym(Hula, 70)];
    let runs = ecmp.into_iter().chain(hula).zip([1, 2, 3].into_iter().cycle());
    let runs = runs.map(|(seconds, seed)| took(seed, seconds)).collect();
    let results = Results::new(&points, Effort::Full, runs);
    Evidence { results, failovers: Vec::new(), overhead: None }
}

/// Ratios 2, 3 and 4: their mean, not the ratio of the means (9 / 4.333).
#[test]
fn a_ratio_is_taken_seed_by_seed() {
    let finding = CLAIMS[0].find(&evidence([2.0, 6.0, 32.0], [1.0, 2.0, 8.0]));
    let here = finding.here.unwrap();
    assert_eq!((finding.id, finding.paper), ("H1", 3.7));
    assert_eq!((here.mean, here.seeds, finding.verdict), (3.0, 3, Agrees));
}

#[test]
fn seeds_that_cannot_be_divided_by_do_not_count() {
    let some = CLAIMS[0].find(&evidence([4.0, 4.0, 4.0], [0.0, 1.0, 1.0])).here.unwrap();
    assert_eq!((some.mean, some.seeds), (4.0, 2));
    let none = CLAIMS[0].find(&evidence([4.0; 3], [0.0; 3]));
    assert_eq!((none.here, none.verdict), (None, NotRun));
}

#[test]
fn without_evidence_only_arithmetic_is_judged() {
    let evidence = Evidence { results: Results::default(), failovers: Vec::new(), overhead: None };
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

/// 201 quantiles of the bottleneck's queue: 181 of at most one frame, then a rise. The 95th percentile is quantile 190.
#[test]
fn the_bottlenecks_queue() {
    let mut run = run(&cell(1, &[]));
    assert_eq!((empty_share(&run), queue_p95(&run), bottleneck_drops(&run)), (None, None, None));
    let queue = (0..=200).map(|i| if i <= 180 { 1518.0 } else { f64::from(i) * 1e3 }).collect();
    let (from, to) = ("core-2".to_owned(), "agg-3".to_owned());
    let (utilisation, series) = (0.5, Vec::new());
    run.ports = vec![PortSummary { from, to, utilisation, queue, dropped: 4, series }];
    assert!((empty_share(&run).unwrap() - 100.0 * 181.0 / 201.0).abs() < 1e-9);
    assert_eq!((queue_p95(&run), bottleneck_drops(&run)), (Some(190_000.0), Some(4.0)));
}

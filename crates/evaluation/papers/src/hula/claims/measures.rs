//! Measures of claims, on results made by hand.

use heddle_claims::Verdict::{Agrees, NotRun, Overloaded, Undecided};
use heddle_claims::{Bound, Effort, Finding, Paper as _, stated};
use heddle_study::metric::mean_all;
use heddle_study::paper::Evidence;
use heddle_study::point::Results;
use heddle_study::summary::RunSummary;
use heddle_study::testing::{cell, grow, run};

use super::*;
use crate::hula::Hula;
use crate::two_pod::{Shape, Sizes};

/// A run whose flows all took some seconds.
fn took(seed: u64, seconds: f64) -> RunSummary {
    let mut run = run(&cell(seed, &[]));
    run.fct.all.as_mut().unwrap().seconds.mean = seconds;
    run
}

/// Five seeds at each of some points.
fn evidence<const N: usize>(points: [Point; N], seconds: [[f64; 5]; N]) -> Evidence<Hula> {
    let runs = seconds.into_iter().flatten().zip([1, 2, 3, 4, 5].into_iter().cycle());
    let runs = runs.map(|(seconds, seed)| took(seed, seconds)).collect();
    let results = Results::new(&points, Effort::Full, runs);
    Evidence { results, ..Evidence::default() }
}

const fn point(scheme: Scheme) -> Point {
    Point { shape: Shape::Symmetric, sizes: Sizes::WebSearch, scheme, load: 70 }
}

/// H1: ECMP at 70 % over HULA at 70 %.
fn h1(ecmp: [f64; 5], hula: [f64; 5]) -> Finding {
    Hula::CLAIMS[0].find(&evidence([point(Scheme::Ecmp), point(Scheme::Hula)], [ecmp, hula]))
}

/// Ratios 2, 3, 4, 3 and 3: their mean, not the ratio of the means. Their interval, 3 ± 0.88,
/// reaches below 2.35x.
#[test]
fn a_ratio_is_taken_seed_by_seed() {
    let finding = h1([2.0, 6.0, 32.0, 3.0, 3.0], [1.0, 2.0, 8.0, 1.0, 1.0]);
    let here = finding.here.unwrap();
    assert_eq!((finding.id, finding.paper), ("H1", 3.7));
    assert_eq!((here.mean, here.seeds, finding.verdict), (3.0, 5, Undecided));
}

#[test]
fn seeds_that_cannot_be_divided_by_do_not_count() {
    let some = h1([4.0; 5], [0.0, 1.0, 1.0, 1.0, 1.0]).here.unwrap();
    assert_eq!((some.mean, some.seeds), (4.0, 4));
    let none = h1([4.0; 5], [0.0; 5]);
    assert_eq!((none.here, none.verdict), (None, NotRun));
}

/// Against ECMP's 3 and CONGA''s 2: HULA's 1 is best by 2x, ECMP's 3 is worst by 1.5x. The rivals
/// are compared seed by seed.
#[test]
fn best_and_worst_of_some() {
    let evidence = evidence(
        [point(Scheme::Ecmp), point(Scheme::CongaPrime), point(Scheme::Hula)],
        [[3.0; 5], [2.0, 2.0, 6.0, 2.0, 2.0], [1.0; 5]],
    );
    let find = |measure: Measure<Hula>| {
        let claim = Claim::new("H0", "", "", stated(Bound::AtLeast, 1.0, "x"), measure);
        claim.find(&evidence).here.map(|here| here.mean)
    };
    let best = Measure::Best(mean_all, point(Scheme::Hula), |_| {
        vec![point(Scheme::Ecmp), point(Scheme::CongaPrime)]
    });
    assert_eq!(find(best), Some((2.0 + 2.0 + 3.0 + 2.0 + 2.0) / 5.0));
    let worst = Measure::Worst(mean_all, point(Scheme::Ecmp), |_| {
        vec![point(Scheme::CongaPrime), point(Scheme::Hula)]
    });
    assert_eq!(find(worst), Some((1.5 + 1.5 + 0.5 + 1.5 + 1.5) / 5.0));
    let missing = Measure::Best(mean_all, point(Scheme::Hula), |_| {
        vec![point(Scheme::Ecmp), point(Scheme::HulaRareProbes)]
    });
    assert_eq!(find(missing), None, "a best of some that were not all simulated is none");
}

/// One of ECMP's five runs grows: its values have no verdict. That HULA is better than the best
/// other scheme does not depend on ECMP while CONGA' is better than it; that CONGA' is worst does.
#[test]
fn one_run_that_grows_withholds_the_verdict() {
    let at = |scheme| asym(scheme, 60);
    let points = [at(Scheme::Ecmp), at(Scheme::CongaPrime), at(Scheme::Hula)];
    let runs_of = |grows: bool| {
        let runs = [9.0, 2.0, 1.0].into_iter().flat_map(|seconds| [seconds; 5]).zip(0_u64..);
        let mut runs: Vec<_> = runs.map(|(seconds, run)| took(run % 5 + 1, seconds)).collect();
        if grows {
            grow(&mut runs[3]);
        }
        Evidence { results: Results::new(&points, Effort::Full, runs), ..Evidence::default() }
    };
    let (steady, growing) = (runs_of(false), runs_of(true));
    let find = |measure: Measure<Hula>, evidence: &Evidence<Hula>| {
        Claim::new("H0", "", "", stated(Bound::AtLeast, 1.0, "x"), measure).find(evidence)
    };
    let rivals = |_| vec![asym(Scheme::Ecmp, 60), asym(Scheme::CongaPrime, 60)];
    let ratio = || Measure::Ratio(mean_all, asym(Scheme::Ecmp, 60), asym(Scheme::Hula, 60));
    let best = || Measure::Best(mean_all, asym(Scheme::Hula, 60), rivals);
    let worst = || Measure::Worst(mean_all, asym(Scheme::Hula, 60), rivals);
    assert_eq!(find(ratio(), &steady).verdict, Agrees);
    let finding = find(ratio(), &growing);
    assert_eq!((finding.verdict, find(best(), &growing).verdict), (Overloaded, Agrees));
    assert_eq!(find(worst(), &growing).verdict, Overloaded);
    assert!(finding.remark.unwrap().ends_with("(seed 4)"));
}

/// Completion times without the longest flows are too short: the ratio has no verdict, and the
/// remark says why. A rival that is not the best even so decides nothing; one that is not the worst
/// may be it in truth.
#[test]
fn a_value_without_the_longest_flows_is_not_judged() {
    let with_unfinished = |flows: u64| {
        let runs = [9.0, 2.0, 1.0].into_iter().flat_map(|seconds| [seconds; 5]).zip(0_u64..);
        let mut runs: Vec<_> = runs.map(|(seconds, run)| took(run % 5 + 1, seconds)).collect();
        runs[2].totals.unfinished = flows;
        runs[2].time_limit_seconds = Some(10.0);
        let points = [Scheme::Ecmp, Scheme::CongaPrime, Scheme::Hula].map(|scheme| sym(scheme, 60));
        Evidence { results: Results::new(&points, Effort::Full, runs), ..Evidence::default() }
    };
    let find = |measure: Measure<Hula>, evidence: &Evidence<Hula>| {
        Claim::new("H0", "", "", stated(Bound::AtLeast, 1.0, "x"), measure).find(evidence)
    };
    let rivals = |_| vec![sym(Scheme::Ecmp, 60), sym(Scheme::Hula, 60)];
    let ratio = || Measure::Ratio(mean_all, sym(Scheme::Ecmp, 60), sym(Scheme::Hula, 60));
    let best = || Measure::Best(mean_all, sym(Scheme::CongaPrime, 60), rivals);
    let worst = || Measure::Worst(mean_all, sym(Scheme::CongaPrime, 60), rivals);
    assert_eq!(find(ratio(), &with_unfinished(0)).verdict, Agrees);
    let evidence = with_unfinished(7);
    let finding = find(ratio(), &evidence);
    assert_eq!(finding.verdict, Overloaded);
    assert_eq!(
        finding.remark.unwrap(),
        "symmetric websearch 60 % ECMP: 7 flows were unfinished at the time limit, and values are of the others, which are the shorter ones (seed 3)"
    );
    assert_ne!(find(best(), &evidence).verdict, Overloaded);
    assert_eq!(find(worst(), &evidence).verdict, Overloaded);
}

//! Measures of claims, on results made by hand.

use heddle_claims::Verdict::{Agrees, NotRun};
use heddle_claims::{Bound, Effort, Finding, Paper as _};
use heddle_study::metric::mean_all;
use heddle_study::paper::Evidence;
use heddle_study::point::Results;
use heddle_study::summary::RunSummary;
use heddle_study::testing::{cell, run};

use super::*;
use crate::hula::Hula;

/// A run whose flows all took some seconds.
fn took(seed: u64, seconds: f64) -> RunSummary {
    let mut run = run(&cell(seed, &[]));
    run.fct.all.as_mut().unwrap().seconds.mean = seconds;
    run
}

/// Three seeds at each of some points.
fn evidence<const N: usize>(points: [Point; N], seconds: [[f64; 3]; N]) -> Evidence<Hula> {
    let runs = seconds.into_iter().flatten().zip([1, 2, 3].into_iter().cycle());
    let runs = runs.map(|(seconds, seed)| took(seed, seconds)).collect();
    let results = Results::new(&points, Effort::Full, runs);
    Evidence { results, ..Evidence::default() }
}

const fn point(scheme: Scheme) -> Point {
    Point { shape: Shape::Symmetric, sizes: Sizes::WebSearch, scheme, load: 70 }
}

/// H1: ECMP at 70 % over HULA at 70 %.
fn h1(ecmp: [f64; 3], hula: [f64; 3]) -> Finding {
    Hula::CLAIMS[0].find(&evidence([point(Scheme::Ecmp), point(Scheme::Hula)], [ecmp, hula]))
}

/// Ratios 2, 3 and 4: their mean, not the ratio of the means (9 / 4.333).
#[test]
fn a_ratio_is_taken_seed_by_seed() {
    let finding = h1([2.0, 6.0, 32.0], [1.0, 2.0, 8.0]);
    let here = finding.here.unwrap();
    assert_eq!((finding.id, finding.paper), ("H1", 3.7));
    assert_eq!((here.mean, here.seeds, finding.verdict), (3.0, 3, Agrees));
}

#[test]
fn seeds_that_cannot_be_divided_by_do_not_count() {
    let some = h1([4.0, 4.0, 4.0], [0.0, 1.0, 1.0]).here.unwrap();
    assert_eq!((some.mean, some.seeds), (4.0, 2));
    let none = h1([4.0; 3], [0.0; 3]);
    assert_eq!((none.here, none.verdict), (None, NotRun));
}

/// Against ECMP's 3 and CONGA''s 2: HULA's 1 is best by 2x, ECMP's 3 is worst by 1.5x. The rivals are compared seed by seed.
#[test]
fn best_and_worst_of_some() {
    let evidence = evidence(
        [point(Scheme::Ecmp), point(Scheme::CongaPrime), point(Scheme::Hula)],
        [[3.0, 3.0, 3.0], [2.0, 2.0, 6.0], [1.0; 3]],
    );
    let find = |measure: Measure<Hula>| {
        let claim = Claim::new("H0", "", "", (Bound::AtLeast, 1.0, "x"), measure);
        claim.find(&evidence).here.map(|here| here.mean)
    };
    let best = Measure::Best(mean_all, point(Scheme::Hula), |_| {
        vec![point(Scheme::Ecmp), point(Scheme::CongaPrime)]
    });
    assert_eq!(find(best), Some((2.0 + 2.0 + 3.0) / 3.0));
    let worst = Measure::Worst(mean_all, point(Scheme::Ecmp), |_| {
        vec![point(Scheme::CongaPrime), point(Scheme::Hula)]
    });
    assert_eq!(find(worst), Some((1.5 + 1.5 + 0.5) / 3.0));
    let missing = Measure::Best(mean_all, point(Scheme::Hula), |_| {
        vec![point(Scheme::Ecmp), point(Scheme::Ideal)]
    });
    assert_eq!(find(missing), None, "a best of some that were not all simulated is none");
}

use Bound::{About, AtLeast, AtMost, Exact};
use Verdict::{Agrees, Differs, DirectionOnly, NotRun};

use super::super::{Effort, Shape, Sizes};
use super::*;
use crate::figure::mean_all;
use crate::hula::Hula;
use crate::hula::plan::{Point, Scheme};
use crate::summary::RunSummary;
use crate::testing::{cell, run};

fn verdict(bound: Bound, unit: &'static str, paper: f64, here: f64) -> Verdict {
    let measure = Measure::Computed(|| 0.0);
    Claim::<Hula>::other("H0", "", "", (bound, paper, unit), measure).judge(here)
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
        (AtLeast, 1.0, 1.0, Agrees),
        (AtLeast, 1.0, 2.5, Agrees),
        (AtLeast, 1.0, 0.99, Differs),
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

/// Three seeds at each of some points.
fn evidence<const N: usize>(points: [Point; N], seconds: [[f64; 3]; N]) -> Evidence<Hula> {
    let runs = seconds.into_iter().flatten().zip([1, 2, 3].into_iter().cycle());
    let runs = runs.map(|(seconds, seed)| took(seed, seconds)).collect();
    let results = Results::new(&points, Effort::Full, runs);
    Evidence { results, experiments: Vec::new() }
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
        let claim = Claim::other("H0", "", "", (AtLeast, 1.0, "x"), measure);
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

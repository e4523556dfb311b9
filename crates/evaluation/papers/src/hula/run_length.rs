//! Ratios over an overloaded scheme by the length of the run, which the paper does not state.

use heddle_claims::stats::mean;
use heddle_report::{Axis, Plot, Section, Series, Unit};
use heddle_study::paper::{Evidence, Measure};
use heddle_study::steady::Steadiness;
use heddle_study::summary::RunSummary;

use super::Hula;
use super::claims::CLAIMS;
use super::points::Point;

const ABOUT: &str = "The first scheme of each curve is in no steady state: the ratio of mean completion times depends on the flows measured. The paper does not state the length of its runs, so that these ratios have no verdict.";

/// A curve for each pair of points that a claim compares and of which one is overloaded; `None` if
/// there is none.
pub(super) fn section(evidence: &Evidence<Hula>) -> Option<Section> {
    let x = Axis::new("Flows measured", Unit::None);
    let y = Axis::new("Mean FCT over the other's", Unit::plain("x"));
    let plot = Plot::new("run-length", "Ratios over an overloaded scheme", x, y);
    let pairs = pairs(evidence);
    let curves = pairs.iter().filter_map(|pair| curve(evidence, *pair)).collect::<Vec<_>>();
    if curves.is_empty() {
        return None;
    }
    let plot = curves.into_iter().fold(plot, Plot::series);
    Some(
        Section::new("run-length", "Overloaded, not judged: ratios by the length of the run")
            .block(ABOUT)
            .block(plot),
    )
}

/// The pairs, each once.
fn pairs(evidence: &Evidence<Hula>) -> Vec<(Point, Point)> {
    let mut pairs: Vec<(Point, Point)> = Vec::new();
    for claim in CLAIMS {
        let Measure::Ratio(_, worse, better) = claim.measure else { continue };
        let is_overloaded = Steadiness::of(evidence.results.runs(worse)).is_overloaded();
        if is_overloaded && !pairs.contains(&(worse, better)) {
            pairs.push((worse, better));
        }
    }
    pairs
}

/// The ratio after each batch of flows; `None` if either was not simulated.
fn curve(evidence: &Evidence<Hula>, (worse, better): (Point, Point)) -> Option<Series> {
    let (slow, fast) = (evidence.results.runs(worse), evidence.results.runs(better));
    let flows = slow.first()?.fct.all.as_ref()?.flows as f64;
    let batches = slow.first()?.batch_seconds.len();
    let ratio = |batch: usize| {
        let ratios: Vec<f64> =
            slow.iter().zip(fast).filter_map(|(a, b)| ratio_after(batch, a, b)).collect();
        Some((flows * batch as f64 / batches as f64, mean(&ratios)?))
    };
    let points: Vec<(f64, f64)> = (1..=batches).filter_map(ratio).collect();
    let name = format!(
        "{} over {}, {} at {} %",
        worse.scheme.title(),
        better.scheme.title(),
        worse.sizes.title(),
        worse.load
    );
    (!points.is_empty()).then(|| Series::line(name, points))
}

/// The ratio of the mean completion times of the first batches.
fn ratio_after(batches: usize, slow: &RunSummary, fast: &RunSummary) -> Option<f64> {
    let first = |run: &RunSummary| mean(run.batch_seconds.get(..batches)?);
    Some(first(slow)? / first(fast)?)
}

#[cfg(test)]
mod tests {
    use heddle_claims::Effort;
    use heddle_study::point::Results;
    use heddle_study::testing::{cell, grow, run};

    use super::*;
    use crate::hula::points::Scheme;
    use crate::hula::points::asym;

    /// ECMP's batches take 2, 4 and 6 ms, HULA's 1 ms each: after two batches the ratio is 3, after
    /// three 4.
    #[test]
    fn a_curve_is_the_running_ratio() {
        let points = [asym(Scheme::Ecmp, 60), asym(Scheme::Hula, 60)];
        let took = |seconds: [f64; 3]| {
            let mut run = run(&cell(1, &[]));
            run.batch_seconds = seconds.to_vec();
            run
        };
        let mut runs = vec![took([2e-3, 4e-3, 6e-3]), took([1e-3; 3])];
        grow(&mut runs[0]);
        assert!((ratio_after(2, &runs[0], &runs[1]).unwrap() - 3.0).abs() < 1e-9);
        assert!((ratio_after(3, &runs[0], &runs[1]).unwrap() - 4.0).abs() < 1e-9);
        let results = Results::new(&points, Effort::Quick, runs);
        let evidence = Evidence::<Hula> { results, ..Evidence::default() };
        assert_eq!(
            pairs(&evidence),
            [(points[0], points[1]), (points[0], asym(Scheme::CongaPrime, 60))]
        );
        let html = heddle_report::Report::new("t").section(section(&evidence).unwrap()).to_html();
        assert!(html.contains("ECMP over HULA, Web search at 60 %"), "{html}");
        assert!(section(&Evidence::default()).is_none());
    }
}

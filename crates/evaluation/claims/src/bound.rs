//! Bounds and verdicts: the rule by which a measured value is compared with a paper's.

use serde::Serialize;

use crate::stats::{Estimate, Span};

/// Direction in which the paper's value binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Near it.
    About,
    /// At most it.
    AtMost,
    /// At least it.
    AtLeast,
    /// Exactly it.
    Exact,
}

/// Agreement of a measured value with a paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Direction and size. A ratio: its excess over 1 is within half and twice the paper's (where
    /// the paper says "equal": 0.9 to 1.1). Another value: within a third. An exact one: equal. A
    /// bound: kept.
    Agrees,
    /// A ratio's direction (more than 1.02), but not its size.
    DirectionOnly,
    /// Not even the direction.
    Differs,
    /// The seeds' 95 % interval, or their range, holds values of different verdicts: it takes more
    /// seeds to tell.
    Undecided,
    /// A run that decides the value is in no steady state: its completion times grow, a link is
    /// full, or flows had not finished at the time limit. The value depends on the length of the
    /// run, which papers do not state, and is not judged.
    Overloaded,
    /// A queue's quantile is at the buffer, so that the ratio measures the buffer, which papers do
    /// not state.
    AtBuffer,
    /// It was not measured.
    NotRun,
}

impl Bound {
    /// Compares the interval of a measured value, or the [range](Estimate::has_range) of its seeds,
    /// with a paper's value of the same unit ("x" for a ratio): the verdict of all its values,
    /// [`Verdict::Undecided`] if they differ. A single seed has no interval; its value is judged as it
    /// is.
    pub fn judge(self, paper: f64, unit: &str, here: Estimate) -> Verdict {
        let Span { low, middle, high } = here.span(unit);
        let verdict = self.judge_value(paper, unit, middle);
        let paper_inside = high > low && (low..=high).contains(&paper);
        let mut others = [low, high].into_iter().map(|value| self.judge_value(paper, unit, value));
        if others.any(|other| other != verdict) || (paper_inside && verdict != Verdict::Agrees) {
            return Verdict::Undecided;
        }
        verdict
    }

    fn judge_value(self, paper: f64, unit: &str, here: f64) -> Verdict {
        let kept = |kept: bool| if kept { Verdict::Agrees } else { Verdict::Differs };
        match self {
            Bound::Exact => kept((here - paper).abs() <= 1e-9 * paper.abs()),
            Bound::AtMost => kept(here <= paper),
            Bound::AtLeast => kept(here >= paper),
            Bound::About if unit == "x" => judge_ratio(paper, here),
            Bound::About => kept((here / paper - 1.0).abs() <= 1.0 / 3.0),
        }
    }
}

/// A ratio near 1 says "equal"; otherwise its excess over 1 is compared.
fn judge_ratio(paper: f64, here: f64) -> Verdict {
    if (paper - 1.0).abs() < 0.05 {
        return if (here - 1.0).abs() <= 0.1 { Verdict::Agrees } else { Verdict::Differs };
    }
    let share = (here - 1.0) / (paper - 1.0);
    match share {
        s if (0.5..=2.0).contains(&s) => Verdict::Agrees,
        s if s > 0.0 && here > 1.02 => Verdict::DirectionOnly,
        _ => Verdict::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::Bound::{About, AtLeast, AtMost, Exact};
    use super::Verdict::{Agrees, Differs, DirectionOnly, Undecided};
    use crate::stats::Estimate;

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
            assert_eq!(About.judge_value(3.7, "x", here), expected, "{here}");
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
            assert_eq!(About.judge_value(paper, "x", here), expected, "{paper} {here}");
        }
    }

    #[test]
    fn bounds_exact_values_and_values_within_a_third() {
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
            assert_eq!(bound.judge_value(paper, "%", here), expected, "{bound:?} {paper} {here}");
        }
    }

    /// 3.7x agrees from 2.35x to 6.4x.
    #[test]
    fn an_interval_has_a_verdict_if_all_of_it_has() {
        for (mean, half_width, expected) in [
            (3.7, Some(1.0), Agrees),
            (2.5, Some(0.1), Agrees),
            (2.5, Some(0.2), Undecided),
            (1.5, Some(0.3), DirectionOnly),
            (1.2, Some(0.2), Undecided),
            (0.8, Some(0.1), Differs),
            (4.0, Some(3.9), Undecided),
            (2.5, None, Agrees),
        ] {
            let half = half_width.unwrap_or(0.0);
            let (min, max) = (mean - half, mean + half);
            let here = Estimate { mean, median: mean, min, max, seeds: 5, ..Estimate::default() };
            assert_eq!(About.judge(3.7, "x", here), expected, "{mean} {half_width:?}");
        }
        let around =
            Estimate { mean: 130.0, half_width: Some(90.0), seeds: 2, ..Estimate::default() };
        assert_eq!(About.judge(90.0, "%", around), Undecided, "it holds the paper's value");
    }
}

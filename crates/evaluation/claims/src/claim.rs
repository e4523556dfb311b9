//! Claims of a paper, and findings: a claim with the measured value and the verdict.

use serde::Serialize;

use crate::bound::{Bound, Verdict};
use crate::stats::Estimate;

/// A measurement that a claim is judged by.
pub trait Measure {
    /// The data that it is taken from.
    type Evidence;

    /// The value of each seed; empty if the evidence lacks it.
    fn values(&self, evidence: &Self::Evidence) -> Vec<f64>;

    /// A condition of the value that a reader needs to judge it, as a link that is offered more
    /// than it carries; `None` without.
    fn remark(&self, evidence: &Self::Evidence) -> Option<String> {
        let _ = evidence;
        None
    }

    /// The value of the samples of all seeds together, if it is of quantiles.
    fn pooled(&self, evidence: &Self::Evidence) -> Option<f64> {
        let _ = evidence;
        None
    }

    /// The reason for which the value is not judged: a run that decides it is in no steady state, or
    /// a queue is at its buffer.
    fn withheld(&self, evidence: &Self::Evidence) -> Option<Verdict> {
        let _ = evidence;
        None
    }
}

/// One claim of a paper.
#[derive(Clone, Debug)]
pub struct Claim<M> {
    /// A letter for the paper and a number: H1, M1. Several claims may share one.
    pub id: &'static str,
    /// Place in the paper.
    pub source: &'static str,
    /// The claim in words.
    pub text: &'static str,
    /// The paper's value.
    pub paper: f64,
    /// Its unit: "x" for a ratio.
    pub unit: &'static str,
    /// Direction in which it binds.
    pub bound: Bound,
    /// The measurement.
    pub measure: M,
}

/// A claim with its measured value and verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The claim's id.
    pub id: &'static str,
    /// Place in the paper.
    pub source: &'static str,
    /// The claim in words.
    pub claim: &'static str,
    /// The paper's value.
    pub paper: f64,
    /// The measured value over the seeds.
    pub here: Option<Estimate>,
    /// The unit of both.
    pub unit: &'static str,
    /// Direction in which the paper's value binds.
    pub bound: Bound,
    /// Agreement of the two.
    pub verdict: Verdict,
    /// A condition of the measured value that a reader needs ([`Measure::remark`]).
    pub remark: Option<String>,
}

/// A paper's value.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// Direction in which it binds.
    pub bound: Bound,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
}

/// A paper's value.
pub const fn stated(bound: Bound, value: f64, unit: &'static str) -> Stated {
    Stated { bound, value, unit }
}

impl<M> Claim<M> {
    /// A claim.
    pub const fn new(
        id: &'static str,
        source: &'static str,
        text: &'static str,
        paper: Stated,
        measure: M,
    ) -> Claim<M> {
        Claim {
            id,
            source,
            text,
            paper: paper.value,
            unit: paper.unit,
            bound: paper.bound,
            measure,
        }
    }
}

impl<M: Measure> Claim<M> {
    /// Judges the claim by some evidence: the seeds' interval, or their range, against the paper's value.
    pub fn find(&self, evidence: &M::Evidence) -> Finding {
        let over_seeds = Estimate::of(&self.measure.values(evidence));
        let here =
            over_seeds.map(|here| Estimate { pooled: self.measure.pooled(evidence), ..here });
        let judge = |here: Estimate| {
            let withheld = self.measure.withheld(evidence);
            withheld.unwrap_or_else(|| self.bound.judge(self.paper, self.unit, here))
        };
        Finding {
            id: self.id,
            source: self.source,
            claim: self.text,
            paper: self.paper,
            here,
            unit: self.unit,
            bound: self.bound,
            verdict: here.map_or(Verdict::NotRun, judge),
            remark: here.and_then(|_| self.measure.remark(evidence)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that was measured.
    struct All;

    impl Measure for All {
        type Evidence = Vec<f64>;

        fn values(&self, evidence: &Vec<f64>) -> Vec<f64> {
            evidence.clone()
        }
    }

    /// 3.7x agrees from 2.35x on: the range from 2.8 to 3.2 does, that from 2 to 4 does not as a whole.
    #[test]
    fn the_interval_of_the_seeds_is_judged() {
        let claim =
            Claim::new("H1", "Fig. 5a", "ECMP over HULA", stated(Bound::About, 3.7, "x"), All);
        let finding = claim.find(&vec![2.8, 3.0, 3.2]);
        let here = finding.here.unwrap();
        assert!((here.mean - 3.0).abs() < 1e-9);
        assert_eq!((here.seeds, finding.verdict), (3, Verdict::Agrees));
        assert_eq!(claim.find(&vec![2.0, 3.0, 4.0]).verdict, Verdict::Undecided);
        let missing = claim.find(&Vec::new());
        assert_eq!((missing.here, missing.verdict), (None, Verdict::NotRun));
    }
}

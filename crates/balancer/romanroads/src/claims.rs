//! RomanRoads' claims: the paper's values, all in percent, and the measurements beside them.

use heddle_claims::Bound::{About, AtMost, Exact};
use heddle_claims::{Bound, Claim, stated};

use crate::churn::{Curve, Sample};
use crate::failure::Point as Failure;
use crate::joins::Point as Joins;
use crate::measurements::{Experiment, Measurements};
use crate::system::System::{self, Alone, Learn, Published, Tcp};

/// A value of a sample or a point.
type Value<T> = fn(&T) -> f64;

/// A measurement that a claim is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    /// Joins that reach their backend, with so many balancers and backends.
    Joins(System, usize, usize),
    /// Entries that a table does not keep, with so many eighths of extra places.
    Capacity(u32),
    /// A value after the death of one of so many balancers.
    Failure(System, usize, Value<Failure>),
    /// Peak of a value between two seconds.
    Churn(System, u32, u32, Value<Sample>),
}

impl Measure {
    /// The experiment that it needs.
    pub(crate) fn experiment(self) -> Experiment {
        match self {
            Measure::Joins(..) => Experiment::Joins,
            Measure::Capacity(_) => Experiment::Capacity,
            Measure::Failure(..) => Experiment::Failure,
            Measure::Churn(..) => Experiment::Churn,
        }
    }

    fn value(self, measurements: &Measurements) -> Option<f64> {
        match self {
            Measure::Joins(system, balancers, backends) => {
                let is = |p: &&Joins| {
                    (p.system, p.balancers, p.backends) == (system, balancers, backends)
                };
                measurements.joins.iter().find(is).map(|point| point.right)
            }
            Measure::Capacity(eighths) => {
                let row =
                    measurements.capacity.iter().find(|row| row.extra_eighths == Some(eighths));
                row.map(|row| row.failed)
            }
            Measure::Failure(system, balancers, value) => {
                let is = |p: &&Failure| (p.system, p.balancers) == (system, balancers);
                measurements.failure.iter().find(is).map(value)
            }
            Measure::Churn(system, from, to, value) => {
                let curve = measurements.churn.iter().find(|curve| curve.system == system);
                peak(curve?, from, to, value)
            }
        }
    }
}

impl heddle_claims::Measure for Measure {
    type Evidence = Vec<Measurements>;

    fn values(&self, seeds: &Vec<Measurements>) -> Vec<f64> {
        seeds.iter().filter_map(|measurements| self.value(measurements)).collect()
    }
}

/// The greatest value between two seconds.
fn peak(curve: &Curve, from: u32, to: u32, value: Value<Sample>) -> Option<f64> {
    let samples = curve.samples.iter().filter(|sample| (from..to).contains(&sample.time));
    samples.map(value).reduce(f64::max)
}

const fn joins(text: &'static str, bound: Bound, paper: f64, measure: Measure) -> Claim<Measure> {
    Claim::new("R1", "figure 6a", text, stated(bound, paper, "%"), measure)
}
const fn capacity(
    text: &'static str,
    bound: Bound,
    paper: f64,
    measure: Measure,
) -> Claim<Measure> {
    Claim::new("R2", "figure 6b", text, stated(bound, paper, "%"), measure)
}
/// The paper gives orders: 2(n-1)/n^2 of the second subflows, 1/n of the connections. Learning is
/// held to them as bounds.
const fn failure(text: &'static str, bound: Bound, paper: f64, measure: Measure) -> Claim<Measure> {
    Claim::new("R3", "figure 6c", text, stated(bound, paper, "%"), measure)
}
const fn churn(
    source: &'static str,
    text: &'static str,
    bound: Bound,
    paper: f64,
    measure: Measure,
) -> Claim<Measure> {
    Claim::new("R4", source, text, stated(bound, paper, "%"), measure)
}

const CONNECTIONS: Value<Failure> = |point| point.connections;
const SECONDARIES: Value<Failure> = |point| point.secondaries;
const AFFECTED: Value<Failure> = |point| point.affected;

const BROKEN: Value<Sample> = |sample| sample.connections;
const BROKEN_SECOND: Value<Sample> = |sample| sample.secondaries;
const NO_JOIN: Value<Sample> = |sample| sample.affected;

const FIGURE: &str = "figure 6d";
const TEXT: &str = "section V-A2";

/// Every claim of the paper, in its order.
#[rustfmt::skip]
pub(crate) const CLAIMS: &[Claim<Measure>] = &[
    joins("joins right, TCPLB, 2 backends", About, 50.0, Measure::Joins(Tcp, 1, 2)),
    joins("joins right, TCPLB, 4 backends", About, 25.0, Measure::Joins(Tcp, 1, 4)),
    joins("joins right, RomanRoads, 4 backends", Exact, 100.0, Measure::Joins(Published, 1, 4)),
    joins("the same, learning", Exact, 100.0, Measure::Joins(Learn, 1, 4)),
    joins("joins right, P3, 2 balancers, 4 backends", About, 25.0, Measure::Joins(Alone, 2, 4)),
    joins("joins right, RomanRoads, 2 balancers, 4 backends", Exact, 100.0, Measure::Joins(Published, 2, 4)),
    joins("the same, learning", Exact, 100.0, Measure::Joins(Learn, 2, 4)),
    capacity("insertions that fail, LRU", About, 20.0, Measure::Capacity(0)),
    capacity("insertions that fail, 3/8 extra", AtMost, 0.5, Measure::Capacity(3)),
    failure("connections broken, 4 balancers", Exact, 0.0, Measure::Failure(Published, 4, CONNECTIONS)),
    failure("the same, learning", Exact, 0.0, Measure::Failure(Learn, 4, CONNECTIONS)),
    failure("second subflows broken, 2 balancers", About, 50.0, Measure::Failure(Published, 2, SECONDARIES)),
    failure("the same, learning", AtMost, 50.0, Measure::Failure(Learn, 2, SECONDARIES)),
    failure("second subflows broken, 4 balancers", About, 37.5, Measure::Failure(Published, 4, SECONDARIES)),
    failure("the same, learning", AtMost, 37.5, Measure::Failure(Learn, 4, SECONDARIES)),
    failure("second subflows broken, 8 balancers", About, 21.875, Measure::Failure(Published, 8, SECONDARIES)),
    failure("the same, learning", AtMost, 21.875, Measure::Failure(Learn, 8, SECONDARIES)),
    failure("connections that take no new subflow, 2 balancers", About, 50.0, Measure::Failure(Published, 2, AFFECTED)),
    failure("the same, learning", AtMost, 50.0, Measure::Failure(Learn, 2, AFFECTED)),
    failure("connections that take no new subflow, 8 balancers", About, 12.5, Measure::Failure(Published, 8, AFFECTED)),
    failure("the same, learning", AtMost, 12.5, Measure::Failure(Learn, 8, AFFECTED)),
    churn(FIGURE, "connections broken until 360 s", Exact, 0.0, Measure::Churn(Published, 0, 360, BROKEN)),
    churn(FIGURE, "the same, learning", Exact, 0.0, Measure::Churn(Learn, 0, 360, BROKEN)),
    churn(TEXT, "connections broken by the second leave", About, 1.55, Measure::Churn(Published, 360, 480, BROKEN)),
    churn(TEXT, "the same, TCPLB", About, 1.57, Measure::Churn(Tcp, 360, 480, BROKEN)),
    churn(TEXT, "the same, learning", AtMost, 1.55, Measure::Churn(Learn, 360, 480, BROKEN)),
    churn(FIGURE, "second subflows broken by the first leave", About, 32.0, Measure::Churn(Published, 120, 240, BROKEN_SECOND)),
    churn(FIGURE, "the same, learning", AtMost, 32.0, Measure::Churn(Learn, 120, 240, BROKEN_SECOND)),
    churn(FIGURE, "connections that take no new subflow after it", About, 20.0, Measure::Churn(Published, 120, 240, NO_JOIN)),
    churn(FIGURE, "the same, learning", AtMost, 20.0, Measure::Churn(Learn, 120, 240, NO_JOIN)),
    churn(FIGURE, "second subflows broken when it returns", About, 20.0, Measure::Churn(Published, 240, 360, BROKEN_SECOND)),
    churn(FIGURE, "the same, learning", AtMost, 20.0, Measure::Churn(Learn, 240, 360, BROKEN_SECOND)),
];

#[cfg(test)]
mod tests {
    use heddle_claims::Verdict::{Agrees, NotRun};

    use super::*;

    /// Each experiment's id is that of its claims, in the paper's order.
    #[test]
    fn claims_are_r1_to_r4_in_order() {
        let ids: Vec<&str> = CLAIMS.iter().map(|claim| claim.measure.experiment().id()).collect();
        assert_eq!(ids, CLAIMS.iter().map(|claim| claim.id).collect::<Vec<_>>());
        assert!(ids.is_sorted() && ids.contains(&"R1") && ids.contains(&"R4"));
    }

    #[test]
    fn an_experiment_that_was_not_made_judges_nothing() {
        let joins = vec![Joins { system: Tcp, balancers: 1, backends: 2, right: 48.0 }];
        let seeds = vec![Measurements { joins, ..Measurements::default() }];
        let verdicts: Vec<_> = CLAIMS.iter().map(|claim| claim.find(&seeds).verdict).collect();
        assert_eq!(verdicts[0], Agrees);
        assert!(verdicts[1..].iter().all(|&verdict| verdict == NotRun));
    }

    /// 48, 50 and 52 % of three seeds: 50 ± 4.97 by Student's t, all within a third of the paper's 50.
    #[test]
    fn every_seed_counts() {
        let of_seed = |right| {
            let joins = vec![Joins { system: Tcp, balancers: 1, backends: 2, right }];
            Measurements { joins, ..Measurements::default() }
        };
        let finding = CLAIMS[0].find(&[48.0, 50.0, 52.0].map(of_seed).to_vec());
        let here = finding.here.unwrap();
        assert_eq!((here.seeds, here.mean, finding.verdict), (3, 50.0, Agrees));
        assert!((here.half_width.unwrap() - 4.97).abs() < 0.01);
    }

    /// 3 and 5 % from 120 s on; the 9 % at 240 s are after the end.
    #[test]
    fn the_peak_is_of_its_seconds_alone() {
        let sample =
            |time, connections| Sample { time, connections, secondaries: 0.0, affected: 0.0 };
        let samples = vec![sample(0, 7.0), sample(120, 3.0), sample(180, 5.0), sample(240, 9.0)];
        let curve = Curve { system: Learn, samples, detours: 0.0 };
        assert_eq!(peak(&curve, 120, 240, BROKEN), Some(5.0));
        assert_eq!(peak(&curve, 300, 360, BROKEN), None);
    }
}

//! The paper's figures beside ours.

use heddle_study::evaluation::{Bound, Finding, Verdict};
use heddle_study::stats::Estimate;

use super::churn::{Curve, Sample};
use super::failure::Point as Failure;
use super::{Evaluation, Experiment, System};

/// The paper's figure, its unit being percent.
#[derive(Clone, Copy)]
struct Claim {
    source: &'static str,
    text: &'static str,
    bound: Bound,
    paper: f64,
}

/// A figure of a point or a sample.
type Figure<T> = fn(&T) -> f64;

/// What each claim of some experiments came to.
pub fn findings(evaluation: &Evaluation, experiments: &[Experiment]) -> Vec<Finding> {
    let of = |&experiment: &Experiment| match experiment {
        Experiment::Joins => joins(evaluation),
        Experiment::Room => room(evaluation),
        Experiment::Failure => failure(evaluation),
        Experiment::Churn => churn(evaluation),
    };
    experiments.iter().flat_map(of).collect()
}

fn finding(experiment: Experiment, claim: Claim, here: Option<f64>) -> Finding {
    let Claim { source, text, bound, paper } = claim;
    let judge = |here: f64| bound.judge(paper, "%", here);
    Finding {
        id: experiment.id(),
        source,
        claim: text,
        paper,
        here: here.and_then(|here| Estimate::of(&[here])),
        unit: "%",
        bound,
        verdict: here.map_or(Verdict::NotRun, judge),
    }
}

fn joins(evaluation: &Evaluation) -> Vec<Finding> {
    let at = |system, balancers, backends| {
        let is = |p: &&super::joins::Point| {
            (p.system, p.balancers, p.backends) == (system, balancers, backends)
        };
        evaluation.joins.iter().find(is).map(|point| point.right)
    };
    let source = "figure 6a";
    let row = |text, bound, paper, here| {
        finding(Experiment::Joins, Claim { source, text, bound, paper }, here)
    };
    use System::{Alone, Learn, Published, Tcp};
    vec![
        row("joins right, TCPLB, 2 backends", Bound::About, 50.0, at(Tcp, 1, 2)),
        row("joins right, TCPLB, 4 backends", Bound::About, 25.0, at(Tcp, 1, 4)),
        row("joins right, RomanRoads, 4 backends", Bound::Exact, 100.0, at(Published, 1, 4)),
        row("the same, learning", Bound::Exact, 100.0, at(Learn, 1, 4)),
        row("joins right, P3, 2 balancers, 4 backends", Bound::About, 25.0, at(Alone, 2, 4)),
        row(
            "joins right, RomanRoads, 2 balancers, 4 backends",
            Bound::Exact,
            100.0,
            at(Published, 2, 4),
        ),
        row("the same, learning", Bound::Exact, 100.0, at(Learn, 2, 4)),
    ]
}

fn room(evaluation: &Evaluation) -> Vec<Finding> {
    let at = |eighths| {
        let row = evaluation.room.iter().find(|row| row.extra_eighths == Some(eighths));
        row.map(|row| row.failed)
    };
    let source = "figure 6b";
    let row = |text, bound, paper, here| {
        finding(Experiment::Room, Claim { source, text, bound, paper }, here)
    };
    vec![
        row("insertions that fail, LRU", Bound::About, 20.0, at(0)),
        row("insertions that fail, 3/8 extra", Bound::AtMost, 0.5, at(3)),
    ]
}

/// The paper gives orders: 2(n-1)/n^2 of the second subflows, 1/n of the connections. Learning is held to them as bounds.
fn failure(evaluation: &Evaluation) -> Vec<Finding> {
    let at = |system, balancers, figure: Figure<Failure>| {
        let is = |p: &&Failure| (p.system, p.balancers) == (system, balancers);
        evaluation.failure.iter().find(is).map(figure)
    };
    let source = "figure 6c";
    let row = |text, bound, paper, here| {
        finding(Experiment::Failure, Claim { source, text, bound, paper }, here)
    };
    use Bound::{About, AtMost, Exact};
    use System::{Learn, Published};
    let connections: Figure<Failure> = |p| p.connections;
    let secondaries: Figure<Failure> = |p| p.secondaries;
    let affected: Figure<Failure> = |p| p.affected;
    vec![
        row("connections broken, 4 balancers", Exact, 0.0, at(Published, 4, connections)),
        row("the same, learning", Exact, 0.0, at(Learn, 4, connections)),
        row("second subflows broken, 2 balancers", About, 50.0, at(Published, 2, secondaries)),
        row("the same, learning", AtMost, 50.0, at(Learn, 2, secondaries)),
        row("second subflows broken, 4 balancers", About, 37.5, at(Published, 4, secondaries)),
        row("the same, learning", AtMost, 37.5, at(Learn, 4, secondaries)),
        row("second subflows broken, 8 balancers", About, 21.875, at(Published, 8, secondaries)),
        row("the same, learning", AtMost, 21.875, at(Learn, 8, secondaries)),
        row(
            "connections that take no new subflow, 2 balancers",
            About,
            50.0,
            at(Published, 2, affected),
        ),
        row("the same, learning", AtMost, 50.0, at(Learn, 2, affected)),
        row(
            "connections that take no new subflow, 8 balancers",
            About,
            12.5,
            at(Published, 8, affected),
        ),
        row("the same, learning", AtMost, 12.5, at(Learn, 8, affected)),
    ]
}

/// The most of a figure between two seconds.
fn peak(curve: Option<&Curve>, from: u32, to: u32, figure: Figure<Sample>) -> Option<f64> {
    let samples = curve?.samples.iter().filter(|sample| (from..to).contains(&sample.time));
    samples.map(figure).reduce(f64::max)
}

fn churn(evaluation: &Evaluation) -> Vec<Finding> {
    let curve = |system| evaluation.churn.iter().find(|curve| curve.system == system);
    let row = |source, text, bound, paper, here| {
        finding(Experiment::Churn, Claim { source, text, bound, paper }, here)
    };
    use Bound::{About, AtMost, Exact};
    let [tcp, published, learn] = [System::Tcp, System::Published, System::Learn].map(curve);
    let connections: Figure<Sample> = |s| s.connections;
    let secondaries: Figure<Sample> = |s| s.secondaries;
    let affected: Figure<Sample> = |s| s.affected;
    let (figure, text) = ("figure 6d", "section V-A2");
    vec![
        row(
            figure,
            "connections broken until 360 s",
            Exact,
            0.0,
            peak(published, 0, 360, connections),
        ),
        row(figure, "the same, learning", Exact, 0.0, peak(learn, 0, 360, connections)),
        row(
            text,
            "connections broken by the second leave",
            About,
            1.55,
            peak(published, 360, 480, connections),
        ),
        row(text, "the same, TCPLB", About, 1.57, peak(tcp, 360, 480, connections)),
        row(text, "the same, learning", AtMost, 1.55, peak(learn, 360, 480, connections)),
        row(
            figure,
            "second subflows broken by the first leave",
            About,
            32.0,
            peak(published, 120, 240, secondaries),
        ),
        row(figure, "the same, learning", AtMost, 32.0, peak(learn, 120, 240, secondaries)),
        row(
            figure,
            "connections that take no new subflow after it",
            About,
            20.0,
            peak(published, 120, 240, affected),
        ),
        row(figure, "the same, learning", AtMost, 20.0, peak(learn, 120, 240, affected)),
        row(
            figure,
            "second subflows broken when it returns",
            About,
            20.0,
            peak(published, 240, 360, secondaries),
        ),
        row(figure, "the same, learning", AtMost, 20.0, peak(learn, 240, 360, secondaries)),
    ]
}

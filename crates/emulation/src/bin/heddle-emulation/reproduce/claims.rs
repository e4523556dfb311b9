//! The paper's claims about MPTCP, with their measurements on kernels.

use heddle_claims::Bound::{AtLeast, AtMost, Exact};
use heddle_claims::{Claim, stated};
use heddle_study::summary::RunSummary;

use super::experiments::{Choice, Evidence, Experiment, Testbed, goodputs, links_used};
use Choice::{Cflb, Random};
use Testbed::{Permutation, SevenLinks, TwoInterfaces};

/// Payload of a full packet, as a share of what it takes of a link.
const PAYLOAD: f64 = 1460.0 / 1514.0;
/// Both interfaces of `scenarios/lab/graphs/two-interfaces.toml`, in bits per second.
const INTERFACES: f64 = 10e6;

/// A claim's measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// The testbed whose experiments it takes.
    pub(super) testbed: Testbed,
    of: fn(&Evidence) -> Vec<f64>,
}

impl heddle_claims::Measure for Measure {
    type Evidence = Evidence;

    fn values(&self, evidence: &Evidence) -> Vec<f64> {
        (self.of)(evidence)
    }
}

const fn on(testbed: Testbed, of: fn(&Evidence) -> Vec<f64>) -> Measure {
    Measure { testbed, of }
}

fn kernels(evidence: &Evidence, experiment: Experiment) -> &[RunSummary] {
    evidence.of(experiment).map_or(&[], |runs| &runs.kernels)
}

/// Share of the runs in which the seven subflows used so many links, in percent: none without runs.
fn share_of_runs(
    evidence: &Evidence,
    choice: Choice,
    links: std::ops::RangeInclusive<usize>,
) -> Vec<f64> {
    let runs = kernels(evidence, Experiment::new(SevenLinks, choice, 7));
    if runs.is_empty() {
        return Vec::new();
    }
    let used = runs.iter().filter(|run| links.contains(&links_used(run))).count();
    vec![100.0 * used as f64 / runs.len() as f64]
}

fn all_seven(evidence: &Evidence) -> Vec<f64> {
    share_of_runs(evidence, Cflb, 7..=7)
}

fn all_seven_at_random(evidence: &Evidence) -> Vec<f64> {
    share_of_runs(evidence, Random, 7..=7)
}

fn four_or_five_at_random(evidence: &Evidence) -> Vec<f64> {
    share_of_runs(evidence, Random, 4..=5)
}

/// Goodput into both interfaces, in percent of what they can carry.
fn saturation(evidence: &Evidence, choice: Choice, subflows: u8) -> Vec<f64> {
    let runs = kernels(evidence, Experiment::new(TwoInterfaces, choice, subflows));
    goodputs(runs).into_iter().map(|bits| 100.0 * bits / (INTERFACES * PAYLOAD)).collect()
}

fn two(evidence: &Evidence) -> Vec<f64> {
    saturation(evidence, Cflb, 2)
}

fn two_at_random(evidence: &Evidence) -> Vec<f64> {
    saturation(evidence, Random, 2)
}

fn eight_at_random(evidence: &Evidence) -> Vec<f64> {
    saturation(evidence, Random, 8)
}

/// Goodput with CFLB over that with random ports, seed by seed.
fn permutation(evidence: &Evidence) -> Vec<f64> {
    let goodputs_of = |choice| goodputs(kernels(evidence, Experiment::new(Permutation, choice, 2)));
    goodputs_of(Cflb)
        .into_iter()
        .zip(goodputs_of(Random))
        .map(|(cflb, random)| cflb / random)
        .collect()
}

/// The claims, in the paper's order.
#[rustfmt::skip]
pub(super) const CLAIMS: &[Claim<Measure>] = &[
    Claim::new("C5", "Fig. 9", "permutation, 2 subflows: CFLB closer to the optimum: its goodput over that with random ports", stated(AtLeast, 1.0, "x"), on(Permutation, permutation)),
    Claim::new("C6", "Fig. 10", "7 links, 7 subflows: CFLB uses all 7, share of the runs", stated(Exact, 100.0, "%"), on(SevenLinks, all_seven)),
    Claim::new("C6", "Fig. 10", "the same with random ports: all 7, 2 runs of 400", stated(AtMost, 2.0, "%"), on(SevenLinks, all_seven_at_random)),
    Claim::new("C6", "Fig. 10", "the same with random ports: 4 or 5, most runs", stated(AtLeast, 50.0, "%"), on(SevenLinks, four_or_five_at_random)),
    Claim::new("C7", "Fig. 11", "two interfaces behind 7 paths: CFLB with 2 subflows saturates both (read as 95 %)", stated(AtLeast, 95.0, "%"), on(TwoInterfaces, two)),
    Claim::new("C7", "Fig. 11", "the same with random ports and 2 subflows: far from it (read as 75 %)", stated(AtMost, 75.0, "%"), on(TwoInterfaces, two_at_random)),
    Claim::new("C7", "Fig. 11", "the same with random ports and 8 subflows: still short of it", stated(AtMost, 95.0, "%"), on(TwoInterfaces, eight_at_random)),
];

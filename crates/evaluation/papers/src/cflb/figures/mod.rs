//! The figures of CFLB's evaluation.

mod connections;
mod diversity;
mod permutation;
mod spread;

pub use spread::spread_section;

use heddle_report::Section;

use crate::cflb::Cflb;
use crate::cflb::experiments::{Experiment, Measured};
use heddle_study::paper::Evidence;

/// The figures that were measured.
pub(super) fn sections(evidence: &Evidence<Cflb>) -> Vec<Section> {
    let sections = [diversity::section(evidence)].into_iter().flatten();
    let sections = sections.chain(spread::sections(evidence)).chain(spread::cost(evidence));
    sections.chain(permutation::sections(evidence)).chain(connections::sections(evidence)).collect()
}

/// Result of an experiment with its first seed, if it was run.
fn made(evidence: &Evidence<Cflb>, experiment: Experiment) -> Option<&Measured> {
    evidence.outcomes(experiment).next()
}

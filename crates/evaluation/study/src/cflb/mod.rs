//! CFLB's evaluation (Detal et al., Computer Networks 2013): how many paths there are (section 2.2), how evenly flows that nobody steers
//! are spread and what a decision costs (section 4.1), and what MPTCP gains by choosing its paths (section 4.2). Claims C1 to C7.

pub(crate) mod claims;
pub mod connections;
pub mod experiment;
pub mod flows;
pub mod hashes;
pub mod mix;
pub mod pcap;
pub mod plan;
mod sensitivity;
pub mod speed;
pub mod spread;

use heddle_report::Section;
use heddle_scenario::Graph;

use crate::evaluation::{Claim, Effort, Evidence, Headline, Paper, Variant};
use crate::figure::{self, Figure};

/// CFLB's paper.
#[derive(Clone, Copy, Debug)]
pub struct Cflb;

impl Paper for Cflb {
    type Point = plan::Point;
    type Experiment = experiment::Experiment;

    const SYSTEM: &'static str = "CFLB";
    const CLAIMS: &'static [Claim<Cflb>] = claims::CLAIMS;
    const HEADLINE_FIGURE: Figure = figure::seconds_per_gigabyte;
    const HEADLINES: &'static [Headline<plan::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<plan::Point> {
        plan::bars(effort)
    }

    fn whole_fabric() -> plan::Point {
        claims::bar(plan::Choice::Scheduler, 2)
    }

    fn measured(evidence: &Evidence<Cflb>) -> Option<serde_json::Value> {
        let experiments = &evidence.experiments;
        (!experiments.is_empty()).then(|| serde_json::json!(experiments))
    }

    fn figures(evidence: &Evidence<Cflb>, _: &Graph) -> Vec<Section> {
        crate::report::cflb_figures(evidence)
    }
}

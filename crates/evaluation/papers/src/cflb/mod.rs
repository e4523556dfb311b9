//! CFLB's evaluation (Detal et al., Computer Networks 2013): path diversity (section 2.2), evenness
//! and cost of decisions about flows that are not steered (section 4.1), and MPTCP's gain by
//! choosing its paths (section 4.2). Claims C1 to C7.

pub(crate) mod claims;
pub mod connections;
pub mod experiments;
pub mod figures;
pub mod flows;
pub mod hashes;
pub mod mix;
#[cfg(feature = "captures")]
pub mod pcap;
pub mod points;
mod sensitivity;
pub mod speed;
pub mod spread;

use heddle_claims::{Claim, Effort, Monitor, Paper, Request};
use heddle_report::{Report, Section};
use heddle_study::gather;
use heddle_study::headline::{Headline, Variant};
use heddle_study::metric::{self, Metric};
use heddle_study::paper::{self, EvaluationError, Evidence, Measure, SimulatedPaper};
use heddle_study::view;

/// CFLB's paper.
#[derive(Clone, Copy, Debug)]
pub struct Cflb;

impl Paper for Cflb {
    type Measure = Measure<Cflb>;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "CFLB";
    const CLAIMS: &'static [Claim<Measure<Cflb>>] = claims::CLAIMS;
    const RULE: &'static str = paper::RULE;

    fn gather(
        request: &Request<'_, Cflb>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence<Cflb>, EvaluationError> {
        gather::gather(request, monitor)
    }

    fn measured(evidence: &Evidence<Cflb>) -> Option<String> {
        let experiments = &evidence.experiments;
        (!experiments.is_empty()).then(|| format!("{:#}", serde_json::json!(experiments)))
    }

    fn head(title: &str, evidence: &Evidence<Cflb>) -> Report {
        view::head(title, evidence.results.all_runs())
    }

    fn figures(evidence: &Evidence<Cflb>) -> Vec<Section> {
        figures::sections(evidence)
    }
}

impl SimulatedPaper for Cflb {
    type Point = points::Point;
    type Experiment = experiments::Experiment;

    const HEADLINE_METRIC: Metric = metric::seconds_per_gigabyte;
    const HEADLINES: &'static [Headline<points::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<points::Point> {
        points::bars(effort)
    }

    fn whole_fabric() -> points::Point {
        claims::bar(points::Choice::Scheduler, 2)
    }
}

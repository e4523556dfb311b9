//! HULA's evaluation (Katta et al., SOSR 2016, section 6): its figures and its claims H1 to H12.

mod claims;
pub mod experiments;
mod figures;
mod lead;
pub mod points;
mod profiles;
mod queue;
mod run_length;
mod sensitivity;

use heddle_claims::{Claim, Effort, Monitor, Paper, Profile, Request};
use heddle_report::{Report, Section};
use heddle_study::gather;
use heddle_study::headline::{Headline, Variant};
use heddle_study::paper::{self, EvaluationError, Evidence, Measure, SimulatedPaper};
use heddle_study::view;

/// HULA's paper.
#[derive(Clone, Copy, Debug)]
pub struct Hula;

impl Paper for Hula {
    type Measure = Measure<Hula>;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "HULA";
    const CLAIMS: &'static [Claim<Measure<Hula>>] = claims::CLAIMS;
    const RULE: &'static str = paper::RULE;
    const PROFILES: &'static [Profile] = profiles::PROFILES;

    fn gather(
        request: &Request<'_, Hula>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence<Hula>, EvaluationError> {
        gather::gather(request, monitor)
    }

    fn head(title: &str, evidence: &Evidence<Hula>) -> Report {
        view::head(title, evidence.results.all_runs())
    }

    fn lead(evidence: &Evidence<Hula>) -> Option<Section> {
        lead::section(evidence)
    }

    fn figures(evidence: &Evidence<Hula>) -> Vec<Section> {
        figures::sections(evidence)
    }
}

impl SimulatedPaper for Hula {
    type Point = points::Point;
    type Experiment = experiments::Experiment;

    const HEADLINES: &'static [Headline<points::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<points::Point> {
        points::curves(effort)
    }

    fn whole_fabric() -> points::Point {
        points::sym(points::Scheme::Hula, 50)
    }
}

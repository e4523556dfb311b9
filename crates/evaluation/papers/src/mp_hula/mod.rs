//! MP-HULA's evaluation (Hernandez Benet et al., NetCompute 2018, section 3): its figures and its
//! claims M1 to M7.

pub mod claims;
mod figures;
pub mod points;
mod profiles;
mod sensitivity;

use std::convert::Infallible;

use heddle_claims::{Claim, Effort, Monitor, Paper, Profile, Request};
use heddle_report::{Report, Section};
use heddle_study::gather;
use heddle_study::headline::{Headline, Variant};
use heddle_study::paper::{self, EvaluationError, Evidence, Measure, SimulatedPaper};
use heddle_study::view;

/// MP-HULA's paper. Points and arithmetic suffice for its claims.
#[derive(Clone, Copy, Debug)]
pub struct MpHula;

impl Paper for MpHula {
    type Measure = Measure<MpHula>;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "MP-HULA";
    const CLAIMS: &'static [Claim<Measure<MpHula>>] = claims::CLAIMS;
    const RULE: &'static str = paper::RULE;
    const PROFILES: &'static [Profile] = profiles::PROFILES;

    fn gather(
        request: &Request<'_, MpHula>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence<MpHula>, EvaluationError> {
        gather::gather(request, monitor)
    }

    fn head(title: &str, evidence: &Evidence<MpHula>) -> Report {
        view::head(title, evidence.results.all_runs())
    }

    fn figures(evidence: &Evidence<MpHula>) -> Vec<Section> {
        figures::sections(evidence)
    }
}

impl SimulatedPaper for MpHula {
    type Point = points::Point;
    type Experiment = Infallible;

    const HEADLINES: &'static [Headline<points::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<points::Point> {
        points::curves(effort)
    }

    fn whole_fabric() -> points::Point {
        claims::web(claims::MP_HULA, 50)
    }
}

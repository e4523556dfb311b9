//! MP-HULA's evaluation (Hernandez Benet et al., NetCompute 2018, section 3): its figures and its claims M1 to M7.

pub mod claims;
pub mod future;
pub mod plan;
mod sensitivity;

use std::convert::Infallible;

use heddle_report::Section;
use heddle_scenario::Graph;

use crate::evaluation::{Claim, Effort, Evidence, Headline, Paper, Variant};

/// MP-HULA's paper.
#[derive(Clone, Copy, Debug)]
pub struct MpHula;

impl Paper for MpHula {
    type Point = plan::Point;
    /// Points and arithmetic suffice.
    type Experiment = Infallible;

    const SYSTEM: &'static str = "MP-HULA";
    const CLAIMS: &'static [Claim<MpHula>] = claims::CLAIMS;
    const HEADLINES: &'static [Headline<plan::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<plan::Point> {
        plan::curves(effort)
    }

    fn whole_fabric() -> plan::Point {
        claims::web(claims::MP_HULA, 50)
    }

    fn figures(evidence: &Evidence<MpHula>, graph: &Graph) -> Vec<Section> {
        crate::report::mp_hula_figures(evidence, graph)
    }
}

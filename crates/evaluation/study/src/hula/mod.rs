//! HULA's evaluation (Katta et al., SOSR 2016, section 6): its figures and its claims H1 to H12.

mod claims;
pub mod extra;
pub mod plan;
mod sensitivity;

use heddle_report::Section;
use heddle_scenario::Graph;

use crate::evaluation::{Claim, Effort, Evidence, Headline, Paper, Variant};

/// HULA's paper.
#[derive(Clone, Copy, Debug)]
pub struct Hula;

impl Paper for Hula {
    type Point = plan::Point;
    type Experiment = extra::Experiment;

    const SYSTEM: &'static str = "HULA";
    const CLAIMS: &'static [Claim<Hula>] = claims::CLAIMS;
    const HEADLINES: &'static [Headline<plan::Point>] = sensitivity::HEADLINES;
    const VARIANTS: &'static [Variant] = sensitivity::VARIANTS;

    fn curves(effort: Effort) -> Vec<plan::Point> {
        plan::curves(effort)
    }

    fn whole_fabric() -> plan::Point {
        claims::sym(plan::Scheme::Hula, 50)
    }

    fn figures(evidence: &Evidence<Hula>, graph: &Graph) -> Vec<Section> {
        crate::report::hula_figures(evidence, graph)
    }
}

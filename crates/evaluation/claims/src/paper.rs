//! The interface of a paper's evaluation.

use std::path::Path;

use heddle_report::{Report, Section};

use crate::{Claim, Effort, Finding, Measure, Monitor, Profile, table};

/// Evidence that a paper's claims are judged by.
pub type Evidence<P> = <<P as Paper>::Measure as Measure>::Evidence;

/// A paper's evaluation: its claims, the experiments behind them, and the figures of its report.
pub trait Paper: Sized + 'static {
    /// The way in which a claim's value is measured.
    type Measure: Measure;
    /// An error of the experiments.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The system's name.
    const SYSTEM: &'static str;
    /// Every claim, in the paper's order.
    const CLAIMS: &'static [Claim<Self::Measure>];
    /// The rule of the verdicts in a sentence or two, for the report.
    const RULE: &'static str;
    /// The profiles under which the claims can be judged; the first is the default.
    const PROFILES: &'static [Profile] = &[Profile::ONLY];

    /// Runs the experiments that some claims need.
    ///
    /// # Errors
    /// If an experiment cannot be run or the monitor stops it.
    fn gather(
        request: &Request<'_, Self>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence<Self>, Self::Error>;

    /// Measurements as JSON, for scripts; `None` if the report has all of them.
    fn measured(evidence: &Evidence<Self>) -> Option<String> {
        let _ = evidence;
        None
    }

    /// An empty report with a title and the facts about the evidence.
    fn head(title: &str, evidence: &Evidence<Self>) -> Report;

    /// A section above the claims: the results that a reader should see first; `None` without.
    fn lead(evidence: &Evidence<Self>) -> Option<Section> {
        let _ = evidence;
        None
    }

    /// The figures that the evidence allows.
    fn figures(evidence: &Evidence<Self>) -> Vec<Section>;
}

/// Claims to be judged.
pub struct Request<'a, P: Paper> {
    /// The claims, in the paper's order.
    pub claims: Vec<&'static Claim<P::Measure>>,
    /// Extent of the experiments.
    pub extent: Extent,
    /// Size of the experiments.
    pub effort: Effort,
    /// Settings of the experiments.
    pub profile: &'static Profile,
    /// The folder of the results.
    pub folder: &'a Path,
}

/// Extent of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Experiments for the claims and for every figure.
    Whole,
    /// Experiments for the claims alone.
    Claims,
}

/// A claim that a paper does not make.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no claim {name}; {} are {first} to {last}", possessive(system))]
pub struct UnknownClaim {
    /// The name that was asked for.
    pub name: String,
    /// The paper's system.
    pub system: &'static str,
    /// Its first claim.
    pub first: &'static str,
    /// Its last claim.
    pub last: &'static str,
}

impl<'a, P: Paper> Request<'a, P> {
    /// The claims of some ids, in any case; all claims, with every figure, if there are none.
    ///
    /// # Errors
    /// If the paper has no claim of an id.
    pub fn new(
        ids: &[String],
        effort: Effort,
        profile: &'static Profile,
        folder: &'a Path,
    ) -> Result<Self, UnknownClaim> {
        let is = |claim: &Claim<P::Measure>, id: &String| claim.id.eq_ignore_ascii_case(id);
        let unknown = |id: &&String| !P::CLAIMS.iter().any(|claim| is(claim, id));
        if let Some(unknown) = ids.iter().find(unknown) {
            return Err(UnknownClaim::of::<P>(unknown));
        }
        let wanted =
            |claim: &&Claim<P::Measure>| ids.is_empty() || ids.iter().any(|id| is(claim, id));
        let claims = P::CLAIMS.iter().filter(wanted).collect();
        let extent = if ids.is_empty() { Extent::Whole } else { Extent::Claims };
        Ok(Request { claims, extent, effort, profile, folder })
    }

    /// The verdict on each claim.
    pub fn findings(&self, evidence: &Evidence<P>) -> Vec<Finding> {
        self.claims.iter().map(|claim| claim.find(evidence)).collect()
    }
}

impl UnknownClaim {
    fn of<P: Paper>(name: &str) -> UnknownClaim {
        let id = |claim: Option<&Claim<P::Measure>>| claim.map_or("-", |claim| claim.id);
        UnknownClaim {
            name: name.to_owned(),
            system: P::SYSTEM,
            first: id(P::CLAIMS.first()),
            last: id(P::CLAIMS.last()),
        }
    }
}

/// The possessive of a name: HULA's, RomanRoads'.
pub fn possessive(name: &str) -> String {
    format!("{name}{}", if name.ends_with('s') { "'" } else { "'s" })
}

/// The report of a paper's evaluation, or of a part of it; without findings it has no table of
/// claims.
pub fn report<P: Paper>(title: &str, evidence: &Evidence<P>, findings: &[Finding]) -> Report {
    let mut report = P::lead(evidence).into_iter().fold(P::head(title, evidence), Report::section);
    if !findings.is_empty() {
        report = report.section(table::section(P::RULE, findings));
    }
    P::figures(evidence).into_iter().fold(report, Report::section)
}

#[cfg(test)]
mod tests {
    use super::possessive;

    #[test]
    fn a_name_in_s_takes_an_apostrophe_alone() {
        assert_eq!(["MP-HULA", "RomanRoads"].map(possessive), ["MP-HULA's", "RomanRoads'"]);
    }
}

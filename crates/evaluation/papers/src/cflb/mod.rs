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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use heddle_claims::Progress;

    use super::*;

    /// Lines of progress: experiments done, all of them, the name of the one at work.
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Monitor for Lines {
        fn stopped(&self) -> bool {
            false
        }

        fn progress(&self, progress: Progress<'_>) {
            let Progress { done, runs, label, .. } = progress;
            self.0.lock().unwrap().push(format!("{done}/{runs} {label}"));
        }
    }

    #[test]
    fn each_experiment_reports_its_begin_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let profile = &Cflb::PROFILES[0];
        let request =
            Request::<Cflb>::new(&["C1".to_owned()], Effort::Quick, profile, folder.path());
        let lines = Lines::default();
        Cflb::gather(&request.unwrap(), &lines).unwrap();
        let lines = lines.0.into_inner().unwrap();
        assert_eq!(lines.len(), 6, "three fabrics: {lines:?}");
        assert!(lines[0].starts_with("0/3 C1: ") && lines[5].starts_with("3/3 C1: "), "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with(", seed 1")), "{lines:?}");
    }
}

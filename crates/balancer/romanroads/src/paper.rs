//! RomanRoads' paper: claims, experiments and figures together.

use heddle_claims::{Claim, Monitor, Paper, Request};
use heddle_harness::Error;
use heddle_report::{Report, Section};

use crate::claims::{CLAIMS, Measure};
use crate::figures;
use crate::measurements::{Experiment, Measurements, SEED};

/// RomanRoads' paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RomanRoads;

/// An evaluation that could not be finished.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluationError {
    /// A balancer cannot be loaded or run.
    #[error("the balancer's eBPF programs cannot be run (are you root?)")]
    Balancer(#[from] Error),
    /// Stopped between two experiments.
    #[error("interrupted")]
    Interrupted,
}

impl Paper for RomanRoads {
    type Measure = Measure;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "RomanRoads";
    const CLAIMS: &'static [Claim<Measure>] = CLAIMS;
    const RULE: &'static str = "A figure **agrees** within a third of the paper's; a bound if it is kept. Figures 6c and 6d are given as orders in the text: 2(n-1)/n² of the second subflows, 1/n of the connections.";

    fn gather(
        request: &Request<'_, RomanRoads>,
        monitor: &dyn Monitor,
    ) -> Result<Measurements, EvaluationError> {
        let needed =
            |one: &Experiment| request.claims.iter().any(|c| c.measure.experiment() == *one);
        let mut measurements = Measurements::default();
        for experiment in Experiment::ALL.into_iter().filter(needed) {
            if monitor.stopped() {
                return Err(EvaluationError::Interrupted);
            }
            monitor.start(&format!("{}: {}", experiment.id(), experiment.title()));
            measurements.run(experiment, request.effort)?;
        }
        Ok(measurements)
    }

    fn measured(measurements: &Measurements) -> Option<String> {
        serde_json::to_string_pretty(measurements).ok()
    }

    fn head(title: &str, _: &Measurements) -> Report {
        Report::new(title)
            .subtitle(
                "Heddle's own eBPF programs, run by the kernel on frames, with a virtual clock",
            )
            .fact("Heddle", env!("CARGO_PKG_VERSION"))
            .fact("Seed", SEED.to_string())
    }

    fn figures(measurements: &Measurements) -> Vec<Section> {
        figures::sections(measurements)
    }
}

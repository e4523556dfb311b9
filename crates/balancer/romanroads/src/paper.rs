//! RomanRoads' paper: claims, experiments and figures together.

use std::panic::resume_unwind;

use heddle_claims::{Claim, Monitor, Paper, Request};
use heddle_harness::Error;
use heddle_report::{Report, Section};

use crate::claims::{CLAIMS, Measure};
use crate::figures;
use crate::measurements::{Experiment, Measurements};

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
    const RULE: &'static str = "A figure **agrees** within a third of the paper's; a bound if it is kept. Figures 6c and 6d are given as orders in the text: 2(n-1)/n² of the second subflows, 1/n of the connections. Values of several seeds have their mean and 95 % interval, or median and range where they differ by more than a factor of two; all of it is judged: **undecided** if its values have different verdicts.";

    fn gather(
        request: &Request<'_, RomanRoads>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Measurements>, EvaluationError> {
        // Seeds wait for the kernel most of the time: a thread for each.
        std::thread::scope(|scope| {
            let start = |&seed| scope.spawn(move || of_seed(request, monitor, seed));
            let threads: Vec<_> = request.effort.seeds().iter().map(start).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }

    fn measured(seeds: &Vec<Measurements>) -> Option<String> {
        serde_json::to_string_pretty(seeds).ok()
    }

    fn head(title: &str, seeds: &Vec<Measurements>) -> Report {
        let seeds: Vec<String> = seeds.iter().map(|one| one.seed.to_string()).collect();
        Report::new(title)
            .subtitle(
                "Heddle's own eBPF programs, run by the kernel on frames, with a virtual clock",
            )
            .fact("Heddle", env!("CARGO_PKG_VERSION"))
            .fact("Seeds", seeds.join(", "))
    }

    fn figures(seeds: &Vec<Measurements>) -> Vec<Section> {
        figures::sections(seeds)
    }
}

/// Runs with one seed the experiments that some claims need.
fn of_seed(
    request: &Request<'_, RomanRoads>,
    monitor: &dyn Monitor,
    seed: u64,
) -> Result<Measurements, EvaluationError> {
    let needed = |one: &Experiment| request.claims.iter().any(|c| c.measure.experiment() == *one);
    let mut measurements = Measurements { seed, ..Measurements::default() };
    for experiment in Experiment::ALL.into_iter().filter(needed) {
        if monitor.stopped() {
            return Err(EvaluationError::Interrupted);
        }
        monitor.start(&format!("{}: {}, seed {seed}", experiment.id(), experiment.title()));
        measurements.run(experiment, request.effort)?;
    }
    Ok(measurements)
}

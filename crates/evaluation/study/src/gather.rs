//! The evidence of a paper's claims: simulations of points, and experiments.

use heddle_claims::{Claim, Effort, Extent, Monitor, Progress, Request};

use crate::grid;
use crate::paper::{EvaluationError, Evidence, Experiment as _, Measure, Outcomes, SimulatedPaper};
use crate::point::{Point as _, Results, cells_under, in_order};

/// Simulates the points and runs the experiments that some claims need; runs are kept in `runs/`
/// below the request's folder.
///
/// # Errors
/// If the monitor stops it or a result cannot be kept.
pub fn gather<P: SimulatedPaper>(
    request: &Request<'_, P>,
    monitor: &dyn Monitor,
) -> Result<Evidence<P>, EvaluationError> {
    let effort = request.effort;
    let changes = request.profile.changes();
    let curves = match request.extent {
        Extent::Whole => P::curves(effort),
        Extent::Claims => Vec::new(),
    };
    let points =
        in_order(request.claims.iter().flat_map(|claim| claim.measure.points()).chain(curves));
    let cells = cells_under(&points, effort, &changes)?;
    let runs = grid::run_in(request.folder, &cells, monitor)?;
    let results = Results::new(&points, effort, runs);
    let experiments = experiments::<P>(&request.claims, effort, &changes, monitor)?;
    let graph = P::whole_fabric().changed(effort, &changes)?.fabric.graph;
    Ok(Evidence { results, experiments, graph })
}

/// One run of an experiment.
struct Plan<E> {
    experiment: E,
    seed: u64,
    /// The first claim that needs it, and the seed.
    label: String,
}

/// The experiments that the claims need, each once with each of its seeds.
fn plans<P: SimulatedPaper>(
    claims: &[&Claim<Measure<P>>],
    effort: Effort,
) -> Vec<Plan<P::Experiment>> {
    let mut plans: Vec<Plan<P::Experiment>> = Vec::new();
    for claim in claims {
        let Some(experiment) = claim.measure.experiment() else { continue };
        if plans.iter().any(|plan| plan.experiment == experiment) {
            continue;
        }
        plans.extend(experiment.seeds(effort).iter().map(|&seed| {
            let label = format!("{}: {}, seed {seed}", claim.id, claim.text);
            Plan { experiment, seed, label }
        }));
    }
    plans
}

/// Runs each experiment that the claims need. The monitor counts each as one unit of work.
fn experiments<P: SimulatedPaper>(
    claims: &[&Claim<Measure<P>>],
    effort: Effort,
    changes: &[(&str, &str)],
    monitor: &dyn Monitor,
) -> Result<Outcomes<P::Experiment>, EvaluationError> {
    let plans = plans::<P>(claims, effort);
    let note = |run: usize, done: usize| {
        let (part, hops) = if done > run { (1.0, 1) } else { (0.0, 0) };
        let label = &plans[run].label;
        monitor.progress(Progress { done, runs: plans.len(), run, label, part, hops });
    };
    let mut outcomes: Outcomes<P::Experiment> = Vec::new();
    for (run, &Plan { experiment, seed, .. }) in plans.iter().enumerate() {
        if monitor.stopped() {
            return Err(EvaluationError::Interrupted);
        }
        note(run, run);
        outcomes.push((experiment, experiment.run(seed, changes)?));
        note(run, run + 1);
    }
    Ok(outcomes)
}

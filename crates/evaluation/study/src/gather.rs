//! The evidence of a paper's claims: simulations of points, and experiments.

use heddle_claims::{Claim, Effort, Extent, Monitor, Request};

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

/// Runs each experiment that the claims need.
fn experiments<P: SimulatedPaper>(
    claims: &[&Claim<Measure<P>>],
    effort: Effort,
    changes: &[(&str, &str)],
    monitor: &dyn Monitor,
) -> Result<Outcomes<P::Experiment>, EvaluationError> {
    let mut outcomes: Outcomes<P::Experiment> = Vec::new();
    for experiment in claims.iter().filter_map(|claim| claim.measure.experiment()) {
        if outcomes.iter().any(|(done, _)| *done == experiment) {
            continue;
        }
        for &seed in experiment.seeds(effort) {
            if monitor.stopped() {
                return Err(EvaluationError::Interrupted);
            }
            outcomes.push((experiment, experiment.run(seed, changes)?));
        }
    }
    Ok(outcomes)
}

//! A cell in both programs: the experiment of its two claims.

use heddle_claims::Effort;
use heddle_scenario::load;
use heddle_sim::{FlowRecord, Next, simulate};
use heddle_study::paper::{EvaluationError, Experiment};

use super::cells::Cell;
use super::measured::{Measured, Ratios};
use super::reference;

impl Experiment for Cell {
    type Outcome = Measured;

    /// At most as many as are recorded.
    fn seeds(self, effort: Effort) -> &'static [u64] {
        let seeds = effort.seeds();
        &seeds[..seeds.len().min(reference::SEEDS)]
    }

    /// There is one profile, which changes nothing.
    fn run(self, seed: u64, _: &[(&str, &str)]) -> Result<Measured, EvaluationError> {
        let (heddle, htsim) = (simulated(self, seed)?, reference::ratios(self, seed)?);
        Ok(Measured { seed, heddle, htsim })
    }
}

/// Completion times in Heddle over ideal ones.
fn simulated(cell: Cell, seed: u64) -> Result<Ratios, EvaluationError> {
    let files = |_: &str| Ok(cell.flows(seed));
    let scenario = load(&cell.source(), &files)?;
    let outcome = simulate(&scenario, seed, &mut |_| Next::Continue)?;
    let ratio = |flow: &FlowRecord| flow.fct.as_secs_f64() / flow.ideal_fct.as_secs_f64();
    let ratios: Vec<f64> = outcome.flows.iter().map(ratio).collect();
    let unfinished = outcome.unfinished.len();
    Ratios::of(&ratios).filter(|_| unfinished == 0).ok_or_else(|| {
        let label = cell.label(seed);
        EvaluationError::Reference(format!("{label}: {unfinished} flows did not finish in Heddle"))
    })
}

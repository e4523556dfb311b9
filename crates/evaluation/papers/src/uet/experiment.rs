//! A cell in both programs: the experiment of its two claims.

use heddle_claims::Effort;
use heddle_scenario::load;
use heddle_sim::{FlowRecord, Next, simulate};
use heddle_study::paper::{EvaluationError, Experiment};
use heddle_units::{Bytes, Rate, Time};

use super::alone::{Distance, Timed, over_alone};
use super::cells::{Cell, Links, Pair};
use super::measured::{Measured, Ratios};
use super::reference;

/// Delay and rate of each link, and an acknowledgement on it.
const DELAY: Time = Time::micros(1);
const RATE: Rate = Rate::gbps(100);
const ACK: Bytes = Bytes(64);

impl Experiment for Cell {
    type Outcome = Measured;

    /// At most as many as are recorded.
    fn seeds(self, effort: Effort) -> &'static [u64] {
        let seeds = effort.seeds();
        &seeds[..seeds.len().min(reference::SEEDS)]
    }

    /// There is one profile, which changes nothing.
    fn run(self, seed: u64, _: &[(&str, &str)]) -> Result<Measured, EvaluationError> {
        let ratios = over_alone(self, seed, |pairs, links| simulated(self, (pairs, links), seed))?;
        let heddle = Ratios::of(&ratios)
            .ok_or_else(|| EvaluationError::Reference(format!("{}: no flows", self.label(seed))))?;
        Ok(Measured { seed, heddle, htsim: reference::ratios(self, seed)? })
    }
}

/// Completion times in Heddle.
fn simulated(
    cell: Cell,
    (pairs, links): (&[Pair], Links),
    seed: u64,
) -> Result<Vec<Timed>, EvaluationError> {
    let files = |_: &str| Ok(cell.flows_of(pairs));
    let scenario = load(&cell.source_over(links), &files)?;
    let outcome = simulate(&scenario, seed, &mut |_| Next::Continue)?;
    match outcome.unfinished.len() {
        0 => Ok(outcome.flows.iter().map(acknowledged).collect()),
        count => Err(EvaluationError::Reference(format!(
            "{}: {count} flows did not finish in Heddle",
            cell.label(seed)
        ))),
    }
}

/// Completion by the sender's last acknowledgement, as in uet-htsim: later than by the last byte by
/// the time of an acknowledgement in an empty fabric, since ports send it before data.
fn acknowledged(flow: &FlowRecord) -> Timed {
    let pair = (flow.from, flow.to);
    let time = flow.fct + (DELAY + RATE.time_for(ACK)) * u64::from(Distance::of(pair).links);
    Timed { pair, micros: time.as_secs_f64() * 1e6 }
}

//! A run of the engine that reports its progress to a page.

use heddle_sim::{Next, Recording, simulate_recorded};
use heddle_study::remarks::remarks;
use heddle_study::steady::Steadiness;
use heddle_study::summary::RunSummary;
use serde::Serialize;

use crate::choice::Choice;
use crate::live::{Listener, Live};
use crate::{message, prepare};

/// Results of a run.
#[derive(Debug, Serialize)]
pub struct Finished {
    /// The summary, as in `summary.json`. The processor time is 0: a module has no clock.
    pub summary: RunSummary,
    /// The measured steadiness, as in `over_seeds.steadiness`.
    pub steadiness: Steadiness,
    /// Its state in words.
    pub state: &'static str,
    /// Warnings to read before figures are compared.
    pub remarks: Vec<String>,
}

/// Runs a choice with its first seed. Recording changes nothing that is simulated.
///
/// # Errors
/// The command line's message, if the scenario is wrong or cannot run.
pub fn run(choice: &Choice, listener: &mut impl Listener) -> Result<Finished, String> {
    let (_, scenario) = choice.resolve().map_err(|error| message(&error))?;
    let seed = prepare::seed_of(&scenario);
    let map = prepare::map(&scenario);
    let mut live = Live::new(&scenario, &map, listener);
    let recording = Recording::default();
    let outcome =
        simulate_recorded(&scenario, seed, (&recording, &mut live), &mut |_| Next::Continue)
            .map_err(|error| format!("error: {error}"))?;
    live.finish(outcome.totals.simulated);
    let summary = RunSummary::new(&scenario, seed, &outcome, 0.0);
    let runs = std::slice::from_ref(&summary);
    let (remarks, steadiness) = (remarks(&[(scenario.scheme.name(), runs)]), Steadiness::of(runs));
    Ok(Finished { state: steadiness.text(), steadiness, remarks, summary })
}

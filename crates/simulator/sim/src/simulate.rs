//! Entry point: runs a scenario.

use heddle_policy::Scheme;
use heddle_scenario::Scenario;

use crate::outcome::Outcome;
use crate::progress::{Next, Progress, SimError};
use crate::recording::{Recorder, Recording};
use crate::schemes;
use crate::simulation::Simulation;

/// Runs a scenario with one seed. `watch` is called every 2^18 events, and at the end.
///
/// # Errors
/// [`SimError`], before anything runs unless `watch` stops it.
pub fn simulate(
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    run(scenario, seed, None, watch)
}

/// The same run, details of which go to a recorder. Under [`heddle_scenario::Scheme::Ideal`] there
/// are none of the graph's links to capture.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_recorded(
    scenario: &Scenario,
    seed: u64,
    (recording, recorder): (&Recording, &mut dyn Recorder),
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    run(scenario, seed, Some((recording, recorder)), watch)
}

fn run<'a>(
    scenario: &'a Scenario,
    seed: u64,
    recorded: Recorded<'a>,
    watch: &'a mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    schemes::dispatch(&scenario.scheme, seed, Run { scenario, seed, recorded, watch })?
}

/// Recordings asked for, and the recorder.
type Recorded<'a> = Option<(&'a Recording, &'a mut dyn Recorder)>;

/// Runs a scenario with the policy `S` in place of the policy of its scheme: another implementation
/// of the same scheme, to be compared by [`Outcome::digest`]. Of the scheme the scenario gives what
/// hosts do; `config` is the policy's.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with<S: Scheme>(
    scenario: &Scenario,
    config: S::Config,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    use schemes::WithScheme as _;
    Run { scenario, seed, recorded: None, watch }.with::<S>(config)
}

/// A run before the selection of its scheme.
struct Run<'a> {
    scenario: &'a Scenario,
    seed: u64,
    recorded: Recorded<'a>,
    watch: &'a mut dyn FnMut(Progress<'_>) -> Next,
}

impl schemes::WithScheme for Run<'_> {
    type Output = Result<Outcome, SimError>;

    fn with<S: Scheme>(self, config: S::Config) -> Self::Output {
        let simulation = Simulation::<S>::new(self.scenario, config, self.seed)?;
        let mut simulation = simulation.recorded(self.recorded);
        simulation.run(self.watch)?;
        Ok(simulation.finish())
    }
}

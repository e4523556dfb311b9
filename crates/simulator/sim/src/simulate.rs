//! Entry point: runs a scenario.

use heddle_policy::Scheme;
use heddle_scenario::{Scenario, Transport};
use heddle_transport::mptcp::MptcpConnection;
use heddle_transport::{Connection, Group, MixedConnection, TcpConnection};

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
    watch: &mut dyn FnMut(Progress) -> Next,
) -> Result<Outcome, SimError> {
    run(scenario, seed, None, watch)
}

/// The same run, details of which go to a recorder. Under [`heddle_scenario::Scheme::Ideal`] there are none of the graph's links to capture.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_recorded(
    scenario: &Scenario,
    seed: u64,
    (recording, recorder): (&Recording, &mut dyn Recorder),
    watch: &mut dyn FnMut(Progress) -> Next,
) -> Result<Outcome, SimError> {
    run(scenario, seed, Some((recording, recorder)), watch)
}

fn run<'a>(
    scenario: &'a Scenario,
    seed: u64,
    recorded: Recorded<'a>,
    watch: &'a mut dyn FnMut(Progress) -> Next,
) -> Result<Outcome, SimError> {
    if let Some(transport) = groups(scenario) {
        let run = Run::<MixedConnection> { scenario, transport, seed, recorded, watch };
        return schemes::dispatch(&scenario.scheme, seed, run)?;
    }
    match scenario.transport {
        Transport::Tcp(transport) => {
            let run = Run::<TcpConnection> { scenario, transport, seed, recorded, watch };
            schemes::dispatch(&scenario.scheme, seed, run)?
        }
        Transport::Mptcp(mptcp) => {
            let transport = mptcp.into();
            let run = Run::<MptcpConnection> { scenario, transport, seed, recorded, watch };
            schemes::dispatch(&scenario.scheme, seed, run)?
        }
    }
}

/// What to record, and the recorder.
type Recorded<'a> = Option<(&'a Recording, &'a mut dyn Recorder)>;

/// Protocols of the workloads, if one has a protocol of its own.
fn groups(scenario: &Scenario) -> Option<Vec<Group>> {
    let transports = scenario.transports();
    if transports.iter().all(|transport| *transport == scenario.transport) {
        return None;
    }
    let group = |transport: &Transport| match *transport {
        Transport::Tcp(tcp) => Group::Tcp(tcp),
        Transport::Mptcp(mptcp) => Group::Mptcp(mptcp.into()),
    };
    Some(transports.iter().map(group).collect())
}

/// Runs a scenario with the policy `S` in place of the policy of its scheme: another implementation of the same scheme, to be compared by
/// [`Outcome::digest`]. Of the scheme the scenario gives what hosts do; `config` is the policy's.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with<S: Scheme>(
    scenario: &Scenario,
    config: S::Config,
    seed: u64,
    watch: &mut dyn FnMut(Progress) -> Next,
) -> Result<Outcome, SimError> {
    use schemes::WithScheme as _;
    if let Some(transport) = groups(scenario) {
        let run = Run::<MixedConnection> { scenario, transport, seed, recorded: None, watch };
        return run.with::<S>(config);
    }
    match scenario.transport {
        Transport::Tcp(transport) => {
            Run::<TcpConnection> { scenario, transport, seed, recorded: None, watch }
                .with::<S>(config)
        }
        Transport::Mptcp(mptcp) => {
            let transport = mptcp.into();
            Run::<MptcpConnection> { scenario, transport, seed, recorded: None, watch }
                .with::<S>(config)
        }
    }
}

/// A run before the selection of its scheme.
struct Run<'a, C: Connection> {
    scenario: &'a Scenario,
    transport: C::Config,
    seed: u64,
    recorded: Recorded<'a>,
    watch: &'a mut dyn FnMut(Progress) -> Next,
}

impl<C: Connection> schemes::WithScheme for Run<'_, C> {
    type Output = Result<Outcome, SimError>;

    fn with<S: Scheme>(self, config: S::Config) -> Self::Output {
        let simulation = Simulation::<S, C>::new(self.scenario, config, self.transport, self.seed)?;
        let mut simulation = simulation.recorded(self.recorded);
        simulation.run(self.watch)?;
        Ok(simulation.finish())
    }
}

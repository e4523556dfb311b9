//! Running a scenario.

use heddle_fabric::FabricError;
use heddle_policy::Scheme;
use heddle_policy::cflb::CodecError;
use heddle_scenario::{Scenario, Transport};
use heddle_transport::mptcp::MptcpEnds;
use heddle_transport::{Ends, TcpEnds};
use heddle_units::Time;

use crate::outcome::Outcome;
use crate::schemes;
use crate::simulation::Simulation;

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The graph.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Constants of CFLB that make no codec.
    #[error(transparent)]
    Cflb(#[from] CodecError),
    /// The caller's progress function said [`Next::Stop`].
    #[error("interrupted")]
    Interrupted,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Packet-hops so far.
    pub packet_hops: u64,
    /// Share of the run that is done, 0 to 1: by measured flows or by time, as the scenario's end is given.
    pub done: f64,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Yes.
    Continue,
    /// No: [`simulate`] returns [`SimError::Interrupted`].
    Stop,
}

/// Runs a scenario with one seed. `watch` is called now and then (every 2^18 events), and at the end.
///
/// # Errors
/// [`SimError`], before anything runs unless `watch` stops it.
pub fn simulate(
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress) -> Next,
) -> Result<Outcome, SimError> {
    match scenario.transport {
        Transport::Tcp(transport) => {
            let run = Run::<TcpEnds> { scenario, transport, seed, watch };
            schemes::dispatch(&scenario.scheme, seed, run)?
        }
        Transport::Mptcp(mptcp) => {
            let run = Run::<MptcpEnds> { scenario, transport: mptcp.into(), seed, watch };
            schemes::dispatch(&scenario.scheme, seed, run)?
        }
    }
}

/// A run that waits for its scheme.
struct Run<'a, E: Ends> {
    scenario: &'a Scenario,
    transport: E::Config,
    seed: u64,
    watch: &'a mut dyn FnMut(Progress) -> Next,
}

impl<E: Ends> schemes::WithScheme for Run<'_, E> {
    type Output = Result<Outcome, SimError>;

    fn with<S: Scheme>(self, config: S::Config) -> Self::Output {
        let mut simulation =
            Simulation::<S, E>::new(self.scenario, config, self.transport, self.seed)?;
        simulation.run(self.watch)?;
        Ok(simulation.finish())
    }
}

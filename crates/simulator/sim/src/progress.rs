//! Progress and errors of a run.

use heddle_fabric::FabricError;
use heddle_policy::cflb::CodecError;
use heddle_units::Time;

use crate::outcome::Outcome;

/// Error of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// A graph that makes no fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// CFLB constants that make no codec.
    #[error(transparent)]
    Cflb(#[from] CodecError),
    /// A scheme in a shared library that cannot be run, or whose steps cannot be used.
    #[error("{0}")]
    External(String),
    /// More samples than a run keeps.
    #[error(
        "there are more samples of ports than a run keeps, {0}: give a longer `measure.sample_every`"
    )]
    Samples(usize),
    /// A run that cannot be divided among threads.
    #[error("it cannot be divided among threads: {0}")]
    Indivisible(&'static str),
    /// The caller's progress function returned [`Next::Stop`].
    #[error("interrupted")]
    Interrupted,
}

/// A run that goes on.
pub(crate) trait Running {
    /// Its results so far.
    fn so_far(&self) -> Outcome;
}

/// Progress of a run.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// Simulated time.
    pub now: Time,
    /// Packet hops so far.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Completed share of the run's work, 0 to 1: packet hops by those that the flows are expected to
    /// take.
    pub done: f64,
    pub(crate) run: Option<&'a dyn Running>,
}

impl Progress<'_> {
    /// The results of the run so far, as if it ended now: flows under way are unfinished. They take
    /// the time of a copy of flows and samples, and change nothing in the run. `None` of a run that
    /// is divided among threads.
    pub fn so_far(&self) -> Option<Outcome> {
        self.run.map(Running::so_far)
    }
}

/// Decision of the progress function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Continue the run.
    Continue,
    /// Stop the run: [`crate::simulate`] returns [`SimError::Interrupted`].
    Stop,
}

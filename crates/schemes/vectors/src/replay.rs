//! Comparison of an implementation with a trace.

use std::fmt;

use crate::counts::{Counts, counts};
use crate::file::Trace;
use crate::output::Output;
use crate::reference::Target;

/// Difference of an implementation from a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Another decision.
    Decision {
        /// Number of the step, from 0.
        step: usize,
        /// The trace's.
        expected: Box<Output>,
        /// The implementation's.
        actual: Box<Output>,
    },
    /// Another state.
    State {
        /// Number of the step, from 0.
        step: usize,
        /// The trace's digest.
        expected: u64,
        /// The implementation's.
        actual: u64,
    },
    /// Other counters at the end.
    Counters {
        /// The trace's.
        expected: Counts,
        /// The implementation's.
        actual: Counts,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Decision { step, expected, actual } => {
                write!(to, "step {step}: {expected:?} expected, {actual:?} decided")
            }
            Mismatch::State { step, expected, actual } => {
                write!(to, "step {step}: state {expected:016x} expected, {actual:016x} found")
            }
            Mismatch::Counters { expected, actual } => {
                write!(to, "counters: {expected:?} expected, {actual:?} found")
            }
        }
    }
}

impl std::error::Error for Mismatch {}

/// Runs a trace on a fresh switch.
///
/// # Errors
/// The first difference.
pub fn replay(trace: &Trace, target: &mut dyn Target) -> Result<(), Mismatch> {
    for (step, expected) in trace.steps.iter().enumerate() {
        let actual = target.step(expected.now, expected.rnd, &expected.input);
        if actual != expected.output {
            let expected = Box::new(expected.output.clone());
            return Err(Mismatch::Decision { step, expected, actual: Box::new(actual) });
        }
        let (expected, actual) = (expected.state, target.digest());
        if actual != expected {
            return Err(Mismatch::State { step, expected, actual });
        }
    }
    let (expected, actual) = (trace.counters.clone(), counts(&target.counters()));
    if actual != expected { Err(Mismatch::Counters { expected, actual }) } else { Ok(()) }
}

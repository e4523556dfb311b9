//! Schemes written in Python: a class with the steps of [`heddle_policy::Scheme`], called for each
//! of them.
//!
//! A run holds the interpreter's lock: each step is Python's, and the interpreter itself lets other
//! threads in between. The first exception ends the run; no step is called after it, and the engine
//! stops at its next look at the progress.

mod class;
mod ports;
mod steps;
mod types;

use std::rc::Rc;

use heddle_scenario::{Scenario, Scheme};
use heddle_sim::{Next, Outcome, Progress, SimError, simulate_with};
use heddle_study::cpu_time::thread_seconds;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::{SimulationError, of_run};
use crate::made::Made;
use crate::watch::Watch;

pub(crate) use class::{Class, files, is_class};
pub(crate) use ports::Ports;
use steps::{InPython, Shared};
pub(crate) use types::{
    Handshake, Packet, Probe, ProbeArrival, Step, Switch, mix_hash, pick_index,
};

/// Simulates a scenario whose scheme is a class; `so_far` makes results of an outcome. Gives the
/// processor time in seconds, too.
pub(crate) fn simulate(
    class: &Bound<'_, PyType>,
    scenario: &Scenario,
    seed: u64,
    (watch, so_far): (&Watch, &dyn Fn(&Outcome) -> Made),
) -> PyResult<(Outcome, f64)> {
    let Scheme::External(external) = &scenario.scheme else {
        return Err(SimulationError::new_err("the scheme is no class of Python"));
    };
    let (py, shared) = (class.py(), Rc::new(Shared::new(class, external, watch)?));
    let mut progress = |progress: Progress<'_>| {
        // Other threads take the lock in calls of Python; where there are none for long, here.
        py.detach(|| ());
        if shared.has_failed() { Next::Stop } else { watch.note(progress, so_far) }
    };
    let run = match shared.reads_handshakes() {
        true => simulate_with::<InPython<'_, true>>,
        false => simulate_with::<InPython<'_, false>>,
    };
    let start = thread_seconds();
    let outcome = run(scenario, shared.clone(), seed, &mut progress);
    if let Some(failure) = shared.take_failure() {
        return Err(failure);
    }
    if watch.is_stopped() {
        // Its last steps may be none of the scheme's.
        return Err(of_run(&SimError::Interrupted));
    }
    Ok((outcome.map_err(|error| of_run(&error))?, thread_seconds() - start))
}

//! The command line's errors as exceptions.

use heddle_sim::SimError;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

pyo3::create_exception!(heddle._core, HeddleError, PyException, "Any error of Heddle's own.");
pyo3::create_exception!(
    heddle._core,
    ScenarioError,
    HeddleError,
    "A scenario that cannot be used. `file`, `line` (or None), `key`, `reason` and `fix` (or None) say where, what, and what to do."
);
pyo3::create_exception!(
    heddle._core,
    SimulationError,
    HeddleError,
    "A scenario that cannot be run."
);
pyo3::create_exception!(
    heddle._core,
    Interrupted,
    HeddleError,
    "A run that its `Watch` has stopped."
);

/// The exception of a scenario's error, with its parts as attributes.
pub(crate) fn of_scenario(py: Python<'_>, error: &heddle_scenario::ScenarioError) -> PyErr {
    let error = error.clone().with_override_source("a setting");
    let exception = ScenarioError::new_err(error.to_string());
    let value = exception.value(py);
    let set = || {
        value.setattr("file", error.file())?;
        value.setattr("line", error.line())?;
        value.setattr("key", error.key())?;
        value.setattr("reason", error.message())?;
        value.setattr("fix", error.help())
    };
    match set() {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// The exception of a run's error.
pub(crate) fn of_run(error: &SimError) -> PyErr {
    match error {
        SimError::Interrupted => Interrupted::new_err("the run was stopped"),
        error => SimulationError::new_err(error.to_string()),
    }
}

/// The exception of a file's error.
pub(crate) fn of_file(error: &heddle_claims::files::FileError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

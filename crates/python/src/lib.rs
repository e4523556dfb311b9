//! The simulator and its studies as a Python module: `heddle._core`, on which the package in
//! `python/heddle` builds.
//!
//! Nothing here decides anything: scenarios are resolved, run, kept and drawn by the same crates as
//! in `heddle`, so that results are the command line's to the bit. Simulations run without the
//! interpreter's lock, unless their scheme is in Python.

mod errors;
mod fabric;
mod made;
mod mptcp;
mod plan;
mod reproduce;
mod run;
mod scenario;
mod scheme;
mod store;
mod table;
mod watch;

/// See the crate.
#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::errors::{HeddleError, Interrupted, ScenarioError, SimulationError};
    #[pymodule_export]
    use crate::fabric::Fabric;
    #[pymodule_export]
    use crate::mptcp::{mptcp_parse, mptcp_token};
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::reproduce::reproduce;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::scenario::{Scenario, schema, toml_of_json};
    #[pymodule_export]
    use crate::scheme::{
        Handshake, Packet, Ports, Probe, ProbeArrival, Step, Switch, mix_hash, pick_index,
    };
    #[pymodule_export]
    use crate::store::Store;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::watch::Watch;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("engine_digest", heddle_sim::engine_digest())
    }
}

//! The switches' data planes: what forwards packets between the ports of a switch.

mod kernel;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_scenario::Scenario;
use serde::Serialize;

pub use kernel::Kernel;

use crate::EmulationError;
use crate::network::Network;

/// A data plane to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The kernel's multipath routes.
    Kernel,
}

impl Kind {
    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
        }
    }

    /// Checks that it can forward by the scenario's scheme.
    ///
    /// # Errors
    /// The key that it cannot honour.
    pub fn check(self, scenario: &Scenario) -> Result<(), Problem> {
        match self {
            Kind::Kernel => kernel::check(scenario),
        }
    }

    /// A data plane for a network.
    pub fn create(self) -> Box<dyn DataPlane> {
        match self {
            Kind::Kernel => Box::new(Kernel),
        }
    }
}

/// Sums over all switches of what a data plane counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneCounters {
    /// What the schemes count.
    pub scheme: heddle_policy::Counters,
    /// Probes sent.
    pub probes: u64,
    /// Bytes of probes sent.
    pub probe_bytes: u64,
}

/// What forwards packets in the switches' namespaces.
pub trait DataPlane {
    /// Makes all switches forward, by these routes.
    ///
    /// # Errors
    /// If the kernel or a program refuses.
    fn start(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError>;

    /// The control plane has found other routes, after a failure or a recovery.
    ///
    /// # Errors
    /// If the kernel or a program refuses.
    fn reroute(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError>;

    /// What was counted so far.
    ///
    /// # Errors
    /// If a program does not answer.
    fn counters(&self, network: &Network) -> Result<PlaneCounters, EmulationError>;
}

//! The switches' data planes: what forwards packets between the ports of a switch.

mod bird;
mod bmv2;
mod ebpf;
mod files;
mod kernel;
mod options;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_scenario::Scenario;
use serde::Serialize;

pub use bmv2::Bmv2;
pub use ebpf::Ebpf;
pub(crate) use files::{fabric as fabric_file, postcards as postcards_file};
pub use kernel::Kernel;
pub use options::{Options, RouteSource, Unusable};

use crate::EmulationError;
use crate::network::Network;
use crate::postcards::Paths;

/// A data plane to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The kernel's multipath routes.
    Kernel,
    /// A `heddle-switch` in each switch's namespace.
    Ebpf,
    /// A BMv2 switch with the scheme's P4 program in each switch's namespace.
    Bmv2,
}

impl Kind {
    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Kernel => "kernel",
            Kind::Ebpf => "ebpf",
            Kind::Bmv2 => "bmv2",
        }
    }

    /// Checks that it can forward by the scenario's scheme.
    ///
    /// # Errors
    /// The key that it cannot honour.
    pub fn check(self, scenario: &Scenario) -> Result<(), Problem> {
        match self {
            Kind::Kernel => kernel::check(scenario),
            Kind::Ebpf => ebpf::check(scenario),
            Kind::Bmv2 => bmv2::check(scenario),
        }
    }

    /// Checks that the programs that it starts are installed.
    ///
    /// # Errors
    /// The first that is missing.
    pub fn check_programs(self) -> Result<(), Missing> {
        match self {
            Kind::Kernel => Ok(()),
            Kind::Ebpf => ebpf::check_programs(),
            Kind::Bmv2 => bmv2::check_programs(),
        }
    }

    /// A data plane for a network, with options that it has been checked for.
    pub fn create(self, options: Options) -> Box<dyn DataPlane> {
        match self {
            Kind::Kernel => Box::new(Kernel),
            Kind::Ebpf => Box::new(Ebpf::new(options)),
            Kind::Bmv2 => Box::new(Bmv2::default()),
        }
    }
}

/// A program that a data plane takes and that is not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The program.
    pub what: String,
    /// The way to get it.
    pub help: String,
}

impl Missing {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Missing {
        Missing { what: what.into(), help: help.into() }
    }
}

/// Sums over all switches of what a data plane counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneCounters {
    /// The schemes' counters.
    pub scheme: heddle_policy::Counters,
    /// Probes sent.
    pub probes: u64,
    /// Bytes of probes sent.
    pub probe_bytes: u64,
}

/// The data plane in the switches' namespaces.
pub trait DataPlane {
    /// Makes all switches forward, by these routes.
    ///
    /// # Errors
    /// If the kernel or a program refuses.
    fn start(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError>;

    /// The control plane has found other routes, after a failure or a recovery; `down` are the
    /// links that are down.
    ///
    /// # Errors
    /// If the kernel or a program refuses.
    fn reroute(
        &mut self,
        network: &Network,
        routes: &Routes,
        down: &[u32],
    ) -> Result<(), EmulationError>;

    /// The counts so far.
    ///
    /// # Errors
    /// If a program does not answer.
    fn counters(&self, network: &Network) -> Result<PlaneCounters, EmulationError>;

    /// The paths of flows by the switches' postcards, if there are any; `start` is the monotonic
    /// clock at the run's time 0, in nanoseconds.
    ///
    /// # Errors
    /// If they cannot be read.
    fn paths(&self, _network: &Network, _start: u64) -> Result<Option<Paths>, EmulationError> {
        Ok(None)
    }

    /// Goes on when the value goes: for a fabric that stays up.
    fn keep(&mut self) {}
}

//! `heddle-switch` in each switch's namespace: the schemes in eBPF.

use std::ffi::OsString;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_scenario::{CflbField, Scenario, Scheme};

use super::{DataPlane, PlaneCounters, files};
use crate::EmulationError;
use crate::daemons::Daemons;
use crate::network::Network;
use crate::state;

/// A daemon for each switch.
#[derive(Debug)]
pub struct Ebpf(Daemons);

impl Default for Ebpf {
    fn default() -> Ebpf {
        Ebpf(Daemons::new("heddle-switch", "the switch runs"))
    }
}

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    match &scenario.scheme {
        Scheme::Ecmp | Scheme::Hula(_) | Scheme::MpHula(_) => Ok(()),
        Scheme::Cflb(cflb) if matches!(cflb.constants.field, CflbField::SourcePort { .. }) => {
            Ok(())
        }
        Scheme::Cflb(_) => {
            Err(Problem::at("scheme.field", "hosts' kernels choose source ports only")
                .help("scheme = { kind = \"cflb\", field = \"source-port\" }"))
        }
        other => {
            let message = format!("no eBPF switch of the lab runs {}", other.name());
            Err(Problem::at("scheme", message).help("\"ecmp\", \"hula\", \"mp-hula\" or \"cflb\""))
        }
    }
}

impl DataPlane for Ebpf {
    fn start(&mut self, network: &Network, _: &Routes) -> Result<(), EmulationError> {
        files::write(&state::folder(&network.state.name), network)?;
        self.spawn(network)?;
        self.0.wait_until_running(network)
    }

    /// Daemons without probes start again with the scenario as it has become; packets go on meanwhile. The others learn failures from their
    /// probes.
    fn reroute(
        &mut self,
        network: &Network,
        _: &Routes,
        down: &[u32],
    ) -> Result<(), EmulationError> {
        if matches!(network.scenario.scheme, Scheme::Hula(_) | Scheme::MpHula(_)) {
            return Ok(());
        }
        files::write_failed(&state::folder(&network.state.name), network, down)?;
        self.0.end();
        self.spawn(network)
    }

    fn counters(&self, _: &Network) -> Result<PlaneCounters, EmulationError> {
        Ok(PlaneCounters::default())
    }

    fn keep(&mut self) {
        self.0.keep();
    }
}

impl Ebpf {
    fn spawn(&mut self, network: &Network) -> Result<(), EmulationError> {
        for switch in network.switches() {
            let name = &network.fabric.node(switch).name;
            let config = files::config(&state::folder(&network.state.name), name);
            self.0.spawn(network, switch, [OsString::from("run"), config.into()])?;
        }
        Ok(())
    }
}

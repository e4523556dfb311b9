//! `heddle-switch` in each switch's namespace: the schemes in eBPF.

use std::ffi::OsString;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_lab::tools;
use heddle_policy::cflb::Field;
use heddle_program::external::{find, locate};
use heddle_scenario::{Scenario, Scheme};
use serde::Deserialize;

use super::{DataPlane, Missing, Options, PlaneCounters, RouteSource, bird, files};
use crate::EmulationError;
use crate::daemons::Daemons;
use crate::network::Network;
use crate::postcards::Paths;
use crate::state;

/// A daemon for each switch, and BIRD beside it if routes are BIRD's.
#[derive(Debug)]
pub struct Ebpf {
    switches: Daemons,
    birds: Option<Daemons>,
    options: Options,
}

/// The program of a switch.
const PROGRAM: &str = "heddle-switch";

/// The part of `heddle-switch status --json` that a run's results have.
#[derive(Deserialize)]
struct Status {
    counters: Verdicts,
    scheme_counters: heddle_policy::Counters,
}

/// Each probe that crosses a link arrives at a switch, and ends there or goes on.
#[derive(Clone, Copy, Deserialize)]
struct Verdicts {
    probe_taken: Frames,
    probe_forwarded: Frames,
}

#[derive(Clone, Copy, Deserialize)]
struct Frames {
    packets: u64,
    bytes: u64,
}

impl Status {
    fn add_to(&self, sum: &mut PlaneCounters) {
        sum.scheme = [sum.scheme, self.scheme_counters].into_iter().sum();
        let Verdicts { probe_taken, probe_forwarded } = self.counters;
        for Frames { packets, bytes } in [probe_taken, probe_forwarded] {
            sum.probes += packets;
            sum.probe_bytes += bytes;
        }
    }
}

/// Checks that the program is here.
pub(super) fn check_programs() -> Result<(), Missing> {
    let help = "cargo build --release --package heddle-switch, and put target/release on the PATH";
    find(PROGRAM)
        .map(drop)
        .ok_or_else(|| Missing::new(format!("{PROGRAM} is not on the PATH"), help))
}

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    check_scheme(scenario, "eBPF", &Scheme::IN_EBPF)
}

/// Checks that switches that run the schemes `known` can forward by the scenario's.
pub(super) fn check_scheme(
    scenario: &Scenario,
    switches: &str,
    known: &[&str],
) -> Result<(), Problem> {
    match &scenario.scheme {
        Scheme::Cflb(cflb) if !matches!(cflb.constants.field, Field::SourcePort(_)) => {
            Err(Problem::at("scheme.field", "hosts' kernels choose source ports only")
                .help("scheme = { kind = \"cflb\", field = \"source-port\" }"))
        }
        other if !known.contains(&other.name()) => {
            let message = format!("no {switches} switch of the lab runs {}", other.name());
            Err(Problem::at("scheme", message).help(format!("one of {}", known.join(", "))))
        }
        _ => Ok(()),
    }
}

impl DataPlane for Ebpf {
    fn start(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError> {
        files::write(&state::folder(&network.state.name), network, self.options)?;
        if self.options.routes == RouteSource::Bird {
            self.birds = Some(bird::start(network)?);
        }
        self.spawn(network)?;
        self.switches.wait_until_running(network)?;
        match self.birds {
            Some(_) => bird::wait_for(network, routes),
            None => Ok(()),
        }
    }

    /// BIRD finds failures by itself. Daemons without probes start again with the fabric as it has
    /// become; packets go on meanwhile. The others learn failures from their probes.
    fn reroute(
        &mut self,
        network: &Network,
        _: &Routes,
        down: &[u32],
    ) -> Result<(), EmulationError> {
        let has_probes = matches!(
            network.scenario.scheme,
            Scheme::Hula(_) | Scheme::MpHula(_) | Scheme::Shuttle(_)
        );
        if has_probes || self.birds.is_some() {
            return Ok(());
        }
        files::write_failed(&state::folder(&network.state.name), network, down)?;
        self.switches.end();
        self.spawn(network)
    }

    fn counters(&self, network: &Network) -> Result<PlaneCounters, EmulationError> {
        let folder = state::folder(&network.state.name);
        let mut sum = PlaneCounters::default();
        for switch in network.switches() {
            let config = files::config(&folder, &network.fabric.node(switch).name);
            let config = config.display().to_string();
            let program = locate(PROGRAM).display().to_string();
            let json = tools::run(&program, ["--json", "status", &config], "")?;
            let status: Status = serde_json::from_str(&json)
                .map_err(|source| EmulationError::State { what: config, source })?;
            status.add_to(&mut sum);
        }
        Ok(sum)
    }

    fn paths(&self, network: &Network, start: u64) -> Result<Option<Paths>, EmulationError> {
        self.options.postcards.map(|_| Paths::read(network, start)).transpose()
    }

    fn keep(&mut self) {
        self.switches.keep();
        self.birds.iter_mut().for_each(Daemons::keep);
    }
}

impl Ebpf {
    /// None runs yet.
    pub fn new(options: Options) -> Ebpf {
        Ebpf { switches: Daemons::new(PROGRAM, "the switch runs"), birds: None, options }
    }

    fn spawn(&mut self, network: &Network) -> Result<(), EmulationError> {
        for switch in network.switches() {
            let name = &network.fabric.node(switch).name;
            let config = files::config(&state::folder(&network.state.name), name);
            self.switches.spawn(network, switch, [OsString::from("run"), config.into()])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_the_counters_of_probes_is_an_error() {
        let none = serde_json::to_string(&heddle_policy::Counters::default()).unwrap();
        let status = |counters: &str| {
            let json = format!("{{\"counters\": {{{counters}}}, \"scheme_counters\": {none}}}");
            serde_json::from_str::<Status>(&json)
        };
        let taken = "\"probe_taken\": {\"packets\": 2, \"bytes\": 120}";
        let forwarded = "\"probe_forwarded\": {\"packets\": 1, \"bytes\": 60}";
        let mut sum = PlaneCounters::default();
        status(&format!("{taken}, {forwarded}")).unwrap().add_to(&mut sum);
        assert_eq!((sum.probes, sum.probe_bytes), (3, 180));
        let error = status(taken).err().unwrap().to_string();
        assert!(error.contains("missing field `probe_forwarded`"), "{error}");
    }
}

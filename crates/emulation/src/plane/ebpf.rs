//! `heddle-switch` in each switch's namespace: the schemes in eBPF.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_lab::eventually;
use heddle_program::external::locate;
use heddle_scenario::{Scenario, Scheme};

use super::{DataPlane, PlaneCounters, files};
use crate::EmulationError;
use crate::network::Network;
use crate::state;

/// The program.
const PROGRAM: &str = "heddle-switch";

/// Longest time until a switch forwards: the verifier takes some seconds on a busy machine.
const START: Duration = Duration::from_secs(60);

/// The last words of a switch's start, in its log.
const RUNS: &str = "the switch runs";

/// A daemon for each switch.
#[derive(Debug, Default)]
pub struct Ebpf {
    daemons: Vec<Child>,
    is_kept: bool,
}

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    match scenario.scheme {
        Scheme::Ecmp | Scheme::Hula(_) | Scheme::MpHula(_) => Ok(()),
        _ => Err(Problem::at(
            "scheme",
            format!("no eBPF switch of the lab runs {}", scenario.scheme.name()),
        )
        .help("\"ecmp\", \"hula\" or \"mp-hula\"")),
    }
}

impl DataPlane for Ebpf {
    fn start(&mut self, network: &Network, _: &Routes) -> Result<(), EmulationError> {
        let folder = state::folder(&network.state.name);
        files::write(&folder, network)?;
        for switch in network.switches() {
            self.daemons.push(spawn(network, switch)?);
        }
        for (switch, daemon) in network.switches().zip(&mut self.daemons) {
            wait_until_running(network, switch, daemon)?;
        }
        Ok(())
    }

    /// ECMP's daemons start again with the scenario as it has become; packets go on meanwhile. The others learn failures from their probes.
    fn reroute(
        &mut self,
        network: &Network,
        _: &Routes,
        down: &[u32],
    ) -> Result<(), EmulationError> {
        if network.scenario.scheme != Scheme::Ecmp {
            return Ok(());
        }
        files::write_failed(&state::folder(&network.state.name), network, down)?;
        self.end();
        self.daemons =
            network.switches().map(|switch| spawn(network, switch)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn counters(&self, _: &Network) -> Result<PlaneCounters, EmulationError> {
        Ok(PlaneCounters::default())
    }

    fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Ebpf {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        self.end();
    }
}

impl Ebpf {
    fn end(&mut self) {
        for daemon in &mut self.daemons {
            // It may have ended by itself.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// A daemon's output.
fn log(network: &Network, switch: u32) -> PathBuf {
    let name = &network.fabric.node(switch).name;
    state::folder(&network.state.name).join(format!("{name}.log"))
}

fn spawn(network: &Network, switch: u32) -> Result<Child, EmulationError> {
    let name = &network.fabric.node(switch).name;
    let path = log(network, switch);
    let output = File::create(&path).map_err(EmulationError::system(path.display().to_string()))?;
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", network.path(switch).display())).arg(locate(PROGRAM));
    command.arg("run").arg(files::config(&state::folder(&network.state.name), name));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    command.spawn().map_err(EmulationError::system(format!("starting {PROGRAM} of {name}")))
}

fn wait_until_running(
    network: &Network,
    switch: u32,
    daemon: &mut Child,
) -> Result<(), EmulationError> {
    let path = log(network, switch);
    let read = || fs::read_to_string(&path).unwrap_or_default();
    let mut ended = false;
    let running = eventually(START, || {
        ended = daemon.try_wait().ok().flatten().is_some();
        if ended || read().contains(RUNS) { Ok(()) } else { Err(read()) }
    });
    match running {
        Ok(()) if ended => {
            let host = network.fabric.node(switch).name.clone();
            let what = format!("({PROGRAM}) ended: {}", read().trim());
            Err(EmulationError::Host { host, what })
        }
        other => Ok(other?),
    }
}

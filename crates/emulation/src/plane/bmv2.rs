//! BMv2 with the P4 program of the scheme in each switch's namespace, started and filled by
//! `heddle-p4-switch` (`p4/control`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use heddle_config::Problem;
use heddle_fabric::{Routes, switch_addresses};
use heddle_lab::eventually;
use heddle_policy::{Counters, DreShift, Hula, MpHula, Port, Scheme as _, Shuttle, Tor, mix};
use heddle_program::external::find;
use heddle_scenario::{Scenario, Scheme};
use heddle_units::Time;
use serde::Deserialize;

use self::document::{Destination, Role, Switch};
use super::{DataPlane, Missing, Options, PlaneCounters, ebpf, files};
use crate::EmulationError;
use crate::daemons::Daemons;
use crate::network::{Device, Network};
use crate::state;

mod document;

/// Tau of the estimators where no scheme needs them.
const TAU: Time = Time::micros(100_000);

/// A probe's frame without its check sequence.
const PROBE_BYTES: u64 = 60;

/// Longest time until a control plane has written its counters, on a busy machine.
const ANSWER: Duration = Duration::from_secs(60);

/// The program of a switch: BMv2 with its control plane.
const PROGRAM: &str = "heddle-p4-switch";

/// A switch with its control plane in each namespace.
#[derive(Debug)]
pub struct Bmv2(Daemons);

impl Default for Bmv2 {
    fn default() -> Bmv2 {
        Bmv2(Daemons::new(PROGRAM, "the switch runs"))
    }
}

pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    ebpf::check_scheme(scenario, "P4", &Scheme::IN_P4)
}

/// Asks the program whether all that it takes is here.
pub(super) fn check_programs() -> Result<(), Missing> {
    let help = "put the folder p4 of Heddle's sources on the PATH, and run ./x setup p4 there";
    let Some(program) = find(PROGRAM) else {
        return Err(Missing::new(format!("{PROGRAM} is not on the PATH"), help));
    };
    let output = Command::new(program).arg("--check").output();
    let output = output.map_err(|error| Missing::new(format!("{PROGRAM}: {error}"), help))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (what, help) = said.trim().split_once("\nhelp: ").unwrap_or((said.trim(), help));
    Err(Missing::new(what, help))
}

impl DataPlane for Bmv2 {
    fn start(&mut self, network: &Network, routes: &Routes) -> Result<(), EmulationError> {
        if matches!(network.scenario.scheme, Scheme::Cflb(_)) {
            let folder = state::folder(&network.state.name);
            files::write(&folder, network, Options::default())?;
        }
        for switch in network.switches() {
            write(network, switch, routes)?;
            self.0.spawn(network, switch, [path(network, switch).into()])?;
        }
        self.0.wait_until_running(network)
    }

    /// HULA's switches learn failures from their probes; the others read their next hops again.
    fn reroute(
        &mut self,
        network: &Network,
        routes: &Routes,
        _: &[u32],
    ) -> Result<(), EmulationError> {
        if matches!(
            network.scenario.scheme,
            Scheme::Hula(_) | Scheme::MpHula(_) | Scheme::Shuttle(_)
        ) {
            return Ok(());
        }
        for switch in network.switches() {
            write(network, switch, routes)?;
        }
        self.0.reload();
        Ok(())
    }

    fn counters(&self, network: &Network) -> Result<PlaneCounters, EmulationError> {
        let mut sum = PlaneCounters::default();
        let files =
            network.switches().map(|switch| path(network, switch).with_extension("counters"));
        let files: Vec<PathBuf> = files.collect();
        for file in &files {
            // Its control plane writes a new one within half a second.
            fs::remove_file(file).map_err(EmulationError::system(file.display().to_string()))?;
        }
        for file in &files {
            let Counted { scheme, probe_arrivals } = read_counters(file)?;
            sum.scheme = [sum.scheme, scheme].into_iter().sum();
            sum.probes += probe_arrivals;
            sum.probe_bytes += probe_arrivals * PROBE_BYTES;
        }
        Ok(sum)
    }

    fn keep(&mut self) {
        self.0.keep();
    }
}

/// The counters of a switch. Each probe that crosses a link arrives at a switch.
#[derive(Deserialize)]
struct Counted {
    #[serde(flatten)]
    scheme: Counters,
    probe_arrivals: u64,
}

/// Waits for a switch's counters.
fn read_counters(file: &Path) -> Result<Counted, EmulationError> {
    let json = eventually(ANSWER, || {
        let missing = |error| format!("{PROGRAM} has not written {}: {error}", file.display());
        fs::read_to_string(file).map_err(missing)
    })?;
    let what = file.display().to_string();
    serde_json::from_str(&json).map_err(|source| EmulationError::State { what, source })
}

fn path(network: &Network, switch: u32) -> PathBuf {
    let name = &network.fabric.node(switch).name;
    state::folder(&network.state.name).join(format!("{name}.json"))
}

fn write(network: &Network, switch: u32, routes: &Routes) -> Result<(), EmulationError> {
    let path = path(network, switch);
    let failed = EmulationError::system(path.display().to_string());
    let text = serde_json::to_string(&document(network, switch, routes))
        .map_err(|source| EmulationError::State { what: path.display().to_string(), source })?;
    fs::write(&path, text).map_err(failed)
}

/// The document of a switch. `node` is an index of the graph's nodes.
fn document(network: &Network, node: u32, routes: &Routes) -> Switch {
    let fabric = &network.fabric;
    let switch = node - fabric.hosts;
    let seed = first_seed(network);
    let hops = |tor: u32| -> Vec<u16> {
        routes.next_hops(switch, Tor(tor as u16)).iter().map(|port| port.0).collect()
    };
    let Programmed { scheme, tau_shift } = programmed(network);
    let (own_v4, own_v6) = switch_addresses(switch);
    let salt = match scheme {
        // Its router number, which senders know.
        document::Scheme::Cflb(_) => switch,
        _ => mix(mix(seed as u32, (seed >> 32) as u32), switch + 1),
    };
    Switch {
        node: fabric.node(node).name.clone(),
        scheme,
        salt,
        tors: fabric.tors,
        tor: (switch < fabric.tors).then_some(switch),
        tau_shift,
        ports: network.devices(node).map(|device| port(network, &device, tau_shift)).collect(),
        next_hops: (0..fabric.tors).map(hops).collect(),
        destinations: destinations(network, switch),
        icmp_source: vec![own_v4.to_string(), own_v6.to_string()],
    }
}

fn first_seed(network: &Network) -> u64 {
    network.scenario.seeds.first().copied().unwrap_or(1)
}

fn port(network: &Network, device: &Device<'_>, shift: u32) -> document::Port {
    let fabric = &network.fabric;
    let (info, number) = (device.info, device.number as u16);
    let group = fabric.multicast_group(device.node - fabric.hosts, Port(number));
    let rate = fabric.rate_of(info);
    let full = (u128::from(rate.0) << shift) / 8 / 1_000_000_000;
    document::Port {
        number,
        device: device.name(),
        role: match (info.to_host, info.is_up) {
            (true, _) => Role::Host,
            (false, true) => Role::Up,
            (false, false) => Role::Down,
        },
        own_mac: network.own_mac(device).to_string(),
        peer_mac: network.peer_mac(device).to_string(),
        full: u64::try_from(full).unwrap_or(u64::MAX).max(1),
        mtu: network.mtu(device).try_into().unwrap_or(u16::MAX),
        probe_ports: group.iter().map(|port| port.0).collect(),
    }
}

fn destinations(network: &Network, switch: u32) -> Vec<Destination> {
    let fabric = &network.fabric;
    let base = fabric.first_port_of_switch(switch);
    let of_host = |host: u32| {
        let tor = u32::from(fabric.host_tor[host as usize].0);
        let here = tor == switch;
        let port = here.then(|| (fabric.host_port[host as usize] - base) as u16);
        let addresses = network.addresses.of_host(host);
        addresses.into_iter().map(move |ip| Destination { address: ip.to_string(), tor, port })
    };
    network.hosts().flat_map(of_host).collect()
}

/// A scheme with a P4 program.
struct Programmed {
    scheme: document::Scheme,
    /// Logarithm of the estimators' tau in nanoseconds.
    tau_shift: u32,
}

fn programmed(network: &Network) -> Programmed {
    use document::Scheme as Document;

    let any = DreShift::at_least(TAU.as_nanos());
    let (scheme, shift) = match &network.scenario.scheme {
        Scheme::Hula(hula) => (Document::Hula(hula.as_run()), Hula::dre_shift(hula)),
        Scheme::MpHula(mp_hula) => (Document::MpHula(mp_hula.as_run()), MpHula::dre_shift(mp_hula)),
        Scheme::Shuttle(shuttle) => {
            (Document::Shuttle(shuttle.as_run()), Shuttle::dre_shift(shuttle))
        }
        Scheme::Cflb(cflb) => {
            let key = files::key_digits(first_seed(network));
            (Document::Cflb(document::Cflb { constants: cflb.constants, key }), any)
        }
        // `check` has refused schemes without a program.
        _ => (Document::Ecmp(document::Ecmp {}), any),
    };
    Programmed { scheme, tau_shift: shift.0 }
}
#[cfg(test)]
mod tests {
    use serde_json::{Value, json, to_value};

    use super::*;

    #[test]
    fn counters_of_a_switch_without_one_of_the_schemes_are_an_error() {
        let mut whole = to_value(Counters { moves: 3, ..Counters::default() }).unwrap();
        whole["probe_arrivals"] = json!(7);
        let read = |value: &Value| serde_json::from_value::<Counted>(value.clone());
        let counted = read(&whole).unwrap();
        assert_eq!((counted.scheme.moves, counted.probe_arrivals), (3, 7));
        for key in ["moves", "joins", "probe_arrivals"] {
            let mut part = whole.clone();
            part.as_object_mut().unwrap().remove(key);
            let error = read(&part).err().unwrap().to_string();
            assert!(error.contains(&format!("missing field `{key}`")), "{error}");
        }
    }
}

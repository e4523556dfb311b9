//! BMv2 with the P4 program of the scheme in each switch's namespace, started and filled by
//! `heddle-p4-switch` (`p4/control`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use heddle_config::Problem;
use heddle_fabric::Routes;
use heddle_lab::eventually;
use heddle_policy::{Counters, DreShift, Hula, MpHula, Port, Scheme as _, Shuttle, Tor, mix};
use heddle_program::external::find;
use heddle_scenario::{Scenario, Scheme};
use heddle_units::Time;
use serde::Deserialize;
use serde_json::{Value, json, to_value};

use super::{DataPlane, Missing, PlaneCounters, ebpf, files};
use crate::EmulationError;
use crate::daemons::Daemons;
use crate::network::{Device, Network};
use crate::state;

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
            files::write(&state::folder(&network.state.name), network)?;
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

/// What a switch has counted. Each probe that crosses a link arrives at a switch.
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
    let plan = plan(network, switch, routes)
        .map_err(|source| EmulationError::State { what: path.display().to_string(), source })?;
    fs::write(&path, plan.to_string()).map_err(failed)
}

/// The document that `p4/control/heddle_p4/plan.py` reads. `node` is an index of the graph's nodes.
fn plan(network: &Network, node: u32, routes: &Routes) -> Result<Value, serde_json::Error> {
    let fabric = &network.fabric;
    let switch = node - fabric.hosts;
    let seed = network.scenario.seeds.first().copied().unwrap_or(1);
    let hops = |tor: u32| -> Vec<u16> {
        routes.next_hops(switch, Tor(tor as u16)).iter().map(|port| port.0).collect()
    };
    let (config, shift) = scheme(network)?;
    let salt = match network.scenario.scheme {
        // Its router number, which senders know.
        Scheme::Cflb(_) => switch,
        _ => mix(mix(seed as u32, (seed >> 32) as u32), switch + 1),
    };
    Ok(json!({
        "node": fabric.node(node).name,
        "scheme": network.scenario.scheme.name(),
        "config": config,
        "salt": salt,
        "tors": fabric.tors,
        "tor": (switch < fabric.tors).then_some(switch),
        "tau_shift": shift,
        "ports": network.devices(node).map(|device| port(network, &device, shift)).collect::<Vec<_>>(),
        "next_hops": (0..fabric.tors).map(hops).collect::<Vec<_>>(),
        "destinations": destinations(network, switch),
    }))
}

fn port(network: &Network, device: &Device<'_>, shift: u32) -> Value {
    let fabric = &network.fabric;
    let (info, number) = (device.info, device.number as u16);
    let group = fabric.multicast_group(device.node - fabric.hosts, Port(number));
    let rate = fabric.rate_of(info);
    let full = (u128::from(rate.0) << shift) / 8 / 1_000_000_000;
    json!({
        "number": number,
        "device": device.name(),
        "role": match (info.to_host, info.is_up) {
            (true, _) => "host",
            (false, true) => "up",
            (false, false) => "down",
        },
        "own_mac": bits(&network.own_mac(device).to_string()),
        "peer_mac": bits(&network.peer_mac(device).to_string()),
        "full": u64::try_from(full).unwrap_or(u64::MAX).max(1),
        "probe_ports": group.iter().map(|port| port.0).collect::<Vec<_>>(),
    })
}

/// An Ethernet address as a number.
fn bits(mac: &str) -> u64 {
    u64::from_str_radix(&mac.replace(':', ""), 16).unwrap_or(0)
}

fn destinations(network: &Network, switch: u32) -> Vec<Value> {
    let fabric = &network.fabric;
    let base = fabric.first_port_of_switch(switch);
    let of_host = |host: u32| {
        let tor = fabric.host_tor[host as usize].0;
        let here = u32::from(tor) == switch;
        let port = here.then(|| fabric.host_port[host as usize] - base);
        let own = network.addresses.of_host(host);
        own.iter()
            .map(|ip| json!({ "address": ip.to_string(), "tor": tor, "port": port }))
            .collect::<Vec<_>>()
    };
    network.hosts().flat_map(of_host).collect()
}

/// The scheme's parameters under the keys of `vectors/schemes`, and the logarithm of the
/// estimators' tau in nanoseconds.
fn scheme(network: &Network) -> Result<(Value, u32), serde_json::Error> {
    let seed = network.scenario.seeds.first().copied().unwrap_or(1);
    let any = DreShift::at_least(TAU.as_nanos());
    let (config, shift) = match &network.scenario.scheme {
        Scheme::Hula(own) => (to_value(own.as_run())?, Hula::dre_shift(own)),
        Scheme::MpHula(own) => (to_value(own.as_run())?, MpHula::dre_shift(own)),
        Scheme::Shuttle(own) => (to_value(own.as_run())?, Shuttle::dre_shift(own)),
        Scheme::Cflb(own) => {
            let mut config = to_value(own.constants)?;
            config["key"] = files::key_digits(seed).into();
            (config, any)
        }
        _ => (json!({}), any),
    };
    Ok((config, shift.0))
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{Source, load};

    use super::*;

    /// A scenario whose scheme is Shuttle with these keys.
    fn with_shuttle(keys: &str) -> Scenario {
        let text = format!(
            "fabric = {{ kind = \"two-pod\" }}\nworkload = {{ kind = \"long\" }}\nmeasure = {{ duration = \"1s\" }}\n\
             scheme = {{ kind = \"shuttle\", {keys} }}\n"
        );
        let none = |_: &str| Err(std::io::Error::other("none"));
        load(&Source::new("a.toml", &text), &none).unwrap()
    }

    /// The keys that `p4/control/heddle_p4/settings.py` reads, as in the traces of
    /// `vectors/schemes`.
    #[test]
    fn shuttles_parameters_are_written_as_in_the_traces() {
        let scenario =
            with_shuttle("full_queue = \"40000B\", range = 4, subflows = \"first-free\"");
        let Scheme::Shuttle(own) = scenario.scheme else { panic!("Shuttle is meant") };
        let written = to_value(own.as_run()).unwrap();
        let words = [("full_queue", "65.536KB"), ("choice", "weighted"), ("tau", "100us")];
        for (key, value) in words {
            assert_eq!(written[key], value, "{key}");
        }
        assert_eq!(written["range"], 4);
        assert_eq!(written["subflows"], "first-free");
        assert_eq!(written["probe_period"], "200us");
    }
}

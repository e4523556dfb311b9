//! The files that `heddle-switch` reads: the fabric as run, with the hosts' addresses, and a
//! configuration for each switch, with the scheme.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use heddle_policy::mix;
use heddle_scenario::{Graph, Scenario, Scheme, cflb_table};
use heddle_units::{Rate, Time};
use serde::Serialize;
use serde_json::Value;

use super::{Options, RouteSource, bird};
use crate::EmulationError;
use crate::network::{Device, Network};
use crate::state;

/// The configuration of a switch.
pub(super) fn config(folder: &Path, switch: &str) -> PathBuf {
    folder.join(format!("{switch}.toml"))
}

/// The fabric file of switches and of the hosts' agents.
pub(crate) fn fabric(folder: &Path) -> PathBuf {
    folder.join(FABRIC)
}

const FABRIC: &str = "fabric.toml";

/// The file of the graph.
const GRAPH: &str = "graph.toml";

/// CFLB's key file.
const KEY: &str = "fabric.key";

/// Writes all files into a folder.
pub(super) fn write(
    folder: &Path,
    network: &Network,
    options: Options,
) -> Result<(), EmulationError> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(EmulationError::system(path.display().to_string()))
    };
    if options.routes == RouteSource::Scenario {
        write(GRAPH, &graph(&network.scenario.fabric.graph)?)?;
        write(FABRIC, &fabric_file(&network.scenario, hosts(network))?)?;
    }
    if let Scheme::Cflb(_) = &network.scenario.scheme {
        write_key(&folder.join(KEY), seed(network))?;
    }
    for switch in network.switches() {
        write(
            &format!("{}.toml", network.fabric.node(switch).name),
            &switch_file(network, switch, options)?,
        )?;
    }
    Ok(())
}

/// The hexadecimal digits of a key made of the seed, for this lab alone.
pub(super) fn key_digits(seed: u64) -> String {
    let word = |round: u64| mix(seed as u32, (seed >> 32) as u32 ^ round as u32);
    (1..=4).map(|round| format!("{:08x}", word(round))).collect()
}

/// The key file.
fn write_key(path: &Path, seed: u64) -> Result<(), EmulationError> {
    let failed = || EmulationError::system(path.display().to_string());
    fs::write(path, key_digits(seed) + "\n").map_err(failed())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed())
}

/// The seed of the switches' salts and of the lab's key.
fn seed(network: &Network) -> u64 {
    network.scenario.seeds.first().copied().unwrap_or(1)
}

/// The fabric with CFLB's constants and the hosts' addresses.
#[derive(Serialize)]
struct FabricFile {
    fabric: FabricTable,
    #[serde(skip_serializing_if = "Option::is_none")]
    cflb: Option<Value>,
    addresses: Addresses,
}

#[derive(Serialize)]
struct FabricTable {
    kind: &'static str,
    path: &'static str,
    failed: Vec<String>,
    convergence: Time,
}

/// Every host is listed; the prefix is for none of them.
#[derive(Serialize)]
struct Addresses {
    ipv4: &'static str,
    hosts: BTreeMap<String, Vec<Ipv4Addr>>,
}

fn fabric_file(
    scenario: &Scenario,
    hosts: BTreeMap<String, Vec<Ipv4Addr>>,
) -> Result<String, EmulationError> {
    let cflb = match &scenario.scheme {
        Scheme::Cflb(cflb) => {
            let mut table = cflb_table(&cflb.constants).map_err(|error| failed(FABRIC, &error))?;
            table["key_file"] = KEY.into();
            Some(table)
        }
        _ => None,
    };
    let links = scenario.fabric.failed.iter().map(|(a, b)| format!("{a} {b}"));
    let fabric = FabricTable {
        kind: "file",
        path: GRAPH,
        failed: links.collect(),
        convergence: scenario.fabric.convergence,
    };
    let addresses = Addresses { ipv4: "192.168.0.0/16", hosts };
    text(FABRIC, &FabricFile { fabric, cflb, addresses })
}

fn failed(file: &str, error: &impl ToString) -> EmulationError {
    EmulationError::File { what: file.to_owned(), error: error.to_string() }
}

fn text(file: &str, contents: &impl Serialize) -> Result<String, EmulationError> {
    toml::to_string(contents).map_err(|error| failed(file, &error))
}

/// Writes the fabric again, with these links failed.
pub(super) fn write_failed(
    folder: &Path,
    network: &Network,
    down: &[u32],
) -> Result<(), EmulationError> {
    let mut now = network.scenario.clone();
    let graph = &now.fabric.graph;
    let name = |node: u32| graph.nodes[node as usize].name.clone();
    let ends = |&link: &u32| graph.links[link as usize].ends;
    now.fabric.failed = down.iter().map(ends).map(|(a, b)| (name(a), name(b))).collect();
    let path = fabric(folder);
    let text = fabric_file(&now, hosts(network))?;
    fs::write(&path, text).map_err(EmulationError::system(path.display().to_string()))
}

fn graph(graph: &Graph) -> Result<String, EmulationError> {
    text(GRAPH, &graph.table().map_err(|error| failed(GRAPH, &error))?)
}

fn hosts(network: &Network) -> BTreeMap<String, Vec<Ipv4Addr>> {
    let host =
        |host: u32| (network.fabric.node(host).name.clone(), network.addresses.of_host(host));
    network.hosts().map(host).collect()
}

/// A switch's configuration, as `heddle-switch` reads it.
#[derive(Serialize)]
struct SwitchFile<'a> {
    node: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fabric: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tor: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    realms: Option<bool>,
    seed: u64,
    pin: PathBuf,
    admin: PathBuf,
    scheme: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    postcards: Option<PostcardsTable>,
    port: Vec<PortTable<'a>>,
}

#[derive(Serialize)]
struct PostcardsTable {
    one_in: NonZeroU32,
    file: PathBuf,
}

#[derive(Serialize)]
struct PortTable<'a> {
    device: String,
    peer: &'a str,
    mac: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<Rate>,
}

/// The file of a switch's postcards.
pub(crate) fn postcards(folder: &Path, switch: &str) -> PathBuf {
    folder.join(format!("{switch}.postcards.csv"))
}

/// The far end's place, as a switch with the kernel's routes needs it.
fn role(network: &Network, device: &Device<'_>) -> &'static str {
    let tier = |node: u32| network.fabric.node(node).tier;
    match device.info.to_host {
        true => "host",
        false if tier(device.info.to) > tier(device.node) => "up",
        false => "down",
    }
}

fn switch_file(network: &Network, switch: u32, options: Options) -> Result<String, EmulationError> {
    let by_bird = options.routes == RouteSource::Bird;
    let folder = state::folder(&network.state.name);
    let node = &network.fabric.node(switch).name;
    let port = |device: Device<'_>| PortTable {
        device: device.name(),
        peer: &network.fabric.node(device.info.to).name,
        mac: network.peer_mac(&device).to_string(),
        role: by_bird.then(|| role(network, &device)),
        rate: by_bird.then(|| network.fabric.rate_of(device.info)),
    };
    let tor = Some(switch - network.fabric.hosts).filter(|&tor| tor < network.fabric.tors);
    let file = SwitchFile {
        node,
        fabric: (!by_bird).then_some(FABRIC),
        routes: by_bird.then_some("kernel"),
        tor: tor.filter(|_| by_bird).map(bird::number),
        realms: by_bird.then_some(true),
        seed: seed(network),
        pin: state::pins(&network.state.name).join(node),
        admin: folder.join(format!("{node}.sock")),
        scheme: network.scenario.scheme.table().map_err(|error| failed(node, &error))?,
        postcards: options
            .postcards
            .map(|one_in| PostcardsTable { one_in, file: postcards(&folder, node) }),
        port: network.devices(switch).map(port).collect(),
    };
    text(node, &file)
}

#[cfg(test)]
mod tests {
    use heddle_scenario::{SchemeTable, Source, load, load_fabric};

    use super::*;

    #[derive(serde::Deserialize)]
    struct Switch {
        scheme: SchemeTable,
    }

    /// Switches read the fabric and the scheme that the lab runs, scaled as they are.
    #[test]
    fn the_written_files_resolve_to_the_same_fabric_and_scheme() {
        let cflb = "{ kind = \"cflb\", field = \"source-port\", source_ports = \"4096-8191\" }";
        for kind in Scheme::IN_EBPF {
            let scheme = if kind == "cflb" { cflb.into() } else { format!("{kind:?}") };
            let fabric = match kind {
                "conga" => r#"{ kind = "leaf-spine", failed = ["leaf-1 spine-1"] }"#,
                _ => r#"{ kind = "two-pod", failed = ["core-2 agg-4"] }"#,
            };
            let text = format!(
                "scheme = {scheme}\nfabric = {fabric}\n\
                 workload = {{ kind = \"long\" }}\nmeasure = {{ duration = \"1s\" }}\n"
            );
            let none = |_: &str| Err(std::io::Error::other("none"));
            let original = load(&Source::new("a.toml", &text), &none).unwrap();
            let original = crate::Scaling { rate: 1.0 / 3.0, size: 1.0 }.apply(&original);
            let graph = graph(&original.fabric.graph).unwrap();
            let read = |_: &str| Ok(graph.clone());
            let fabric = Source::new("b.toml", fabric_file(&original, BTreeMap::new()).unwrap());
            let again = load_fabric(&fabric, &read).unwrap();
            assert_eq!(again.fabric.graph, original.fabric.graph);
            assert_eq!(again.fabric.failed, original.fabric.failed);
            assert_eq!(again.fabric.convergence, original.fabric.convergence);
            if let Scheme::Cflb(cflb) = &original.scheme {
                assert_eq!(again.cflb.constants, cflb.constants);
            }
            let file = serde_json::json!({ "scheme": original.scheme.table().unwrap() });
            let text = toml::to_string(&file).unwrap();
            let switch: Switch =
                heddle_config::Document::parse("c.toml", &text).unwrap().read().unwrap();
            let scheme = switch.scheme.resolve(&again.fabric.graph).unwrap();
            if !matches!(scheme, Scheme::Cflb(_)) {
                assert_eq!(scheme, original.scheme);
            }
        }
    }
}

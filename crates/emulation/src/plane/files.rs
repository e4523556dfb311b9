//! The files that `heddle-switch` reads: the fabric as run, with the hosts' addresses, and a configuration for each switch, with the scheme.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use heddle_policy::mix;
use heddle_scenario::{
    CflbCipher, CflbConstants, CflbField, CflbRules, Graph, Hula, HulaUpdate, LongFlows, MpHula,
    Routing, Scenario, Scheme, Shuttle, ShuttleChoice, ShuttleSubflows,
};

use crate::EmulationError;
use crate::network::Network;
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

/// CFLB's key file.
const KEY: &str = "fabric.key";

/// Writes all files into a folder.
pub(super) fn write(folder: &Path, network: &Network) -> Result<(), EmulationError> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(EmulationError::system(path.display().to_string()))
    };
    write("graph.toml", &graph(&network.scenario.fabric.graph))?;
    write(FABRIC, &fabric_file(&network.scenario, &host_lines(network)))?;
    if let Scheme::Cflb(_) = &network.scenario.scheme {
        write_key(&folder.join(KEY), seed(network))?;
    }
    for switch in network.switches() {
        write(
            &format!("{}.toml", network.fabric.node(switch).name),
            &switch_file(network, switch),
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
fn fabric_file(scenario: &Scenario, hosts: &str) -> String {
    let failed = link_names(&scenario.fabric.failed);
    let convergence = scenario.fabric.convergence;
    let cflb = match &scenario.scheme {
        Scheme::Cflb(cflb) => {
            format!("[cflb]\n{}\nkey_file = \"{KEY}\"\n", cflb_keys(&cflb.constants))
        }
        _ => String::new(),
    };
    // Every host is listed; the prefix is for none of them.
    format!(
        "[fabric]\nkind = \"file\"\npath = \"graph.toml\"\nfailed = [{failed}]\n\
         convergence = \"{convergence}\"\n{cflb}\
         [addresses]\nipv4 = \"192.168.0.0/16\"\n[addresses.hosts]\n{hosts}"
    )
}

fn cflb_keys(constants: &CflbConstants) -> String {
    let field = match constants.field {
        CflbField::Ports => "field = \"ports\"".to_owned(),
        CflbField::SourcePort { low, high } => {
            format!("field = \"source-port\"\nsource_ports = \"{low}-{high}\"")
        }
        CflbField::FlowLabel => "field = \"flow-label\"".to_owned(),
    };
    let cipher = match constants.cipher {
        CflbCipher::Rc5 => "rc5",
        CflbCipher::Skip32 => "skip32",
        CflbCipher::Feistel => "feistel",
    };
    let rules = match constants.rules {
        CflbRules::Even => "even",
        CflbRules::AsPublished => "as-published",
    };
    format!("{field}\ncipher = \"{cipher}\"\nradix = {}\nrules = \"{rules}\"", constants.radix)
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
    let text = fabric_file(&now, &host_lines(network));
    fs::write(&path, text).map_err(EmulationError::system(path.display().to_string()))
}

fn graph(graph: &Graph) -> String {
    let routing = match graph.routing {
        Routing::UpDown => "up-down",
        Routing::Shortest => "shortest",
        Routing::Minimal => "minimal",
    };
    let mut text = format!("routing = \"{routing}\"\nnode = [\n");
    for node in &graph.nodes {
        let pod = node.pod.map_or_else(String::new, |pod| format!(", pod = {pod}"));
        let _ = writeln!(text, "  {{ name = \"{}\", tier = {}{pod} }},", node.name, node.tier);
    }
    text += "]\nlink = [\n";
    for link in &graph.links {
        let [a, b] = [link.ends.0, link.ends.1].map(|end| &graph.nodes[end as usize].name);
        let (rate, delay) = (link.rate, link.delay);
        let reverse = link
            .reverse_rate
            .map_or_else(String::new, |rate| format!(", reverse_rate = \"{rate}\""));
        let _ = writeln!(
            text,
            "  {{ between = \"{a} {b}\", rate = \"{rate}\"{reverse}, delay = \"{delay}\" }},"
        );
    }
    text + "]\n"
}

fn link_names(links: &[(String, String)]) -> String {
    let names = links.iter().map(|(a, b)| format!("\"{a} {b}\""));
    names.collect::<Vec<_>>().join(", ")
}

fn scheme(scheme: &Scheme) -> String {
    match scheme {
        Scheme::Hula(hula) => format!("{{ kind = \"hula\", {} }}", hula_keys(hula)),
        Scheme::MpHula(mp) => format!("{{ kind = \"mp-hula\", {} }}", mp_hula_keys(mp)),
        Scheme::Shuttle(shuttle) => format!("{{ kind = \"shuttle\", {} }}", shuttle_keys(shuttle)),
        other => format!("\"{}\"", other.name()),
    }
}

fn hula_keys(hula: &Hula) -> String {
    let update = match hula.update {
        HulaUpdate::Refresh => "refresh",
        HulaUpdate::Listing => "listing",
    };
    format!(
        "flowlet_gap = \"{}\", flowlet_slots = {}, probe_period = \"{}\", fail_after = \"{}\", \
         tau = \"{}\", util_bits = {}, update = \"{update}\", local_detection = {}",
        hula.flowlets.gap,
        hula.flowlets.slots,
        hula.probe_period,
        hula.fail_after,
        hula.tau,
        hula.util_bits,
        hula.local_detection,
    )
}

fn mp_hula_keys(mp: &MpHula) -> String {
    let long_flows = match mp.long_flows {
        LongFlows::Alike => "alike",
        LongFlows::YieldBest => "yield-best",
        LongFlows::Apart => "apart",
    };
    format!(
        "{}, best_k = {}, association_slots = {}, association_idle = \"{}\", mapping_rows = {}, \
         long_flows = \"{long_flows}\"",
        hula_keys(&mp.hula),
        mp.best_k,
        mp.association_slots,
        mp.association_idle,
        mp.mapping_rows,
    )
}

fn shuttle_keys(shuttle: &Shuttle) -> String {
    let choice = match shuttle.choice {
        ShuttleChoice::Weighted => "weighted",
        ShuttleChoice::Least => "least",
    };
    let subflows = match shuttle.subflows {
        ShuttleSubflows::Apart => "apart",
        ShuttleSubflows::FirstFree => "first-free",
        ShuttleSubflows::Alike => "alike",
    };
    format!(
        "{}, best_k = {}, association_slots = {}, association_idle = \"{}\", mapping_rows = {}, \
         full_queue = \"{}\", range = {}, draws = {}, choice = \"{choice}\", subflows = \"{subflows}\", \
         reroute_above = \"{}\"",
        hula_keys(&shuttle.hula),
        shuttle.best_k,
        shuttle.association_slots,
        shuttle.association_idle,
        shuttle.mapping_rows,
        shuttle.full_queue,
        shuttle.range,
        shuttle.draws,
        shuttle.reroute_above,
    )
}

fn host_lines(network: &Network) -> String {
    let line = |host: u32| {
        let own = network.addresses.of_host(host);
        let own: Vec<String> = own.iter().map(|address| format!("\"{address}\"")).collect();
        format!("{} = [{}]\n", network.fabric.node(host).name, own.join(", "))
    };
    network.hosts().map(line).collect()
}

fn switch_file(network: &Network, switch: u32) -> String {
    let name = &network.fabric.node(switch).name;
    let folder = state::folder(&network.state.name);
    let pin = state::pins(&network.state.name).join(name);
    let mut text = format!(
        "node = \"{name}\"\nfabric = \"{FABRIC}\"\nscheme = {}\nseed = {}\n\
         pin = \"{}\"\nadmin = \"{}\"\n",
        scheme(&network.scenario.scheme),
        seed(network),
        pin.display(),
        folder.join(format!("{name}.sock")).display(),
    );
    for device in network.devices(switch) {
        let peer = &network.fabric.node(device.info.to).name;
        let mac = network.peer_mac(&device);
        let _ = write!(
            text,
            "\n[[port]]\ndevice = \"{}\"\npeer = \"{peer}\"\nmac = \"{mac}\"\n",
            device.name()
        );
    }
    text
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
        for chosen in ["\"ecmp\"", "\"hula\"", "\"mp-hula\"", "\"shuttle\"", cflb] {
            let text = format!(
                "scheme = {chosen}\nfabric = {{ kind = \"two-pod\", failed = [\"core-2 agg-4\"] }}\n\
                 workload = {{ kind = \"long\" }}\nmeasure = {{ duration = \"1s\" }}\n"
            );
            let none = |_: &str| Err(std::io::Error::other("none"));
            let original = load(&Source::new("a.toml", &text), &none).unwrap();
            let original = crate::Scaling { rate: 1.0 / 3.0, size: 1.0 }.apply(&original);
            let graph = graph(&original.fabric.graph);
            let read = |_: &str| Ok(graph.clone());
            let fabric = Source::new("b.toml", fabric_file(&original, ""));
            let again = load_fabric(&fabric, &read).unwrap();
            assert_eq!(again.fabric.graph, original.fabric.graph);
            assert_eq!(again.fabric.failed, original.fabric.failed);
            assert_eq!(again.fabric.convergence, original.fabric.convergence);
            if let Scheme::Cflb(cflb) = &original.scheme {
                assert_eq!(again.cflb.constants, cflb.constants);
            }
            let text = format!("scheme = {}\n", super::scheme(&original.scheme));
            let switch: Switch =
                heddle_config::Document::parse("c.toml", &text).unwrap().read().unwrap();
            let scheme = switch.scheme.resolve(&again.fabric.graph).unwrap();
            if !matches!(scheme, Scheme::Cflb(_)) {
                assert_eq!(scheme, original.scheme);
            }
        }
    }
}

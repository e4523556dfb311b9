//! From the file's own types to what the simulator takes: defaults filled in, names turned into
//! numbers, everything checked.
//!
//! One file a table; each function's problems carry their keys, the document gives them their
//! lines.

mod addresses;
mod capacity;
mod cflb;
mod cflb_network;
mod collective;
mod connection_matrix;
mod entropy;
mod events;
mod external;
mod fabric;
mod fabric_file;
mod flow_graph;
mod group_routing;
pub(crate) mod hpcc_flows;
mod load;
mod measure;
mod mixed;
mod pods;
mod ranges;
mod reordering;
mod replay;
mod scheme;
mod times;
mod transport;
mod uet;
mod workload;

pub(crate) use connection_matrix::matrix_flows;
pub(crate) use fabric_file::fabric_file;
pub(crate) use flow_graph::cycle_text;
pub(crate) use scheme::resolve as scheme;

use heddle_config::Problem;
use heddle_transport::TcpConfig;
use heddle_units::{Bytes, Rate};
use heddle_wire::Shim;

use crate::graph::check_reachable;
use crate::source::{Files, Noting};
use crate::{Fabric, Scenario, Scheme, raw};

/// Resolves a scenario whose file is called `name`.
pub(crate) fn resolve(
    name: &str,
    file: &raw::File,
    files: &dyn Files,
) -> Result<Scenario, Problem> {
    check_seeds(&file.seeds)?;
    let noting = Noting::new(files);
    let files: &dyn Files = &noting;
    let mut transport = transport::resolve(&file.transport)?;
    let resolved =
        fabric::resolve(&file.fabric, transport.tcp().control, files).map_err(in_fabric)?;
    let scheme = scheme::resolve(&file.scheme, &resolved.fabric.graph, files)?;
    group_routing::check(&resolved.fabric, &scheme)?;
    if scheme != Scheme::Ideal {
        let is_up = |link| !resolved.down.contains(&link);
        let reachable = check_reachable(&resolved.fabric.graph, is_up);
        reachable.map_err(|problem| in_fabric(with_notices(problem, &noting)))?;
    }
    let entropy = entropy::resolve(file.entropy, &scheme, &resolved.fabric)?;
    let degraded = file.event.iter().filter_map(|event| event.rate).min();
    let slowest = resolved.fabric.graph.slowest_switch();
    let slowest = degraded.map_or(slowest, |rate| rate.min(slowest));
    check_buffers(&resolved.fabric, slowest, &transport.tcp(), &scheme).map_err(in_fabric)?;
    let mut workload = workload::resolve(&file.workload, &resolved, files)?;
    uet::complete(&mut transport, &mut workload, &resolved.fabric, &entropy)?;
    let paths = reordering::Paths { scheme: &scheme, entropy: &entropy, fabric: &resolved.fabric };
    reordering::complete(&mut transport, &mut workload, &paths);
    mixed::check(&workload, &transport, &resolved.fabric)?;
    let measure = measure::resolve(&file.measure, &resolved.fabric.graph, &scheme, &workload)?;
    let fabric::Resolved { fabric, down, .. } = resolved;
    let events = events::resolve(&file.event, &fabric.graph, down.clone(), measure.time_limit)?;
    if scheme != Scheme::Ideal {
        events::check_end(&fabric.graph, down, &events)?;
    }
    events::note_late(&events, &measure, files);
    Ok(Scenario {
        title: file.title.clone().unwrap_or_else(|| name.to_owned()),
        seeds: file.seeds.clone(),
        fabric,
        transport,
        scheme,
        entropy,
        workload,
        measure,
        events,
        notices: noting.notices(),
    })
}

/// A line left out of a file may be the missing one.
fn with_notices(problem: Problem, noting: &Noting<'_>) -> Problem {
    match noting.notices() {
        notices if notices.is_empty() => problem,
        notices => problem.help(notices.join("; ")),
    }
}

fn in_fabric(problem: Problem) -> Problem {
    problem.inside("fabric")
}

fn check_seeds(seeds: &[u64]) -> Result<(), Problem> {
    if seeds.is_empty() {
        return Err(Problem::at("seeds", "at least one seed is needed").help("seeds = [1, 2, 3]"));
    }
    let twice = seeds.iter().enumerate().find(|(index, seed)| seeds[..*index].contains(seed));
    match twice {
        Some((index, seed)) => {
            Err(Problem::at(&format!("seeds.{index}"), format!("seed {seed} is given twice"))
                .help("a seed gives the same run each time"))
        }
        None => Ok(()),
    }
}

/// A port that cannot hold one full packet passes nothing on, be it the slowest one. Between ToRs a
/// shim makes packets longer.
fn check_buffers(
    fabric: &Fabric,
    slowest: Rate,
    tcp: &TcpConfig,
    scheme: &Scheme,
) -> Result<(), Problem> {
    let packet = u64::from(tcp.mss) + u64::from(tcp.header_bytes());
    let shim = match scheme {
        Scheme::MpHula(_) | Scheme::Shuttle(_) => Shim::BYTES as u64,
        Scheme::External(external) if external.uses_shim => Shim::BYTES as u64,
        _ => 0,
    };
    let check = |key: &str, held: Bytes, packet: u64| {
        if held.0 >= packet {
            return Ok(());
        }
        let message = format!("{held} does not hold one full packet of {packet}B");
        Err(Problem::at(key, message).help("a larger buffer, or a smaller `transport.mss`"))
    };
    let key = match fabric {
        Fabric { shared_buffer: Some(_), .. } => "shared_buffer.bytes",
        Fabric { scale_buffers: Some(_), .. } => "scale_buffers",
        _ => "port_buffer",
    };
    check(key, fabric.buffer_at(slowest), packet + shim)?;
    check("host_buffer", fabric.host_port.bytes, packet)
}

//! `[workload]` with `kind = "collective"`.

use heddle_config::Problem;

use crate::graph::Names;
use crate::{Collective, Graph, Operation, raw};

/// Flows beyond this are mistakes: 1 GB of them.
const MOST_FLOWS: u64 = 1 << 24;

pub(super) fn resolve(raw: &raw::Collective, graph: &Graph) -> Result<Collective, Problem> {
    let operation = match raw.operation {
        raw::Operation::RingAllReduce => Operation::RingAllReduce,
        raw::Operation::RingReduceScatter => Operation::RingReduceScatter,
        raw::Operation::RingAllGather => Operation::RingAllGather,
        raw::Operation::TreeAllReduce => Operation::TreeAllReduce,
        raw::Operation::TreeBroadcast => Operation::TreeBroadcast,
        raw::Operation::AllToAll => Operation::AllToAll,
    };
    let hosts = hosts(raw.hosts.as_deref(), graph)?;
    if raw.size.0 < hosts.len() as u64 {
        let message = format!("{} cannot be parted among {} hosts", raw.size, hosts.len());
        return Err(Problem::at("size", message).help("at least a byte for each host"));
    }
    let collective = Collective { operation, size: raw.size, hosts };
    if collective.flows() > MOST_FLOWS {
        let message = format!("{} hosts have {} flows", collective.hosts.len(), collective.flows());
        return Err(Problem::at("hosts", message).help(format!("at most {MOST_FLOWS} flows")));
    }
    Ok(collective)
}

/// The hosts by name, each once; all without names.
fn hosts(names: Option<&[String]>, graph: &Graph) -> Result<Vec<u32>, Problem> {
    let known = Names::new(graph);
    let all = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let mut hosts = Vec::new();
    for (index, name) in names.into_iter().flatten().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("hosts.{index}"));
        let host = known.host(name).map_err(inside)?;
        if hosts.contains(&host) {
            return Err(inside(Problem::new(format!("{name} is listed twice"))));
        }
        hosts.push(host);
    }
    if names.is_none() {
        hosts = (0..all).collect();
    }
    if hosts.len() < 2 {
        return Err(Problem::at("hosts", "a collective operation has at least 2 hosts"));
    }
    Ok(hosts)
}

//! `[workload]` with `kind = "collective"`.

use heddle_config::Problem;
use heddle_units::Bytes;

use crate::graph::Names;
use crate::{Collective, Experts, Graph, Operation, raw};

/// Flows beyond this are mistakes: 1 GB of them.
const MOST_FLOWS: u64 = 1 << 24;

/// Draws of experts beyond this are mistakes: a second of them.
const MOST_DRAWS: u64 = 1 << 26;

/// Experts of a token, and its bytes, in Mixtral 8x7B: 4096 values of 16 bits (Jiang et al.,
/// arXiv:2401.04088, table 1).
const MIXTRAL: (u32, Bytes) = (2, Bytes(8192));

pub(super) fn resolve(raw: &raw::Collective, graph: &Graph) -> Result<Collective, Problem> {
    let hosts = hosts(raw.hosts.as_deref(), graph)?;
    if raw.size.0 < hosts.len() as u64 {
        let message = format!("{} cannot be parted among {} hosts", raw.size, hosts.len());
        return Err(Problem::at("size", message).help("at least a byte for each host"));
    }
    let operation = operation(raw, hosts.len() as u64)?;
    let collective = Collective { operation, size: raw.size, hosts };
    if collective.flows() > MOST_FLOWS {
        let message = format!("{} hosts have {} flows", collective.hosts.len(), collective.flows());
        return Err(Problem::at("hosts", message).help(format!("at most {MOST_FLOWS} flows")));
    }
    Ok(collective)
}

/// The operation of so many hosts, with its own keys and no others.
fn operation(raw: &raw::Collective, hosts: u64) -> Result<Operation, Problem> {
    let keys = [
        ("group", raw.group.is_some(), "hierarchical-all-reduce"),
        ("experts", raw.experts.is_some(), "expert-all-to-all"),
        ("token", raw.token.is_some(), "expert-all-to-all"),
        ("draw", raw.draw.is_some(), "expert-all-to-all"),
    ];
    let owner = match raw.operation {
        raw::Operation::HierarchicalAllReduce => "hierarchical-all-reduce",
        raw::Operation::ExpertAllToAll => "expert-all-to-all",
        _ => "",
    };
    if let Some((key, _, of)) = keys.into_iter().find(|(_, given, of)| *given && *of != owner) {
        return Err(Problem::at(key, format!("belongs to `operation = \"{of}\"`"))
            .help(format!("leave it out, or `operation = \"{of}\"`")));
    }
    Ok(match raw.operation {
        raw::Operation::RingAllReduce => Operation::RingAllReduce,
        raw::Operation::RingReduceScatter => Operation::RingReduceScatter,
        raw::Operation::RingAllGather => Operation::RingAllGather,
        raw::Operation::HalvingDoublingAllReduce => halving_doubling(hosts)?,
        raw::Operation::HierarchicalAllReduce => hierarchical(raw.group, hosts)?,
        raw::Operation::TreeAllReduce => Operation::TreeAllReduce,
        raw::Operation::TreeBroadcast => Operation::TreeBroadcast,
        raw::Operation::AllToAll => Operation::AllToAll,
        raw::Operation::ExpertAllToAll => experts(raw, hosts).map(Operation::ExpertAllToAll)?,
    })
}

fn halving_doubling(hosts: u64) -> Result<Operation, Problem> {
    if hosts.is_power_of_two() {
        return Ok(Operation::HalvingDoublingAllReduce);
    }
    let message = format!("halving and doubling need a power of two of hosts, not {hosts}");
    Err(Problem::at("hosts", message).help(format!(
        "{} or {} of them, or `operation = \"ring-all-reduce\"`, which takes any number",
        1 << hosts.ilog2(),
        hosts.next_power_of_two()
    )))
}

fn hierarchical(group: Option<u32>, hosts: u64) -> Result<Operation, Problem> {
    let groups: Vec<String> =
        (2..=hosts / 2).filter(|group| hosts % group == 0).map(|group| group.to_string()).collect();
    let help = match &groups[..] {
        [] => {
            "`hosts` of a number that is no prime, or `operation = \"ring-all-reduce\"`".to_owned()
        }
        groups => format!("{hosts} hosts have groups of {}", groups.join(", ")),
    };
    match group {
        Some(group) if groups.contains(&group.to_string()) => {
            Ok(Operation::HierarchicalAllReduce { group })
        }
        Some(group) => {
            let message = format!("{hosts} hosts are not two or more groups of {group}");
            Err(Problem::at("group", message).help(help))
        }
        None => Err(Problem::at("group", "the number of hosts of a group is missing").help(help)),
    }
}

fn experts(raw: &raw::Collective, hosts: u64) -> Result<Experts, Problem> {
    let experts = Experts {
        experts: raw.experts.unwrap_or(MIXTRAL.0),
        token: raw.token.unwrap_or(MIXTRAL.1),
        draw: raw.draw.unwrap_or(1),
    };
    if !(1..=hosts).contains(&u64::from(experts.experts)) {
        let message = format!("a token cannot have {} of {hosts} experts", experts.experts);
        return Err(Problem::at("experts", message)
            .help(format!("from 1 to {hosts}: each host has one expert")));
    }
    if experts.token == Bytes(0) {
        return Err(Problem::at("token", "must be at least 1B").help("as in `token = \"8192B\"`"));
    }
    let draws = experts.draws(hosts, raw.size);
    if draws > MOST_DRAWS {
        let message =
            format!("{} a host in tokens of {} take {draws} draws", raw.size, experts.token);
        return Err(Problem::at("token", message)
            .help(format!("larger tokens: at most {MOST_DRAWS} draws")));
    }
    Ok(experts)
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

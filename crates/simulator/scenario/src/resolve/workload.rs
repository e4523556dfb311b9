//! `[workload]`, and `[[workload]]`.

use heddle_config::{OneOrMore, Problem};
use heddle_units::Rate;

use super::fabric::Resolved;
use super::pods::pods;
use super::times::bounded;
use super::{capacity, collective, flow_graph, load, replay, transport};
use crate::graph::Names;
use crate::source::Files;
use crate::{
    Connections, Flows, Graph, Long, NamedWorkload, Pattern, Requests, Workload, raw, sizes,
};

/// Connections of each client and server (HULA section 6).
const CONNECTIONS: u32 = 3;

/// Pools beyond this are mistakes.
const MOST_CONNECTIONS: u32 = 1000;

/// The pods of the cross-pod pattern: senders, receivers.
const PODS: (u16, u16) = (1, 2);

/// Requests at a time beyond this are mistakes.
const MOST_REQUESTS: u64 = 1 << 20;

/// Workloads beyond this are mistakes.
const MOST_WORKLOADS: usize = 64;

pub(super) fn resolve(
    workload: &OneOrMore<raw::TrafficPart>,
    resolved: &Resolved,
    files: &dyn Files,
) -> Result<Workload, Problem> {
    match workload {
        OneOrMore::One(raw) if raw.common.name.is_none() && raw.common.transport.is_none() => {
            one(&raw.workload, resolved, files)
        }
        OneOrMore::One(raw) => {
            named(raw, &[], resolved, files).map(|part| Workload::Several(vec![part]))
        }
        OneOrMore::More(list) => several(list, resolved, files),
    }
    .map_err(|problem| problem.inside("workload"))
}

fn several(
    list: &[raw::TrafficPart],
    resolved: &Resolved,
    files: &dyn Files,
) -> Result<Workload, Problem> {
    if list.is_empty() || list.len() > MOST_WORKLOADS {
        let message = format!("{} workloads are no traffic", list.len());
        return Err(Problem::new(message).help(format!("from 1 to {MOST_WORKLOADS}")));
    }
    let mut parts = Vec::with_capacity(list.len());
    for (index, raw) in list.iter().enumerate() {
        let part = named(raw, &parts, resolved, files);
        parts.push(part.map_err(|problem| problem.inside(&index.to_string()))?);
    }
    Ok(Workload::Several(parts))
}

fn named(
    raw: &raw::TrafficPart,
    others: &[NamedWorkload],
    resolved: &Resolved,
    files: &dyn Files,
) -> Result<NamedWorkload, Problem> {
    Ok(NamedWorkload {
        name: name(raw.common.name.as_deref(), others)?,
        transport: raw.common.transport.as_ref().map(transport::resolve).transpose()?,
        workload: one(&raw.workload, resolved, files)?,
    })
}

/// The name, which stands in tables.
fn name(name: Option<&str>, others: &[NamedWorkload]) -> Result<String, Problem> {
    let help = "as in `name = \"background\"`: letters, digits, `-` and `_`";
    let Some(name) = name else {
        let message = "a workload with a `transport`, or beside others, needs a name for results";
        return Err(Problem::at("name", message).help(help));
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Problem::at("name", format!("\"{name}\" is not a name")).help(help));
    }
    // Tables have these words where they have names.
    if ["all", "small", "medium", "large", "run"].contains(&name) {
        return Err(Problem::at("name", format!("\"{name}\" is a class of flows in results"))
            .help("another name"));
    }
    if others.iter().any(|other| other.name == name) {
        return Err(Problem::at("name", format!("another workload is called \"{name}\" too"))
            .help("each has a name of its own"));
    }
    Ok(name.to_owned())
}

fn one(
    workload: &raw::Workload,
    resolved: &Resolved,
    files: &dyn Files,
) -> Result<Workload, Problem> {
    let graph = &resolved.fabric.graph;
    match workload {
        raw::Workload::Flows(raw) => flows(raw, resolved, files).map(Workload::Flows),
        raw::Workload::Long(raw) => long(raw, graph).map(Workload::Long),
        raw::Workload::Replay(raw) => replay::read(&raw.file, graph, files).map(Workload::Replay),
        raw::Workload::Collective(raw) => collective::resolve(raw, graph).map(Workload::Collective),
        raw::Workload::FlowGraph(raw) => {
            flow_graph::read(&raw.file, graph, files).map(Workload::FlowGraph)
        }
        raw::Workload::Requests(raw) => requests(raw, graph, files).map(Workload::Requests),
    }
}

fn default_pattern(graph: &Graph) -> raw::Pattern {
    match graph.nodes.iter().any(|node| node.pod.is_some()) {
        true => raw::Pattern::CrossPod,
        false => raw::Pattern::AllToAll,
    }
}

fn requests(raw: &raw::Requests, graph: &Graph, files: &dyn Files) -> Result<Requests, Problem> {
    let sizes = sizes::resolve(&raw.sizes, files).map_err(|problem| problem.inside("sizes"))?;
    let kind = raw.pattern.unwrap_or(default_pattern(graph));
    let pattern = pattern(kind, None, graph)?;
    let (clients, servers_each) = request_ends(&pattern)?;
    if raw.request_size.0 == 0 {
        return Err(
            Problem::at("request_size", "a request of no bytes never arrives").help("at least 1B")
        );
    }
    for (key, count) in [("outstanding", raw.outstanding), ("fan_out", raw.fan_out)] {
        if count == 0 {
            return Err(Problem::at(key, "must be at least 1"));
        }
    }
    let slots = u64::from(raw.outstanding) * clients.len() as u64;
    if slots > MOST_REQUESTS {
        let message = format!("{slots} requests of all clients at a time");
        return Err(Problem::at("outstanding", message).help(format!("at most {MOST_REQUESTS}")));
    }
    if raw.fan_out as usize > servers_each {
        let message = format!("{} servers for each request, of {servers_each}", raw.fan_out);
        return Err(Problem::at("fan_out", message).help(format!("at most {servers_each}")));
    }
    let connections = connections(raw.connections, raw.connections_per_pair)?;
    if let Connections::ClosedLoop(_) = connections {
        return Err(Problem::at("connections", "requests are a closed loop by themselves")
            .help("connections = \"persistent\""));
    }
    Ok(Requests {
        request_size: raw.request_size,
        sizes,
        outstanding: raw.outstanding,
        fan_out: raw.fan_out,
        think: bounded("think", raw.think)?,
        pattern,
        connections,
    })
}

/// The clients, and the number of servers of which each asks some.
fn request_ends(pattern: &Pattern) -> Result<(&[u32], usize), Problem> {
    match pattern {
        // A client that is a server too does not ask itself.
        Pattern::Sets { clients, servers } => {
            let itself = usize::from(clients.iter().any(|client| servers.contains(client)));
            Ok((clients, servers.len() - itself))
        }
        Pattern::Pairs { clients, .. } => Ok((clients, 1)),
        Pattern::Permutation | Pattern::Incast { .. } => {
            Err(Problem::at("pattern", "requests go from clients to servers")
                .help("\"cross-pod\", \"cross-pod-pairs\" or \"all-to-all\""))
        }
    }
}

fn flows(raw: &raw::Flows, resolved: &Resolved, files: &dyn Files) -> Result<Flows, Problem> {
    let graph = &resolved.fabric.graph;
    let kind = raw.pattern.unwrap_or(default_pattern(graph));
    let flows = Flows {
        sizes: sizes::resolve(&raw.sizes, files).map_err(|problem| problem.inside("sizes"))?,
        load: raw.load,
        capacity: load_of_one(raw.capacity, kind, resolved)?,
        pattern: pattern(kind, raw.senders, graph)?,
        connections: connections(raw.connections, raw.connections_per_pair)?,
    };
    if let (Connections::ClosedLoop(_), Pattern::Incast { .. }) =
        (flows.connections, &flows.pattern)
    {
        return Err(Problem::at("connections", "the flows of an incast start at once")
            .help("connections = \"persistent\""));
    }
    load::check(&flows, graph)?;
    Ok(flows)
}

fn load_of_one(
    given: Option<Rate>,
    pattern: raw::Pattern,
    resolved: &Resolved,
) -> Result<Rate, Problem> {
    match (given, pattern) {
        (Some(Rate(0)), _) => Err(Problem::at("capacity", "must be above 0bps")),
        (Some(rate), _) => Ok(rate),
        (None, raw::Pattern::CrossPod | raw::Pattern::CrossPodPairs) => {
            Ok(capacity::of_pod(resolved, &pods(&resolved.fabric.graph), PODS.0))
        }
        (None, _) => Ok(capacity::of_hosts(resolved)),
    }
}

fn pattern(kind: raw::Pattern, senders: Option<u32>, graph: &Graph) -> Result<Pattern, Problem> {
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    if senders.is_some() && !matches!(kind, raw::Pattern::Incast) {
        return Err(Problem::at("senders", "only the incast pattern has senders")
            .help("pattern = \"incast\""));
    }
    match kind {
        raw::Pattern::CrossPod => {
            cross_pod(graph, hosts).map(|(clients, servers)| Pattern::Sets { clients, servers })
        }
        raw::Pattern::CrossPodPairs => cross_pod_pairs(graph, hosts),
        raw::Pattern::AllToAll => {
            Ok(Pattern::Sets { clients: (0..hosts).collect(), servers: (0..hosts).collect() })
        }
        raw::Pattern::Permutation => Ok(Pattern::Permutation),
        raw::Pattern::Incast => incast(senders, hosts),
    }
}

/// Hosts of pod 1, hosts of pod 2.
fn cross_pod(graph: &Graph, hosts: u32) -> Result<(Vec<u32>, Vec<u32>), Problem> {
    let pods = pods(graph);
    let members = |pod| (0..hosts).filter(|&host| pods[host as usize] == Some(pod)).collect();
    let (clients, servers): (Vec<u32>, Vec<u32>) = (members(PODS.0), members(PODS.1));
    if clients.is_empty() || servers.is_empty() {
        let message = "cross-pod needs hosts in pods 1 and 2; this fabric has none";
        return Err(Problem::at("pattern", message).help("pattern = \"all-to-all\""));
    }
    Ok((clients, servers))
}

fn cross_pod_pairs(graph: &Graph, hosts: u32) -> Result<Pattern, Problem> {
    let (clients, servers) = cross_pod(graph, hosts)?;
    if clients.len() != servers.len() {
        let message = format!("{} hosts cannot be paired with {}", clients.len(), servers.len());
        return Err(Problem::at("pattern", message).help("pattern = \"cross-pod\""));
    }
    Ok(Pattern::Pairs { clients, servers })
}

fn incast(senders: Option<u32>, hosts: u32) -> Result<Pattern, Problem> {
    let Some(senders) = senders else {
        return Err(Problem::at("senders", "this key is missing")
            .help("the incast pattern needs the number of hosts that answer"));
    };
    if senders == 0 || senders >= hosts {
        let message = format!("{senders} of {hosts} hosts cannot all send to another one");
        return Err(Problem::at("senders", message).help(format!("from 1 to {}", hosts - 1)));
    }
    Ok(Pattern::Incast { senders })
}

fn connections(kind: raw::Connections, per_pair: Option<u32>) -> Result<Connections, Problem> {
    match (kind, per_pair.unwrap_or(CONNECTIONS)) {
        (raw::Connections::PerFlow, _) if per_pair.is_some() => {
            Err(Problem::at("connections_per_pair", "each flow has a connection of its own")
                .help("connections = \"persistent\""))
        }
        (raw::Connections::Pool, _) if per_pair.is_some() => {
            Err(Problem::at("connections_per_pair", "a pool has as many connections as it needs")
                .help("connections = \"persistent\""))
        }
        (raw::Connections::PerFlow, _) => Ok(Connections::PerFlow),
        (raw::Connections::Pool, _) => Ok(Connections::Pool),
        (raw::Connections::Persistent, count @ 1..=MOST_CONNECTIONS) => {
            Ok(Connections::Persistent(count))
        }
        (raw::Connections::ClosedLoop, count @ 1..=MOST_CONNECTIONS) => {
            Ok(Connections::ClosedLoop(count))
        }
        (raw::Connections::Persistent | raw::Connections::ClosedLoop, count) => {
            Err(Problem::at("connections_per_pair", format!("{count} connections make no pool"))
                .help(format!("from 1 to {MOST_CONNECTIONS}")))
        }
    }
}

fn long(raw: &raw::Long, graph: &Graph) -> Result<Long, Problem> {
    let start_within = bounded("start_within", raw.start_within)?;
    let Some(pairs) = &raw.pairs else { return Ok(Long { pairs: None, start_within }) };
    if pairs.is_empty() {
        return Err(Problem::at("pairs", "there are no pairs")
            .help("leave `pairs` out for a permutation of all hosts"));
    }
    let names = Names::new(graph);
    let pair = |(index, text): (usize, &String)| {
        names.host_pair(text).map_err(|problem| problem.inside(&format!("pairs.{index}")))
    };
    let pairs: Result<_, Problem> = pairs.iter().enumerate().map(pair).collect();
    Ok(Long { pairs: Some(pairs?), start_within })
}

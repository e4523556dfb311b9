//! A scenario file with every default written out: what `heddle show` prints, and what results keep
//! of a scenario; and parts of files as programs write them.

use heddle_config::OneOrMore;
use heddle_policy::cflb::CflbConfig;
use heddle_units::Bytes;
use serde_json::Value;

use crate::raw::{self, Shape};
use crate::{
    Collective, Connections, Experts, Flows, Graph, Operation, Pattern, Requests, Routing,
    Scenario, ScenarioError, Scheme, Source, Transport, Workload,
};

/// The file with its overrides and every default, under the keys of the format. Parsed again it
/// resolves to `scenario`, which must have been resolved from the same source. Other files (graphs,
/// sizes, flows) are referred to by name, as in the source.
///
/// # Errors
/// If the source does not parse: see [`ScenarioError`].
pub fn complete(source: &Source, scenario: &Scenario) -> Result<Value, ScenarioError> {
    let mut file: raw::File = crate::document(source)?.read()?;
    fill(&mut file, scenario);
    let mut value = serde_json::to_value(&file).unwrap_or_default();
    remove_nulls(&mut value);
    for section in ["fabric", "scheme", "entropy"] {
        value.get_mut(section).into_iter().for_each(write_kind);
    }
    value.get_mut("transport").into_iter().for_each(write_transport);
    match value.get_mut("workload") {
        Some(Value::Array(workloads)) => workloads.iter_mut().for_each(write_workload),
        workload => workload.into_iter().for_each(write_workload),
    }
    Ok(value)
}

/// Fills in the defaults that depend on other keys.
fn fill(file: &mut raw::File, scenario: &Scenario) {
    file.title = Some(scenario.title.clone());
    fill_fabric(&mut file.fabric, scenario);
    fill_transport(&mut file.transport, &scenario.transport);
    fill_scheme(&mut file.scheme, &scenario.scheme);
    fill_workloads(&mut file.workload, scenario);
    let measure = &scenario.measure;
    file.measure.probe_warm_up = Some(measure.probe_warm_up);
    file.measure.warm_up = Some(measure.warm_up);
    file.measure.size_classes = Some(measure.size_classes.clone());
    if let (None, None, crate::Until::Flows(flows)) =
        (file.measure.flows, file.measure.duration, measure.until)
    {
        file.measure.flows = Some(flows);
    }
}

fn fill_workloads(raw: &mut OneOrMore<raw::TrafficPart>, scenario: &Scenario) {
    let raw: Vec<&mut raw::TrafficPart> = match raw {
        OneOrMore::One(part) => vec![part],
        OneOrMore::More(parts) => parts.iter_mut().collect(),
    };
    let resolved = scenario.workload.parts().into_iter().zip(scenario.transports());
    for (raw, (workload, transport)) in raw.into_iter().zip(resolved) {
        raw.common.transport.iter_mut().for_each(|raw| fill_transport(raw, &transport));
        match (&mut raw.workload, workload) {
            (raw::Workload::Flows(raw), Workload::Flows(flows)) => fill_flows(raw, flows),
            (raw::Workload::Requests(raw), Workload::Requests(requests)) => {
                fill_requests(raw, requests);
            }
            (raw::Workload::Collective(raw), Workload::Collective(collective)) => {
                fill_collective(raw, collective);
            }
            _ => {}
        }
    }
}

fn fill_flows(raw: &mut raw::Flows, flows: &Flows) {
    raw.capacity = Some(flows.capacity);
    raw.pattern.get_or_insert(default_pattern(&flows.pattern));
    if let Connections::Persistent(count) | Connections::ClosedLoop(count) = flows.connections {
        raw.connections_per_pair = Some(count);
    }
}

fn fill_requests(raw: &mut raw::Requests, requests: &Requests) {
    raw.pattern.get_or_insert(default_pattern(&requests.pattern));
    if let Connections::Persistent(count) = requests.connections {
        raw.connections_per_pair = Some(count);
    }
}

fn fill_collective(raw: &mut raw::Collective, collective: &Collective) {
    if let Operation::ExpertAllToAll(Experts { experts, token, draw }) = collective.operation {
        (raw.experts, raw.token, raw.draw) = (Some(experts), Some(token), Some(draw));
    }
}

fn default_pattern(pattern: &Pattern) -> raw::Pattern {
    match pattern {
        Pattern::Sets { clients, servers } if clients == servers => raw::Pattern::AllToAll,
        Pattern::Sets { .. } => raw::Pattern::CrossPod,
        Pattern::Pairs { .. } => raw::Pattern::CrossPodPairs,
        Pattern::Permutation => raw::Pattern::Permutation,
        Pattern::Incast { .. } => raw::Pattern::Incast,
    }
}

fn fill_fabric(fabric: &mut raw::Fabric, scenario: &Scenario) {
    let (options, port, host) =
        (&mut fabric.options, scenario.fabric.port, scenario.fabric.host_port);
    options.port_buffer = scenario.fabric.shared_buffer.is_none().then_some(port.bytes);
    (options.port_packets, options.mark_above) = (port.packets, port.mark_above);
    options.host_buffer = Some(Bytes(host.bytes.0));
    (options.host_packets, options.host_mark_above) = (host.packets, host.mark_above);
    if let Shape::FatTree(tree) = &mut fabric.shape {
        tree.hosts_per_tor.get_or_insert(tree.k / 2);
        for rate in [&mut tree.host_rate, &mut tree.edge_rate, &mut tree.core_rate] {
            rate.get_or_insert(tree.rate);
        }
    }
    if let Shape::Dragonfly(dragonfly) = &mut fabric.shape {
        let half = dragonfly.balanced();
        dragonfly.hosts_per_router.get_or_insert(half);
        let links = *dragonfly.global_links.get_or_insert(half);
        dragonfly.groups.get_or_insert(dragonfly.routers * links + 1);
        dragonfly.global_delay.get_or_insert(options.link_delay);
    }
    if scenario.fabric.graph.routing == Routing::Minimal {
        options.routing.get_or_insert(raw::GroupRouting::Minimal);
    }
    if scenario.fabric.non_minimal.is_some() {
        options.intermediate.get_or_insert(raw::Intermediate::Flow);
    }
}

fn fill_transport(raw: &mut raw::Transport, transport: &Transport) {
    *raw = match *transport {
        Transport::Tcp(tcp) => raw::Transport::Tcp(tcp),
        Transport::Mptcp(mptcp) => raw::Transport::Mptcp(mptcp),
        Transport::Uet(uet) => raw::Transport::Uet(uet),
    };
}

fn fill_scheme(raw: &mut raw::Scheme, scheme: &Scheme) {
    match (raw, scheme) {
        (raw::Scheme::Hula(raw), Scheme::Hula(hula)) => *raw = *hula,
        (raw::Scheme::MpHula(raw), Scheme::MpHula(mp_hula)) => *raw = *mp_hula,
        (raw::Scheme::Shuttle(raw), Scheme::Shuttle(shuttle)) => *raw = *shuttle,
        (raw::Scheme::Cflb(raw), Scheme::Cflb(cflb)) => raw.constants = (&cflb.constants).into(),
        _ => {}
    }
}

impl Scheme {
    /// The scheme as a file's `[scheme]` has it: a table of its kind and its parameters. CFLB has
    /// its name alone, as its constants are the network's.
    ///
    /// # Errors
    /// None for the schemes that there are: parameters are numbers, words and texts.
    pub fn table(&self) -> Result<Value, serde_json::Error> {
        let mut table = match self {
            Scheme::Cflb(_) => return Ok(self.name().into()),
            other => serde_json::to_value(other)?,
        };
        write_kind(&mut table);
        Ok(table)
    }
}

impl Graph {
    /// The file of this graph, for a fabric of `kind = "file"`: read again it is the same.
    ///
    /// # Errors
    /// None for graphs, which are numbers and texts.
    pub fn table(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(raw::GraphFile::from(self))
    }
}

/// CFLB's constants as a file's `[cflb]` has them.
///
/// # Errors
/// None for constants, which are numbers and words.
pub fn cflb_table(constants: &CflbConfig) -> Result<Value, serde_json::Error> {
    let mut table = serde_json::to_value(raw::CflbConstants::from(constants))?;
    remove_nulls(&mut table);
    Ok(table)
}

/// Serde writes an enum as a table around its variant; the format has the variant's name as `kind`.
fn write_kind(section: &mut Value) {
    let Value::Object(section) = section else { return };
    let variant = section.iter().find(|(_, value)| value.is_object()).map(|(key, _)| key.clone());
    let Some(kind) = variant else { return };
    if let Some(Value::Object(keys)) = section.remove(&kind) {
        section.extend(keys);
    }
    section.insert("kind".to_owned(), Value::String(kind));
}

/// As [`write_kind`], with the defaults that serde leaves out.
fn write_transport(transport: &mut Value) {
    write_kind(transport);
    let Value::Object(keys) = transport else { return };
    if keys.get("kind").is_some_and(|kind| kind != "uet") {
        keys.entry("pacing").or_insert(false.into());
        keys.entry("preamble_and_gap").or_insert(false.into());
    }
    if keys.contains_key("subflows") {
        keys.entry("full_window").or_insert("wait".into());
    }
}

/// As [`write_kind`], for a workload and its transport.
fn write_workload(workload: &mut Value) {
    let transport = workload.as_object_mut().and_then(|workload| workload.remove("transport"));
    write_kind(workload);
    if let (Some(mut transport), Value::Object(workload)) = (transport, workload) {
        write_transport(&mut transport);
        workload.insert("transport".to_owned(), transport);
    }
}

pub(crate) fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

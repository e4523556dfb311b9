//! The set-up of a run: fabric, hosts, measurement, each workload, events.

use heddle_report::{Block, Section, Table};
use heddle_scenario::{
    Connections, Entropy, Fabric, Graph, Pattern, Requests, Scenario, Transport, Until, Workload,
};
use heddle_units::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::columns::spaced;
use super::events;
use super::levels::{in_sentence, levels};

/// Keys of hosts' protocols that a reader compares first; the scenario file below has them all.
const OF_TRANSPORT: [&str; 13] = [
    "subflows",
    "coupling",
    "scheduler",
    "control",
    "recovery",
    "loss_detection",
    "reordering_window",
    "receive_window",
    "min_rto",
    "initial_window",
    "base_rtt",
    "target_delay",
    "window",
];

/// Tables of what was set up.
pub(super) fn section(scenario: &Scenario) -> Section {
    let mut section = Section::new("setup", "Set-up").block(fabric_table(scenario));
    let mut workloads = workload_tables(scenario).into_iter();
    while let Some(left) = workloads.next() {
        section = section.block(match workloads.next() {
            Some(right) => Block::pair(left, right),
            None => left.into(),
        });
    }
    events::table(scenario).into_iter().fold(section, Section::block)
}

/// Rows of a name and a text.
fn table(heading: &str, rows: Vec<(String, String)>) -> Table {
    let rows = rows.into_iter().filter(|(_, text)| !text.is_empty());
    rows.fold(Table::new([heading, "value"]), |table, (name, text)| table.row([name, text]))
}

fn fabric_table(scenario: &Scenario) -> Table {
    let Scenario { fabric, measure, .. } = scenario;
    let mut rows = vec![("Nodes".to_owned(), nodes(&fabric.graph))];
    rows.extend(links(&fabric.graph));
    let failed: Vec<String> = fabric.failed.iter().map(|(a, b)| format!("{a} {b}")).collect();
    let measured = match measure.until {
        Until::Flows(flows) => format!("{flows} flows, until each has finished"),
        Until::Time(time) => spaced(time),
    };
    let warm_up = [(measure.probe_warm_up, " without traffic"), (measure.warm_up, " of traffic")];
    let warm_up = warm_up.into_iter().filter(|(time, _)| time.0 > 0);
    let warm_up: Vec<String> = warm_up.map(|(time, of)| spaced(time) + of).collect();
    let sampled =
        measure.sample_every.map_or_else(String::new, |every| format!("every {}", spaced(every)));
    let named = |name: &str, text: String| (name.to_owned(), text);
    rows.extend([
        named("Down from the start", failed.join(", ")),
        named("Buffer of a switch port", buffer(fabric)),
        named("Scheme", settings(&scenario.scheme, None)),
        named("Entropy of packets", entropy(&scenario.entropy)),
        named("Transport", settings(&scenario.transport, Some(&OF_TRANSPORT))),
        named("Warm-up", warm_up.join(", then ")),
        named("Measured", measured),
        named("Links sampled", sampled),
    ]);
    table("fabric and hosts", rows)
}

/// "32 hosts; switches: 4 leaf, 2 spine".
fn nodes(graph: &Graph) -> String {
    let count =
        |tier: usize| graph.nodes.iter().filter(|node| usize::from(node.tier) == tier).count();
    let of_tier = |(tier, name): (usize, &String)| format!("{} {}", count(tier), in_sentence(name));
    let levels = levels(graph);
    let switches: Vec<String> = levels.iter().enumerate().skip(1).map(of_tier).collect();
    format!("{} hosts; switches: {}", count(0), switches.join(", "))
}

/// A row for the links of each pair of levels, rate and delay.
fn links(graph: &Graph) -> Vec<(String, String)> {
    let levels = levels(graph);
    let level = |node: u32| in_sentence(&levels[usize::from(graph.nodes[node as usize].tier)]);
    let mut kinds: Vec<((String, String), usize)> = Vec::new();
    for link in &graph.links {
        let (a, b) = link.ends;
        let back =
            link.reverse_rate.map_or_else(String::new, |rate| format!(" / {}", spaced(rate)));
        let text = format!("{}{back}, {}", spaced(link.rate), spaced(link.delay));
        let kind = (format!("Links {} to {}", level(a), level(b)), text);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.into_iter().map(|((name, text), count)| (name, format!("{count} of {text}"))).collect()
}

fn buffer(fabric: &Fabric) -> String {
    let port = &fabric.port;
    let size = match &fabric.shared_buffer {
        Some(shared) => format!("{} of the switch, alpha = {}", spaced(shared.bytes), shared.alpha),
        None => spaced(port.bytes),
    };
    let packets = port.packets.map(|packets| format!("{packets} packets"));
    let above = port.mark_above.map(|bytes| format!("marks above {}", spaced(bytes)));
    let red = fabric.red.map(|red| format!("RED from {} to {}", spaced(red.min), spaced(red.max)));
    let scaled =
        fabric.scale_buffers.map(|rate| format!("at {}, others in proportion", spaced(rate)));
    [Some(size), packets, above, red, scaled].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn entropy(entropy: &Entropy) -> String {
    if *entropy == Entropy::Flow { String::new() } else { settings(entropy, None) }
}

/// `hula: flowlet_gap = 100us, ...`: the kind of a value and its keys, or those of them in a list.
fn settings(value: &impl Serialize, listed: Option<&[&str]>) -> String {
    let Ok(value) = serde_json::to_value(value) else { return String::new() };
    let (kind, keys) = match &value {
        Value::String(kind) => return kind.clone(),
        Value::Object(keys) => match (keys.get("kind"), keys.iter().next()) {
            (Some(Value::String(kind)), _) => (kind.clone(), keys.clone()),
            (_, Some((kind, Value::Object(keys)))) => (kind.clone(), keys.clone()),
            _ => return String::new(),
        },
        _ => return String::new(),
    };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let mut pairs: Vec<(&String, String)> = keys
        .iter()
        .filter(|(key, _)| listed.map_or(*key != "kind", |listed| listed.contains(&key.as_str())))
        .filter_map(|(key, value)| Some((key, text(value)?)))
        .collect();
    if let Some(listed) = listed {
        pairs.sort_by_key(|(key, _)| listed.iter().position(|known| known == key));
    }
    let pairs: Vec<String> =
        pairs.into_iter().map(|(key, text)| format!("{key} = {text}")).collect();
    if pairs.is_empty() { kind } else { format!("{kind}: {}", pairs.join(", ")) }
}

/// A table for each workload.
fn workload_tables(scenario: &Scenario) -> Vec<Table> {
    let hosts = scenario.fabric.graph.nodes.iter().filter(|node| node.tier == 0).count();
    let parts = scenario.workload.parts().into_iter().zip(scenario.workload.names());
    let own = |name: &str| match &scenario.workload {
        Workload::Several(parts) => parts.iter().find(|part| part.name == name)?.transport,
        _ => None,
    };
    let of_part = |(workload, name): (&Workload, &str)| {
        let heading =
            if name.is_empty() { "workload".to_owned() } else { format!("workload {name}") };
        let mut rows = of_workload(workload, hosts);
        let transport = own(name).map(|own: Transport| settings(&own, Some(&OF_TRANSPORT)));
        rows.push(("Transport", transport.unwrap_or_default()));
        table(&heading, rows.into_iter().map(|(name, text)| (name.to_owned(), text)).collect())
    };
    parts.map(of_part).collect()
}

fn of_workload(workload: &Workload, hosts: usize) -> Vec<(&'static str, String)> {
    match workload {
        Workload::Flows(flows) => vec![
            ("Traffic", traffic(flows.connections).to_owned()),
            ("Flow sizes", flows.sizes.name.clone()),
            ("Load", format!("{} of {}", flows.load, spaced(flows.capacity))),
            ("Senders and receivers", pattern(&flows.pattern, hosts)),
            ("Connections", connections(flows.connections)),
        ],
        Workload::Long(long) => vec![
            ("Traffic", "flows without end".to_owned()),
            (
                "Senders and receivers",
                match &long.pairs {
                    Some(pairs) => format!("{} pairs of hosts", pairs.len()),
                    None => pattern(&Pattern::Permutation, hosts),
                },
            ),
            ("Start", format!("within {}", spaced(long.start_within))),
        ],
        Workload::Replay(flows) => {
            let bytes = Bytes(flows.iter().map(|flow| flow.size.0).sum());
            vec![
                ("Traffic", "flows of a list, each at its time".to_owned()),
                ("Flows", format!("{}, {} together", flows.len(), spaced(bytes))),
                ("Last start", flows.last().map_or_else(String::new, |flow| spaced(flow.at))),
            ]
        }
        Workload::Collective(collective) => vec![
            ("Traffic", format!("collective operation {}", settings(&collective.operation, None))),
            ("Vector of each host", spaced(collective.size)),
            ("Hosts", collective.hosts.len().to_string()),
            ("Flows", collective.flows().to_string()),
        ],
        Workload::FlowGraph(graph) => {
            let bytes = Bytes(graph.flows.iter().map(|flow| flow.size.0).sum());
            let computations = graph.flows.len() as u64 - graph.flow_count();
            vec![
                ("Traffic", "flows that wait for each other".to_owned()),
                ("Flows", format!("{}, {} together", graph.flow_count(), spaced(bytes))),
                ("Computations", computations.to_string()),
            ]
        }
        Workload::Requests(requests) => of_requests(requests, hosts),
        Workload::Several(_) => Vec::new(),
    }
}

fn of_requests(requests: &Requests, hosts: usize) -> Vec<(&'static str, String)> {
    let servers = match requests.fan_out {
        1 => "to one server".to_owned(),
        several => format!("to {several} servers each"),
    };
    vec![
        ("Traffic", format!("requests in a closed loop, {servers}")),
        ("Request", spaced(requests.request_size)),
        ("Response sizes", requests.sizes.name.clone()),
        ("Under way at each client", requests.outstanding.to_string()),
        ("Mean think time", spaced(requests.think)),
        ("Clients and servers", pattern(&requests.pattern, hosts)),
        ("Connections", connections(requests.connections)),
    ]
}

fn traffic(connections: Connections) -> &'static str {
    match connections {
        Connections::ClosedLoop(_) => "flows, each after the last one of its connection",
        _ => "flows that arrive by a Poisson process",
    }
}

fn pattern(pattern: &Pattern, hosts: usize) -> String {
    match pattern {
        Pattern::Sets { clients, servers } if clients.len() == hosts && clients == servers => {
            "any host to any other".to_owned()
        }
        Pattern::Sets { clients, servers } => {
            format!("any of {} hosts to any of {}", clients.len(), servers.len())
        }
        Pattern::Permutation => "each host to one other, drawn from the seed".to_owned(),
        Pattern::Pairs { clients, .. } => {
            format!("{} pairs of hosts, drawn from the seed", clients.len())
        }
        Pattern::Incast { senders } => format!("{senders} hosts at once to one (incast)"),
    }
}

fn connections(connections: Connections) -> String {
    match connections {
        Connections::Persistent(1) => "one between each pair, kept open".to_owned(),
        Connections::Persistent(count) => format!("{count} between each pair, kept open"),
        Connections::PerFlow => "one for each flow".to_owned(),
        Connections::Pool => "an idle one of the pair, or a new one".to_owned(),
        Connections::ClosedLoop(count) => format!("{count} between each pair"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    fn rows(table: &Table) -> Vec<String> {
        table.rows.iter().map(|row| format!("{}: {}", row[0].text, row[1].text)).collect()
    }

    #[test]
    fn the_fabric_is_named_by_its_levels() {
        let scheme = "{ kind = \"letitflow\", flowlet_gap = \"100us\" }";
        let scenario = scenario(&[("fabric.parallel_links", "1"), ("scheme", scheme)]);
        let rows = rows(&fabric_table(&scenario));
        for row in [
            "Nodes: 4 hosts; switches: 2 leaf, 2 spine",
            "Links host to leaf: 4 of 1 Gbps, 1 µs",
            "Links leaf to spine: 4 of 1 Gbps, 1 µs",
            "Measured: 20 flows, until each has finished",
        ] {
            assert!(rows.iter().any(|known| known == row), "{row}: {rows:#?}");
        }
        let scheme = rows.iter().find(|row| row.starts_with("Scheme: letitflow: ")).unwrap();
        assert!(scheme.contains("flowlet_gap = 100us"), "{scheme}");
        assert!(!rows.iter().any(|row| row.starts_with("Entropy") || row.ends_with(": ")));
    }

    #[test]
    fn each_workload_has_a_table() {
        let several = r#"[
            { name = "web", kind = "flows", sizes = "websearch", load = 0.3, connections = "per-flow" },
            { name = "burst", kind = "flows", sizes = "fixed:20KB", pattern = "incast", senders = 2, load = 0.1 },
            { name = "rest", kind = "long" },
        ]"#;
        let tables = workload_tables(&scenario(&[("workload", several)]));
        let headings: Vec<&str> = tables.iter().map(|table| table.columns[0].as_str()).collect();
        assert_eq!(headings, ["workload web", "workload burst", "workload rest"]);
        assert_eq!(
            rows(&tables[0])[1..],
            [
                "Flow sizes: websearch",
                "Load: 0.3 of 4 Gbps",
                "Senders and receivers: any host to any other",
                "Connections: one for each flow"
            ]
        );
        assert!(
            rows(&tables[1])
                .contains(&"Senders and receivers: 2 hosts at once to one (incast)".to_owned())
        );
        assert_eq!(rows(&tables[2])[0], "Traffic: flows without end");
    }
}

//! Files of other programs in Heddle's own forms.

mod chakra;
mod job;
mod limits;
mod msccl;
mod protobuf;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use heddle_config::Problem;
use heddle_units::{Bytes, Time};
use serde_json::Value;

use crate::csv::{Line, lines};
use crate::graph::{from_hpcc, from_htsim};
use crate::raw::GraphFile;
use crate::resolve::{hpcc_flows, matrix_flows};
use crate::source::Noting;
use crate::{Files, FlowGraph, Graph, ReplayFlow, ScenarioError, sizes};

/// A file to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Its name, for messages; its ending tells what it is.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Facts that files to import do not say themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSettings {
    /// Bytes of the buffer of each rank that a plan of MSCCL moves.
    pub size: Option<Bytes>,
    /// ASTRA-sim's groups of ranks for traces of Chakra: JSON with a list of ranks for each name.
    pub groups: Option<InputFile>,
}

/// A file in Heddle's own form.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Its kind, as "a graph of 16 hosts and 20 switches".
    pub is: String,
    /// The file.
    pub contents: Contents,
    /// Parts left out.
    pub notices: Vec<String>,
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// A graph file, whose value is to be written as TOML.
    Graph(Value),
    /// A CSV file of flows (`workload.kind = "replay"`), of flows that wait for each other
    /// (`"flow-graph"`) or of sizes (`workload.sizes.file`).
    Table(String),
}

/// Reads a file of another program: a topology of htsim (`.topo`) or HPCC, a connection matrix of
/// htsim (`.cm`) without triggers, a flow file of HPCC or conweave, a distribution of sizes, a plan
/// of MSCCL (`.xml`); or the files of a trace of Chakra (`.et`), one for each rank. The ending of its
/// name and its first lines tell which. Hosts have the names of the topologies' hosts; rank 0 of a
/// plan or trace is host-1.
///
/// # Errors
/// The fault in it, with its line or node.
pub fn import(files: &[InputFile], settings: &ImportSettings) -> Result<Imported, ScenarioError> {
    let first = files.first().map_or("", |file| file.name.as_str());
    if first.ends_with(".et") {
        return Ok(trace(files, settings)?);
    }
    let [file] = files else {
        return Err(Problem::at("name", format!("{} files are not one trace", files.len()))
            .help("the files of Chakra's trace, as in `step.*.et`; others one at a time")
            .in_file(first, None)
            .into());
    };
    let text = std::str::from_utf8(&file.bytes).map_err(|error| {
        let before = &file.bytes[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Problem::new("this is no text")
            .help("a text file in UTF-8; a trace of Chakra is called `NAME.RANK.et`")
            .in_file(&file.name, Some(line))
    })?;
    text_file(&file.name, text, settings)
}

fn text_file(name: &str, text: &str, settings: &ImportSettings) -> Result<Imported, ScenarioError> {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let noting = Noting::new(&no_files);
    let (is, contents) = match kind_of(name, text) {
        Kind::HtsimTopology => graph(&from_htsim(name, text, &noting)?),
        Kind::HpccTopology => graph(&from_hpcc(name, text, &noting)?),
        Kind::HtsimFlows => flows(&matrix_flows(name, text)?, 1),
        Kind::HpccFlows => flows(&hpcc(name, text, &noting)?, 0),
        Kind::Plan => job_table(&msccl::graph(name, text, settings.size)?, "steps"),
        Kind::FlowTable => {
            return Err(Problem::new("a table of flows is read as it is, without an import")
                .help("`workload.file`, of kind \"replay\", or \"flow-graph\" if flows wait")
                .in_file(name, Some(1))
                .into());
        }
        Kind::Sizes => distribution(&sizes::parse(name, text)?.points),
        Kind::Unknown => {
            return Err(Problem::new("the first line is of no file that can be imported")
                .help("a topology (`.topo`, HPCC's), flows (`.cm`, HPCC's), sizes in bytes or packets, a plan of MSCCL (`.xml`) or a trace of Chakra (`.et`)")
                .in_file(name, Some(1))
                .into());
        }
    };
    Ok(Imported { is, contents, notices: noting.notices() })
}

/// The files of a trace.
fn trace(files: &[InputFile], settings: &ImportSettings) -> Result<Imported, Problem> {
    let groups = settings.groups.as_ref().map(groups).transpose()?.unwrap_or_default();
    let (graph, notices) = job::graph(&chakra::read(files)?, &groups)?;
    let (is, contents) = job_table(&graph, "computations");
    Ok(Imported { is, contents, notices })
}

/// Groups of ranks by name.
fn groups(file: &InputFile) -> Result<BTreeMap<String, Vec<u32>>, Problem> {
    let wrong = |message: String, line: Option<usize>| {
        Problem::at("groups", message)
            .help("names and ranks, as in {\"1\": [0, 1], \"2\": [2, 3]}")
            .in_file(&file.name, line)
    };
    let value: Value = serde_json::from_slice(&file.bytes)
        .map_err(|error| wrong(format!("no JSON: {error}"), Some(error.line().max(1))))?;
    let Value::Object(groups) = value else {
        return Err(wrong("no JSON object".to_owned(), None));
    };
    let group = |(name, list): (&String, &Value)| {
        let no_list = || wrong(format!("group {name} is no list of ranks"), None);
        Ok((name.clone(), chakra::ranks(list).ok_or_else(no_list)?))
    };
    groups.iter().map(group).collect()
}

enum Kind {
    HtsimTopology,
    HtsimFlows,
    HpccTopology,
    HpccFlows,
    Plan,
    FlowTable,
    Sizes,
    Unknown,
}

fn kind_of(name: &str, text: &str) -> Kind {
    let mut lines = lines(text).map(|(_, line): Line<'_>| line);
    let first = lines.next().unwrap_or("");
    let width = |line: &str| line.split_whitespace().count();
    let widths = (width(first), lines.next().map_or(0, width));
    match widths {
        _ if name.ends_with(".topo") => Kind::HtsimTopology,
        _ if name.ends_with(".cm") => Kind::HtsimFlows,
        _ if name.ends_with(".xml") || text.trim_start().starts_with('<') => Kind::Plan,
        (3 | 6, _) if !first.contains(',') => Kind::HpccTopology,
        (1, 5 | 6) if hpcc_flows::is_one(text) => Kind::HpccFlows,
        _ if names_hosts(first) => Kind::FlowTable,
        _ if has_sizes(first) => Kind::Sizes,
        _ => Kind::Unknown,
    }
}

/// True of the first line of a distribution: a number, or the name of a column of sizes.
fn has_sizes(first: &str) -> bool {
    let mut cells = first.split([',', ';', '\t', ' ']).map(|cell| cell.trim().trim_matches('"'));
    let names = ["bytes", "packets"];
    cells.any(|cell| {
        let digit = cell.starts_with(|c: char| c.is_ascii_digit());
        digit || names.iter().any(|name| cell.eq_ignore_ascii_case(name))
    })
}

/// True of the header of a table with senders and receivers.
fn names_hosts(header: &str) -> bool {
    let columns: Vec<&str> = header.split([',', ';', '\t']).map(str::trim).collect();
    columns.contains(&"from") && columns.contains(&"to")
}

fn graph(graph: &Graph) -> (String, Contents) {
    let hosts = graph.nodes.iter().filter(|node| node.tier == 0).count();
    let is = format!(
        "a graph of {hosts} hosts, {} switches and {} links",
        graph.nodes.len() - hosts,
        graph.links.len()
    );
    let mut value = serde_json::to_value(GraphFile::from(graph)).unwrap_or_default();
    crate::complete::remove_nulls(&mut value);
    (is, Contents::Graph(value))
}

fn hpcc(name: &str, text: &str, files: &dyn Files) -> Result<Vec<ReplayFlow>, Problem> {
    let mut last = None;
    let host = |number: &str| {
        let wrong = || Problem::new(format!("\"{number}\" is no host")).help("its number, from 0");
        number.parse::<u16>().map(u32::from).map_err(|_| wrong())
    };
    let flows = hpcc_flows::parse((name, text), &host, files, &mut last);
    flows.map_err(|problem| problem.in_file(name, last))
}

/// Flows of hosts whose names count from `first`, in order of time.
fn flows(flows: &[ReplayFlow], first: u32) -> (String, Contents) {
    let mut flows: Vec<&ReplayFlow> = flows.iter().collect();
    flows.sort_by_key(|flow| flow.at);
    let mut table = "at,from,to,size\n".to_owned();
    for ReplayFlow { at, from, to, size } in &flows {
        let (from, to) = (from + first, to + first);
        // Writing to a text does not fail.
        let _ = writeln!(table, "{at},host-{from},host-{to},{size}");
    }
    let last = flows.last().map_or(Time::ZERO, |flow| flow.at);
    (format!("{} flows, the last at {last}", flows.len()), Contents::Table(table))
}

/// Flows and others, called `others`, that wait for each other, as a table.
fn job_table(graph: &FlowGraph, others: &str) -> (String, Contents) {
    let mut table = "id,after,from,to,size,delay\n".to_owned();
    for flow in &graph.flows {
        let after: Vec<&str> =
            flow.after.iter().map(|&before| graph.flows[before as usize].id.as_str()).collect();
        let (to, size) = match flow.is_computation() {
            true => (String::new(), String::new()),
            false => (format!("host-{}", flow.to + 1), flow.size.to_string()),
        };
        let delay = if flow.delay == Time::ZERO { String::new() } else { flow.delay.to_string() };
        let (id, after, from) = (&flow.id, after.join(" "), flow.from + 1);
        // Writing to a text does not fail.
        let _ = writeln!(table, "{id},{after},host-{from},{to},{size},{delay}");
    }
    let ranks = graph.flows.iter().map(|flow| flow.from.max(flow.to) + 1).max().unwrap_or(0);
    let (flows, rows) = (graph.flow_count(), graph.flows.len() as u64);
    let is = format!("{flows} flows and {} other {others} of {ranks} ranks", rows - flows);
    (is, Contents::Table(table))
}

fn distribution(points: &[(f64, f64)]) -> (String, Contents) {
    let lines = points.iter().map(|(bytes, cdf)| format!("{bytes},{cdf}\n"));
    let table = std::iter::once("bytes,cdf\n".to_owned()).chain(lines).collect();
    (format!("a distribution of sizes with {} points", points.len()), Contents::Table(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import_text(name: &str, text: &str) -> Result<Imported, ScenarioError> {
        import(&[InputFile { name: name.into(), bytes: text.into() }], &ImportSettings::default())
    }

    fn table(name: &str, text: &str) -> (String, Vec<String>) {
        let imported = import_text(name, text).unwrap_or_else(|error| panic!("{error}"));
        match imported.contents {
            Contents::Table(table) => (table, imported.notices),
            Contents::Graph(graph) => panic!("{graph}"),
        }
    }

    #[test]
    fn flows_and_sizes_become_tables() {
        let (flows, notices) = table("flow.txt", "1\n0 1 3 100 20000 2.0\n1 0 3 100 9 2.5\n");
        assert_eq!(flows, "at,from,to,size\n0ps,host-0,host-1,20KB\n");
        assert_eq!(notices.len(), 2, "{notices:?}");
        let matrix = "Nodes 4\nConnections 1\n0->3 start 1000000 size 1500\n";
        assert_eq!(table("a.cm", matrix).0, "at,from,to,size\n1us,host-1,host-4,1.5KB\n");
        let sizes = table("dist.txt", "25.5\n0 0\n1460 0.5\n2920 1.0\n").0;
        assert_eq!(sizes, "bytes,cdf\n0,0\n1460,0.5\n2920,1\n");
    }

    #[test]
    fn a_topology_becomes_a_graph_file_that_is_the_same_graph() {
        let text = "4 2 3\n2 3\n0 2 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 100Gbps 1us 0\n";
        let imported = import_text("t.txt", text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.is, "a graph of 2 hosts, 2 switches and 3 links");
        let Contents::Graph(value) = imported.contents else { panic!("a graph") };
        let written = toml::to_string(&value).unwrap();
        let read = crate::graph::from_file("t.toml", &written, Time::ZERO).map_err(|_| ()).unwrap();
        let none = |_: &str| Ok(String::new());
        assert_eq!(read, from_hpcc("t.txt", text, &none).map_err(|_| ()).unwrap());
    }

    /// As conweave's files end.
    #[test]
    fn prose_behind_a_topology_is_no_part_of_it() {
        let text = "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n\nFirst line: total node #, switch node #, link #\n";
        let imported = import_text("t.txt", text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.is, "a graph of 2 hosts, 1 switches and 2 links");
        assert_eq!(imported.notices, [""; 0]);
    }

    #[test]
    fn what_is_none_of_these_is_refused_with_its_line() {
        for text in ["a,b\n1,2\n", "hello world\n", ""] {
            let error = import_text("x.csv", text).map(|_| ()).unwrap_err();
            assert_eq!(error.line(), Some(1), "{error}");
            assert!(error.help().is_some_and(|help| help.contains("HPCC")), "{error}");
        }
    }

    /// As Excel writes them where decimals have commas.
    #[test]
    fn decimal_commas_are_refused_with_their_fix() {
        for (text, line, expected) in [
            ("bytes;cdf\n0;0\n1460;0,5\n2920;1\n", 3, "\"0,5\" has a comma"),
            ("1460;0,5\n2920;1\n", 1, "\"0,5\" has a comma"),
            ("bytes\tpercent\n1460\t\"12,5\"\n", 2, "\"12,5\" has a comma"),
        ] {
            let error = import_text("x.csv", text).map(|_| ()).unwrap_err();
            assert_eq!(error.line(), Some(line), "{error}");
            assert!(error.message().starts_with(expected), "{error}");
            assert!(error.help().is_some_and(|help| help.contains("Excel")), "{error}");
        }
    }

    #[test]
    fn a_table_of_flows_needs_no_import() {
        let error = import_text("x.csv", "at_s;from;to;size\n0;a;b;1\n").map(|_| ()).unwrap_err();
        assert!(error.help().is_some_and(|help| help.contains("`workload.file`")), "{error}");
    }
}

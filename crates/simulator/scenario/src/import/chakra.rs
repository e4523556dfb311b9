//! Chakra execution traces (MLCommons, `et_def.proto`), as ASTRA-sim reads them: a file
//! `NAME.RANK.et` for each rank, of protobuf messages behind their lengths: `GlobalMetadata`, then a
//! `Node` each.

use std::collections::BTreeMap;

use heddle_config::Problem;

use super::InputFile;
use super::protobuf::{Malformed, Value, for_each_field, next_message};

/// Ranks beyond this are mistakes: a fabric has no more hosts.
const MOST_RANKS: usize = 65_535;

/// Characters of a node's name that are kept.
const MOST_NAME: usize = 48;

/// The trace of a rank.
pub(super) struct Trace {
    /// Its file.
    pub(super) file: String,
    /// In the order of the file, each number once.
    pub(super) nodes: Vec<Node>,
    /// Groups of ranks by name that it defines.
    pub(super) groups: BTreeMap<String, Vec<u32>>,
}

impl Trace {
    /// A problem with a node.
    pub(super) fn wrong(&self, node: &Node, message: impl Into<String>) -> Problem {
        let key = format!("node {} ({})", node.id, node.label);
        Problem::at(&key, message).in_file(&self.file, None)
    }
}

/// A node of a trace.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) id: u64,
    /// Its name, of letters that a flow's name may have.
    pub(super) label: String,
    pub(super) kind: Kind,
    /// Nodes of the same trace that it waits for, by number.
    pub(super) after: Vec<u64>,
    /// `duration_micros`.
    pub(super) micros: u64,
    /// Operations of a computation, for a model that gives its time.
    pub(super) operations: i64,
    /// `comm_size`.
    pub(super) size: Option<i64>,
    /// `comm_src`.
    pub(super) source: Option<i64>,
    /// `comm_dst`.
    pub(super) destination: Option<i64>,
    /// `comm_tag`.
    pub(super) tag: i64,
    /// `comm_type`.
    pub(super) operation: Option<i64>,
    /// `pg_name`.
    pub(super) group: String,
    /// True if `involved_dim` leaves out some dimension of the network.
    pub(super) is_partial: bool,
}

/// `NodeType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Invalid and metadata nodes, which take no time.
    #[default]
    Nothing,
    Memory,
    Computation,
    Send,
    Receive,
    Collective,
    /// Of no type that Chakra has.
    Unknown,
}

/// Reads the traces of all ranks, in the order of the ranks.
pub(super) fn read(files: &[InputFile]) -> Result<Vec<Trace>, Problem> {
    let mut by_rank = BTreeMap::new();
    for file in files {
        let rank = rank_of(&file.name).map_err(|problem| problem.in_file(&file.name, None))?;
        if by_rank.insert(rank, file).is_some() {
            let message = format!("rank {rank} has another file, too");
            return Err(Problem::at("name", message)
                .help("the files of one trace")
                .in_file(&file.name, None));
        }
    }
    if let Some((missing, (_, file))) =
        (0..).zip(&by_rank).find(|(expected, (rank, _))| *rank != expected)
    {
        let message = format!("the file of rank {missing} is missing");
        return Err(Problem::at("name", message)
            .help("name the files of all ranks, as in `step.*.et`")
            .in_file(&file.name, None));
    }
    if by_rank.len() > MOST_RANKS {
        let message = format!("{} ranks are too many", by_rank.len());
        return Err(Problem::new(message).help(format!("at most {MOST_RANKS}")));
    }
    by_rank.values().map(|file| trace(file)).collect()
}

/// The rank in a file's name.
fn rank_of(name: &str) -> Result<usize, Problem> {
    let rank = name.strip_suffix(".et").and_then(|name| name.rsplit_once('.'));
    rank.and_then(|(_, rank)| rank.parse().ok()).ok_or_else(|| {
        Problem::at("name", "the name has no rank")
            .help("as in `step.0.et`, `step.1.et`, a file for each rank")
    })
}

fn trace(file: &InputFile) -> Result<Trace, Problem> {
    let mut rest = &file.bytes[..];
    let mut trace = Trace { file: file.name.clone(), nodes: Vec::new(), groups: BTreeMap::new() };
    let mut seen = BTreeMap::new();
    for number in 1.. {
        let in_message = |problem: Problem| {
            problem.inside(&format!("message {number}")).in_file(&file.name, None)
        };
        let malformed = |wrong: Malformed| in_message(malformed(&file.bytes, wrong));
        let Some(message) = next_message(&mut rest).map_err(malformed)? else { break };
        if number == 1 {
            // The version, and what made the file: nothing here depends on them.
            for_each_field(message, |_, _| Ok(())).map_err(malformed)?;
            continue;
        }
        let (node, values) = node(message).map_err(malformed)?;
        if node.kind == Kind::Unknown {
            return Err(trace
                .wrong(&node, "its type is none of Chakra's")
                .help("from 0 to 7 (`NodeType` of `et_def.proto`)"));
        }
        if let Some(first) = seen.insert(node.id, number) {
            let message = format!("message {first} has the same number");
            return Err(trace.wrong(&node, message).help("a number of its own for each node"));
        }
        if node.kind == Kind::Nothing && values.contains("pg_name") {
            let groups = groups_of(&values).ok_or_else(|| {
                trace
                    .wrong(&node, "its list of groups cannot be read")
                    .help("as PyTorch writes it: `[[{\"pg_name\": \"1\", \"ranks\": [0, 1]}]]`")
            })?;
            trace.groups.extend(groups);
        }
        trace.nodes.push(node);
    }
    match trace.nodes.is_empty() {
        true => Err(Problem::at("message 2", "there are no nodes")
            .help("a trace has a `GlobalMetadata`, then a `Node` each")
            .in_file(&file.name, None)),
        false => Ok(trace),
    }
}

/// The reason for which bytes are no message.
fn malformed(file: &[u8], wrong: Malformed) -> Problem {
    let problem = Problem::new(wrong.says());
    match file.starts_with(&[0x1f, 0x8b]) {
        true => problem.help("the file is compressed: `gunzip` it"),
        false => problem.help("a file of Chakra's, as its converters write it (`.et`)"),
    }
}

/// A node, and the values of its inputs.
fn node(message: &[u8]) -> Result<(Node, String), Malformed> {
    let mut node = Node::default();
    let (mut kind, mut name, mut values) = (0, String::new(), String::new());
    for_each_field(message, |field, value| {
        match (field, value) {
            (1, Value::Varint(id)) => node.id = id,
            (2, _) => name = value.text(),
            (3, Value::Varint(number)) => kind = number,
            (4 | 5, _) => value.push_to(&mut node.after)?,
            (7, Value::Varint(micros)) => node.micros = micros,
            (8, _) => for_each_field(value.bytes(), |field, value| {
                if field == 1 {
                    values = value.text();
                }
                Ok(())
            })?,
            (10, _) => attribute(value.bytes(), &mut node)?,
            _ => {}
        }
        Ok(())
    })?;
    node.after.sort_unstable();
    node.after.dedup();
    let (kind, word) = match kind {
        0 => (Kind::Nothing, "invalid"),
        1 => (Kind::Nothing, "metadata"),
        2 | 3 => (Kind::Memory, "memory"),
        4 => (Kind::Computation, "computation"),
        5 => (Kind::Send, "send"),
        6 => (Kind::Receive, "receive"),
        7 => (Kind::Collective, "collective"),
        _ => (Kind::Unknown, "node"),
    };
    (node.kind, node.label) = (kind, label(&name, word));
    Ok((node, values))
}

/// A name for flows: letters, digits, `-` and `_`.
fn label(name: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    match name.is_empty() {
        true => otherwise.to_owned(),
        false => name.chars().take(MOST_NAME).map(plain).collect(),
    }
}

/// Takes note of an attribute that matters.
fn attribute(message: &[u8], node: &mut Node) -> Result<(), Malformed> {
    let (mut name, mut number, mut text, mut flags) =
        (String::new(), None, String::new(), Vec::new());
    for_each_field(message, |field, value| {
        match (field, value) {
            (1, _) => name = value.text(),
            // The variants of AttributeProto's value that are whole numbers.
            (7 | 9 | 11 | 13 | 27, Value::Varint(plain)) => number = Some(plain as i64),
            (15 | 17, Value::Varint(zigzag)) => {
                number = Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
            }
            (19, Value::Fixed32(bytes)) => number = Some(u32::from_le_bytes(bytes).into()),
            (23, Value::Fixed32(bytes)) => number = Some(i32::from_le_bytes(bytes).into()),
            (21 | 25, Value::Fixed64(bytes)) => number = Some(i64::from_le_bytes(bytes)),
            (28, _) => for_each_field(value.bytes(), |field, value| match field {
                1 => value.push_to(&mut flags),
                _ => Ok(()),
            })?,
            (29, _) => text = value.text(),
            _ => {}
        }
        Ok(())
    })?;
    match name.as_str() {
        "comm_size" => node.size = number,
        "comm_src" => node.source = number,
        "comm_dst" => node.destination = number,
        "comm_tag" => node.tag = number.unwrap_or_default(),
        "comm_type" => node.operation = number,
        "num_ops" => node.operations = number.unwrap_or_default(),
        "pg_name" => node.group = number.map_or(text, |number| number.to_string()),
        "involved_dim" => node.is_partial = flags.contains(&0),
        _ => {}
    }
    Ok(())
}

/// The groups that a metadata node of PyTorch's lists: JSON within a text of two brackets.
fn groups_of(values: &str) -> Option<BTreeMap<String, Vec<u32>>> {
    let list = values.get(values.find("[{")?..values.rfind("}]")? + 2)?;
    let list: Vec<serde_json::Value> = serde_json::from_str(&list.replace("\\\"", "\"")).ok()?;
    let group = |group: &serde_json::Value| {
        let name = group.get("pg_name")?.as_str()?.to_owned();
        Some((name, ranks(group.get("ranks")?)?))
    };
    list.iter().map(group).collect()
}

/// Ranks in a list.
pub(super) fn ranks(list: &serde_json::Value) -> Option<Vec<u32>> {
    list.as_array()?.iter().map(|rank| rank.as_u64()?.try_into().ok()).collect()
}

//! htsim's connection matrices (`.cm`), as csg-htsim reads them: a header (`Nodes`, `Connections`,
//! `Triggers`), then a connection or a trigger a line.
//!
//! ```text
//! Nodes 16
//! Connections 2
//! Triggers 1
//! 0->5 id 1 start 0 size 2000000 recv_done_trigger 1
//! 5->0 id 2 trigger 1 size 1000
//! trigger id 1 oneshot
//! ```
//!
//! Hosts count from 0 here, and from 1 in Heddle; starts are in picoseconds, sizes in bytes. Empty
//! lines and lines that start with `#` are skipped.

use std::collections::BTreeMap;

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::times::bounded;
use crate::source::Files;
use crate::{FlowGraph, Graph, GraphFlow, ReplayFlow};

/// A fabric has no more hosts.
const MOST_HOSTS: u32 = 65_535;

/// True for a file of this format, by its ending.
pub(super) fn is_matrix(path: &str) -> bool {
    path.ends_with(".cm")
}

/// The flows of a matrix without triggers, in order of time.
pub(super) fn replay(
    path: &str,
    graph: &Graph,
    files: &dyn Files,
) -> Result<Vec<ReplayFlow>, Problem> {
    listed(path, read(path, graph, files)?)
}

/// The same of a text, whatever the number of hosts.
pub(crate) fn matrix_flows(path: &str, text: &str) -> Result<Vec<ReplayFlow>, Problem> {
    let mut last = None;
    let matrix =
        parse(text, MOST_HOSTS, &mut last).map_err(|problem| problem.in_file(path, last))?;
    listed(path, matrix)
}

fn listed(path: &str, matrix: Matrix) -> Result<Vec<ReplayFlow>, Problem> {
    let mut flows = Vec::with_capacity(matrix.connections.len());
    for Connection { line, from, to, size, start, .. } in matrix.connections {
        let Start::At(at) = start else {
            return Err(Problem::new("a replay has no triggers")
                .help("kind = \"flow-graph\" takes the same file")
                .in_file(path, Some(line)));
        };
        flows.push(ReplayFlow { at, from, to, size });
    }
    flows.sort_by_key(|flow| flow.at);
    Ok(flows)
}

/// The flows of a matrix; those with a trigger wait for the flows that set it off.
pub(super) fn flow_graph(
    path: &str,
    graph: &Graph,
    files: &dyn Files,
) -> Result<FlowGraph, Problem> {
    let Matrix { connections, triggers } = read(path, graph, files)?;
    let mut flows = Vec::with_capacity(connections.len());
    for (number, connection) in (1..).zip(&connections) {
        let Connection { line, id, from, to, size, .. } = *connection;
        let (after, delay) = match connection.start {
            Start::At(at) => (Vec::new(), at),
            Start::Trigger(trigger) => {
                let after = before(trigger, &triggers, &connections);
                (after.map_err(|problem| problem.in_file(path, Some(line)))?, Time::ZERO)
            }
        };
        let id = id.map_or_else(|| format!("connection-{number}"), |id| id.to_string());
        flows.push(GraphFlow { id, after, from, to, size, delay });
    }
    let graph = FlowGraph { flows };
    if graph.order().len() < graph.flows.len() {
        return Err(
            Problem::new("connections wait for each other by their triggers").in_file(path, None)
        );
    }
    Ok(graph)
}

struct Matrix {
    connections: Vec<Connection>,
    triggers: BTreeMap<u32, Trigger>,
}

struct Connection {
    line: usize,
    id: Option<u32>,
    from: u32,
    to: u32,
    size: Bytes,
    start: Start,
    /// Triggers that its end sets off.
    sets_off: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Start {
    At(Time),
    Trigger(u32),
}

#[derive(Clone, Copy, PartialEq)]
enum Trigger {
    /// Starts its flows once; by whatever flow is first.
    Single,
    /// Starts its flows when so many have ended.
    Barrier(usize),
}

fn read(path: &str, graph: &Graph, files: &dyn Files) -> Result<Matrix, Problem> {
    let unreadable = |error| Problem::at("file", format!("cannot read {path}: {error}"));
    let text = files.read(path).map_err(unreadable)?;
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let mut last = None;
    parse(&text, hosts, &mut last).map_err(|problem| problem.in_file(path, last))
}

/// `last` is the number of the line that was looked at last.
fn parse(text: &str, mut hosts: u32, last: &mut Option<usize>) -> Result<Matrix, Problem> {
    let mut matrix = Matrix { connections: Vec::new(), triggers: BTreeMap::new() };
    let mut counts = Counts::default();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        *last = Some(number);
        match words[..] {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            ["Nodes", count] => hosts = nodes(count, hosts)?,
            ["Connections", count] => counts.connections = Some(whole(count)?),
            ["Triggers", count] => counts.triggers = Some(whole(count)?),
            ["Failures", "0"] => {}
            ["Failures", _] | ["failure", ..] => {
                return Err(Problem::new("failures of links belong to the scenario")
                    .help("`[[event]]` with `fail`"));
            }
            ["trigger", ref attributes @ ..] => {
                let (id, trigger) = trigger(attributes)?;
                if matrix.triggers.insert(id, trigger).is_some() {
                    return Err(Problem::new(format!("trigger {id} is listed twice")));
                }
            }
            [ends, ref attributes @ ..] if ends.contains("->") => {
                matrix.connections.push(connection(number, ends, attributes, hosts)?);
            }
            [first, ..] => {
                return Err(Problem::new(format!("\"{first}\" begins no line of a connection matrix"))
                    .help("`Nodes`, `Connections`, `Triggers`, `0->5 start 0 size 2000000` or `trigger id 1 oneshot`"));
            }
        }
    }
    counts.check(&matrix)?;
    Ok(matrix)
}

/// Counts of the header.
#[derive(Default)]
struct Counts {
    connections: Option<u32>,
    triggers: Option<u32>,
}

impl Counts {
    fn check(&self, matrix: &Matrix) -> Result<(), Problem> {
        let found = matrix.connections.len();
        if found == 0 {
            return Err(Problem::new("there are no connections")
                .help("a connection a line, as in `0->5 start 0 size 2000000`"));
        }
        let counts = [
            ("connections", self.connections, found),
            ("triggers", self.triggers, matrix.triggers.len()),
        ];
        match counts.into_iter().find(|(_, said, found)| said.is_some_and(|n| n as usize != *found))
        {
            Some((what, Some(said), found)) => {
                let message = format!("the header says {said} {what}, and there are {found}");
                Err(Problem::new(message).help("the number of lines behind it"))
            }
            _ => Ok(()),
        }
    }
}

/// The hosts that connections may have, of a fabric with so many.
fn nodes(count: &str, hosts: u32) -> Result<u32, Problem> {
    let count = whole(count)?;
    if count == 0 {
        return Err(Problem::new("there are no nodes").help("the number of hosts"));
    }
    if count > hosts {
        let message = format!("{count} nodes, and the fabric has {hosts} hosts");
        return Err(Problem::new(message).help("a fabric with as many hosts"));
    }
    Ok(count)
}

fn whole(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::new(format!("\"{text}\" is not a whole number")).help("digits alone"))
}

/// A number that names something: not 0.
fn name(text: &str, what: &str) -> Result<u32, Problem> {
    match whole(text)? {
        0 => Err(Problem::new(format!("the {what} 0 is not allowed")).help("from 1")),
        id => Ok(id),
    }
}

fn host(text: &str, hosts: u32) -> Result<u32, Problem> {
    let host = whole(text)?;
    if host >= hosts {
        let message = format!("there is no host {host}: they count from 0 to {}", hosts - 1);
        return Err(Problem::new(message).help("a larger number of `Nodes`, or another host"));
    }
    Ok(host)
}

fn connection(
    line: usize,
    ends: &str,
    attributes: &[&str],
    hosts: u32,
) -> Result<Connection, Problem> {
    let (from, to) = ends.split_once("->").unwrap_or_default();
    let (from, to) = (host(from, hosts)?, host(to, hosts)?);
    if from == to {
        let message = format!("host {from} cannot send to itself");
        return Err(Problem::new(message).help("two different hosts"));
    }
    let (mut id, mut size, mut start, mut sets_off) = (None, None, None, Vec::new());
    let mut words = attributes.iter();
    while let Some(&word) = words.next() {
        let mut value = || {
            let value = words.next().copied();
            value.ok_or_else(|| Problem::new(format!("nothing follows \"{word}\"")))
        };
        match word {
            "id" => id = Some(name(value()?, "id")?),
            "size" => size = Some(bytes(value()?)?),
            "start" | "trigger" if start.is_some() => {
                return Err(Problem::new("a connection has one start or one trigger"));
            }
            "start" => start = Some(Start::At(picoseconds(value()?)?)),
            "trigger" => start = Some(Start::Trigger(name(value()?, "trigger")?)),
            "send_done_trigger" | "recv_done_trigger" => sets_off.push(name(value()?, "trigger")?),
            "prio" | "addon" => {
                return Err(
                    Problem::new(format!("\"{word}\" is not simulated")).help("leave it out")
                );
            }
            _ => {
                return Err(Problem::new(format!("\"{word}\" is no attribute of a connection")).help(
                    "`id`, `start`, `size`, `trigger`, `send_done_trigger`, `recv_done_trigger`",
                ));
            }
        }
    }
    let missing = |what: &str| Problem::new(format!("the connection has no {what}"));
    let size = size.ok_or_else(|| missing("size").help("as in `size 2000000`"))?;
    let start = start.ok_or_else(|| missing("start").help("as in `start 0`, or `trigger 1`"))?;
    Ok(Connection { line, id, from, to, size, start, sets_off })
}

fn bytes(text: &str) -> Result<Bytes, Problem> {
    match text.parse() {
        Ok(0) => Err(Problem::new("a flow of no bytes never ends").help("at least 1")),
        Ok(bytes) => Ok(Bytes(bytes)),
        Err(_) => Err(Problem::new(format!("\"{text}\" is not a number of bytes"))),
    }
}

fn picoseconds(text: &str) -> Result<Time, Problem> {
    let number: Option<f64> = text.parse().ok();
    match number.filter(|start| (0.0..1e18).contains(start)) {
        Some(start) => bounded("start", Time(start as u64)),
        None => Err(Problem::new(format!("\"{text}\" is not a time in picoseconds"))),
    }
}

fn trigger(attributes: &[&str]) -> Result<(u32, Trigger), Problem> {
    match attributes {
        ["id", id, "oneshot" | "multishot"] => Ok((name(id, "trigger")?, Trigger::Single)),
        ["id", id, "barrier", "count", count] | ["id", id, "count", count, "barrier"] => {
            Ok((name(id, "trigger")?, Trigger::Barrier(whole(count)? as usize)))
        }
        _ => Err(Problem::new("this is no trigger")
            .help("`trigger id 1 oneshot` or `trigger id 1 barrier count 8`")),
    }
}

/// The flows that set off a trigger, all of which must end before what it starts.
fn before(
    trigger: u32,
    triggers: &BTreeMap<u32, Trigger>,
    connections: &[Connection],
) -> Result<Vec<u32>, Problem> {
    let sets_off = |connection: &Connection| connection.sets_off.contains(&trigger);
    let before = (0..).zip(connections).filter(|(_, c)| sets_off(c)).map(|(index, _)| index);
    let before: Vec<u32> = before.collect();
    let count = before.len();
    match triggers.get(&trigger) {
        None => Err(Problem::new(format!("trigger {trigger} is not listed"))
            .help(format!("a line `trigger id {trigger} oneshot`"))),
        Some(_) if count == 0 => Err(Problem::new(format!("nothing sets off trigger {trigger}"))
            .help("`recv_done_trigger` at another connection")),
        Some(Trigger::Single) if count > 1 => Err(Problem::new(format!(
            "{count} connections set off trigger {trigger}, and its first one would count"
        ))
        .help(format!("`trigger id {trigger} barrier count {count}`"))),
        Some(Trigger::Barrier(wanted)) if *wanted != count => Err(Problem::new(format!(
            "trigger {trigger} waits for {wanted} connections, and {count} set it off"
        ))),
        Some(_) => Ok(before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::two_pod;
    use crate::raw::TwoPod;
    use heddle_config::ConfigError;

    fn fabric() -> Graph {
        two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap()
    }

    fn flows(text: &str) -> Result<Vec<ReplayFlow>, String> {
        let files = |_: &str| Ok(text.to_owned());
        replay("a.cm", &fabric(), &files).map_err(|problem| ConfigError::from(problem).to_string())
    }

    fn graph(text: &str) -> Result<FlowGraph, String> {
        let files = |_: &str| Ok(text.to_owned());
        flow_graph("a.cm", &fabric(), &files)
            .map_err(|problem| ConfigError::from(problem).to_string())
    }

    #[test]
    fn starts_are_in_picoseconds_and_hosts_count_from_0() {
        let text = "Nodes 32\nConnections 2\n# late first\n3->31 start 2000000.0 size 5\n0->1 id 7 start 0 size 2000000\n";
        let first = ReplayFlow { at: Time::ZERO, from: 0, to: 1, size: Bytes::mb(2) };
        let second = ReplayFlow { at: Time::micros(2), from: 3, to: 31, size: Bytes(5) };
        assert_eq!(flows(text).unwrap(), [first, second]);
    }

    #[test]
    fn triggers_make_a_flow_graph() {
        let text = "Nodes 4\nConnections 4\nTriggers 2\n0->1 id 1 start 5000 size 9 recv_done_trigger 1\n\
                    1->2 id 2 trigger 1 size 9 send_done_trigger 2\n2->1 start 0 size 9 recv_done_trigger 2\n\
                    1->0 id 4 trigger 2 size 9\ntrigger id 1 oneshot\ntrigger id 2 barrier count 2\n";
        let graph = graph(text).unwrap();
        let after: Vec<&[u32]> = graph.flows.iter().map(|flow| flow.after.as_slice()).collect();
        assert_eq!(after, [&[][..], &[0], &[], &[1, 2]]);
        assert_eq!((graph.flows[0].delay, graph.flows[1].delay), (Time::nanos(5), Time::ZERO));
        let ids: Vec<&str> = graph.flows.iter().map(|flow| flow.id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "connection-3", "4"]);
        assert_eq!(
            flows(text).unwrap_err(),
            "a.cm:5: a replay has no triggers\nhelp: kind = \"flow-graph\" takes the same file"
        );
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (line, expected) in [
            ("0->0 start 0 size 1", "host 0 cannot send to itself\nhelp: two different hosts"),
            (
                "0->32 start 0 size 1",
                "there is no host 32: they count from 0 to 31\nhelp: a larger number of `Nodes`, or another host",
            ),
            ("0->1 start 0", "the connection has no size\nhelp: as in `size 2000000`"),
            ("0->1 size 1", "the connection has no start\nhelp: as in `start 0`, or `trigger 1`"),
            ("0->1 start 0 size 0", "a flow of no bytes never ends\nhelp: at least 1"),
            ("0->1 start -1 size 1", "\"-1\" is not a time in picoseconds"),
            ("0->1 start 0 size", "nothing follows \"size\""),
            ("0->1 start 0 size 1 prio 3", "\"prio\" is not simulated\nhelp: leave it out"),
            ("0->1 start 0 trigger 1 size 1", "a connection has one start or one trigger"),
            (
                "Nodes 64",
                "64 nodes, and the fabric has 32 hosts\nhelp: a fabric with as many hosts",
            ),
            (
                "Failures 1",
                "failures of links belong to the scenario\nhelp: `[[event]]` with `fail`",
            ),
            (
                "Connections 3",
                "the header says 3 connections, and there are 1\nhelp: the number of lines behind it",
            ),
            ("Nodes 0", "there are no nodes\nhelp: the number of hosts"),
            ("trigger id 0 oneshot", "the trigger 0 is not allowed\nhelp: from 1"),
        ] {
            let error = flows(&format!("0->1 start 0 size 1\n{line}")).unwrap_err();
            assert_eq!(error, format!("a.cm:2: {expected}"));
        }
        assert!(flows("nodes 3\n").unwrap_err().contains("begins no line of a connection matrix"));
        let none = "a.cm:1: there are no connections\nhelp: a connection a line, as in `0->5 start 0 size 2000000`";
        assert_eq!(flows("Nodes 3\n").unwrap_err(), none);
        let few = flows("Nodes 3\n0->3 start 0 size 1\n").unwrap_err();
        assert!(few.starts_with("a.cm:2: there is no host 3: they count from 0 to 2\n"), "{few}");
    }

    #[test]
    fn triggers_that_cannot_work_are_named() {
        let one = "0->1 trigger 1 size 1\n";
        let oneshot = "trigger id 1 oneshot\n";
        let sets = "1->2 start 0 size 1 recv_done_trigger 1\n";
        for (text, expected) in [
            (
                one.to_owned(),
                "a.cm:1: trigger 1 is not listed\nhelp: a line `trigger id 1 oneshot`",
            ),
            (
                format!("{one}{oneshot}"),
                "a.cm:1: nothing sets off trigger 1\nhelp: `recv_done_trigger` at another connection",
            ),
            (
                format!("{one}{oneshot}{sets}{sets}"),
                "a.cm:1: 2 connections set off trigger 1, and its first one would count\nhelp: `trigger id 1 barrier count 2`",
            ),
            (
                format!("{one}{sets}trigger id 1 barrier count 2"),
                "a.cm:1: trigger 1 waits for 2 connections, and 1 set it off",
            ),
            (
                format!("0->1 trigger 1 size 1 recv_done_trigger 1\n{oneshot}"),
                "a.cm: connections wait for each other by their triggers",
            ),
        ] {
            assert_eq!(graph(&text).unwrap_err(), expected);
        }
    }
}

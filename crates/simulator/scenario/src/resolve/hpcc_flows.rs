//! The flow files of HPCC's ns-3 simulation, and of others that are built on it (conweave): the
//! number of flows, then a flow a line.
//!
//! ```text
//! 2
//! 0 8 3 100 20000 2.0
//! 1 9 3 100 1500 2.000001
//! ```
//!
//! A line is the sender and the receiver as numbers of the topology's nodes, a priority group, a
//! port (which may be missing), bytes and a start in seconds. Priority and port are not read. Starts
//! count from that of the first flow.

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::times::bounded;
use crate::ReplayFlow;
use crate::csv::{Line, lines, quantity};
use crate::graph::Names;
use crate::source::Files;

/// Digits of a second that are simulated.
const DECIMALS: usize = 12;

/// True if a file's first line is a number and nothing else.
pub(crate) fn is_one(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| line.parse::<u64>().is_ok())
}

/// The host that a number of a file stands for.
type Hosts<'a> = &'a dyn Fn(&str) -> Result<u32, Problem>;

/// The flows of a file, as its lines have them. `last` is the number of the line that was looked at
/// last; what is left out is noted.
pub(crate) fn parse(
    (path, text): (&str, &str),
    hosts: Hosts<'_>,
    files: &dyn Files,
    last: &mut Option<usize>,
) -> Result<Vec<ReplayFlow>, Problem> {
    let mut lines = lines(text);
    let header = lines.next();
    *last = header.map(|(number, _)| number);
    let count: Option<usize> = header.and_then(|(_, line)| line.parse().ok());
    let count = count.ok_or_else(|| {
        Problem::new("the first line is no number of flows").help("the number of lines behind it")
    })?;
    let mut flows = Vec::new();
    for (number, line) in lines.by_ref().take(count) {
        *last = Some(number);
        flows.push(flow(line, hosts)?);
    }
    if flows.len() < count {
        let message = format!("the first line says {count} flows, and there are {}", flows.len());
        return Err(Problem::new(message).help("the number of lines behind it"));
    }
    note_rest(path, count, lines, files);
    count_from_first(path, &mut flows, files);
    Ok(flows)
}

fn flow(line: &str, hosts: Hosts<'_>) -> Result<ReplayFlow, Problem> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ([from, to, _, _, size, start] | [from, to, _, size, start]) = words[..] else {
        return Err(Problem::new(format!("\"{line}\" is no flow")).help(
            "sender, receiver, priority group, port, bytes and start in seconds, as in `0 8 3 100 20000 2.0`",
        ));
    };
    let size: Bytes = quantity(size, "B", DECIMALS)?;
    if size.0 == 0 {
        return Err(Problem::new("a flow of no bytes never ends").help("at least 1"));
    }
    let at: Time = quantity(start, "s", DECIMALS)?;
    let (from, to) = (hosts(from)?, hosts(to)?);
    if from == to {
        return Err(Problem::new("a host cannot send to itself").help("two different hosts"));
    }
    Ok(ReplayFlow { at: bounded("start", at)?, from, to, size })
}

/// The host of a number in a topology of the same simulator.
pub(super) fn host(number: &str, names: &Names<'_>) -> Result<u32, Problem> {
    names.host(&format!("host-{number}")).map_err(|problem| {
        problem.help("hosts have the numbers of their nodes in a topology of the same simulator: `fabric.format = \"hpcc\"`")
    })
}

/// Notes the lines behind the number of flows that the first line gives.
fn note_rest<'a>(
    path: &str,
    count: usize,
    rest: impl Iterator<Item = Line<'a>>,
    files: &dyn Files,
) {
    let mut rest = rest.peekable();
    let Some(&(number, line)) = rest.peek() else { return };
    let more = rest.count();
    files.note(format!(
        "{path}:{number}: {more} more lines than the {count} flows of the first line are left out, from \"{line}\" on"
    ));
}

fn count_from_first(path: &str, flows: &mut [ReplayFlow], files: &dyn Files) {
    let first = flows.iter().map(|flow| flow.at).min().unwrap_or_default();
    if first > Time::ZERO {
        flows.iter_mut().for_each(|flow| flow.at = flow.at - first);
        files.note(format!("{path}: starts count from that of the first flow, {first}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::from_hpcc;
    use crate::resolve::replay;
    use crate::source::Noting;
    use heddle_config::ConfigError;

    const TOPOLOGY: &str = "4 2 3\n2 3\n0 2 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 100Gbps 1us 0\n";

    fn flows(text: &str) -> Result<(Vec<ReplayFlow>, Vec<String>), String> {
        let files = |_: &str| Ok(text.to_owned());
        let noting = Noting::new(&files);
        let graph = from_hpcc("t.txt", TOPOLOGY, &noting).map_err(|_| ()).unwrap();
        let flows = replay::read("flow.txt", &graph, &noting);
        flows
            .map(|flows| (flows, noting.notices()))
            .map_err(|problem| ConfigError::from(problem).to_string())
    }

    #[test]
    fn numbers_are_those_of_the_topology_and_starts_count_from_the_first() {
        let first = ReplayFlow { at: Time::ZERO, from: 0, to: 1, size: Bytes(20_000) };
        let second = ReplayFlow { at: Time::micros(1), from: 1, to: 0, size: Bytes(1500) };
        let expected = vec![first, second];
        let (found, notices) = flows("2\n1 0 3 100 1500 2.000001\n0 1 3 100 20000 2\n").unwrap();
        assert_eq!(found, expected);
        assert_eq!(notices, ["flow.txt: starts count from that of the first flow, 2s"]);
        let (found, notices) = flows("2\n0 1 3 20000 0\n1 0 3 1500 1e-6\n0 1 3 9 1\n").unwrap();
        assert_eq!(found, expected, "conweave's have no port");
        let more = "flow.txt:4: 1 more lines than the 2 flows of the first line are left out, from \"0 1 3 9 1\" on";
        assert_eq!(notices, [more]);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        for (text, expected) in [
            ("2\n0 1 3 100 1 0\n", "flow.txt:2: the first line says 2 flows, and there are 1"),
            ("1\n0 1 3\n", "flow.txt:2: \"0 1 3\" is no flow"),
            ("1\n0 9 3 100 1 0\n", "flow.txt:2: no node is called \"host-9\""),
            ("1\n0 2 3 100 1 0\n", "flow.txt:2: no node is called \"host-2\""),
            ("1\n0 0 3 100 1 0\n", "flow.txt:2: a host cannot send to itself"),
            ("1\n0 1 3 100 0 0\n", "flow.txt:2: a flow of no bytes never ends"),
            ("1\n0 1 3 100 1KB 0\n", "flow.txt:2: \"1KB\" is not a plain number"),
            ("1\n0 1 3 100 1 -1\n", "flow.txt:2: a time is not negative"),
            ("0\n", "flow.txt:1: there are no flows"),
        ] {
            let error = flows(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}

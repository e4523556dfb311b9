//! The file of a flow graph: a header that names the columns, then a flow or a computation a line.

use std::collections::BTreeMap;

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::connection_matrix;
use super::times::bounded;
use crate::csv::{Form, Line, lines, quantity};
use crate::graph::Names;
use crate::source::Files;
use crate::{FlowGraph, Graph, GraphFlow};

/// The columns; `delay` may be missing. Without `to` and `size` a line is a computation of `from`.
const COLUMNS: [&str; 6] = ["id", "after", "from", "to", "size", "delay"];

/// Reads and checks a file of flows that wait for each other; they come in the order of their
/// lines.
pub(super) fn read(path: &str, graph: &Graph, files: &dyn Files) -> Result<FlowGraph, Problem> {
    if connection_matrix::is_matrix(path) {
        return connection_matrix::flow_graph(path, graph, files);
    }
    let unreadable = |error| Problem::at("file", format!("cannot read {path}: {error}"));
    let text = files.read(path).map_err(unreadable)?;
    let mut last = None;
    parse(&text, graph, &mut last).map_err(|problem| problem.in_file(path, last))
}

/// `last` is the number of the line that was looked at last.
fn parse(text: &str, graph: &Graph, last: &mut Option<usize>) -> Result<FlowGraph, Problem> {
    let mut lines = lines(text);
    let header = lines.next();
    *last = header.map(|(number, _)| number);
    let header = header.map_or("", |(_, line)| line);
    let form = Form::of(header);
    let width = width(&form.cells(header))?;
    let lines: Vec<Line<'_>> = lines.collect();
    let ids = ids(&lines, form, last)?;
    let names = Names::new(graph);
    let mut flows = Vec::with_capacity(lines.len());
    for &(number, line) in &lines {
        *last = Some(number);
        flows.push(flow((line, &form.cells(line)), width, &ids, &names)?);
    }
    let graph = FlowGraph { flows };
    if graph.flow_count() == 0 {
        return Err(Problem::new("there are no flows").help("a line with `to` and `size`"));
    }
    check_cycles(&graph, &lines, last)?;
    Ok(graph)
}

/// Number of columns.
fn width(found: &[&str]) -> Result<usize, Problem> {
    if *found == COLUMNS || *found == COLUMNS[..5] {
        return Ok(found.len());
    }
    Err(Problem::new("the first line must name the columns")
        .help("`id,after,from,to,size` or `id,after,from,to,size,delay`"))
}

/// The number of each flow by its id.
fn ids<'a>(
    lines: &[Line<'a>],
    form: Form,
    last: &mut Option<usize>,
) -> Result<BTreeMap<&'a str, u32>, Problem> {
    let mut ids = BTreeMap::new();
    for (index, &(number, line)) in (0..).zip(lines) {
        *last = Some(number);
        let id = form.cells(line).first().copied().unwrap_or_default();
        if id.is_empty() || id.contains(char::is_whitespace) {
            return Err(Problem::new(format!("\"{id}\" is no name of a flow"))
                .help("letters and digits without spaces, as in `reduce-3`"));
        }
        if ids.insert(id, index).is_some() {
            return Err(Problem::new(format!("flow {id} is listed twice")).help("another name"));
        }
    }
    Ok(ids)
}

fn flow(
    (line, found): (&str, &[&str]),
    width: usize,
    ids: &BTreeMap<&str, u32>,
    names: &Names<'_>,
) -> Result<GraphFlow, Problem> {
    let ([id, after, from, to, size], true) = (&found[..5.min(found.len())], found.len() == width)
    else {
        return Err(Problem::new(format!("{width} columns are expected, not \"{line}\"")));
    };
    let delay: Time = match found.get(5) {
        None | Some(&"") => Time::ZERO,
        Some(delay) => quantity(delay, "", 0)?,
    };
    let after: Result<Vec<u32>, Problem> =
        after.split_whitespace().map(|name| before(name, id, ids)).collect();
    let (from, to, size) = transfer(from, to, size, names)?;
    let delay = bounded("delay", delay)?;
    Ok(GraphFlow { id: (*id).to_owned(), after: after?, from, to, size, delay })
}

/// Sender, receiver and size; of a computation its host, twice, and nothing.
fn transfer(
    from: &str,
    to: &str,
    size: &str,
    names: &Names<'_>,
) -> Result<(u32, u32, Bytes), Problem> {
    if to.is_empty() && size.is_empty() {
        let host = names.host(from)?;
        return Ok((host, host, Bytes(0)));
    }
    if to.is_empty() || size.is_empty() {
        return Err(Problem::new("a flow has a receiver and a size")
            .help("both; neither for a computation of `delay`"));
    }
    let size: Bytes = quantity(size, "", 0)?;
    if size.0 == 0 {
        return Err(Problem::new("a flow of no bytes never ends").help("at least 1B"));
    }
    let (from, to) = names.host_pair(&format!("{from} {to}"))?;
    Ok((from, to, size))
}

/// The number of a flow that another waits for.
fn before(name: &str, id: &str, ids: &BTreeMap<&str, u32>) -> Result<u32, Problem> {
    if name == id {
        return Err(Problem::new(format!("flow {id} waits for itself")));
    }
    let unknown = || {
        let known: Vec<&str> = ids.keys().copied().collect();
        Problem::new(format!("no flow is called \"{name}\"")).suggest(name, &known)
    };
    ids.get(name).copied().ok_or_else(unknown)
}

/// Refuses flows that wait for each other.
fn check_cycles(
    graph: &FlowGraph,
    lines: &[Line<'_>],
    last: &mut Option<usize>,
) -> Result<(), Problem> {
    let Some(cycle) = graph.cycle() else { return Ok(()) };
    *last = Some(lines[cycle[0] as usize].0);
    let message = format!("flows wait for each other: {}", cycle_text(graph, &cycle));
    Err(Problem::new(message).help("one of them must not name another in `after`"))
}

/// The names on a cycle, the first of them at the end again.
pub(crate) fn cycle_text(graph: &FlowGraph, cycle: &[u32]) -> String {
    let name = |flow: &u32| graph.flows[*flow as usize].id.as_str();
    let shown = cycle.iter().take(MOST_SHOWN).map(name).collect::<Vec<_>>().join(" after ");
    let rest = if cycle.len() > MOST_SHOWN { " after others" } else { "" };
    format!("{shown}{rest} after {}", cycle.first().map_or("", name))
}

/// Flows of a cycle that a message names.
const MOST_SHOWN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::two_pod;
    use crate::raw::TwoPod;
    use heddle_config::ConfigError;

    fn graph(text: &str) -> Result<FlowGraph, String> {
        let graph = two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap();
        let files = |_: &str| Ok(text.to_owned());
        read("job.csv", &graph, &files).map_err(|problem| ConfigError::from(problem).to_string())
    }

    #[test]
    fn flows_wait_for_those_that_they_name_wherever_these_stand() {
        let text = "id,after,from,to,size,delay\n\n# backward\nc, a b, host-3, host-1, 1MB, 5us\na,,host-1,host-2,20KB,\nb,a,host-2,host-3,1B,0s\n";
        let graph = graph(text).unwrap();
        let ids: Vec<&str> = graph.flows.iter().map(|flow| flow.id.as_str()).collect();
        assert_eq!(ids, ["c", "a", "b"]);
        assert_eq!(graph.flows[0].after, [1, 2]);
        assert_eq!((graph.flows[0].from, graph.flows[0].to), (2, 0));
        assert_eq!((graph.flows[0].size, graph.flows[0].delay), (Bytes::mb(1), Time::micros(5)));
        assert_eq!(graph.order(), [1, 2, 0]);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let error = |lines: &str| graph(&format!("id,after,from,to,size\n{lines}\n")).unwrap_err();
        let a = "a,,host-1,host-2,1KB\n";
        for (lines, expected) in [
            ("a,host-1,host-2,1KB", "2: 5 columns are expected, not \"a,host-1,host-2,1KB\""),
            (
                "a,,host-1,host-2,1KB\na,,host-1,host-2,1KB",
                "3: flow a is listed twice\nhelp: another name",
            ),
            (
                ",,host-1,host-2,1KB",
                "2: \"\" is no name of a flow\nhelp: letters and digits without spaces, as in `reduce-3`",
            ),
            ("a,a,host-1,host-2,1KB", "2: flow a waits for itself"),
            (
                "a,,host-1,host-2,",
                "2: a flow has a receiver and a size\nhelp: both; neither for a computation of `delay`",
            ),
            ("a,,host-1,host-2,0B", "2: a flow of no bytes never ends\nhelp: at least 1B"),
            ("a,,host-1,tor-1,1KB", "2: tor-1 is a switch, not a host"),
            (
                "a,,host-1,host-2,1",
                "2: a size needs a unit (GB, MB, KB, B, GiB, MiB, KiB), as in \"1.5MB\"",
            ),
        ] {
            assert_eq!(error(lines), format!("job.csv:{expected}"));
        }
        let unknown = error(&format!("{a}b,aa,host-2,host-1,1KB"));
        assert_eq!(unknown, "job.csv:3: no flow is called \"aa\"\nhelp: did you mean `a`?");
        let none = "there are no flows\nhelp: a line with `to` and `size`";
        assert_eq!(graph("id,after,from,to,size\n").unwrap_err(), format!("job.csv:1: {none}"));
        assert_eq!(error("a,,host-1,,"), format!("job.csv:2: {none}"));
        assert!(graph("id,from,to,size\n").unwrap_err().contains("the first line must name"));
    }

    #[test]
    fn a_line_without_receiver_is_a_computation() {
        let text = "id,after,from,to,size,delay\na,,host-2,,,5us\nb,a,host-2,host-3,1B,\n";
        let graph = graph(text).unwrap();
        let a = &graph.flows[0];
        assert_eq!((a.from, a.to, a.size, a.delay), (1, 1, Bytes(0), Time::micros(5)));
        assert_eq!((a.is_computation(), graph.flow_count()), (true, 1));
    }

    #[test]
    fn a_cycle_is_told_by_its_names() {
        let text = "id,after,from,to,size\na,,host-1,host-2,1B\nd,c,host-1,host-2,1B\nb,a c,host-1,host-2,1B\nc,b,host-2,host-1,1B\n";
        assert_eq!(
            graph(text).unwrap_err(),
            "job.csv:5: flows wait for each other: c after b after c\n\
             help: one of them must not name another in `after`"
        );
    }
}

//! The topology files of HPCC's ns-3 simulation (alibaba-edu/High-Precision-Congestion-Control):
//! numbers of nodes, switches and links, the switches, then a link a line.
//!
//! ```text
//! 4 2 3
//! 2 3
//! 0 2 25Gbps 1000ns 0
//! 1 3 25Gbps 1000ns 0
//! 2 3 100Gbps 1000ns 0
//! ```
//!
//! Node N is `host-N` or `switch-N`. What comes behind the last link is not read, as there; links
//! among it are noted. Tiers are inferred as in a graph file; packets take up/down paths, or the
//! shortest of all if a link joins two switches of one tier.
//!
//! SimAI's topologies (aliyun/SimAI, `gen_Topo_Template.py`) begin with the numbers of nodes, of
//! GPUs in a server, of NVSwitches, of other switches and of links, and the GPU's name. The first
//! switches listed are NVSwitches, `nvswitch-N`; a host is a GPU.

use std::collections::BTreeSet;

use heddle_config::Problem;
use heddle_units::{Rate, Time};

use super::from_file::build;
use crate::csv::{Line, lines};
use crate::raw::{FileLink, FileNode, GraphFile};
use crate::source::Files;
use crate::{Graph, Routing};

/// Nodes beyond this are mistakes.
const MOST_NODES: usize = 1 << 24;

/// Parses and checks a topology file. Problems name it and the line.
pub(crate) fn from_hpcc(name: &str, text: &str, files: &dyn Files) -> Result<Graph, Problem> {
    let mut last = None;
    let (file, rest) = parse(text, &mut last).map_err(|problem| problem.in_file(name, last))?;
    let built = build(&file, Time::ZERO);
    let mut graph = match rest {
        None => built.map_err(|problem| problem.in_file(name, None))?,
        Some(rest) => {
            let cause = Problem::new(format!("{}; the others are no sound graph", rest.message))
                .help("correct the number of links in the first line");
            let graph = built.map_err(|_| cause.in_file(name, Some(rest.line)))?;
            files.note(format!("{name}:{}: {}", rest.line, rest.message));
            graph
        }
    };
    let tier = |node: u32| graph.nodes[node as usize].tier;
    if graph.links.iter().any(|link| tier(link.ends.0) == tier(link.ends.1)) {
        graph.routing = Routing::Shortest;
    }
    Ok(graph)
}

/// Links behind the last one that the first line counts.
struct Rest {
    line: usize,
    message: String,
}

/// The graph and what it leaves out. `last` is the number of the line that was looked at last.
fn parse(text: &str, last: &mut Option<usize>) -> Result<(GraphFile, Option<Rest>), Problem> {
    let mut lines = lines(text);
    let mut next = |wanted: &str| {
        let line = lines.next();
        *last = line.map_or(*last, |(number, _)| Some(number));
        let missing = || {
            Problem::new(format!("{wanted} is missing"))
                .help("the first line says how many switches and links there are")
        };
        let (_, line) = line.ok_or_else(missing)?;
        Ok::<_, Problem>(line.split_whitespace().collect::<Vec<_>>())
    };
    let header = next("the line of numbers")?;
    let (nodes, inner, others, count) = match header[..] {
        [nodes, switches, count] => (whole(nodes)?, 0, whole(switches)?, whole(count)?),
        [nodes, _, inner, others, count, gpu] if whole(gpu).is_err() => {
            (whole(nodes)?, whole(inner)?, whole(others)?, whole(count)?)
        }
        _ => {
            return Err(Problem::new(
                "the first line has the numbers of nodes, switches and links",
            )
            .help("as in `320 56 464`, or SimAI's `176 8 16 32 672 A100`"));
        }
    };
    let switches = inner.saturating_add(others);
    if nodes > MOST_NODES || count > MOST_NODES {
        return Err(Problem::new(format!("{nodes} nodes and {count} links are too many"))
            .help(format!("at most {MOST_NODES} each")));
    }
    let numbers = if switches == 0 { Vec::new() } else { next("the line of switches")? };
    let is_switch = switch_set(&numbers, (nodes, switches))?;
    let inner = numbers.iter().take(inner).map(|id| node(id, nodes));
    let inner = inner.collect::<Result<BTreeSet<usize>, Problem>>()?;
    let name = |id: usize| match (is_switch.contains(&id), inner.contains(&id)) {
        (true, true) => format!("nvswitch-{id}"),
        (true, false) => format!("switch-{id}"),
        (false, _) => format!("host-{id}"),
    };
    let mut link = Vec::with_capacity(count.min(1 << 16));
    for _ in 0..count {
        link.push(self::link(&next("a link")?, nodes, &name)?);
    }
    let rest = rest(count, lines);
    // Hosts are what is no switch, whatever their links.
    let tier = |id: &usize| (!is_switch.contains(id)).then_some(0);
    let node = (0..nodes).map(|id| FileNode { name: name(id), tier: tier(&id), pod: None });
    Ok((GraphFile { routing: Routing::UpDown, node: node.collect(), link }, rest))
}

fn rest<'a>(count: usize, rest: impl Iterator<Item = Line<'a>>) -> Option<Rest> {
    let is_link = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() == 5 && words[..2].iter().all(|word| whole(word).is_ok())
    };
    let mut rest = rest.filter(|(_, line)| is_link(line)).peekable();
    let &(number, line) = rest.peek()?;
    let more = rest.count();
    let message = format!(
        "{more} more links than the {count} of the first line are left out, from \"{line}\" on"
    );
    Some(Rest { line: number, message })
}

fn whole(text: &str) -> Result<usize, Problem> {
    let wrong = || {
        Problem::new(format!("\"{text}\" is not a whole number")).help("digits alone, as in `320`")
    };
    text.parse().map_err(|_| wrong())
}

fn node(text: &str, nodes: usize) -> Result<usize, Problem> {
    let id = whole(text)?;
    if id >= nodes {
        let range = format!("nodes count from 0 to {}", nodes.saturating_sub(1));
        return Err(Problem::new(format!("there is no node {id}: {range}"))
            .help("the first number of the first line counts hosts and switches"));
    }
    Ok(id)
}

/// The numbers of the switches.
fn switch_set(
    numbers: &[&str],
    (nodes, switches): (usize, usize),
) -> Result<BTreeSet<usize>, Problem> {
    let mut set = BTreeSet::new();
    for text in numbers {
        let id = node(text, nodes)?;
        if !set.insert(id) {
            return Err(Problem::new(format!("switch {id} is listed twice")).help("once each"));
        }
    }
    if set.len() != switches {
        let message =
            format!("the first line says {switches} switches, and {} are listed", set.len());
        return Err(Problem::new(message).help("the second number of the first line counts them"));
    }
    Ok(set)
}

fn link(words: &[&str], nodes: usize, name: &dyn Fn(usize) -> String) -> Result<FileLink, Problem> {
    let [a, b, rate, delay, loss] = words else {
        return Err(Problem::new(format!("\"{}\" is no link", words.join(" ")))
            .help("two nodes, rate, delay and error rate, as in `0 320 100Gbps 1000ns 0`"));
    };
    let (a, b) = (node(a, nodes)?, node(b, nodes)?);
    if a == b {
        return Err(
            Problem::new(format!("node {a} is linked to itself")).help("two different nodes")
        );
    }
    if loss.parse::<f64>().ok() != Some(0.0) {
        let message = format!("the error rate {loss} belongs to the scenario");
        return Err(Problem::new(message).help("0 here, and `[[event]]` with `degrade` and `loss`"));
    }
    // ns-3 also writes 25Gb/s.
    let rate = rate.replace("b/s", "bps");
    let rate: Rate = rate.parse().map_err(|error| Problem::of(&error))?;
    let delay: Time = delay.parse().map_err(|error| Problem::of(&error))?;
    super::check_rate("rate", rate)?;
    super::check_delay("delay", delay)?;
    let between = format!("{} {}", name(a), name(b));
    Ok(FileLink { between, rate, reverse_rate: None, delay: Some(delay) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Noting;
    use heddle_config::ConfigError;

    fn load(text: &str) -> Result<Graph, String> {
        noted(text).map(|(graph, _)| graph)
    }

    fn noted(text: &str) -> Result<(Graph, Vec<String>), String> {
        let none = |_: &str| Ok(String::new());
        let noting = Noting::new(&none);
        let graph = from_hpcc("t.txt", text, &noting);
        graph.map(|graph| (graph, noting.notices())).map_err(|p| ConfigError::from(p).to_string())
    }

    /// Two hosts on each of two leaves and two spines, with prose behind the last link.
    const LEAVES: &str = "8 4 8\n4 5 6 7\n0 4 25Gbps 0.001ms 0\n1 4 25Gbps 0.001ms 0\n2 5 25Gbps 1us 0.0\n3 5 25Gb/s 1000ns 0\n\
                          4 6 100Gbps 2us 0\n4 7 100Gbps 2us 0\n5 6 100Gbps 2us 0\n5 7 100Gbps 2us 0\n\nFirst line: total node #\n";

    #[test]
    fn nodes_have_their_numbers_and_tiers() {
        let graph = load(LEAVES).unwrap();
        let names: Vec<(&str, u8)> =
            graph.nodes.iter().map(|n| (n.name.as_str(), n.tier)).collect();
        assert_eq!(names[..4], [("host-0", 0), ("host-1", 0), ("host-2", 0), ("host-3", 0)]);
        assert_eq!(
            names[4..],
            [("switch-4", 1), ("switch-5", 1), ("switch-6", 2), ("switch-7", 2)]
        );
        assert_eq!(graph.routing, Routing::UpDown);
        assert!(
            graph.links[..4].iter().all(|l| l.rate == Rate::gbps(25) && l.delay == Time::micros(1))
        );
        assert_eq!((graph.links[7].ends, graph.links[7].delay), ((5, 7), Time::micros(2)));
    }

    #[test]
    fn links_that_the_first_line_does_not_count_are_named() {
        assert_eq!(noted(LEAVES).unwrap().1, [""; 0], "prose is no link");
        let (graph, notices) = noted(&LEAVES.replacen("8 4 8", "8 4 6", 1)).unwrap();
        assert_eq!(graph.links.len(), 6);
        let expected = "t.txt:9: 2 more links than the 6 of the first line are left out, \
                        from \"5 6 100Gbps 2us 0\" on";
        assert_eq!(notices, [expected]);
        let expected = "t.txt:7: 4 more links than the 4 of the first line are left out, from \
                        \"4 6 100Gbps 2us 0\" on; the others are no sound graph\n\
                        help: correct the number of links in the first line";
        assert_eq!(load(&LEAVES.replacen("8 4 8", "8 4 4", 1)).unwrap_err(), expected);
    }

    /// `ali_32host_10rack.txt` of HPCC's repository, from its description: 10 racks of 32 hosts, each
    /// host with a link to both switches of its rack, and 8 switches that all of these have.
    #[test]
    fn hosts_have_links_to_both_switches_of_their_rack() {
        let switches: Vec<String> = (320..348).map(|id| id.to_string()).collect();
        let mut text = format!("348 28 800\n{}\n", switches.join(" "));
        for host in 0..320 {
            let rack = 320 + host / 32 * 2;
            text += &format!("{host} {rack} 25Gbps 1000ns 0.000000\n");
            text += &format!("{host} {} 25Gbps 1000ns 0.000000\n", rack + 1);
        }
        for tor in 320..340 {
            (340..348).for_each(|top| text += &format!("{tor} {top} 100Gbps 1000ns 0.000000\n"));
        }
        let graph = load(&text).unwrap();
        assert_eq!(
            (graph.interfaces(), graph.links.len(), graph.routing),
            (2, 800, Routing::UpDown)
        );
        let tiers: Vec<u8> = graph.nodes.iter().map(|node| node.tier).collect();
        assert_eq!(tiers, [vec![0; 320], vec![1; 20], vec![2; 8]].concat());
        assert_eq!(crate::graph::check_reachable(&graph, |_| true).map_err(|_| ()), Ok(()));
    }

    #[test]
    fn hosts_with_different_numbers_of_links_are_refused() {
        let uneven = LEAVES.replacen("1 4 25", "0 5 25", 1);
        let error = load(&uneven).unwrap_err();
        assert!(error.contains("host-1 must have links to ToRs"), "{error}");
    }

    /// SimAI's form: two servers of two GPUs, each with an NVSwitch, two leaves by rail, a spine.
    #[test]
    fn gpus_are_hosts_with_a_switch_in_their_server() {
        let text = "9 2 2 3 10 H100\n4 5 6 7 8\n\
                    0 4 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n\
                    1 4 2880Gbps 0.000025ms 0\n1 7 400Gbps 0.0005ms 0\n\
                    2 5 2880Gbps 0.000025ms 0\n2 6 400Gbps 0.0005ms 0\n\
                    3 5 2880Gbps 0.000025ms 0\n3 7 400Gbps 0.0005ms 0\n\
                    6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";
        let graph = load(text).unwrap();
        let names: Vec<(&str, u8)> =
            graph.nodes[4..].iter().map(|n| (n.name.as_str(), n.tier)).collect();
        let expected = ["nvswitch-4", "nvswitch-5", "switch-6", "switch-7", "switch-8"];
        assert_eq!(names, expected.into_iter().zip([1, 1, 1, 1, 2]).collect::<Vec<_>>());
        assert_eq!((graph.interfaces(), graph.routing), (2, Routing::UpDown));
        assert_eq!(graph.inner_switches()[4..], [true, true, false, false, false]);
        assert_eq!(graph.links[0].rate, Rate::gbps(2880));
        assert_eq!(graph.links[0].delay, Time::nanos(25));
        assert_eq!(crate::graph::check_reachable(&graph, |_| true).map_err(|_| ()), Ok(()));
        let short = load(&text.replacen("9 2 2 3", "9 2 2 4", 1)).unwrap_err();
        assert!(short.starts_with("t.txt:2: the first line says 6 switches, and 5"), "{short}");
    }

    /// A ring of three switches: shortest paths.
    #[test]
    fn switches_of_one_tier_are_routed_by_shortest_paths() {
        let ring = "6 3 6\n3 4 5\n0 3 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 4 1Gbps 1us 0\n4 5 1Gbps 1us 0\n5 3 1Gbps 1us 0\n";
        assert_eq!(load(ring).unwrap().routing, Routing::Shortest);
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let spoiled = |from: &str, to: &str| load(&LEAVES.replacen(from, to, 1)).unwrap_err();
        assert_eq!(
            spoiled("8 4 8\n", "8 4\n"),
            "t.txt:1: the first line has the numbers of nodes, switches and links\n\
             help: as in `320 56 464`, or SimAI's `176 8 16 32 672 A100`"
        );
        assert_eq!(
            spoiled("8 4 8", "8 5 8"),
            "t.txt:2: the first line says 5 switches, and 4 are listed\n\
             help: the second number of the first line counts them"
        );
        assert!(
            spoiled("4 5 6 7", "4 5 6 6").starts_with("t.txt:2: switch 6 is listed twice\nhelp")
        );
        assert_eq!(
            spoiled("0 4 25", "0 8 25"),
            "t.txt:3: there is no node 8: nodes count from 0 to 7\n\
             help: the first number of the first line counts hosts and switches"
        );
        assert!(
            spoiled("0 4 25", "4 4 25").starts_with("t.txt:3: node 4 is linked to itself\nhelp")
        );
        assert!(
            spoiled("0.001ms 0\n1", "0.001ms 0.1\n1")
                .contains("t.txt:3: the error rate 0.1 belongs")
        );
        assert!(spoiled("0 4 25Gbps", "0 4 25").starts_with("t.txt:3: a rate needs a unit"));
        assert!(load("9 4 9\n4 5 6 7\n").unwrap_err().starts_with("t.txt:2: a link is missing"));
    }
}

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
//! Node N is `host-N` or `switch-N`. What comes behind the last link is not read, as there. Tiers
//! are inferred as in a graph file; packets take up/down paths, or the shortest of all if a link
//! joins two switches of one tier.

use std::collections::BTreeSet;

use heddle_config::Problem;
use heddle_units::{Rate, Time};

use super::from_file::build;
use crate::raw::{FileLink, FileNode, GraphFile};
use crate::{Graph, Routing};

/// Nodes beyond this are mistakes.
const MOST_NODES: usize = 1 << 24;

/// Parses and checks a topology file. Problems name it and the line.
pub(crate) fn from_hpcc(name: &str, text: &str) -> Result<Graph, Problem> {
    let mut last = None;
    let file = parse(text, &mut last).map_err(|problem| problem.in_file(name, last))?;
    let mut graph = build(&file, Time::ZERO).map_err(|problem| problem.in_file(name, None))?;
    let tier = |node: u32| graph.nodes[node as usize].tier;
    if graph.links.iter().any(|link| tier(link.ends.0) == tier(link.ends.1)) {
        graph.routing = Routing::Shortest;
    }
    Ok(graph)
}

/// `last` is the number of the line that was looked at last.
fn parse(text: &str, last: &mut Option<usize>) -> Result<GraphFile, Problem> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut next = |wanted: &str| {
        let line = lines.next();
        *last = line.map_or(*last, |(number, _)| Some(number));
        let (_, line) = line.ok_or_else(|| Problem::new(format!("{wanted} is missing")))?;
        Ok::<_, Problem>(line.split_whitespace().collect::<Vec<_>>())
    };
    let header = next("the line of numbers")?;
    let [nodes, switches, links] = header[..] else {
        return Err(Problem::new("the first line has the numbers of nodes, switches and links")
            .help("as in `320 56 464`"));
    };
    let (nodes, switches, links) = (whole(nodes)?, whole(switches)?, whole(links)?);
    if nodes > MOST_NODES || links > MOST_NODES {
        return Err(Problem::new(format!("{nodes} nodes and {links} links are too many"))
            .help(format!("at most {MOST_NODES} each")));
    }
    let numbers = if switches == 0 { Vec::new() } else { next("the line of switches")? };
    let is_switch = switch_set(&numbers, (nodes, switches))?;
    let name = |id: usize| match is_switch.contains(&id) {
        true => format!("switch-{id}"),
        false => format!("host-{id}"),
    };
    let link = |_| link(&next("a link")?, nodes, &name);
    let link: Vec<FileLink> = (0..links).map(link).collect::<Result<_, _>>()?;
    // Hosts are what is no switch, whatever their links.
    let tier = |id: &usize| (!is_switch.contains(id)).then_some(0);
    let node = (0..nodes).map(|id| FileNode { name: name(id), tier: tier(&id), pod: None });
    Ok(GraphFile { routing: Routing::UpDown, node: node.collect(), link })
}

fn whole(text: &str) -> Result<usize, Problem> {
    text.parse().map_err(|_| Problem::new(format!("\"{text}\" is not a whole number")))
}

fn node(text: &str, nodes: usize) -> Result<usize, Problem> {
    let id = whole(text)?;
    if id >= nodes {
        let range = format!("nodes count from 0 to {}", nodes.saturating_sub(1));
        return Err(Problem::new(format!("there is no node {id}: {range}")));
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
            return Err(Problem::new(format!("switch {id} is listed twice")));
        }
    }
    if set.len() != switches {
        let message =
            format!("the first line says {switches} switches, and {} are listed", set.len());
        return Err(Problem::new(message));
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
        return Err(Problem::new(format!("node {a} is linked to itself")));
    }
    if loss.parse::<f64>().ok() != Some(0.0) {
        let message = format!("the error rate {loss} belongs to the scenario");
        return Err(Problem::new(message).help("0 here, and `[[event]]` with `degrade` and `loss`"));
    }
    // ns-3 also writes 25Gb/s.
    let rate = rate.replace("b/s", "bps");
    let rate: Rate = rate.parse().map_err(|error| Problem::new(format!("{error}")))?;
    let delay: Time = delay.parse().map_err(|error| Problem::new(format!("{error}")))?;
    super::check_rate("rate", rate)?;
    super::check_delay("delay", delay)?;
    let between = format!("{} {}", name(a), name(b));
    Ok(FileLink { between, rate, reverse_rate: None, delay: Some(delay) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_config::ConfigError;

    fn load(text: &str) -> Result<Graph, String> {
        from_hpcc("t.txt", text).map_err(|p| ConfigError::from(p).to_string())
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
            "t.txt:1: the first line has the numbers of nodes, switches and links\nhelp: as in `320 56 464`"
        );
        assert_eq!(
            spoiled("8 4 8", "8 5 8"),
            "t.txt:2: the first line says 5 switches, and 4 are listed"
        );
        assert_eq!(spoiled("4 5 6 7", "4 5 6 6"), "t.txt:2: switch 6 is listed twice");
        assert_eq!(
            spoiled("0 4 25", "0 8 25"),
            "t.txt:3: there is no node 8: nodes count from 0 to 7"
        );
        assert_eq!(spoiled("0 4 25", "4 4 25"), "t.txt:3: node 4 is linked to itself");
        assert!(
            spoiled("0.001ms 0\n1", "0.001ms 0.1\n1")
                .contains("t.txt:3: the error rate 0.1 belongs")
        );
        assert!(spoiled("0 4 25Gbps", "0 4 25").starts_with("t.txt:3: a rate needs a unit"));
        assert!(load("9 4 9\n4 5 6 7\n").unwrap_err().starts_with("t.txt:2: a link is missing"));
        assert!(spoiled("1 4 25", "2 4 25").contains("host host-1 must have one link"));
    }
}

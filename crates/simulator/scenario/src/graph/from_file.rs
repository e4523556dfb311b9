//! A graph listed in a file, its tiers inferred where the file does not give them.
//!
//! Without a `tier`, a node with one link is a host (0), a switch linked to a host is a ToR (1),
//! and any other stands as many tiers above the nearest ToR as there are links between them.

use std::collections::VecDeque;

use heddle_config::{Document, Problem};
use heddle_units::Time;

use super::limits::Counts;
use super::{HOST, Names, TOR, check_delay, check_rate};
use crate::raw::{FileLink, FileNode, GraphFile};
use crate::{Graph, Link, Node};

/// Parses and checks a graph file. Problems name it and the line.
pub(crate) fn from_file(name: &str, text: &str, delay: Time) -> Result<Graph, Problem> {
    let document = Document::parse(name, text)?;
    let file: GraphFile = document.read()?;
    build(&file, delay).map_err(|problem| document.locate(problem).into())
}

/// The graph of a file's tables.
pub(super) fn build(file: &GraphFile, delay: Time) -> Result<Graph, Problem> {
    Counts { hosts: 0, tors: 0, upper: 0, links: file.link.len() as u64 }.check(u64::MAX)?;
    check_names(&file.node)?;
    let nodes =
        file.node.iter().map(|node| Node { name: node.name.clone(), tier: 0, pod: node.pod });
    let mut graph = Graph { nodes: nodes.collect(), links: Vec::new(), routing: file.routing };
    graph.links = links(&file.link, &graph, delay)?;
    let tiers = tiers(&file.node, &neighbours(&graph))?;
    graph.nodes.iter_mut().zip(tiers).for_each(|(node, tier)| node.tier = tier);
    check_hosts(&graph, &file.node)?;
    check_size(&graph)?;
    Ok(in_order(&graph))
}

fn check_names(nodes: &[FileNode]) -> Result<(), Problem> {
    let mut seen = std::collections::BTreeSet::new();
    for (index, FileNode { name, .. }) in nodes.iter().enumerate() {
        let problem = |message| Err(Problem::at(&format!("node.{index}.name"), message));
        if name.is_empty() || name.contains(char::is_whitespace) {
            return problem(format!("\"{name}\" is not a name: it must be one word"));
        }
        if !seen.insert(name) {
            return problem(format!("two nodes are called \"{name}\""));
        }
    }
    Ok(())
}

fn links(links: &[FileLink], graph: &Graph, delay: Time) -> Result<Vec<Link>, Problem> {
    let names = Names::new(graph);
    let link = |(index, raw): (usize, &FileLink)| {
        link(raw, &names, delay).map_err(|problem| problem.inside(&format!("link.{index}")))
    };
    links.iter().enumerate().map(link).collect()
}

fn link(raw: &FileLink, names: &Names<'_>, default: Time) -> Result<Link, Problem> {
    let ends = ends(names, &raw.between).map_err(|problem| problem.inside("between"))?;
    let delay = raw.delay.unwrap_or(default);
    check_rate("rate", raw.rate)?;
    check_delay("delay", delay)?;
    let mut link = Link::new(ends, raw.rate, delay);
    if let Some(rate) = raw.reverse_rate {
        check_rate("reverse_rate", rate)?;
        link.set_rate_from(ends.1, rate);
    }
    Ok(link)
}

fn ends(names: &Names<'_>, text: &str) -> Result<(u32, u32), Problem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [a, b] = words[..] else {
        return Err(Problem::new(format!("\"{text}\" is not a pair of nodes"))
            .help("write both ends as in \"leaf-1 spine-2\""));
    };
    let ends = (names.node(a)?, names.node(b)?);
    if ends.0 == ends.1 {
        return Err(Problem::new(format!("{a} is linked to itself")).help("two different nodes"));
    }
    Ok(ends)
}

fn neighbours(graph: &Graph) -> Vec<Vec<u32>> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for Link { ends: (a, b), .. } in &graph.links {
        neighbours[*a as usize].push(*b);
        neighbours[*b as usize].push(*a);
    }
    neighbours
}

/// The tier of each node, as the module's doc says.
fn tiers(nodes: &[FileNode], neighbours: &[Vec<u32>]) -> Result<Vec<u8>, Problem> {
    let is_host = |node: usize| nodes[node].tier.map_or(neighbours[node].len() == 1, |t| t == HOST);
    let has_host = |node: usize| neighbours[node].iter().any(|&other| is_host(other as usize));
    let is_tor = |node: usize| nodes[node].tier.map_or(has_host(node), |t| t == TOR);
    let first = |node| match node {
        _ if is_host(node) => Some(HOST),
        _ if is_tor(node) => Some(TOR),
        _ => None,
    };
    let mut tiers: Vec<Option<u8>> = (0..nodes.len()).map(first).collect();
    climb(&mut tiers, neighbours);
    let given = |(index, tier): (usize, Option<u8>)| {
        let unknown = || {
            Problem::at(&format!("node.{index}"), "no ToR is near: the tier cannot be inferred")
                .help("give it a `tier`")
        };
        nodes[index].tier.or(tier).ok_or_else(unknown)
    };
    tiers.into_iter().enumerate().map(given).collect()
}

/// Gives each switch without a tier one more than its lowest neighbour's, ToRs' neighbours first.
fn climb(tiers: &mut [Option<u8>], neighbours: &[Vec<u32>]) {
    let tors = (0..tiers.len()).filter(|&node| tiers[node] == Some(TOR));
    let mut queue: VecDeque<(usize, u8)> = tors.map(|node| (node, TOR)).collect();
    while let Some((node, tier)) = queue.pop_front() {
        for &other in &neighbours[node] {
            let (other, above) = (other as usize, tier.saturating_add(1));
            if tiers[other].is_none() {
                tiers[other] = Some(above);
                queue.push_back((other, above));
            }
        }
    }
}

/// Hosts are linked to ToRs alone, each by as many links.
fn check_hosts(graph: &Graph, given: &[FileNode]) -> Result<(), Problem> {
    let neighbours = neighbours(graph);
    let mut first: Option<(&Node, usize)> = None;
    for (index, (node, others)) in graph.nodes.iter().zip(&neighbours).enumerate() {
        if node.tier != HOST {
            continue;
        }
        let wrong = |message: String, help: &str| {
            Err(Problem::at(&format!("node.{index}"), message).help(help.to_owned()))
        };
        let (name, links) = (&node.name, others.len());
        let is_tor = |other: &u32| graph.nodes[*other as usize].tier == TOR;
        if links == 0 || !others.iter().all(is_tor) {
            let rule = "must have links to ToRs (switches of tier 1) alone";
            return match given[index].tier {
                Some(_) => wrong(format!("host {name} {rule}"), "`tier = 1` for its switches"),
                None => wrong(
                    format!("host {name} {rule}; it was taken for a host since it has one link"),
                    "`tier = 1` or above for a switch, and `tier` for the switch at the other end",
                ),
            };
        }
        match first {
            Some((other, count)) if count != links => {
                let message =
                    format!("hosts {} and {name} have {count} and {links} links", other.name);
                return wrong(message, "as many for each host; two may join the same ends");
            }
            _ => first = Some((node, links)),
        }
    }
    Ok(())
}

fn check_size(graph: &Graph) -> Result<(), Problem> {
    let count =
        |tier: fn(u8) -> bool| graph.nodes.iter().filter(|node| tier(node.tier)).count() as u64;
    let (hosts, tors) = (count(|tier| tier == HOST), count(|tier| tier == TOR));
    Counts { hosts, tors, upper: count(|tier| tier > TOR), links: graph.links.len() as u64 }
        .check(u64::MAX)
}

/// The same graph, nodes sorted by tier.
fn in_order(graph: &Graph) -> Graph {
    let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
    order.sort_by_key(|&node| graph.nodes[node].tier);
    let mut place = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&node, index)| place[node] = index);
    let nodes = order.iter().map(|&node| graph.nodes[node].clone()).collect();
    let moved = |link: &Link| {
        let (a, b) = link.ends;
        Link { ends: (place[a as usize], place[b as usize]), ..*link }
    };
    Graph { nodes, links: graph.links.iter().map(moved).collect(), routing: graph.routing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_config::ConfigError;

    const THREE_TIERS: &str = r#"
        node = [{ name = "top" }, { name = "a" }, { name = "b" }, { name = "h1" }, { name = "h2" }, { name = "mid" }]
        link = [
            { between = "h1 a", rate = "10Gbps" },
            { between = "h2 b", rate = "10Gbps", delay = "3us" },
            { between = "a mid", rate = "40Gbps" },
            { between = "b mid", rate = "40Gbps" },
            { between = "mid top", rate = "40Gbps" },
            { between = "mid top", rate = "40Gbps" },
        ]"#;

    fn load(text: &str) -> Result<Graph, String> {
        from_file("g.toml", text, Time::micros(1)).map_err(|p| ConfigError::from(p).to_string())
    }

    #[test]
    fn tiers_follow_from_the_distance_to_hosts() {
        let graph = load(THREE_TIERS).unwrap();
        let tiers: Vec<_> = graph.nodes.iter().map(|n| (n.name.as_str(), n.tier)).collect();
        assert_eq!(tiers, [("h1", 0), ("h2", 0), ("a", 1), ("b", 1), ("mid", 2), ("top", 3)]);
        assert_eq!(
            graph.links[1],
            Link::new((1, 3), heddle_units::Rate::gbps(10), Time::micros(3))
        );
        assert_eq!(graph.links[4].ends, (4, 5));
    }

    #[test]
    fn hosts_have_links_to_several_tors() {
        let both = THREE_TIERS
            .replace("\"h1\" }", "\"h1\", tier = 0 }")
            .replace("\"h2\" }", "\"h2\", tier = 0 }")
            .replacen("\"mid top\"", "\"h1 b\"", 1)
            .replacen("\"mid top\"", "\"h2 a\"", 1)
            .replace("{ name = \"top\" }, ", "");
        let graph = load(&both).unwrap();
        assert_eq!(graph.interfaces(), 2);
        let tiers: Vec<u8> = graph.nodes.iter().map(|node| node.tier).collect();
        assert_eq!(tiers, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn directions_have_rates_of_their_own() {
        let text = THREE_TIERS.replacen(
            "\"a mid\", rate = \"40Gbps\"",
            "\"mid a\", rate = \"40Gbps\", reverse_rate = \"1Gbps\"",
            1,
        );
        let graph = load(&text).unwrap();
        let node = |name: &str| graph.nodes.iter().position(|n| n.name == name).unwrap() as u32;
        let rate = |link: usize, end: &str| graph.links[link].rate_from(node(end));
        use heddle_units::Rate;
        assert_eq!([rate(2, "mid"), rate(2, "a")], [Rate::gbps(40), Rate::gbps(1)]);
        assert_eq!([rate(3, "mid"), rate(3, "b")], [Rate::gbps(40); 2]);
        let none = text.replace("\"1Gbps\"", "\"0bps\"");
        let message = "g.toml:6: link.2.reverse_rate: 0bps is not a link's rate\nhelp: rates from 10Kbps to 100Tbps can be simulated";
        assert_eq!(load(&none).unwrap_err(), message);
    }

    #[test]
    fn faults_name_the_line_of_the_graph_file() {
        let twice = "[[node]]\nname = \"a\"\n[[node]]\nname = \"a\"\n";
        assert_eq!(load(twice).unwrap_err(), "g.toml:4: node.1.name: two nodes are called \"a\"");
        let unknown =
            "node = [{ name = \"a\" }]\nlink = [\n{ between = \"a c\", rate = \"1Gbps\" }]";
        let message = "g.toml:3: link.0.between: no node is called \"c\"\nhelp: known here: `a`";
        assert_eq!(load(unknown).unwrap_err(), message);
        let to_mid = THREE_TIERS
            .replacen("\"mid top\"", "\"h1 mid\"", 1)
            .replace("\"h1\" }", "\"h1\", tier = 0 }")
            .replace("\"mid\" }", "\"mid\", tier = 2 }")
            .replace("\"top\" }", "\"top\", tier = 3 }");
        let message = "g.toml:2: node.3: host h1 must have links to ToRs (switches of tier 1) alone\n\
            help: `tier = 1` for its switches";
        assert_eq!(load(&to_mid).unwrap_err(), message);
        let uneven = to_mid.replacen("\"h1 mid\"", "\"h1 b\"", 1);
        let message = "g.toml:2: node.4: hosts h1 and h2 have 2 and 1 links\n\
            help: as many for each host; two may join the same ends";
        assert_eq!(load(&uneven).unwrap_err(), message);
        let leaf = THREE_TIERS
            .replacen("{ name = \"top\" }", "{ name = \"top\", tier = 3 }, { name = \"lone\" }", 1)
            .replacen("link = [", "link = [{ between = \"lone top\", rate = \"1Gbps\" },", 1);
        let error = load(&leaf).unwrap_err();
        assert!(
            error.contains("taken for a host since it has one link\nhelp: `tier = 1`"),
            "{error}"
        );
        let alone = "[[node]]\nname = \"a\"\n";
        let message =
            "g.toml:1: node.0: no ToR is near: the tier cannot be inferred\nhelp: give it a `tier`";
        assert_eq!(load(alone).unwrap_err(), message);
    }
}

//! From the names of nodes and links to their numbers.

use std::collections::BTreeMap;

use heddle_config::Problem;

use crate::Graph;

/// Nodes and links of a graph by name.
pub(crate) struct Names<'a> {
    graph: &'a Graph,
    nodes: BTreeMap<&'a str, u32>,
    /// Links by their ends, the lower index first.
    links: BTreeMap<(u32, u32), Vec<u32>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Names<'a> {
        let nodes = graph.nodes.iter().zip(0..).map(|(node, index)| (node.name.as_str(), index));
        let mut links: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (link, index) in graph.links.iter().zip(0..) {
            links.entry(ordered(link.ends)).or_default().push(index);
        }
        Names { graph, nodes: nodes.collect(), links }
    }

    /// The node of a name.
    pub(crate) fn node(&self, name: &str) -> Result<u32, Problem> {
        self.nodes.get(name).copied().ok_or_else(|| self.unknown(name))
    }

    /// Files of other programs have numbers, many of them from 0.
    fn unknown(&self, name: &str) -> Problem {
        let problem = Problem::new(format!("no node is called \"{name}\""));
        let host = format!("host-{name}");
        if self.nodes.contains_key(&*host) {
            return problem.help(format!("did you mean `{host}`?"));
        }
        if matches!(name, "0" | "host-0") && self.nodes.contains_key("host-1") {
            return problem.help("the first host is `host-1`");
        }
        problem.suggest(name, &self.nodes.keys().copied().collect::<Vec<_>>())
    }

    /// The host of a name.
    pub(crate) fn host(&self, name: &str) -> Result<u32, Problem> {
        let node = self.node(name)?;
        match self.graph.nodes[node as usize].tier {
            0 => Ok(node),
            _ => Err(Problem::new(format!("{name} is a switch, not a host"))),
        }
    }

    /// Two hosts: `"host-1 host-9"`.
    pub(crate) fn host_pair(&self, text: &str) -> Result<(u32, u32), Problem> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [from, to] = words[..] else {
            return Err(Problem::new(format!("\"{text}\" is not a pair of hosts"))
                .help("write sender and receiver as in \"host-1 host-9\""));
        };
        let pair = (self.host(from)?, self.host(to)?);
        if pair.0 == pair.1 {
            let message = format!("{from} cannot send to itself");
            return Err(Problem::new(message).help("two different hosts"));
        }
        Ok(pair)
    }

    /// Links: `"a b"` for all between two nodes, `"a b #2"` for the second of parallel ones, `"a"`
    /// for all of a switch.
    pub(crate) fn links(&self, text: &str) -> Result<Vec<u32>, Problem> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [node] => self.links_of(node),
            [a, b] => self.between(a, b).map(<[u32]>::to_vec),
            [a, b, number] => self.numbered(a, b, number).map(|link| vec![link]),
            _ => Err(Problem::new(format!("\"{text}\" is neither a link nor a switch"))
                .help("write a link as in \"core-2 agg-4\", a switch as in \"core-2\"")),
        }
    }

    /// The first node that a text for [`Names::links`] names.
    pub(crate) fn first_end(&self, text: &str) -> Result<u32, Problem> {
        self.node(text.split_whitespace().next().unwrap_or_default())
    }

    fn links_of(&self, name: &str) -> Result<Vec<u32>, Problem> {
        let node = self.node(name)?;
        let at = |index: &u32| {
            let (a, b) = self.graph.links[*index as usize].ends;
            a == node || b == node
        };
        Ok((0..self.graph.links.len() as u32).filter(at).collect())
    }

    fn between(&self, a: &str, b: &str) -> Result<&[u32], Problem> {
        let ends = ordered((self.node(a)?, self.node(b)?));
        let links = self.links.get(&ends).map(Vec::as_slice);
        links.ok_or_else(|| Problem::new(format!("no link joins {a} and {b}")))
    }

    fn numbered(&self, a: &str, b: &str, number: &str) -> Result<u32, Problem> {
        let links = self.between(a, b)?;
        let index = number.strip_prefix('#').and_then(|digits| digits.parse::<usize>().ok());
        let link = index.and_then(|index| links.get(index.checked_sub(1)?)).copied();
        let range = || format!("the links between {a} and {b} are #1 to #{}", links.len());
        link.ok_or_else(|| Problem::new(format!("there is no link {number} here")).help(range()))
    }
}

fn ordered((a, b): (u32, u32)) -> (u32, u32) {
    (a.min(b), a.max(b))
}

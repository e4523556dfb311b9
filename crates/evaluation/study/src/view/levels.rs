//! Names of a fabric's levels, as its nodes are called, and of its links.

use heddle_scenario::{Graph, Link};

/// The name of each tier of a graph, from that of the hosts up: "Leaf" and "Spine", or "ToR",
/// "Aggregation" and "Core". "Tier 2" where nodes of a tier have different names.
pub(crate) fn levels(graph: &Graph) -> Vec<String> {
    let top = graph.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    (0..=top).map(|tier| level(graph, tier)).collect()
}

fn level(graph: &Graph, tier: u8) -> String {
    let mut words =
        graph.nodes.iter().filter(|node| node.tier == tier).map(|node| word(&node.name));
    let first = words.next().unwrap_or_default();
    match first {
        _ if first.is_empty() || words.any(|word| word != first) => format!("Tier {tier}"),
        "tor" => "ToR".to_owned(),
        "agg" => "Aggregation".to_owned(),
        word => word[..1].to_uppercase() + &word[1..],
    }
}

/// The name of a level inside a sentence: "ToR" stays as it is.
pub(super) fn in_sentence(level: &str) -> String {
    if level == "ToR" { level.to_owned() } else { level.to_lowercase() }
}

/// The letters that a name starts with.
fn word(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    &name[..end]
}

/// A link as scenario files name it: `leaf-1 spine-1`, and of parallel links `leaf-1 spine-1 #2`.
/// The end that sends comes first, if one is given.
pub(crate) fn link_name(graph: &Graph, index: u32, sender: Option<u32>) -> String {
    let ends = |link: &Link| (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
    let Some(link) = graph.links.get(index as usize) else { return String::new() };
    let is_parallel = |other: &&Link| ends(other) == ends(link);
    let name = |node: u32| graph.nodes.get(node as usize).map_or("?", |node| node.name.as_str());
    let (a, b) = match sender {
        Some(sender) if sender == link.ends.1 => (link.ends.1, link.ends.0),
        _ => link.ends,
    };
    let to = if sender.is_some() { " to " } else { " " };
    let name = format!("{}{to}{}", name(a), name(b));
    if graph.links.iter().filter(is_parallel).count() < 2 {
        return name;
    }
    let number = graph.links[..=index as usize].iter().filter(is_parallel).count();
    format!("{name} #{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    #[test]
    fn levels_are_called_as_their_nodes() {
        let of = |fabric: &str| levels(&scenario(&[("fabric", fabric)]).fabric.graph);
        assert_eq!(of("{ kind = \"leaf-spine\" }"), ["Host", "Leaf", "Spine"]);
        assert_eq!(of("{ kind = \"two-pod\" }"), ["Host", "ToR", "Aggregation", "Core"]);
        let vl2 = "{ kind = \"vl2\", aggregation_ports = 4, intermediate_ports = 4 }";
        assert_eq!(of(vl2), ["Host", "ToR", "Aggregation", "Intermediate"]);
    }

    #[test]
    fn parallel_links_have_numbers() {
        let graph = |parallel| scenario(&[("fabric.parallel_links", parallel)]).fabric.graph;
        let (one, two) = (graph("1"), graph("2"));
        assert_eq!(link_name(&one, 5, None), "leaf-1 spine-2");
        assert_eq!(link_name(&two, 5, None), "leaf-1 spine-1 #2");
        assert_eq!(link_name(&one, 5, Some(one.links[5].ends.1)), "spine-2 to leaf-1");
    }
}

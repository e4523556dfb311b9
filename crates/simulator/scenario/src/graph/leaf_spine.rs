//! Leaves that are each linked to every spine (CONGA figure 7), or to every spine of their plane.

use heddle_config::Problem;

use super::limits::{Base, Counts, some};
use super::{AGG, Builder, HOST, TOR, check_rate};
use crate::Graph;
use crate::raw::LeafSpine;

/// Leaves, spines and the links between them; parallel links follow each other.
pub(crate) fn leaf_spine(shape: &LeafSpine, base: impl Into<Base>) -> Result<Graph, Problem> {
    let Base { delay, most_links } = base.into();
    check(shape, most_links)?;
    let mut fabric = Builder::new(delay);
    let hosts = fabric.nodes("host", HOST, shape.leaves * shape.hosts_per_leaf, None);
    let leaves = fabric.nodes("leaf", TOR, shape.leaves, None);
    let spines = fabric.nodes("spine", AGG, shape.spines, None);
    fabric.link_hosts(hosts, leaves.clone(), shape.hosts_per_leaf, shape.host_rate);
    for (number, leaf) in (0..).zip(leaves) {
        let plane: u32 = number % shape.planes;
        for spine in spines.clone().skip(plane as usize).step_by(shape.planes as usize) {
            for _ in 0..shape.parallel_links {
                fabric.link(leaf, spine, shape.spine_rate);
            }
        }
    }
    Ok(fabric.graph)
}

fn check(shape: &LeafSpine, most_links: u64) -> Result<(), Problem> {
    some("leaves", shape.leaves)?;
    some("spines", shape.spines)?;
    some("hosts_per_leaf", shape.hosts_per_leaf)?;
    some("parallel_links", shape.parallel_links)?;
    some("planes", shape.planes)?;
    for (count, what) in [(shape.leaves, "leaves"), (shape.spines, "spines")] {
        if !count.is_multiple_of(shape.planes) {
            let message = format!("{count} {what} do not form {} equal planes", shape.planes);
            return Err(Problem::at("planes", message)
                .help("a number that divides those of leaves and spines"));
        }
    }
    check_rate("host_rate", shape.host_rate)?;
    check_rate("spine_rate", shape.spine_rate)?;
    let (tors, upper) = (u64::from(shape.leaves), u64::from(shape.spines));
    let hosts = tors * u64::from(shape.hosts_per_leaf);
    let pairs = tors.saturating_mul(upper) / u64::from(shape.planes);
    let between = pairs.saturating_mul(u64::from(shape.parallel_links));
    Counts { hosts, tors, upper, links: between.saturating_add(hosts) }.check(most_links)
}

#[cfg(test)]
mod tests {
    use heddle_units::Time;

    use super::*;

    /// CONGA section 5: 64 hosts, two leaves, two spines, each pair joined by two links of 40 Gbps.
    #[test]
    fn the_default_is_congas_testbed() {
        let graph = leaf_spine(&LeafSpine::default(), Time::micros(1)).map_err(|_| ()).unwrap();
        assert_eq!((graph.nodes.len(), graph.links.len()), (64 + 4, 64 + 8));
        assert_eq!(graph.links[64].ends, graph.links[65].ends);
        let (leaf, spine) = graph.links[71].ends;
        assert_eq!(graph.nodes[leaf as usize].name, "leaf-2");
        assert_eq!(graph.nodes[spine as usize].name, "spine-2");
    }
}

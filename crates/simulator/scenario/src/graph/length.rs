//! The number of switches on a path.

use std::collections::BTreeSet;

use super::shortest::Switches;
use crate::{Graph, Routing};

/// No path between ToRs crosses more switches than this; in fabrics built by their shapes, one
/// crosses as many.
pub(crate) fn most_switches(graph: &Graph) -> usize {
    match graph.routing {
        Routing::UpDown => 2 * tiers(graph).max(1) - 1,
        Routing::Shortest | Routing::Minimal => Switches::new(graph, |_| true).extent().switches,
    }
}

/// Tiers of switches.
fn tiers(graph: &Graph) -> usize {
    let tiers = graph.nodes.iter().map(|node| node.tier).filter(|tier| *tier > 0);
    tiers.collect::<BTreeSet<u8>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{leaf_spine, two_pod};
    use crate::raw::{LeafSpine, TwoPod};
    use heddle_units::Time;

    /// Up to the top tier and down again.
    #[test]
    fn a_path_crosses_each_tier_twice_but_the_top() {
        let two_pod = two_pod(&TwoPod::default(), Time::ZERO).map_err(|_| ()).unwrap();
        let leaf_spine = leaf_spine(&LeafSpine::default(), Time::ZERO).map_err(|_| ()).unwrap();
        assert_eq!((most_switches(&two_pod), most_switches(&leaf_spine)), (5, 3));
    }
}

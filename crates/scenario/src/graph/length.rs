//! How many switches a path crosses.

use std::collections::BTreeSet;

use crate::Graph;

/// No path crosses more switches than this; where each switch is linked to the next tier, one does.
pub(crate) fn most_switches(graph: &Graph) -> usize {
    let tiers = graph.nodes.iter().map(|node| node.tier).filter(|tier| *tier > 0);
    2 * tiers.collect::<BTreeSet<u8>>().len().max(1) - 1
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

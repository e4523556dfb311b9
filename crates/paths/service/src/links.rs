//! Look-up of links by the names of their ends.

use std::collections::BTreeMap;

use heddle_path_encoder::{Network, Placer};

use crate::{Code, Problem, v1};

/// One link.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Its ports, as numbers in the fabric, in the order of its ends.
    ports: [u32; 2],
    /// Its number among the links of the same two nodes.
    parallel: u32,
}

/// The links of a fabric, up or down.
#[derive(Debug)]
pub struct Links {
    entries: Vec<Entry>,
    /// By both ends, the lower node first, and the number among parallel links.
    by_ends: BTreeMap<(u32, u32, u32), u32>,
}

impl Links {
    /// The links of a network.
    pub fn new(network: &Network) -> Links {
        let fabric = network.fabric();
        let mut links = Links {
            entries: vec![Entry::default(); fabric.graph.links.len()],
            by_ends: BTreeMap::new(),
        };
        for (number, port) in fabric.ports.iter().enumerate() {
            let end = usize::from(fabric.graph.links[port.link as usize].ends.0 != port.owner);
            links.entries[port.link as usize].ports[end] = number as u32;
        }
        let mut count = BTreeMap::<(u32, u32), u32>::new();
        for (index, link) in fabric.graph.links.iter().enumerate() {
            let (low, high) = ordered(link.ends);
            let next = count.entry((low, high)).or_default();
            links.entries[index].parallel = *next;
            links.by_ends.insert((low, high, *next), index as u32);
            *next += 1;
        }
        links
    }

    /// The number of links.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A link's index in the graph.
    pub fn find(&self, network: &Network, a: &str, b: &str, parallel: u32) -> Result<u32, Problem> {
        let [from, to] = [network.node(a)?, network.node(b)?];
        let (low, high) = ordered((from, to));
        self.by_ends.get(&(low, high, parallel)).copied().ok_or_else(|| {
            let detail = format!("there is no link number {parallel} between {a} and {b}");
            Problem::new(
                Code::NotFound,
                detail,
                "list the links; parallel ones are numbered from 0",
            )
        })
    }

    /// A link and its load. The index must be below [`Links::len`].
    pub fn describe(&self, network: &Network, placer: &Placer, index: u32) -> v1::Link {
        let Entry { ports: [from_a, from_b], parallel } = self.entries[index as usize];
        let link = &network.fabric().graph.links[index as usize];
        let name = |node| network.fabric().node(node).name.clone();
        let is_down = network.down().contains(&index);
        let state = if is_down { v1::LinkState::Down } else { v1::LinkState::Up };
        v1::Link {
            a: name(link.ends.0),
            b: name(link.ends.1),
            parallel,
            state: state.into(),
            rate_bps: link.rate.min(link.rate_from(link.ends.1)).0,
            flows_from_a: placer.flows(from_a),
            flows_from_b: placer.flows(from_b),
            reserved_from_a_bps: placer.reserved(from_a).0,
            reserved_from_b_bps: placer.reserved(from_b).0,
        }
    }
}

const fn ordered((a, b): (u32, u32)) -> (u32, u32) {
    if a <= b { (a, b) } else { (b, a) }
}

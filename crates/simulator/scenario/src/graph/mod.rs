//! Graphs, one shape a file. All list hosts first, then ToRs, then the tiers above.

mod bcube;
mod dragonfly;
mod fat_tree;
mod from_file;
mod from_hpcc;
mod from_htsim;
mod leaf_spine;
mod length;
mod limits;
mod names;
mod reach;
mod round_trip;
mod shortest;
mod two_pod;
mod vl2;
mod width;

pub(crate) use bcube::bcube;
pub(crate) use dragonfly::dragonfly;
pub(crate) use fat_tree::fat_tree;
pub(crate) use from_file::from_file;
pub(crate) use from_hpcc::from_hpcc;
pub(crate) use from_htsim::from_htsim;
pub(crate) use leaf_spine::leaf_spine;
pub(crate) use length::most_switches;
pub(crate) use limits::{Base, check_delay, check_ports, check_rate};
pub(crate) use names::Names;
pub(crate) use reach::check_reachable;
pub(crate) use round_trip::longest_round_trip;
pub(crate) use two_pod::two_pod;
pub(crate) use vl2::vl2;
pub(crate) use width::most_next_hops;

use std::ops::Range;

use heddle_units::{Rate, Time};

use crate::{Graph, Link, Node, Routing};

/// Tier of hosts, of ToRs, and of the two tiers above.
const HOST: u8 = 0;
const TOR: u8 = 1;
const AGG: u8 = 2;
const CORE: u8 = 3;

/// A graph in the making, all of whose links have one delay.
struct Builder {
    graph: Graph,
    delay: Time,
}

impl Builder {
    fn new(delay: Time) -> Builder {
        Builder {
            graph: Graph { nodes: Vec::new(), links: Vec::new(), routing: Routing::UpDown },
            delay,
        }
    }

    /// Adds `count` nodes called `name-1` and up, `per_pod` of them in each pod if pods are meant;
    /// gives their indices.
    fn nodes(&mut self, name: &str, tier: u8, count: u32, per_pod: Option<u32>) -> Range<u32> {
        let start = self.graph.nodes.len() as u32;
        self.graph.nodes.extend((0..count).map(|index| Node {
            name: format!("{name}-{}", index + 1),
            tier,
            pod: per_pod.map(|size| (index / size + 1) as u16),
        }));
        start..start + count
    }

    fn link(&mut self, a: u32, b: u32, rate: Rate) {
        self.graph.links.push(Link::new((a, b), rate, self.delay));
    }

    /// Links each of `hosts` to its ToR, `per_tor` to each in turn.
    fn link_hosts(&mut self, hosts: Range<u32>, tors: Range<u32>, per_tor: u32, rate: Rate) {
        for (index, host) in hosts.enumerate() {
            self.link(host, tors.start + index as u32 / per_tor, rate);
        }
    }

    /// Links each of `lower` to each of `upper`.
    fn mesh(&mut self, lower: Range<u32>, upper: Range<u32>, rate: Rate) {
        for a in lower {
            for b in upper.clone() {
                self.link(a, b, rate);
            }
        }
    }
}

/// `count` indices, the `part`th of equal parts of a range.
fn part(range: &Range<u32>, count: u32, part: u32) -> Range<u32> {
    let start = range.start + part * count;
    start..start + count
}

//! Round-trip times in an empty fabric.

use heddle_units::{Bytes, Time};

use crate::{Graph, Link};

/// Round-trip time of a packet and its acknowledgement, of so many bytes each, between the hosts
/// farthest apart: over a path of the fewest links, each of which passes whole packets on.
pub(crate) fn longest_round_trip(graph: &Graph, packet: Bytes, ack: Bytes) -> Time {
    let walk = Walk::new(graph, packet, ack);
    let farthest = walk.tors().map(|tor| walk.at_hosts[tor] + walk.farthest(tor)).max();
    farthest.unwrap_or_default()
}

/// Times of both ways over the links.
struct Walk {
    /// Of each switch: its neighbours among the switches, with the times of the links to them.
    neighbours: Vec<Vec<(usize, Time)>>,
    /// Of each node: the longest time of a link to a host of its own; 0 without hosts.
    at_hosts: Vec<Time>,
    has_hosts: Vec<bool>,
}

impl Walk {
    fn new(graph: &Graph, packet: Bytes, ack: Bytes) -> Walk {
        let nodes = graph.nodes.len();
        let mut walk = Walk {
            neighbours: vec![Vec::new(); nodes],
            at_hosts: vec![Time::ZERO; nodes],
            has_hosts: vec![false; nodes],
        };
        for link in &graph.links {
            walk.add(graph, link, both_ways(link, packet, ack));
        }
        walk
    }

    fn add(&mut self, graph: &Graph, link: &Link, time: Time) {
        let (a, b) = (link.ends.0 as usize, link.ends.1 as usize);
        for (here, there) in [(a, b), (b, a)] {
            if graph.nodes[there].tier == super::HOST {
                self.at_hosts[here] = self.at_hosts[here].max(time);
                self.has_hosts[here] = true;
            } else if graph.nodes[here].tier != super::HOST {
                self.neighbours[here].push((there, time));
            }
        }
    }

    fn tors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.has_hosts.len()).filter(|node| self.has_hosts[*node])
    }

    /// The longest time from a switch to a host, breadth first.
    fn farthest(&self, from: usize) -> Time {
        let mut times = vec![Time::NEVER; self.neighbours.len()];
        times[from] = Time::ZERO;
        let (mut level, mut longest) = (vec![from], self.at_hosts[from]);
        while !level.is_empty() {
            level = self.next_level(&level, &mut times);
            let with_hosts = level.iter().filter(|node| self.has_hosts[**node]);
            longest = with_hosts.map(|&n| times[n] + self.at_hosts[n]).fold(longest, Time::max);
        }
        longest
    }

    /// The switches one link farther away than those of a level, with the least times of all ways.
    fn next_level(&self, level: &[usize], times: &mut [Time]) -> Vec<usize> {
        let mut next = Vec::new();
        let seen: Vec<bool> = times.iter().map(|time| *time < Time::NEVER).collect();
        for &node in level {
            for &(there, time) in &self.neighbours[node] {
                if seen[there] {
                    continue;
                }
                if times[there] == Time::NEVER {
                    next.push(there);
                }
                times[there] = times[there].min(times[node] + time);
            }
        }
        next
    }
}

/// The time of a packet over a link and of its acknowledgement back.
fn both_ways(link: &Link, packet: Bytes, ack: Bytes) -> Time {
    let back = link.reverse_rate.unwrap_or(link.rate);
    link.delay * 2 + link.rate.time_for(packet) + back.time_for(ack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::fat_tree;
    use crate::raw::FatTree;
    use heddle_units::Rate;

    /// Six links of 1 us each way; at 100 Gbps a packet of 4154 bytes takes 332.32 ns on each, an
    /// acknowledgement of 64 bytes 5.12 ns.
    #[test]
    fn in_a_fat_tree_it_crosses_six_links_and_back() {
        let shape = FatTree {
            k: 4,
            hosts_per_tor: None,
            rate: Rate::gbps(100),
            host_rate: None,
            edge_rate: None,
            core_rate: None,
        };
        let graph = fat_tree(&shape, Time::micros(1)).map_err(|_| ()).unwrap();
        let time = longest_round_trip(&graph, Bytes(4154), Bytes(64));
        assert_eq!(time, Time(12_000_000 + 6 * (332_320 + 5_120)));
        assert_eq!(graph.fastest_host(), Rate::gbps(100));
    }
}

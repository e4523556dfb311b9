//! DRILL(d, m) (Ghorbani et al., SIGCOMM 2017): each packet takes the shortest queue of d next hops
//! drawn at random and the m that were shortest last time.
//!
//! The memory is kept for each next-hop group. A switch has few groups; a group is identified by
//! its first port here, so the memory is a small table with a row for each port. Groups with the
//! same first port share a row, and a remembered port counts only for a packet that may take it.
//! Among equally short queues a drawn one is preferred, so that idle ports share the load. The
//! paper's extension for asymmetric fabrics, a split of each group into symmetric parts, is not
//! implemented.

use alloc::{boxed::Box, vec};

use crate::{Header, Port, Ports, Scheme, Step, SwitchInfo, mix, pick};

/// Most ports that one packet compares.
const MAX_CANDIDATES: usize = 32;

/// An unused slot of the memory. No switch has this port: port counts are 16 bits wide.
const NO_PORT: Port = Port(u16::MAX);

/// Defaults are DRILL(2, 1), the paper's choice.
// Samples are 1 to 16 and remembered ports 0 to 16: other values are clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Drill"))]
pub struct DrillConfig {
    /// Ports drawn at random for each packet, d. Default: 2.
    pub samples: u8,
    /// Best ports remembered, m. Default: 1.
    pub memory: u8,
}

impl Default for DrillConfig {
    fn default() -> DrillConfig {
        DrillConfig { samples: 2, memory: 1 }
    }
}

/// A switch running DRILL.
#[derive(Clone, Debug)]
pub struct Drill {
    samples: usize,
    memory: usize,
    rows: Box<[Port]>,
}

impl Drill {
    /// The memory of the group that begins with `first`; empty for a port that the switch does not
    /// have.
    fn row(&mut self, first: Port) -> &mut [Port] {
        let start = usize::from(first.0) * self.memory;
        self.rows.get_mut(start..start + self.memory).unwrap_or_default()
    }
}

/// Candidate ports, shortest queue first; ties in order of insertion.
struct Shortlist {
    ports: [(u32, Port); MAX_CANDIDATES],
    len: usize,
}

impl Shortlist {
    const EMPTY: Shortlist = Shortlist { ports: [(0, NO_PORT); MAX_CANDIDATES], len: 0 };

    fn ports(&self) -> impl Iterator<Item = Port> {
        self.ports[..self.len].iter().map(|&(_, port)| port)
    }

    fn contains(&self, port: Port) -> bool {
        self.ports().any(|listed| listed == port)
    }

    /// Inserts `port`, which is not listed yet. There is room: samples and memory are at most half
    /// of the list each.
    fn insert(&mut self, port: Port, queue: u32) {
        let place = self.ports[..self.len].partition_point(|&(shorter, _)| shorter <= queue);
        self.ports.copy_within(place..self.len, place + 1);
        self.ports[place] = (queue, port);
        self.len += 1;
    }

    /// Draws `samples` hops, each with equal chance among those not drawn yet.
    fn draw(&mut self, rnd: u32, samples: usize, hops: &[Port], ports: &mut impl Ports) {
        for i in 0..samples.min(hops.len()) {
            let nth = pick(mix(rnd, i as u32), hops.len() - i);
            let drawn = hops.iter().copied().filter(|&hop| !self.contains(hop)).nth(nth);
            if let Some(port) = drawn {
                self.insert(port, ports.queue_bytes(port));
            }
        }
    }

    /// Adds the remembered ports that are among `hops`.
    fn recall(&mut self, row: &[Port], hops: &[Port], ports: &mut impl Ports) {
        for &port in row {
            if hops.contains(&port) && !self.contains(port) {
                self.insert(port, ports.queue_bytes(port));
            }
        }
    }
}

impl Scheme for Drill {
    type Config = DrillConfig;
    const NEEDS_RANDOM: bool = true;

    fn new(config: &DrillConfig, info: &SwitchInfo) -> Drill {
        let samples = usize::from(config.samples).clamp(1, MAX_CANDIDATES / 2);
        let memory = usize::from(config.memory).min(MAX_CANDIDATES / 2);
        let rows = vec![NO_PORT; usize::from(info.ports) * memory].into_boxed_slice();
        Drill { samples, memory, rows }
    }

    fn forward(
        &mut self,
        step: Step,
        _packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        if let [only] = next_hops {
            return *only;
        }
        let mut shortlist = Shortlist::EMPTY;
        shortlist.draw(step.rnd, self.samples, next_hops, ports);
        let row = self.row(next_hops[0]);
        shortlist.recall(row, next_hops, ports);
        for (place, port) in row.iter_mut().zip(shortlist.ports()) {
            *place = port;
        }
        shortlist.ports[0].1
    }

    /// 2 bytes for each port remembered, with a row for each port of the switch.
    fn state_bytes(&self) -> usize {
        self.rows.len() * size_of::<Port>()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::testing::{FakePorts, Random, chi_square, packet, switch_info};

    const HOPS: [Port; 6] = [Port(2), Port(3), Port(4), Port(5), Port(6), Port(7)];

    fn drill(samples: u8, memory: u8) -> Drill {
        Drill::new(&DrillConfig { samples, memory }, &switch_info(1))
    }

    fn send(drill: &mut Drill, random: &mut Random, hops: &[Port], ports: &mut FakePorts) -> Port {
        drill.forward(random.step(0), &mut packet(9, 1), hops, ports)
    }

    /// Hops drawn with these random bits, in order.
    fn drawn(rnd: u32, samples: u8) -> Vec<Port> {
        let mut shortlist = Shortlist::EMPTY;
        shortlist.draw(rnd, samples.into(), &HOPS, &mut FakePorts::default());
        shortlist.ports().collect()
    }

    #[test]
    fn every_ordered_pair_is_drawn_as_often() {
        let (mut counts, mut random) = ([0u32; 30], Random(1));
        for _ in 0..60_000 {
            let pair = drawn(random.step(0).rnd, 2);
            let (first, second) = (usize::from(pair[0].0 - 2), usize::from(pair[1].0 - 2));
            assert_ne!(first, second);
            counts[first * 5 + second - usize::from(second > first)] += 1;
        }
        assert!(chi_square(&counts) < 58.30, "p < 0.001 for 29 degrees: {counts:?}");
    }

    #[test]
    fn it_takes_the_shortest_of_those_drawn_and_those_remembered() {
        for (samples, memory) in [(1, 0), (1, 1), (2, 1), (2, 3), (6, 0), (99, 99)] {
            let (mut drill, mut random) = (drill(samples, memory), Random(1));
            let mut ports = FakePorts::default();
            let mut remembered = Vec::new();
            for _ in 0..2000 {
                ports.queue = core::array::from_fn(|_| random.step(0).rnd % 50 * 1500);
                let step = random.step(0);
                let mut seen = drawn(step.rnd, samples);
                seen.extend(remembered.iter().copied());
                let queue = |port: &Port| ports.queue[usize::from(port.0)];
                let shortest = seen.iter().map(queue).min().unwrap();
                let port = drill.forward(step, &mut packet(9, 1), &HOPS, &mut ports.clone());
                assert_eq!(queue(&port), shortest, "DRILL({samples}, {memory})");
                seen.sort_by_key(|port| (queue(port), *port));
                seen.dedup();
                remembered = drill.row(HOPS[0]).to_vec();
                assert!(remembered.iter().zip(&seen).all(|(a, b)| queue(a) == queue(b)));
                remembered.retain(|port| *port != NO_PORT);
            }
        }
    }

    #[test]
    fn memory_finds_the_one_empty_queue_and_stays() {
        let (mut drill, mut random) = (drill(1, 1), Random(1));
        let mut ports = FakePorts { queue: [9000; 16], ..FakePorts::default() };
        ports.queue[5] = 0;
        let sent = (0..100).map(|_| send(&mut drill, &mut random, &HOPS, &mut ports));
        let sent: Vec<Port> = sent.collect();
        let found = sent.iter().position(|port| *port == Port(5)).unwrap();
        assert!(sent[found..].iter().all(|port| *port == Port(5)));
    }

    #[test]
    fn idle_ports_share_the_load() {
        let (mut drill, mut random, mut counts) = (drill(2, 1), Random(1), [0u32; 6]);
        for _ in 0..60_000 {
            let port = send(&mut drill, &mut random, &HOPS, &mut FakePorts::default());
            counts[usize::from(port.0 - 2)] += 1;
        }
        assert!(chi_square(&counts) < 20.52, "p < 0.001 for 5 degrees: {counts:?}");
    }

    #[test]
    fn a_group_that_shares_a_row_ignores_ports_it_does_not_have() {
        let (mut drill, mut random) = (drill(1, 1), Random(1));
        let mut ports = FakePorts { queue: [9000; 16], ..FakePorts::default() };
        ports.queue[7] = 0;
        for _ in 0..100 {
            send(&mut drill, &mut random, &HOPS, &mut ports);
        }
        assert_eq!(drill.row(HOPS[0]), [Port(7)]);
        let port = send(&mut drill, &mut random, &HOPS[..3], &mut ports);
        assert!(HOPS[..3].contains(&port));
    }

    #[test]
    fn it_holds_2_bytes_a_port_and_place() {
        assert_eq!(drill(2, 1).state_bytes(), 16 * 2);
        assert_eq!(drill(12, 0).state_bytes(), 0);
    }
}

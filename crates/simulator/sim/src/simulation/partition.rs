//! A part of a divided run: the events of some nodes, in windows in which no other part has an
//! effect on them.
//!
//! Each part has the whole fabric, and all connections and flows, since it starts the same flows at
//! the same times; but it has the packets of its own nodes alone, the client's side of connections
//! whose clients are its own, and the server's side of those whose servers are. Two kinds of events
//! take place in several parts: starts of flows and others that are no node's in all, and arrivals
//! over links between two parts in both ([`crate::network::Crossed`]). What it logs of each event
//! puts the events of all parts into the order of a run that is not divided ([`crate::division`]).

use std::sync::Arc;

use heddle_policy::Scheme;
use heddle_units::Time;

use super::Simulation;
use crate::engine::Scheduled;
use crate::hosts::Sides;
use crate::network::{Crossed, NIL, Network};
use crate::outcome::{Outcome, PortCounters};

/// The nodes of a part of a run.
#[derive(Clone)]
pub(crate) struct Part {
    /// Its number.
    pub(crate) id: u16,
    /// Parts of the run.
    pub(crate) count: u16,
    /// The part of each node.
    pub(crate) owners: Arc<[u16]>,
}

impl Part {
    fn has(&self, node: u32) -> bool {
        self.owners[node as usize] == self.id
    }
}

/// The link of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Within the part; also of other events.
    Inside,
    /// To another part.
    Leaves,
    /// From another part.
    Enters {
        /// True if it has scheduled the next arrival, before anything else.
        is_followed: bool,
    },
}

/// An event that was handled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    pub(crate) at: Time,
    /// As [`pack`](crate::engine::Event::pack) has it.
    pub(crate) event: u32,
    /// Its place in the order of scheduling.
    pub(crate) order: u32,
    /// Flows that it has started: as many marks.
    pub(crate) marks: u32,
    /// Its work after the last of them.
    pub(crate) effect: Mark,
    /// Measured flows that it has finished.
    pub(crate) flows: u16,
    pub(crate) link: Link,
}

/// Work of an event or a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The number of events scheduled until then.
    pub(crate) scheduled: u32,
    /// Packets added less those removed.
    pub(crate) packets: i32,
    /// The most of that.
    pub(crate) peak: i32,
}

/// A part's record of a window.
pub(crate) struct Partition {
    part: Part,
    log: Vec<Logged>,
    marks: Vec<Mark>,
    /// Marks and flows before the event that is handled, and packets before its last mark.
    marks_before: usize,
    flows_before: usize,
    packets_before: i64,
    /// The link of the event that is handled.
    link: Link,
}

/// A part's report of a window.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) log: Vec<Logged>,
    pub(crate) marks: Vec<Mark>,
    /// Packets to other parts.
    pub(crate) crossed: Vec<Crossed>,
    /// Time of its next event.
    pub(crate) next_at: Time,
    /// Events that were scheduled.
    pub(crate) scheduled: Scheduled,
    pub(crate) hops: u64,
    /// Last arrival of a packet at a host.
    pub(crate) last_data: Time,
    pub(crate) stalled: bool,
}

/// The end of a part.
pub(crate) struct Ended {
    /// Its flows and counters.
    pub(crate) outcome: Outcome,
    /// Packets added less those removed.
    pub(crate) packets: i64,
    /// The ports of [`Outcome::port_counters`].
    ports: Vec<u32>,
}

impl Ended {
    /// Takes the counters of ports out.
    pub(crate) fn take_port_counters(&mut self) -> impl Iterator<Item = (u32, PortCounters)> {
        let counters = std::mem::take(&mut self.outcome.port_counters);
        std::mem::take(&mut self.ports).into_iter().zip(counters)
    }
}

impl<S: Scheme> Simulation<'_, S> {
    /// Makes this one part of a run.
    pub(crate) fn divided(mut self, part: Part) -> Self {
        let ports = &self.fabric.ports;
        let owner = |node: u32| part.owners[node as usize];
        self.network.divide(|port| {
            let info = ports[port as usize];
            owner(info.owner) != owner(info.to)
        });
        self.partition = Some(Box::new(Partition {
            part,
            log: Vec::new(),
            marks: Vec::new(),
            marks_before: 0,
            flows_before: 0,
            packets_before: 0,
            link: Link::Inside,
        }));
        self
    }

    /// Packet hops of the run so far; an estimate in a part of it.
    pub(super) fn hops(&self) -> u64 {
        let parts = self.partition.as_ref().map_or(1, |partition| partition.part.count);
        self.network.hops * u64::from(parts)
    }

    /// The sides of a flow that are in this part.
    pub(super) fn sides(&self, from: u32, to: u32) -> Sides {
        let sides = |partition: &Partition| Sides {
            client: partition.part.has(from),
            server: partition.part.has(to),
        };
        self.partition.as_deref().map_or(Sides::BOTH, sides)
    }

    /// Notes that a flow has started.
    pub(super) fn mark_start(&mut self) {
        if let Some(partition) = &mut self.partition {
            let mark = partition.mark(&mut self.network);
            partition.marks.push(mark);
        }
    }

    /// True if a packet that has arrived over the link of `port` goes on in another part.
    #[inline(never)]
    pub(super) fn leaves(&mut self, port: u32, packet: u32) -> bool {
        let Some(partition) = &mut self.partition else { return false };
        let info = self.fabric.ports[port as usize];
        let (from, to) = (partition.part.has(info.owner), partition.part.has(info.to));
        if !to {
            partition.link = Link::Leaves;
            self.network.hand_over(packet);
        } else if !from {
            let is_followed = self.network.ports[port as usize].head != NIL;
            partition.link = Link::Enters { is_followed };
        }
        !to
    }

    /// Takes in a packet of another part. `is_later` tells of an event at its arrival, by its order
    /// of scheduling, whether it is after the arrival.
    pub(crate) fn enter(&mut self, crossed: &Crossed, is_later: impl Fn(u32) -> bool) {
        self.network.enter(crossed, is_later);
    }

    /// Handles the events before `end`.
    pub(crate) fn run_before(&mut self, end: Time) {
        while let Some(due) = self.network.events.pop_before(end) {
            self.now = due.at;
            self.look_ahead();
            if let Some(partition) = &mut self.partition {
                partition.begin(self.network.packets.begin(), self.flows.len());
            }
            self.handle(due.event);
            if let Some(partition) = &mut self.partition {
                let effect = partition.mark(&mut self.network);
                partition.log.push(Logged {
                    at: due.at,
                    event: due.event.pack(),
                    order: due.order,
                    marks: (partition.marks.len() - partition.marks_before) as u32,
                    effect,
                    flows: (self.flows.len() - partition.flows_before) as u16,
                    link: partition.link,
                });
            }
        }
    }

    /// Tells of the window that has ended.
    pub(crate) fn tell(&mut self, told: &mut Told) {
        let Some(partition) = &mut self.partition else { return };
        told.log.clear();
        told.marks.clear();
        std::mem::swap(&mut told.log, &mut partition.log);
        std::mem::swap(&mut told.marks, &mut partition.marks);
        told.crossed.clear();
        self.network.take_left(&mut told.crossed);
        told.next_at = self.network.events.next_at();
        told.scheduled = std::mem::take(self.network.events.notes());
        (told.hops, told.stalled) = (self.network.hops, self.totals.stalled);
        told.last_data = self.last_data;
    }

    /// Learns of the last arrival of a packet at a host of any part.
    pub(crate) fn hear(&mut self, last_data: Time) {
        self.last_data = self.last_data.max(last_data);
    }

    /// Time of the next event.
    pub(crate) fn next_at(&self) -> Time {
        self.network.events.next_at()
    }

    /// Events scheduled so far.
    pub(crate) fn scheduled(&self) -> u32 {
        self.network.events.scheduled()
    }

    /// The run lasts no longer.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    /// Time of the last event.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Ends the part with the run.
    pub(crate) fn end_part(mut self) -> Ended {
        self.now = self.end;
        self.sample_rest();
        let (packets, _) = self.network.packets.alive_and_peak();
        let counted = (0..).zip(&self.network.port_stats);
        let counted = counted.filter(|(_, stats)| stats.buffer_drops + stats.ecn_marks > 0);
        let ports = counted.map(|(port, _)| port).collect();
        Ended { packets, ports, outcome: self.finish() }
    }
}

impl Partition {
    fn begin(&mut self, packets: i64, flows: usize) {
        self.link = Link::Inside;
        (self.marks_before, self.flows_before) = (self.marks.len(), flows);
        self.packets_before = packets;
    }

    /// Work since the last mark.
    fn mark(&mut self, network: &mut Network) -> Mark {
        let (alive, peak) = network.packets.alive_and_peak();
        let before = std::mem::replace(&mut self.packets_before, network.packets.begin());
        Mark {
            scheduled: network.events.scheduled(),
            packets: (alive - before) as i32,
            peak: (peak - before) as i32,
        }
    }
}

//! Test support: a network of one port at 10 Gbps, where a byte takes 800 ps, and its invariants.

mod control_first;
mod control_first_model;
mod impairments;
mod management;
mod model;
mod priority_queue;
mod priority_red;
mod traces;

use heddle_policy::{DreShift, Tor};
use heddle_scenario::PortLimits;
use heddle_transport::Segment;
use heddle_units::{Bytes, Rate, Time};

use super::*;
use crate::engine::{Event, Wheel};
use crate::random::{Random, Stream};

const RATE: Rate = Rate::gbps(10);
const DELAY: Time = Time::micros(1);
/// A time after the last arrival.
const LATER: Time = Time::millis(1);

impl Network {
    /// Checks the invariants of every port and packet between two events.
    pub(crate) fn check(&self, now: Time) {
        let on_links: usize =
            (0..self.ports.len()).map(|port| self.check_port(port as u32, now)).sum();
        assert_eq!(on_links, self.packets.len(), "each packet is on one link");
    }

    /// Checks one port; gives the number of packets on it.
    fn check_port(&self, port_id: u32, now: Time) -> usize {
        let port = &self.ports[port_id as usize];
        let class = &self.classes[usize::from(port.class)];
        let list = self.list(port.head);
        let waiting = self.list(port.next_to_start);
        let arrival = |id: &u32| match waiting.iter().position(|other| other == id) {
            Some(place) if class.has_two_queues() => self.waiting_arrival(port_id, *id, place),
            _ => self.packets.hot[*id as usize].arrival,
        };
        let arrivals: Vec<Time> = list.iter().map(arrival).collect();
        assert!(arrivals.is_sorted_by(|a, b| a < b), "in order: {arrivals:?}");
        assert!(arrivals.first().is_none_or(|&at| at >= now), "none is overdue: {arrivals:?}");
        assert!(arrivals.last().is_none_or(|&at| at == port.busy_until + class.delay));
        assert!(list.last().is_none_or(|&last| last == port.tail));
        let backlog = port.busy_until.saturating_sub(now);
        assert!(class.has_two_queues() || backlog <= class.buffer_time, "within the buffer");
        assert_eq!(waiting.len(), port.waiting as usize);
        let time = |id: &u32| class.time_for(u32::from(self.packets.hot[*id as usize].size));
        let end = waiting.iter().fold(port.next_start, |start, id| start + time(id));
        assert!(waiting.is_empty() || end == port.busy_until, "sent without a gap");
        assert!(port.up || list.is_empty(), "nothing is on a link that is down");
        list.len()
    }

    /// The packets from one on.
    pub(crate) fn list(&self, head: u32) -> Vec<u32> {
        let exists = |id: u32| (id != NIL).then_some(id);
        let next = |&id: &u32| exists(self.packets.hot[id as usize].next);
        std::iter::successors(exists(head), next).collect()
    }
}

/// An arrived packet: time, bytes, and true if marked.
type Arrived = (Time, u16, bool);

fn limits(bytes: u64) -> PortLimits {
    PortLimits { bytes: Bytes(bytes), packets: None, mark_above: None }
}

/// A network of one port.
fn one_port(limits: PortLimits, meter: Option<DreShift>) -> Network {
    Network {
        ports: vec![Port::new(0, 0)],
        port_stats: vec![PortStats::default()],
        classes: vec![LinkClass::new(RATE, DELAY, limits)],
        packets: Packets::default(),
        events: Wheel::new(Time::nanos(10), Time::micros(10)),
        meter,
        priority_queues: Vec::new(),
        impairments: Impairments::new(Random::new(1, Stream::Losses)),
        management: Management::default(),
        hops: 0,
        crossing: Crossing::default(),
    }
}

/// A packet without a flow.
fn hot(now: Time, size: u16, kind: PacketKind) -> Hot {
    Hot {
        arrival: now,
        next: NIL,
        connection: 0,
        flow_hash: 0,
        dst_host: 0,
        dst_tor: Tor(0),
        src_tor: Tor(0),
        size,
        tag: 0,
        kind,
        is_handshake: false,
    }
}

fn bytes(count: u64) -> Time {
    RATE.time_for(Bytes(count))
}

impl Network {
    fn send_segment(&mut self, now: Time, size: u16, kind: PacketKind, segment: Segment) {
        let packet = self.packets.add(hot(now, size, kind), Body { segment, ..Body::default() });
        self.send(now, 0, packet);
    }

    /// Sends a packet of a flow that has this hash.
    fn send_of_flow(&mut self, now: Time, flow_hash: u32) {
        let hot = Hot { flow_hash, ..hot(now, 1500, PacketKind::Forward) };
        let packet = self.packets.add(hot, Body::default());
        self.send(now, 0, packet);
    }

    fn send_data(&mut self, now: Time, size: u16) {
        self.send_segment(now, size, PacketKind::Forward, Segment::default());
    }

    /// Arrivals until and at `until`.
    fn arrivals(&mut self, until: Time) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        while let Some((now, event)) = self.events.pop() {
            if now > until {
                self.events.schedule(now, event);
                break;
            }
            let Event::Arrival(port) = event else { unreachable!("no others are scheduled") };
            let Some(packet) = self.arrive(now, port) else { continue };
            let marked = self.packets.body[packet as usize].segment.ecn.is_marked();
            arrived.push((now, self.packets.hot[packet as usize].size, marked));
            self.packets.remove(packet);
            self.check(now);
        }
        arrived
    }
}

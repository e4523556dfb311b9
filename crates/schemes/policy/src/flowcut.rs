//! Flowcut switching (Bonato et al., IEEE/ACM Transactions on Networking 2025, arXiv 2506.21406): a
//! flow keeps its path while it has bytes in flight, and takes the least loaded one when it has
//! none, so that no packet overtakes an earlier one.
//!
//! The paper has flowcuts at every switch, which all see a flow's acknowledgements since those
//! return by the way of the data, or at the ingress switch or the network interface alone. Here
//! acknowledgements take a way of their own, of which the sender's ToR is the one switch that both
//! directions share. So that ToR counts, by sequence numbers and cumulative acknowledgements, and
//! numbers the flow's flowcuts; other switches read the number in the packet and choose a port once
//! for each. The first packet of a flowcut has a bit by which they know it.
//!
//! - A flow without an entry, because its set is full of flows with bytes in flight, takes the
//!   ports of its hash. An entry made in the middle of a flow begins with these ports, too, since
//!   packets may be in flight there.
//! - What has been silent for longer than `lost_after` has left the network, acknowledged or not:
//!   the next packet begins a flowcut.
//! - A drain ([`FlowcutConfig::drain_ratio`]) ends a flowcut on a path that has become slow: its
//!   acknowledgements pass with a closed receive window until everything is acknowledged. The
//!   paper's switches pause the sender by a message of their own.

mod flows;
mod sets;
#[cfg(test)]
mod tests;
mod transit;

use crate::{
    Counters, FLOWLET_SLOTS, Header, Ingress, Nanos, Port, Ports, ReceiveWindow, Scheme, Segment,
    SequenceNumbers, Step, SwitchInfo, hash::pick_hop, mix, pick,
};
use heddle_units::{Bytes, Time};

use flows::{BYTES_PER_DRAIN, BYTES_PER_FLOW, Flow};
use sets::Sets;
use transit::{BYTES_PER_TRANSIT, Transit};

/// The highest number of a flowcut; 1 follows it.
const LAST_NUMBER: u16 = (1 << 15) - 1;

/// Defaults of drains are those of the paper's artifact on fat-trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(rename = "Flowcut"))]
pub struct FlowcutConfig {
    /// Flows that a switch tracks, rounded up to a power of two, at least 4. Default: 65536 (as
    /// many as flowlets; the paper sizes tables by flows in flight).
    pub flow_slots: u32,
    /// A flow whose last packet was sent longer ago may take another path, acknowledged or not.
    /// Default: 5ms (longer than the queues of a path, and shorter than a retransmission timeout;
    /// the paper gives none).
    pub lost_after: Time,
    /// A flow is drained if its flowcut's mean round-trip time is more than this many times the
    /// least of the flow; 0: never. Default: 4 (the artifact).
    pub drain_ratio: u16,
    /// Bytes that a flowcut has sent before it is drained. Default: "20KB" (the artifact).
    pub drain_after: Bytes,
}

impl Default for FlowcutConfig {
    fn default() -> FlowcutConfig {
        FlowcutConfig {
            flow_slots: FLOWLET_SLOTS,
            lost_after: Time::millis(5),
            drain_ratio: 4,
            drain_after: Bytes::kb(20),
        }
    }
}

impl FlowcutConfig {
    fn drain(&self) -> Option<Drain> {
        let after = u32::try_from(self.drain_after.0).unwrap_or(u32::MAX);
        (self.drain_ratio > 0).then(|| Drain { ratio: self.drain_ratio.into(), after })
    }
}

/// The condition of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drain {
    /// The flowcut's mean round-trip time is more than this many times the least of the flow.
    ratio: u32,
    /// The flowcut has sent this many bytes.
    after: u32,
}

/// A switch running Flowcut.
#[derive(Clone, Debug)]
pub struct Flowcut {
    salt: u32,
    lost_after: Nanos,
    drain: Option<Drain>,
    /// Flows of this ToR's hosts; at other switches without use.
    flows: Option<Sets<Flow>>,
    /// Flowcuts from elsewhere.
    transit: Sets<Transit>,
    counters: Counters,
}

/// The next hop with the shortest queue; among equal ones by chance.
fn least_loaded(rnd: u32, next_hops: &[Port], ports: &mut impl Ports) -> Port {
    let (mut best, mut shortest, mut equal) = (next_hops[0], u32::MAX, 0);
    for &hop in next_hops {
        let queue = ports.queue_bytes(hop);
        if queue < shortest {
            (best, shortest, equal) = (hop, queue, 1);
        } else if queue == shortest {
            equal += 1;
            if pick(mix(rnd, equal), equal as usize) == 0 {
                best = hop;
            }
        }
    }
    best
}

/// A packet of a host, as its sequence numbers describe it.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    seq: u32,
    bytes: u32,
    is_syn: bool,
}

impl Flowcut {
    /// The hop of a flow without an entry. Every packet with the same number takes the same.
    fn hashed(&self, packet: &Header, number: u16, next_hops: &[Port]) -> Port {
        pick_hop(mix(mix(packet.flow_hash, number.into()), self.salt), next_hops)
    }

    /// Forwards a packet of a host of this ToR.
    fn at_source(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        let hashed = self.hashed(packet, 0, next_hops);
        packet.tag = 0;
        let entry = self.flows.as_mut().and_then(|flows| flows.find(packet.flow_hash));
        let Some(flow) = entry else { return hashed };
        flow.has_choice = next_hops.len() > 1;
        let previous = flow.port();
        if let Some(port) = previous.filter(|port| !flow.begins && next_hops.contains(port)) {
            packet.tag = flow.number << 1;
            return port;
        }
        if !flow.begins {
            // Routing has withdrawn the port.
            flow.begin();
            self.counters.flowlets += 1;
        }
        let is_numbered = flow.number > 0;
        let port = if is_numbered { least_loaded(step.rnd, next_hops, ports) } else { hashed };
        flow.set_port(port);
        self.counters.moves += u64::from(previous.is_some_and(|previous| previous != port));
        packet.tag = flow.number << 1 | u16::from(is_numbered);
        port
    }

    /// Forwards a packet that another switch has forwarded.
    fn in_transit(
        &mut self,
        step: Step,
        packet: &Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        if let [only] = next_hops {
            return *only;
        }
        let (number, is_first) = (packet.tag >> 1, packet.tag & 1 == 1);
        let hashed = self.hashed(packet, number, next_hops);
        let lost_after = self.lost_after;
        if is_first {
            let gone = |entry: &Transit| entry.is_gone(step.now, lost_after);
            let Some(entry) = self.transit.place(packet.flow_hash, gone) else { return hashed };
            let port = least_loaded(step.rnd, next_hops, ports);
            *entry = Transit::new(packet.flow_hash, number, port, step.now);
            return port;
        }
        let entry = self.transit.find(packet.flow_hash);
        let Some(entry) = entry.filter(|entry| entry.number == number) else { return hashed };
        entry.last = step.now;
        if !next_hops.contains(&entry.port()) {
            entry.set_port(least_loaded(step.rnd, next_hops, ports));
        }
        entry.port()
    }

    /// Records a packet from a host, before it is forwarded.
    fn sent(&mut self, now: Nanos, hash: u32, packet: SentPacket) {
        let SentPacket { seq, bytes, is_syn } = packet;
        let Some(flows) = &mut self.flows else { return };
        let lost_after = self.lost_after;
        if flows.find(hash).is_none() {
            let Some(slot) = flows.room(hash, |flow| flow.is_over(now, lost_after)) else {
                self.counters.fallbacks += 1;
                return;
            };
            if is_syn {
                *slot = Flow::opened(hash, seq, now);
            } else {
                let known_from = now.saturating_add(lost_after);
                *slot = Flow::found_midway(hash, seq, bytes, now, known_from);
                self.counters.flowlets += 1;
            }
        }
        let Some(flow) = flows.find(hash) else { return };
        if flow.is_over(now, lost_after) {
            flow.begin();
            self.counters.flowlets += 1;
        }
        flow.sent(now, seq, bytes, is_syn);
    }
}

impl Scheme for Flowcut {
    type Config = FlowcutConfig;
    const NEEDS_RANDOM: bool = true;
    const READS_SEGMENTS: bool = true;

    fn new(config: &FlowcutConfig, info: &SwitchInfo) -> Flowcut {
        Flowcut {
            salt: info.salt,
            lost_after: config.lost_after.as_nanos(),
            drain: config.drain(),
            flows: info.tor.map(|_| Sets::new(config.flow_slots, info.salt)),
            transit: Sets::new(config.flow_slots, info.salt),
            counters: Counters::default(),
        }
    }

    #[inline]
    fn forward(
        &mut self,
        step: Step,
        packet: &mut Header,
        next_hops: &[Port],
        ports: &mut impl Ports,
    ) -> Port {
        match packet.ingress {
            Ingress::Host => self.at_source(step, packet, next_hops, ports),
            Ingress::Fabric => self.in_transit(step, packet, next_hops, ports),
        }
    }

    fn segment(&mut self, step: Step, segment: &Segment) -> ReceiveWindow {
        match segment.numbers {
            SequenceNumbers::Sent { seq, bytes, is_syn } => {
                self.sent(step.now, segment.out_hash, SentPacket { seq, bytes, is_syn });
                ReceiveWindow::Kept
            }
            SequenceNumbers::Acknowledged { ack } => {
                let drain = self.drain.as_ref();
                let flow = self.flows.as_mut().and_then(|flows| flows.find(segment.out_hash));
                match flow.is_some_and(|flow| flow.acknowledged(step.now, ack, drain)) {
                    true => ReceiveWindow::Closed,
                    false => ReceiveWindow::Kept,
                }
            }
        }
    }

    fn egress(&mut self, _step: Step, packet: &mut Header) {
        packet.tag = 0;
    }

    /// A ToR's table of its hosts' flows, or another switch's table of flowcuts. A ToR needs the
    /// second table, too, only where ToRs forward for others (BCube); it is not counted.
    fn state_bytes(&self) -> usize {
        let drain = self.drain.as_ref().map_or(0, |_| BYTES_PER_DRAIN);
        match &self.flows {
            Some(flows) => flows.slots() * (BYTES_PER_FLOW + drain),
            None => self.transit.slots() * BYTES_PER_TRANSIT,
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

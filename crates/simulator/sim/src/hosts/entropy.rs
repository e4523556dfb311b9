//! Entropy values that hosts choose: of data packets by a policy for each subflow, of
//! acknowledgements that of the packet that they answer.
//!
//! An acknowledgement goes with the value that it echoes (as with Linux's `flowlabel_reflect`), so
//! that both directions leave a path that has failed. A delayed one answers several packets: it
//! echoes the value of the last, and a mark if any of them was marked.

use heddle_policy::entropy::{Config, Feedback, Loss, Policy};
use heddle_policy::{Step, mix};
use heddle_transport::{Kind, Segment, SenderCounters};
use heddle_units::Time;

use crate::network::{EntropyField, PacketKind};
use crate::random::Random;

/// All hosts' entropy values.
pub(crate) struct EntropyValues {
    config: Config,
    /// True if each packet has a value of its own.
    pub(super) are_by_packet: bool,
    random: Random,
    /// Open subflows of each connection.
    connections: Vec<Vec<Subflow>>,
}

/// Both ends of a subflow.
struct Subflow {
    policy: Policy,
    /// End of the data sent so far.
    nxt: u64,
    /// The sender's counters at the last call that reported losses to the policy.
    counters: SenderCounters,
    /// The server's next echo.
    echo: EntropyField,
}

/// A subflow of a connection now.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) now: Time,
    pub(super) connection: u32,
    pub(super) path: usize,
}

/// A host's link, of those over which a connection spreads its packets. Each link has a policy of its own, and packets
/// name the link in their value, so that acknowledgements return by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) number: u32,
    pub(super) count: u32,
}

impl Link {
    /// The link and the policy's value that a packet's value names.
    pub(super) fn split(value: u32, count: u32) -> (Link, u32) {
        (Link { number: value % count, count }, value / count)
    }

    fn joined_to(self, value: u32) -> u32 {
        value * self.count + self.number
    }

    /// The place of its policy among those of its connection; a connection that keeps to one link
    /// has a policy for each subflow.
    pub(super) fn policy(self, path: usize) -> usize {
        if self.count > 1 { self.number as usize } else { path }
    }
}

impl EntropyValues {
    pub(crate) fn new(config: Config, are_by_packet: bool, random: Random) -> EntropyValues {
        EntropyValues { config, are_by_packet, random, connections: Vec::new() }
    }

    /// Value of a packet that is sent, of a data packet on a link of those over which its connection spreads its
    /// packets.
    pub(super) fn of_sent(
        &mut self,
        at: At,
        link: Link,
        kind: PacketKind,
        segment: &Segment,
    ) -> EntropyField {
        let step = self.step(at.now);
        if kind == PacketKind::Reverse {
            let echo = &mut self.subflow(at).echo;
            return EntropyField { value: echo.value, marked: std::mem::take(&mut echo.marked) };
        }
        let subflow = self.subflow(At { path: link.policy(at.path), ..at });
        subflow.nxt = subflow.nxt.max(segment.seq + u64::from(segment.len));
        EntropyField { value: link.joined_to(subflow.policy.next(step)), marked: false }
    }

    /// Records a packet that has arrived at the server.
    pub(super) fn on_arrival(&mut self, at: At, field: EntropyField, segment: &Segment) {
        let echo = &mut self.subflow(at).echo;
        *echo = EntropyField { value: field.value, marked: echo.marked || segment.ecn.is_marked() };
    }

    /// Tells the policy of an acknowledgement that has arrived at the client, of a connection that
    /// spreads its packets over so many links.
    pub(super) fn on_ack(&mut self, at: At, links: u32, echo: EntropyField, segment: &Segment) {
        let step = self.step(at.now);
        let (link, entropy) = Link::split(echo.value, links);
        let subflow = self.subflow(At { path: link.policy(at.path), ..at });
        let una = if matches!(segment.kind, Kind::Ack | Kind::Nack) { segment.seq } else { 0 };
        let feedback = Feedback { entropy, marked: echo.marked, una, nxt: subflow.nxt };
        match segment.kind {
            Kind::Nack => subflow.policy.on_trim(step, &feedback),
            _ => subflow.policy.on_ack(step, &feedback),
        }
    }

    /// Tells the policy of losses that the sender has found since it was last told.
    pub(super) fn on_losses(&mut self, at: At, counters: SenderCounters) {
        let step = self.step(at.now);
        let subflow = self.subflow(at);
        if counters.timeouts > subflow.counters.timeouts {
            subflow.policy.on_loss(step, Loss::Timeout);
        } else if counters.fast_recoveries > subflow.counters.fast_recoveries {
            subflow.policy.on_loss(step, Loss::FastRecovery);
        }
        subflow.counters = counters;
    }

    /// Forgets a connection that has closed.
    pub(super) fn release(&mut self, connection: u32) {
        if let Some(subflows) = self.connections.get_mut(connection as usize) {
            subflows.clear();
        }
    }

    fn step(&mut self, now: Time) -> Step {
        Step { now: now.as_nanos(), rnd: self.random.bits() }
    }

    fn subflow(&mut self, at: At) -> &mut Subflow {
        let connection = at.connection as usize;
        if connection >= self.connections.len() {
            self.connections.resize_with(connection + 1, Vec::new);
        }
        let (subflows, config) = (&mut self.connections[connection], &self.config);
        if at.path >= subflows.len() {
            subflows.resize_with(at.path + 1, || Subflow {
                policy: Policy::new(config),
                nxt: 0,
                counters: SenderCounters::default(),
                echo: EntropyField::default(),
            });
        }
        &mut subflows[at.path]
    }
}

/// Hash of a packet's 5-tuple and entropy value.
#[inline]
pub(super) fn hash_with(flow_hash: u32, field: EntropyField) -> u32 {
    mix(flow_hash, field.value)
}

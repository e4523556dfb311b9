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

impl EntropyValues {
    pub(crate) fn new(config: Config, random: Random) -> EntropyValues {
        EntropyValues { config, random, connections: Vec::new() }
    }

    /// Value of a packet that is sent.
    pub(super) fn of_sent(&mut self, at: At, kind: PacketKind, segment: &Segment) -> EntropyField {
        let step = self.step(at.now);
        let subflow = self.subflow(at);
        if kind == PacketKind::Reverse {
            let echo = subflow.echo;
            subflow.echo.marked = false;
            return echo;
        }
        subflow.nxt = subflow.nxt.max(segment.seq + u64::from(segment.len));
        EntropyField { value: subflow.policy.next(step), marked: false }
    }

    /// Records a packet that has arrived at the server.
    pub(super) fn on_arrival(&mut self, at: At, field: EntropyField, segment: &Segment) {
        let echo = &mut self.subflow(at).echo;
        *echo = EntropyField { value: field.value, marked: echo.marked || segment.ecn.is_marked() };
    }

    /// Tells the policy of an acknowledgement that has arrived at the client.
    pub(super) fn on_ack(&mut self, at: At, echo: EntropyField, segment: &Segment) {
        let step = self.step(at.now);
        let subflow = self.subflow(at);
        let una = if matches!(segment.kind, Kind::Ack | Kind::Nack) { segment.seq } else { 0 };
        let EntropyField { value: entropy, marked } = echo;
        let feedback = Feedback { entropy, marked, una, nxt: subflow.nxt };
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

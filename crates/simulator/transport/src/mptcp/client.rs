//! The client of a connection: sends a stream over subflows.

mod full_window;
mod handshake;
mod reinjection;
mod sending;

use heddle_units::Time;
use heddle_wire::Key;

use super::Context;
use super::path_states::PathStates;
use super::reinject_queue::ReinjectQueue;
use super::subflow::{Subflow, SubflowState};
use super::subflows::Subflows;
use crate::{Kind, Segment, TcpConfig};

/// The client. Data is assigned to a subflow only when that subflow can send it, so that a slow
/// subflow delays none.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Bytes written to the stream.
    written: u64,
    /// SND.NXT of the stream: the first byte not assigned to a subflow.
    nxt: u64,
    /// SND.UNA of the stream: the first byte without a data ACK.
    una: u64,
    /// End of the connection's receive window.
    window_end: u64,
    /// The server's key, from its SYN/ACK.
    server_key: Option<Key>,
    subflows: Subflows,
    path_states: PathStates,
    /// True if the third packet of the first subflow's handshake is to be sent.
    handshake_ack_due: bool,
    /// Round robin: the subflow to try first.
    round_robin: usize,
    reinject_queue: ReinjectQueue,
    /// Rest of a retransmitted segment that spans several data sequence mappings.
    remainder: Option<(usize, Segment)>,
    reinjected: u64,
    penalties: u64,
}

impl Client {
    pub(super) fn new() -> Client {
        Client {
            written: 0,
            nxt: 0,
            una: 0,
            window_end: 0,
            server_key: None,
            subflows: Subflows::default(),
            path_states: PathStates::default(),
            handshake_ack_due: false,
            round_robin: 0,
            reinject_queue: ReinjectQueue::default(),
            remainder: None,
            reinjected: 0,
            penalties: 0,
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn acked(&self) -> u64 {
        self.una
    }

    /// True if the whole stream has a data ACK and every subflow is idle.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.una == self.written && self.subflows.iter().all(|subflow| subflow.sender.is_idle())
    }

    pub(super) fn subflows(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows.iter()
    }

    pub(super) fn reinjected(&self) -> u64 {
        self.reinjected
    }

    pub(super) fn penalties(&self) -> u64 {
        self.penalties
    }

    /// Next segment to send now, with its subflow.
    pub(super) fn next_segment(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        // Retransmissions precede joins: the lost segment may carry the key that the server needs
        // to accept a join.
        self.next_remainder()
            .or_else(|| self.next_handshake_ack(cx))
            .or_else(|| self.next_lost(cx))
            .or_else(|| self.next_handshake_segment(cx))
            .or_else(|| self.next_data(cx))
            .or_else(|| self.next_past_full_window(cx))
            .or_else(|| self.next_rescue(cx))
    }

    /// Handles a segment of the server that arrived on `path`.
    #[inline]
    pub(super) fn on_ack(&mut self, cx: &Context, path: usize, ack: &Segment) {
        if path >= self.subflows.len() {
            return;
        }
        match ack.kind {
            Kind::Ack => self.on_ack_segment(cx, path, ack),
            Kind::SynAck => self.on_syn_ack(cx, path, ack),
            Kind::Syn
            | Kind::Data
            | Kind::HandshakeAck
            | Kind::Trimmed
            | Kind::Nack
            | Kind::Request
            | Kind::Credit => {}
        }
    }

    #[inline]
    fn on_ack_segment(&mut self, cx: &Context, path: usize, ack: &Segment) {
        if self.subflows.get(path).state != SubflowState::Established {
            return self.on_join_confirmed(cx, path, ack);
        }
        self.update_data_ack(ack);
        let (path_states, coupling) = (&mut self.path_states, cx.config.coupling);
        self.subflows.update(cx.subflow, path, |subflow| {
            path_states.set_gain(coupling, path, &mut subflow.sender);
            subflow.on_ack(cx.subflow, cx.now, ack);
            path_states.update(coupling, path, &subflow.sender);
        });
        if self.una > 0 && self.subflows.len() == 1 {
            self.join(cx);
        }
    }

    /// Updates SND.UNA and the receive window from a data ACK.
    #[inline]
    fn update_data_ack(&mut self, ack: &Segment) {
        if ack.data_seq <= self.nxt {
            self.una = self.una.max(ack.data_seq);
            let end = ack.data_seq.saturating_add(u64::from(ack.window));
            self.window_end = self.window_end.max(end);
        }
    }

    /// Tells a subflow whether its host's own queue holds as much of it as it may.
    pub(super) fn set_queue_full(&mut self, config: &TcpConfig, path: usize, is_full: bool) {
        if path < self.subflows.len() {
            self.subflows.update(config, path, |subflow| subflow.sender.set_queue_full(is_full));
        }
    }

    /// Time at which [`Client::on_timer`] is due; [`Time::NEVER`] if no timer runs.
    pub(super) fn deadline(&self) -> Time {
        self.subflows.deadline()
    }

    /// Runs the timers that are due. The data in flight on a subflow that times out is reinjected.
    pub(super) fn on_timer(&mut self, cx: &Context) {
        for path in 0..self.subflows.len() {
            if self.subflows.get(path).sender.deadline() > cx.now {
                continue;
            }
            let (path_states, coupling) = (&mut self.path_states, cx.config.coupling);
            let timed_out = self.subflows.update(cx.subflow, path, |subflow| {
                let before = subflow.sender.counters().timeouts;
                subflow.sender.on_timer(cx.subflow, cx.now);
                path_states.update(coupling, path, &subflow.sender);
                subflow.sender.counters().timeouts > before
            });
            if timed_out {
                self.reinject(cx, path);
            }
        }
    }
}

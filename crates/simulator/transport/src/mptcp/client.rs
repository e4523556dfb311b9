//! The client's end of a connection: writes a stream onto subflows.

mod late;
mod opening;
mod sending;

use alloc::collections::VecDeque;

use heddle_units::Time;
use heddle_wire::Key;

use super::coupled::Coupled;
use super::subflow::{Opening, Subflow};
use super::subflows::Subflows;
use super::{Context, JoinTime};
use crate::{Kind, Segment};
use late::Late;

/// The client's end. Data is given to a subflow when it can send it, never before, so that a slow subflow holds none back.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Bytes in the stream so far.
    written: u64,
    /// The next byte that no subflow has been given.
    nxt: u64,
    /// The first byte not acknowledged by the connection's own acknowledgements.
    una: u64,
    /// End of the receive window.
    window_end: u64,
    /// The server's key, once its SYN/ACK has told it.
    server_key: Option<Key>,
    subflows: Subflows,
    coupled: Coupled,
    /// The third packet of the first subflow's handshake has to go.
    keys_due: bool,
    /// The subflow that the next turn begins with.
    turn: usize,
    late: VecDeque<Late>,
    /// The rest of a segment sent again whose bytes belong to several places of the stream.
    rest: Option<(usize, Segment)>,
    reinjected: u64,
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
            coupled: Coupled::default(),
            keys_due: false,
            turn: 0,
            late: VecDeque::new(),
            rest: None,
            reinjected: 0,
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

    /// Whether all of the stream has arrived, and no subflow still repeats a part of it that came another way.
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

    /// The next segment to send now and its subflow.
    pub(super) fn next_segment(&mut self, with: &Context) -> Option<(usize, Segment)> {
        // What is lost goes before joins: it may be the segment that tells the server the key, without which it answers no join.
        self.next_rest()
            .or_else(|| self.next_keys(with))
            .or_else(|| self.next_hole(with))
            .or_else(|| self.next_opening(with))
            .or_else(|| self.next_data(with))
            .or_else(|| self.next_rescue(with))
    }

    /// Takes in an answer that came over `path`.
    #[inline]
    pub(super) fn on_answer(&mut self, with: &Context, path: usize, answer: &Segment) {
        if path >= self.subflows.len() {
            return;
        }
        match answer.kind {
            Kind::Ack => self.on_ack(with, path, answer),
            Kind::SynAck => self.on_syn_ack(with, path, answer),
            Kind::Syn | Kind::Data | Kind::Confirm => {}
        }
    }

    #[inline]
    fn on_ack(&mut self, with: &Context, path: usize, answer: &Segment) {
        if self.subflows.get(path).opening != Opening::Open {
            return self.on_proof_taken(with, path, answer);
        }
        self.note_data_ack(answer);
        let (coupled, coupling) = (&mut self.coupled, with.config.coupling);
        self.subflows.change(with.subflow, path, |subflow| {
            coupled.before_ack(coupling, path, &mut subflow.sender);
            subflow.on_ack(with.subflow, with.now, answer);
            coupled.note(coupling, path, &subflow.sender);
        });
        if self.una > 0 && self.subflows.len() == 1 {
            self.join(with, JoinTime::AfterData);
        }
    }

    /// The connection's own acknowledgement and window.
    #[inline]
    fn note_data_ack(&mut self, answer: &Segment) {
        if answer.data_seq <= self.nxt {
            self.una = self.una.max(answer.data_seq);
            let end = answer.data_seq.saturating_add(u64::from(answer.window));
            self.window_end = self.window_end.max(end);
        }
    }

    /// When [`Client::on_timer`] is next needed.
    pub(super) fn deadline(&self) -> Time {
        self.subflows.deadline()
    }

    /// Looks at the clock. What a subflow has timed out with is given to the others as well.
    pub(super) fn on_timer(&mut self, with: &Context) {
        for path in 0..self.subflows.len() {
            if self.subflows.get(path).sender.deadline() > with.now {
                continue;
            }
            let (coupled, coupling) = (&mut self.coupled, with.config.coupling);
            self.subflows.change(with.subflow, path, |subflow| {
                subflow.sender.on_timer(with.subflow, with.now);
                coupled.note(coupling, path, &subflow.sender);
            });
            self.reinject(with, path);
        }
    }
}

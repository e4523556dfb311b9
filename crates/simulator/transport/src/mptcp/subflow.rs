//! A subflow at the client: a TCP sender, its data sequence mappings and the state of its
//! handshake.

use core::ops::Range;

use heddle_units::Time;

use super::Handshake;
use super::mapping::Mappings;
use super::status::{SubflowPhase, SubflowStatus};
use crate::{Kind, Options, Segment, Sender, TcpConfig, Timestamp};

/// Handshake state of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubflowState {
    /// The SYN is to be sent, or waits for its SYN/ACK.
    SynSent,
    /// The join's HMAC is sent at `at` and again after `wait`, until the server acknowledges it
    /// (RFC 8684 section 3.2).
    Authenticating { hmac: Handshake, at: Time, wait: Time },
    /// Data may be sent.
    Established,
}

/// A subflow at the client.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    pub(super) sender: Sender,
    pub(super) mappings: Mappings,
    pub(super) state: SubflowState,
    /// Nonce of the join.
    pub(super) nonce: u32,
    /// Redundant scheduler: the stream's next byte to send on this subflow.
    pub(super) cursor: u64,
    /// End of the subflow's bytes that were queued for reinjection.
    pub(super) reinjected_to: u64,
    /// Time at which this subflow last had others penalised ([`super::FullWindow::Penalise`]).
    pub(super) penalised_at: Time,
}

impl Subflow {
    pub(super) fn new(config: &TcpConfig, nonce: u32) -> Subflow {
        let mut sender = Sender::new(config);
        sender.open();
        Subflow {
            sender,
            mappings: Mappings::default(),
            state: SubflowState::SynSent,
            nonce,
            cursor: 0,
            reinjected_to: 0,
            penalised_at: Time::ZERO,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.state == SubflowState::Established
    }

    /// Status for [`super::subflows::Subflows`].
    #[inline]
    pub(super) fn status(&self, config: &TcpConfig) -> SubflowStatus {
        let (phase, deadline) = match self.state {
            SubflowState::Established if self.sender.is_recovering() => {
                (SubflowPhase::Recovering, self.sender.deadline())
            }
            SubflowState::Established => (SubflowPhase::Open, self.sender.deadline()),
            SubflowState::SynSent => (SubflowPhase::Handshake, self.sender.deadline()),
            SubflowState::Authenticating { at, .. } => {
                (SubflowPhase::Handshake, at.min(self.sender.deadline()))
            }
        };
        let can_send = self.is_open() && self.has_room(config) && self.sender.can_send(config);
        SubflowStatus { deadline, srtt: self.sender.srtt().unwrap_or(Time::ZERO), phase, can_send }
    }

    /// True if the subflow's own window has room for a segment.
    #[inline]
    fn has_room(&self, config: &TcpConfig) -> bool {
        self.sender.flight() + u64::from(config.mss) <= config.receive_window.0
    }

    /// The SYN, or the third packet of a join, if it is due.
    pub(super) fn next_handshake_segment(
        &mut self,
        config: &TcpConfig,
        now: Time,
    ) -> Option<Segment> {
        match &mut self.state {
            SubflowState::Established => None,
            SubflowState::SynSent => self.sender.next_segment(config, now),
            SubflowState::Authenticating { hmac, at, wait } if *at <= now => {
                *at = now.saturating_add(*wait);
                *wait = wait.saturating_add(*wait).min(config.max_rto);
                Some(handshake_ack(*hmac, now))
            }
            SubflowState::Authenticating { .. } => None,
        }
    }

    /// Maps `data` of the connection's stream to the subflow's next bytes and sends them. The
    /// windows must have room for them.
    #[inline]
    pub(super) fn send(
        &mut self,
        config: &TcpConfig,
        now: Time,
        data: Range<u64>,
    ) -> Option<Segment> {
        let seq = self.sender.written();
        self.sender.write(now, data.end - data.start);
        self.mappings.push(data.clone());
        let segment = self.sender.next_segment(config, now)?;
        debug_assert_eq!(segment.seq, seq, "there was no room");
        Some(Segment { data_seq: data.start, ..segment })
    }

    /// Handles an acknowledgement. Its window is the connection's receive window and does not limit
    /// the subflow.
    #[inline]
    pub(super) fn on_ack(&mut self, config: &TcpConfig, now: Time, ack: &Segment) {
        self.sender.on_segment(config, now, ack);
        self.sender.ignore_peer_window();
        self.mappings.drop_below(self.sender.acked());
    }
}

/// The third packet of a handshake.
pub(super) fn handshake_ack(handshake: Handshake, now: Time) -> Segment {
    let options = Options::Mptcp(handshake);
    Segment {
        kind: Kind::HandshakeAck,
        timestamp: Timestamp::at(now),
        options,
        ..Segment::default()
    }
}

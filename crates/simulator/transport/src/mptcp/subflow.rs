//! A subflow at the client: a TCP sender, where its bytes belong, and how far its handshake has come.

use core::ops::Range;

use heddle_units::Time;

use super::handshake::Handshake;
use super::mapping::Mappings;
use super::subflows::{Gauge, Standing};
use crate::{Kind, Options, Segment, Sender, Stamp, TcpConfig};

/// How far the handshake of a subflow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The SYN has to be sent or answered.
    Asking,
    /// The join's proof goes out at `at`, and again `wait` later, until the server acknowledges it (RFC 8684 section 3.2).
    Proving { proof: Handshake, at: Time, wait: Time },
    /// Data may be sent.
    Open,
}

#[derive(Clone, Debug)]
pub(super) struct Subflow {
    pub(super) sender: Sender,
    pub(super) mappings: Mappings,
    pub(super) opening: Opening,
    /// The nonce of its join.
    pub(super) nonce: u32,
    /// The connection's next byte to send here, where every subflow carries everything.
    pub(super) cursor: u64,
    /// Bytes of this subflow below this number have been given to others, too.
    pub(super) reinjected_to: u64,
}

impl Subflow {
    pub(super) fn new(config: &TcpConfig, nonce: u32) -> Subflow {
        let mut sender = Sender::new(config);
        sender.open();
        Subflow {
            sender,
            mappings: Mappings::default(),
            opening: Opening::Asking,
            nonce,
            cursor: 0,
            reinjected_to: 0,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.opening == Opening::Open
    }

    /// What a choice among subflows reads of this one.
    #[inline]
    pub(super) fn gauge(&self, config: &TcpConfig) -> Gauge {
        let (standing, deadline) = match self.opening {
            Opening::Open if self.sender.is_repairing() => {
                (Standing::Repairing, self.sender.deadline())
            }
            Opening::Open => (Standing::Orderly, self.sender.deadline()),
            Opening::Asking => (Standing::Opening, self.sender.deadline()),
            Opening::Proving { at, .. } => (Standing::Opening, at.min(self.sender.deadline())),
        };
        let has_room = self.is_open() && self.sender.has_room(config);
        Gauge { deadline, srtt: self.sender.srtt().unwrap_or(Time::ZERO), standing, has_room }
    }

    /// The SYN, or the third packet of a join, if it has to go now.
    pub(super) fn next_opening(&mut self, config: &TcpConfig, now: Time) -> Option<Segment> {
        match &mut self.opening {
            Opening::Open => None,
            Opening::Asking => self.sender.next_segment(config, now),
            Opening::Proving { proof, at, wait } if *at <= now => {
                *at = now.saturating_add(*wait);
                *wait = wait.saturating_add(*wait).min(config.max_rto);
                Some(confirm(*proof, now))
            }
            Opening::Proving { .. } => None,
        }
    }

    /// Gives the subflow `data` of the connection's stream, which its window has room for, and sends them.
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

    /// Takes in an acknowledgement. The window that it tells is the connection's: it does not bind the subflow.
    #[inline]
    pub(super) fn on_ack(&mut self, config: &TcpConfig, now: Time, answer: &Segment) {
        self.sender.on_segment(config, now, answer);
        self.sender.lift_window();
        self.mappings.forget_below(self.sender.acked());
    }
}

/// The third packet of a handshake.
pub(super) fn confirm(handshake: Handshake, now: Time) -> Segment {
    let options = Options::Mptcp(handshake);
    Segment { kind: Kind::Confirm, stamp: Stamp::at(now), options, ..Segment::default() }
}

//! A subflow at the client: a TCP sender, where its bytes belong, and how far its handshake has come.

use core::ops::Range;

use heddle_units::Time;

use super::handshake::Handshake;
use super::mapping::Mappings;
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

    /// When the subflow's clock matters next.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        match self.opening {
            Opening::Proving { at, .. } => at.min(self.sender.deadline()),
            _ => self.sender.deadline(),
        }
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

    /// Gives the subflow `data` of the connection's stream, which its window has room for, and sends it.
    #[inline]
    pub(super) fn send(
        &mut self,
        config: &TcpConfig,
        now: Time,
        data: Range<u64>,
    ) -> Option<Segment> {
        let seq = self.sender.written();
        self.sender.write(now, data.end - data.start);
        self.mappings.push(seq, data);
        self.sender.next_segment(config, now)
    }

    /// Takes in an acknowledgement. The window that it tells is the connection's: it does not bind the subflow.
    #[inline]
    pub(super) fn on_ack(&mut self, config: &TcpConfig, now: Time, answer: &Segment) {
        self.sender.on_segment(config, now, &Segment { window: u32::MAX, ..*answer });
        self.mappings.forget_below(self.sender.acked());
    }
}

/// The third packet of a handshake.
pub(super) fn confirm(handshake: Handshake, now: Time) -> Segment {
    let options = Options::Mptcp(handshake);
    Segment { kind: Kind::Confirm, stamp: Stamp::at(now), options, ..Segment::default() }
}

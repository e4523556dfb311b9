//! TCP segments of the simulation.

use core::ops::Range;

use heddle_units::{Bytes, Time};

use crate::handshake::Handshake;

/// Header bytes of a frame: Ethernet 14 + FCS 4, IPv4 20, TCP 20 (options are not counted, as in
/// ns-2).
pub const HEADER_BYTES: u32 = 58;

/// Bytes of the smallest frame.
pub const MIN_FRAME_BYTES: u32 = 64;

/// Preamble, start of frame (8) and the gap behind a frame (12), which Ethernet has on links
/// ([`crate::TcpConfig::preamble_and_gap`]).
pub const PREAMBLE_AND_GAP_BYTES: u32 = 20;

/// Kind of a segment. Data flows one way on a connection: from the client that opened it to the
/// server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Opens a connection.
    Syn,
    /// Answers a [`Kind::Syn`].
    SynAck,
    /// Carries payload; without, it is a probe of UET.
    #[default]
    Data,
    /// Acknowledges.
    Ack,
    /// MPTCP: the client's answer to a [`Kind::SynAck`], without data.
    HandshakeAck,
    /// UET: the header of a data packet whose payload a switch has cut off.
    Trimmed,
    /// UET: answers a [`Kind::Trimmed`].
    Nack,
    /// UET: asks for credit.
    Request,
    /// UET: grants credit.
    Credit,
}

/// A 32-bit clock for RTT samples (RFC 7323): ticks of 2^14 ps (16.4 ns), wraps after 70 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamp(pub u32);

impl Timestamp {
    /// Timestamp of `now`.
    #[inline]
    pub const fn at(now: Time) -> Timestamp {
        Timestamp((now.0 >> 14) as u32)
    }

    /// Time from this timestamp to `now`, to one tick.
    #[inline]
    pub const fn elapsed(self, now: Time) -> Time {
        Time((Timestamp::at(now).0.wrapping_sub(self.0) as u64) << 14)
    }

    /// True if this timestamp is later than `other`, if they are less than 35 s apart.
    #[inline]
    pub const fn is_after(self, other: Timestamp) -> bool {
        0 < self.0.wrapping_sub(other.0).cast_signed()
    }
}

/// A range of bytes received out of order (RFC 2018), relative to the acknowledgement number that
/// it comes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte, counted from the acknowledgement number.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
}

/// Options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Options {
    /// No option.
    #[default]
    None,
    /// Ack: out-of-order ranges, the most recently changed first. An empty block is unused.
    Sack([SackBlock; 3]),
    /// Ack: as [`Options::Sack`], after a first block that reports a duplicate (DSACK, RFC 2883).
    /// Its offset is modulo 2^32, since it may lie below the acknowledgement number.
    DuplicateSack([SackBlock; 3]),
    /// MPTCP option of a handshake.
    Mptcp(Handshake),
    /// UET: of the 64 packets that end with the one that is acknowledged, those received. That one
    /// is the lowest bit of the first word, the one before it the next bit.
    Received([u32; 2]),
    /// UET's Data, Trimmed, Request: bytes on the wire that the client would like to be granted in
    /// all, the low word first.
    Demand([u32; 2]),
}

impl Options {
    /// A demand of so many bytes.
    pub(crate) fn of_demand(bytes: u64) -> Options {
        Options::Demand([bytes as u32, (bytes >> 32) as u32])
    }

    /// The demand, if it is one.
    pub(crate) fn demand(&self) -> Option<u64> {
        let Options::Demand([low, high]) = *self else { return None };
        Some(u64::from(low) | u64::from(high) << 32)
    }
}

/// Explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecn(u8);

impl Ecn {
    /// No ECN bit.
    pub const NONE: Ecn = Ecn(0);
    /// Data: Congestion Experienced (CE). Ack: ECN-Echo (ECE).
    pub const MARK: Ecn = Ecn(1);
    /// Data: Congestion Window Reduced (CWR).
    pub const CWR: Ecn = Ecn(2);

    /// True if CE (data) or ECE (acknowledgement) is set.
    #[inline]
    pub const fn is_marked(self) -> bool {
        self.0 & Ecn::MARK.0 != 0
    }

    /// True if CWR is set.
    #[inline]
    pub const fn is_cwr(self) -> bool {
        self.0 & Ecn::CWR.0 != 0
    }

    /// Sets CE.
    #[inline]
    pub const fn mark(&mut self) {
        self.0 |= Ecn::MARK.0;
    }
}

/// One segment. Every field is meaningful only for the kinds that its comment names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Data: number of its first byte. Ack: the cumulative acknowledgement. The first byte of a
    /// connection is 0. Credit: bytes on the wire granted in all.
    pub seq: u64,
    /// MPTCP's data sequence signal (RFC 8684 section 3.3). Data: number of its first byte in the
    /// connection's stream. Ack: the cumulative acknowledgement of that stream. The first byte of a
    /// stream is 0; TCP leaves it so. UET: the packet's number, from 0; Ack, Nack: that of the
    /// packet that is answered.
    pub data_seq: u64,
    /// Data, Syn: time of sending. Ack, SynAck: the echoed timestamp.
    pub timestamp: Timestamp,
    /// Ack, SynAck: receive window beyond `seq`; with MPTCP, beyond `data_seq`. Data of UET: not 0
    /// if an acknowledgement is requested. Trimmed, Nack: not 0 if trimmed at the last hop;
    /// Ack: if it answers a probe.
    pub window: u32,
    /// SACK blocks, or the MPTCP option of a handshake.
    pub options: Options,
    /// Data: payload bytes.
    pub len: u16,
    /// Kind of the segment.
    pub kind: Kind,
    /// ECN bits.
    pub ecn: Ecn,
}

impl Segment {
    /// SACK blocks, without that of a duplicate.
    #[inline]
    pub fn sacks(&self) -> impl Iterator<Item = SackBlock> + '_ {
        let blocks: &[SackBlock] = match &self.options {
            Options::Sack(blocks) => blocks,
            Options::DuplicateSack([_, blocks @ ..]) => blocks,
            _ => &[],
        };
        blocks.iter().copied().filter(|block| block.len > 0)
    }

    /// The bytes that arrived a second time, as a DSACK reports them.
    pub fn duplicate(&self) -> Option<Range<u64>> {
        let Options::DuplicateSack([block, ..]) = self.options else { return None };
        let start = self.seq.wrapping_add_signed(block.offset.cast_signed().into());
        Some(start..start.wrapping_add(block.len.into()))
    }

    /// Adds a DSACK of `bytes`, which displaces the last SACK block.
    pub(crate) fn with_duplicate(self, bytes: &Range<u64>) -> Segment {
        let block = SackBlock {
            offset: bytes.start.wrapping_sub(self.seq) as u32,
            len: (bytes.end - bytes.start) as u32,
        };
        let [first, second, _] = match self.options {
            Options::Sack(blocks) => blocks,
            _ => [SackBlock::default(); 3],
        };
        Segment { options: Options::DuplicateSack([block, first, second]), ..self }
    }

    /// Bytes on the wire, for links and queues.
    #[inline]
    pub fn wire_bytes(&self) -> u32 {
        (u32::from(self.len) + HEADER_BYTES).max(MIN_FRAME_BYTES)
    }

    /// [`Segment::wire_bytes`] as a quantity.
    pub fn wire_size(&self) -> Bytes {
        Bytes(u64::from(self.wire_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_stamp_counts_ticks_and_wraps() {
        let sent = Time::secs(70);
        let timestamp = Timestamp::at(sent);
        for span in [Time::ZERO, Time::micros(10), Time::secs(1), Time::secs(69)] {
            let seen = timestamp.elapsed(sent + span);
            assert!(seen.0.abs_diff(span.0) < 1 << 14, "{span} reads {seen}");
        }
        assert!(
            Timestamp::at(Time::secs(71)).is_after(timestamp),
            "though the clock wrapped between them"
        );
        assert!(!timestamp.is_after(Timestamp::at(Time::secs(71))));
        assert!(!timestamp.is_after(timestamp));
    }

    #[test]
    fn a_frame_is_never_shorter_than_ethernet_allows() {
        assert_eq!(Segment { kind: Kind::Ack, ..Segment::default() }.wire_bytes(), MIN_FRAME_BYTES);
        assert_eq!(Segment { len: 1460, ..Segment::default() }.wire_size(), Bytes(1518));
    }

    #[test]
    fn a_duplicate_is_reported_before_the_other_blocks_and_may_lie_below_the_acknowledgement() {
        let block = |offset, len| SackBlock { offset, len };
        let ack = Segment {
            seq: 5000,
            options: Options::Sack([block(1000, 500), block(2000, 100), block(3000, 100)]),
            ..Segment::default()
        };
        assert_eq!(ack.duplicate(), None);
        for bytes in [3000..4000, 0..1, 6000..6100] {
            let told = ack.with_duplicate(&bytes);
            assert_eq!(told.duplicate(), Some(bytes));
            let kept: Vec<_> = told.sacks().collect();
            assert_eq!(kept, [block(1000, 500), block(2000, 100)], "the first two");
        }
        assert_eq!(Segment::default().with_duplicate(&(0..0)).sacks().count(), 0);
    }

    #[test]
    fn a_segment_fits_a_cache_line() {
        assert!(size_of::<Segment>() <= 56);
        assert_eq!(size_of::<Option<Segment>>(), size_of::<Segment>());
    }
}

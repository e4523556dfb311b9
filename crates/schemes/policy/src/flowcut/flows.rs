//! Flows of a ToR's hosts: the bytes that each has in flight, and the round-trip times of its
//! flowcut.

use bytemuck::Zeroable;

use crate::{Nanos, Port};

use super::sets::Entry;
use super::{Drain, LAST_NUMBER};

/// Switch bytes per flow: a 5-tuple (13), the port and the flowcut's number (4), two sequence
/// numbers (8), the times of its last packet and of its creation (12), 3 flags (1).
pub(super) const BYTES_PER_FLOW: usize = 38;

/// Switch bytes more for drains: the timed byte and its time (10), two round-trip times (8), the
/// flowcut's bytes (4).
pub(super) const BYTES_PER_DRAIN: usize = 22;

/// Shift by which a round-trip time enters the mean: an eighth, as in RFC 6298.
const MEAN_SHIFT: u32 = 3;

/// A flow and its flowcut. All zero while unused.
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Flow {
    hash: u32,
    is_used: bool,
    /// True until the first packet of the flowcut has taken a port.
    pub begins: bool,
    /// True if its last packet had several next hops.
    pub has_choice: bool,
    is_draining: bool,
    is_timing: bool,
    /// The flowcut's number. 0: packets take the port of the flow's hash, as they do without an
    /// entry.
    pub number: u16,
    /// The port's bits inverted, so that zero is none.
    inverted_port: u16,
    /// One more than the highest byte sent.
    end: u32,
    /// The cumulative acknowledgement.
    acked: u32,
    last_sent: Nanos,
    /// Time from which on no packet is in the network that was sent before the entry was made.
    known_from: Nanos,
    /// Bytes sent in the flowcut.
    bytes: u32,
    /// The acknowledgement that gives a round-trip time, of a packet sent at `timed_at`.
    timed_end: u32,
    timed_at: Nanos,
    /// The flow's least round-trip time, in ns; 0 before the first.
    least_rtt: u32,
    /// The flowcut's mean round-trip time, in ns; 0 before the first.
    mean_rtt: u32,
}

impl Entry for Flow {
    fn flow(&self) -> Option<u32> {
        self.is_used.then_some(self.hash)
    }

    fn last(&self) -> Nanos {
        self.last_sent
    }
}

/// True if sequence number `a` is `b` or follows it.
fn reaches(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() >= 0
}

impl Flow {
    /// A flow that begins with byte `seq`.
    pub fn opened(hash: u32, seq: u32, now: Nanos) -> Flow {
        Flow { hash, is_used: true, end: seq, acked: seq, last_sent: now, ..Flow::zeroed() }
    }

    /// A flow of which `seq` is not the first byte. Packets before may be in flight on the port of
    /// its hash, so its first flowcut stays there, at least until `known_from`.
    pub fn found_midway(hash: u32, seq: u32, bytes: u32, now: Nanos, known_from: Nanos) -> Flow {
        let end = seq.wrapping_add(bytes.max(1));
        Flow { begins: true, known_from, end, ..Flow::opened(hash, seq, now) }
    }

    /// True if every byte sent is acknowledged.
    pub fn is_idle(&self) -> bool {
        reaches(self.acked, self.end)
    }

    /// True if none of its packets is in the network: all are acknowledged, or the last was sent
    /// longer than `lost_after` ago.
    pub fn is_over(&self, now: Nanos, lost_after: Nanos) -> bool {
        let is_silent = now.saturating_sub(self.last_sent) > lost_after;
        is_silent || (self.is_idle() && now >= self.known_from)
    }

    /// Begins a flowcut.
    pub fn begin(&mut self) {
        self.number = if self.number >= LAST_NUMBER { 1 } else { self.number + 1 };
        self.begins = true;
        (self.bytes, self.mean_rtt) = (0, 0);
        (self.is_draining, self.is_timing) = (false, false);
    }

    /// The flow's port, if it has had one.
    pub fn port(&self) -> Option<Port> {
        (self.inverted_port != 0).then_some(Port(!self.inverted_port))
    }

    /// Sets the flowcut's port.
    pub fn set_port(&mut self, port: Port) {
        self.begins = false;
        self.inverted_port = !port.0;
    }

    /// Records a packet from the host.
    pub fn sent(&mut self, now: Nanos, seq: u32, bytes: u32, is_syn: bool) {
        let end = seq.wrapping_add(bytes);
        self.last_sent = now;
        self.bytes = self.bytes.saturating_add(bytes);
        // An acknowledgement of bytes sent twice is no measurement (Karn's rule), and a SYN is
        // shorter than other packets.
        if !reaches(seq, self.end) {
            self.is_timing = false;
        } else if !self.is_timing && !is_syn {
            (self.is_timing, self.timed_end, self.timed_at) = (true, end, now);
        }
        if reaches(end, self.end) {
            self.end = end;
        }
    }

    /// Records an acknowledgement. Returns true if the host is to pause until what is in flight is
    /// acknowledged.
    pub fn acknowledged(&mut self, now: Nanos, ack: u32, drain: Option<&Drain>) -> bool {
        if reaches(ack, self.acked) {
            self.acked = ack;
        }
        if reaches(ack, self.end) {
            self.end = ack;
        }
        if self.is_timing && reaches(ack, self.timed_end) {
            self.is_timing = false;
            self.measure(now.saturating_sub(self.timed_at));
        }
        self.is_draining |= drain.is_some_and(|drain| self.is_slow(drain));
        self.is_draining &= !self.is_idle();
        self.is_draining
    }

    fn measure(&mut self, rtt: Nanos) {
        let rtt = u32::try_from(rtt).unwrap_or(u32::MAX).max(1);
        let least = if self.least_rtt == 0 { rtt } else { self.least_rtt.min(rtt) };
        self.least_rtt = least;
        self.mean_rtt = match self.mean_rtt {
            0 => rtt,
            mean => mean - (mean >> MEAN_SHIFT) + (rtt >> MEAN_SHIFT),
        };
    }

    fn is_slow(&self, drain: &Drain) -> bool {
        let most = u64::from(self.least_rtt) * u64::from(drain.ratio);
        self.has_choice && self.bytes >= drain.after && u64::from(self.mean_rtt) > most
    }
}

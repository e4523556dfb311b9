//! TCP segments between a host and the fabric, as its ToR observes them.

/// A TCP segment of a connection of one of a ToR's hosts: data that the host sends, or an
/// acknowledgement of such data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Hash of the 5-tuple in the direction of the data: the packet's own for data, that of the
    /// reversed 5-tuple for an acknowledgement.
    pub out_hash: u32,
    /// The segment's sequence numbers.
    pub numbers: SequenceNumbers,
}

/// Sequence numbers of a segment, modulo 2^32. A SYN takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceNumbers {
    /// A SYN or data, from the host.
    Sent {
        /// Number of the first byte.
        seq: u32,
        /// Sequence numbers that it takes: the bytes of its payload; 1 for a SYN.
        bytes: u32,
        /// True for a SYN.
        is_syn: bool,
    },
    /// An acknowledgement to the host.
    Acknowledged {
        /// The cumulative acknowledgement: the next byte that the receiver expects.
        ack: u32,
    },
}

/// Receive window with which an acknowledgement goes on to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// As it is.
    Kept,
    /// Set to 0, so that the host sends no new data before the next acknowledgement.
    Closed,
}

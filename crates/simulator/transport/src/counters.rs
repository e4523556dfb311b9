//! Counters of a connection and of its senders.

/// Counters of a connection, both ends together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// Segments sent by the client: SYNs, data and retransmissions.
    pub segments: u64,
    /// Retransmissions on the same subflow, SYNs included.
    pub retransmitted: u64,
    /// Retransmission timeouts, those of SYNs included.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Data segments delivered after a later one of the same subflow (reordering).
    pub reordered: u64,
    /// MPTCP: bytes reinjected on another subflow, after a timeout or because the receive window
    /// was full.
    pub reinjected: u64,
    /// MPTCP: halvings of the window of a subflow for which a full receive window waited.
    pub penalties: u64,
    /// MPTCP: SYNs of joins that met no connection at the server, or one whose keys it did not know
    /// yet. They are not answered.
    pub refused_joins: u64,
}

/// Counters of a [`Sender`](crate::Sender).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments sent: SYNs, data and retransmissions.
    pub segments: u64,
    /// Retransmissions, SYNs included.
    pub retransmitted: u64,
    /// Retransmission timeouts, those of SYNs included.
    pub timeouts: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
}

//! Timeouts and limits, as resolved.

use std::time::Duration;

/// Timeouts of table entries. None is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A flow of which only the SYN was seen.
    pub syn: Duration,
    /// A flow without packets.
    pub established: Duration,
    /// A flow after FIN or RST.
    pub closing: Duration,
    /// A UDP flow without packets.
    pub udp: Duration,
    /// A token of which only the keys were seen.
    pub provisional: Duration,
    /// A token that no subflow refreshed.
    pub token: Duration,
    /// Interval at which flows refresh their tokens.
    pub refresh: Duration,
    /// Time during which packets are searched for keys.
    pub learning: Duration,
}

impl Timeouts {
    /// The longest that any flow or token may live without packets: after that long nothing names a
    /// target any more that is gone.
    pub fn longest(&self) -> Duration {
        let flows = self.syn.max(self.established).max(self.closing).max(self.udp);
        flows.max(self.provisional).max(self.token)
    }
}

/// Limits on work that unauthenticated packets cause: rates per second and processor; 0: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens learnt from flows whose opening was not seen.
    pub midstream_keys: u32,
    /// Queries about unknown flows.
    pub queries: u32,
    /// Joins of one token between two refreshes.
    pub joins: u8,
    /// Joins of one token from one address between two refreshes.
    pub source_joins: u8,
}

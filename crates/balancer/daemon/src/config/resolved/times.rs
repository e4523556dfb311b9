//! Timeouts and limits, as resolved.

use std::time::Duration;

/// When what is remembered is forgotten. None is zero.
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
    /// How often flows refresh their tokens.
    pub refresh: Duration,
    /// How long packets are searched for keys.
    pub learning: Duration,
}

impl Timeouts {
    /// The longest that any flow or token may live without packets: after that long nothing names a target any more that is gone.
    pub fn longest(&self) -> Duration {
        let flows = self.syn.max(self.established).max(self.closing).max(self.udp);
        flows.max(self.provisional).max(self.token)
    }
}

/// What strangers can make this balancer do: rates per second and processor; 0: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens learnt from flows whose opening was not seen.
    pub learn: u32,
    /// Questions about flows that are not known.
    pub ask: u32,
    /// Joins of one token between two refreshes.
    pub joins: u8,
}

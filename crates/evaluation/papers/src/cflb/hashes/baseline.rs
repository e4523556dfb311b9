//! Baselines of a decision's cost.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use heddle_policy::cflb::Fields;

use super::NextHop;

/// The next hops in turn, whatever the packet.
#[derive(Debug, Default)]
pub struct RoundRobin(AtomicU16);

impl NextHop for RoundRobin {
    /// For one thread: a load and a store, which two threads could do at once.
    #[inline]
    fn next_hop(&self, _fields: &Fields, _router: u32, next_hops: u16) -> u16 {
        let now = self.0.load(Relaxed);
        let next = if now + 1 >= next_hops { 0 } else { now + 1 };
        self.0.store(next, Relaxed);
        next
    }
}

/// The first next hop, always: what remains is the cost of measuring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Empty;

impl NextHop for Empty {
    #[inline]
    fn next_hop(&self, _fields: &Fields, _router: u32, _next_hops: u16) -> u16 {
        0
    }
}

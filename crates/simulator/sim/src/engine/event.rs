//! What can happen, in four bytes.
//!
//! Events are ordered by (time, order of scheduling): of two events at one time, the one that was scheduled first happens
//! first. The order is total, and depends on nothing but the scenario and the seed.

/// Something that happens at a time. The number says to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The packet at the head of a port's link reaches the far end.
    Arrival(u32),
    /// A connection's retransmission timer.
    Timeout(u32),
    /// A connection's delayed acknowledgement.
    DelayedAck(u32),
    /// The workload starts its next flow.
    Spawn,
    /// A ToR sends probes.
    Probe(u32),
    /// Queues and links are sampled.
    Sample,
    /// An entry of the scenario's list of faults.
    Fault(u32),
    /// The control plane has adapted to an entry of that list.
    Converged(u32),
    /// The measuring window opens.
    Measure,
}

const KIND_SHIFT: u32 = 28;
const ID: u32 = (1 << KIND_SHIFT) - 1;

impl Event {
    #[inline]
    pub(crate) const fn pack(self) -> u32 {
        match self {
            Event::Arrival(port) => port,
            Event::Timeout(connection) => 1 << KIND_SHIFT | connection,
            Event::DelayedAck(connection) => 2 << KIND_SHIFT | connection,
            Event::Spawn => 3 << KIND_SHIFT,
            Event::Probe(tor) => 4 << KIND_SHIFT | tor,
            Event::Sample => 5 << KIND_SHIFT,
            Event::Fault(index) => 6 << KIND_SHIFT | index,
            Event::Converged(index) => 7 << KIND_SHIFT | index,
            Event::Measure => 8 << KIND_SHIFT,
        }
    }

    #[inline]
    pub(crate) const fn unpack(packed: u32) -> Event {
        let id = packed & ID;
        match packed >> KIND_SHIFT {
            0 => Event::Arrival(id),
            1 => Event::Timeout(id),
            2 => Event::DelayedAck(id),
            3 => Event::Spawn,
            4 => Event::Probe(id),
            5 => Event::Sample,
            6 => Event::Fault(id),
            7 => Event::Converged(id),
            _ => Event::Measure,
        }
    }
}

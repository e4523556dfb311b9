//! Events, packed into four bytes.
//!
//! Events are ordered by (time, order of scheduling): of two events at one time, the one scheduled
//! first is handled first. The order is total and depends on the scenario and the seed only.

/// An event. The number identifies the port, connection, ToR or fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The packet at the head of a port's link reaches the far end.
    Arrival(u32),
    /// Retransmission timer of a connection.
    Timeout(u32),
    /// Delayed acknowledgement of a connection.
    DelayedAck(u32),
    /// The workload starts its next flow.
    Spawn,
    /// A ToR sends probes.
    Probe(u32),
    /// Queues and links are sampled.
    Sample,
    /// Change of links by an entry of the scenario's fault list.
    Fault(u32),
    /// Convergence of routing after an entry of that list.
    Converged(u32),
    /// The measuring window opens.
    Measure,
    /// A host's link is free for connections that wait for it.
    Link(u32),
    /// Data of a connection leaves its host's own queue, which makes room for more.
    Departure(u32),
    /// A host may grant credit to connections that wait for it.
    Credit(u32),
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
            Event::Link(interface) => 9 << KIND_SHIFT | interface,
            Event::Departure(connection) => 10 << KIND_SHIFT | connection,
            Event::Credit(interface) => 11 << KIND_SHIFT | interface,
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
            8 => Event::Measure,
            9 => Event::Link(id),
            10 => Event::Departure(id),
            _ => Event::Credit(id),
        }
    }
}

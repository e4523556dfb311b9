//! What is counted at hosts.

use heddle_transport::{Connection, ConnectionCounters};

/// What happened at the hosts, summed over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostCounters {
    /// What connections' ends have counted.
    pub(crate) transport: ConnectionCounters,
    /// Application bytes received in order.
    pub(crate) delivered: u64,
    /// Packets for a connection that is no more.
    pub(crate) to_closed_connections: u64,
    /// Packets put on the wire and taken off it.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl HostCounters {
    /// Adds what a connection has counted.
    pub(super) fn add(&mut self, connection: &impl Connection) {
        let (sum, one) = (self.transport, connection.counters());
        self.delivered += connection.delivered();
        self.transport = ConnectionCounters {
            segments: sum.segments + one.segments,
            retransmitted: sum.retransmitted + one.retransmitted,
            timeouts: sum.timeouts + one.timeouts,
            fast_recoveries: sum.fast_recoveries + one.fast_recoveries,
            reordered: sum.reordered + one.reordered,
            reinjected: sum.reinjected + one.reinjected,
        };
    }
}

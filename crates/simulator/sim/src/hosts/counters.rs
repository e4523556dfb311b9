//! Host counters.

use heddle_transport::{Connection, ConnectionCounters};

/// Host counters, summed over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostCounters {
    /// Counters of the connections.
    pub(crate) transport: ConnectionCounters,
    /// Application bytes received in order.
    pub(crate) delivered: u64,
    /// Packets that arrived for a closed connection.
    pub(crate) to_closed_connections: u64,
    /// Packets sent and received.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl HostCounters {
    /// Adds the counters of a connection.
    pub(super) fn add(&mut self, connection: &Connection) {
        let (sum, one) = (self.transport, connection.counters());
        self.delivered += connection.delivered();
        self.transport = ConnectionCounters {
            segments: sum.segments + one.segments,
            retransmitted: sum.retransmitted + one.retransmitted,
            timeouts: sum.timeouts + one.timeouts,
            fast_recoveries: sum.fast_recoveries + one.fast_recoveries,
            reordered: sum.reordered + one.reordered,
            reinjected: sum.reinjected + one.reinjected,
            penalties: sum.penalties + one.penalties,
            refused_joins: sum.refused_joins + one.refused_joins,
        };
    }
}

//! Invariants of every connection.

use super::*;

impl Hosts {
    /// Packets sent and received.
    pub(crate) fn packets(&self) -> (u64, u64) {
        (self.counters.sent, self.counters.received)
    }

    /// Checks all connections between two events.
    pub(crate) fn check(&self) {
        for connection in &self.connections {
            let transport = &connection.transport;
            let received = transport.delivered();
            assert!(transport.acked() <= received, "no byte is acknowledged that has not arrived");
            assert!(received <= transport.written(), "no byte arrives that was not sent");
            assert!(
                connection
                    .flows
                    .iter()
                    .all(|(end, _)| (received + 1..=transport.written()).contains(end))
            );
            assert!(connection.flows.iter().is_sorted_by_key(|(end, _)| end));
            assert_eq!(
                connection.flow_end,
                connection.flows.front().map_or(u64::MAX, |(end, _)| *end)
            );
            assert!(connection.in_use || connection.flows.is_empty());
        }
    }
}

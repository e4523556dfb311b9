//! What must hold of every connection.

use super::*;

impl<E: Ends> Hosts<E> {
    /// Packets sent and received.
    pub(crate) fn packets(&self) -> (u64, u64) {
        (self.counters.sent, self.counters.received)
    }

    /// Checks all connections between two events.
    pub(crate) fn check(&self) {
        for connection in &self.connections {
            let ends = &connection.ends;
            let received = ends.delivered();
            assert!(ends.acked() <= received, "no byte is acknowledged that has not arrived");
            assert!(received <= ends.written(), "no byte arrives that was not sent");
            assert!(
                connection
                    .flows
                    .iter()
                    .all(|(end, _)| (received + 1..=ends.written()).contains(end))
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

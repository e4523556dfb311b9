//! Parameters of the association tables.

use crate::Nanos;

/// Size and ageing of the association tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssociationConfig {
    /// Slots for subflows, rounded up to a power of two, at least 4; the key table has as many and the token table twice as many. Buckets have
    /// 4 slots, so the table should have several times as many slots as there are subflows.
    pub slots: usize,
    /// Idle timeout of a subflow. It should exceed the retransmission timeout.
    pub idle_after: Nanos,
}

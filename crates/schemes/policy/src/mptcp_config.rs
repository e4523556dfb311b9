//! Parameters of the tables that tell the subflows of MPTCP connections apart.

use heddle_units::Time;

use crate::association::association_slots;
use crate::{FLOWLET_SLOTS, table_size};

/// Parameters of the tables of MP-HULA and Shuttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct MptcpTablesConfig {
    /// Next hops that a switch remembers for each ToR, k; MP-HULA with 1 is HULA. Default: 2 (as
    /// many as a switch of the paper's fabric has).
    pub best_k: u8,
    /// Subflows that a ToR can associate with their connections, rounded up to a power of two.
    /// Default: 65536 (as many as flowlets; the paper's section 2.6 reckons with 600 K).
    // The key table has as many slots and the token table twice as many. Buckets have 4 slots, so
    // the table should have several times as many slots as there are subflows.
    pub association_slots: u32,
    /// Silence after which a ToR forgets a subflow that was never closed. Default: 1s (more than
    /// any retransmission timeout in a data centre; the paper gives none).
    pub association_idle: Time,
    /// Rows of a switch's table of the next hops that each connection's subflows use, rounded up to
    /// a power of two. Default: 65536 (as many as flowlets; the paper gives none).
    pub mapping_rows: u32,
}

impl Default for MptcpTablesConfig {
    fn default() -> MptcpTablesConfig {
        MptcpTablesConfig {
            best_k: 2,
            association_slots: FLOWLET_SLOTS,
            association_idle: Time::secs(1),
            mapping_rows: FLOWLET_SLOTS,
        }
    }
}

impl MptcpTablesConfig {
    /// The parameters as a switch runs by them: tables have their real size.
    #[must_use]
    pub fn as_run(&self) -> MptcpTablesConfig {
        MptcpTablesConfig {
            best_k: self.best_k.max(1),
            association_slots: association_slots(self.association_slots),
            mapping_rows: table_size(self.mapping_rows),
            ..*self
        }
    }
}

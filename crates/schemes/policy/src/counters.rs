//! What schemes count.

use core::iter::Sum;

/// Events that a scheme counts. All start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Flowlets started (for a scheme without flowlets, 0).
    pub flowlets: u64,
    /// Flowlets that left by another port than the one before in the same table slot.
    pub moves: u64,
    /// Flowlets that were given their port by the ECMP hash because the scheme knew no best hop to use.
    pub fallbacks: u64,
    /// Probes received.
    pub probes: u64,
    /// Packets that were given a shim.
    pub shims: u64,
    /// Flowlets of subflows that share their hop with another subflow of the connection, because all k hops were in use.
    pub shared: u64,
    /// Packets whose next hop their selector named, where there was a choice (CFLB).
    pub controlled: u64,
    /// Packets that were hashed, where there was a choice (CFLB).
    pub hashed: u64,
    /// What a ToR made of MPTCP's handshakes.
    pub association: AssociationCounters,
}

/// Events of associating subflows with their connections. Refused handshakes go on as plain TCP, and count again when a packet
/// of theirs is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssociationCounters {
    /// Connections associated.
    pub connections: u64,
    /// Further subflows associated.
    pub joins: u64,
    /// MP_JOINs refused because their token names no known connection.
    pub unknown_tokens: u64,
    /// Connections refused because one of their tokens names another one.
    pub token_collisions: u64,
    /// Keys, connections and joins refused because a place in a table was held.
    pub table_collisions: u64,
    /// Times that subflow numbers started again at 2.
    pub wraps: u64,
}

/// The counts of several switches together.
impl Sum for Counters {
    fn sum<I: Iterator<Item = Counters>>(counters: I) -> Counters {
        counters.fold(Counters::default(), |sum, one| Counters {
            flowlets: sum.flowlets + one.flowlets,
            moves: sum.moves + one.moves,
            fallbacks: sum.fallbacks + one.fallbacks,
            probes: sum.probes + one.probes,
            shims: sum.shims + one.shims,
            shared: sum.shared + one.shared,
            controlled: sum.controlled + one.controlled,
            hashed: sum.hashed + one.hashed,
            association: [sum.association, one.association].into_iter().sum(),
        })
    }
}

impl Sum for AssociationCounters {
    fn sum<I: Iterator<Item = AssociationCounters>>(counters: I) -> AssociationCounters {
        counters.fold(AssociationCounters::default(), |sum, one| AssociationCounters {
            connections: sum.connections + one.connections,
            joins: sum.joins + one.joins,
            unknown_tokens: sum.unknown_tokens + one.unknown_tokens,
            token_collisions: sum.token_collisions + one.token_collisions,
            table_collisions: sum.table_collisions + one.table_collisions,
            wraps: sum.wraps + one.wraps,
        })
    }
}

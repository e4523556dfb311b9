//! Counters of schemes.

use core::iter::Sum;

/// Events that a scheme counts. All start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Counters {
    /// Flowlets, under Flowcut flowcuts, started (for other schemes, 0).
    pub flowlets: u64,
    /// Flowlets whose port differs from that of the previous flowlet in the same slot.
    pub moves: u64,
    /// Flowlets assigned by the ECMP hash because no best hop was usable; under Flowcut, packets of
    /// hosts for whose flow the table has no room.
    pub fallbacks: u64,
    /// Probes received.
    pub probes: u64,
    /// Packets with a shim added.
    pub shims: u64,
    /// Flowlets of subflows that share their hop with another subflow of the connection, because
    /// all k hops were in use.
    pub shared: u64,
    /// Packets forwarded by their selector, with more than one next hop (CFLB).
    pub controlled: u64,
    /// Packets forwarded by a hash, with more than one next hop (CFLB).
    pub hashed: u64,
    /// Association of subflows at ToRs.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub association: AssociationCounters,
}

/// Counters of the association of subflows with connections. Rejected handshakes are handled as
/// plain TCP, and are counted again when a packet is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct AssociationCounters {
    /// Connections associated.
    pub connections: u64,
    /// Further subflows associated.
    pub joins: u64,
    /// MP_JOINs rejected because their token is unknown.
    pub unknown_tokens: u64,
    /// Connections rejected because one of their tokens belongs to another connection.
    pub token_collisions: u64,
    /// Keys, connections and joins rejected because a table had no free slot.
    pub table_collisions: u64,
    /// Restarts of subflow numbers at 2.
    pub wraps: u64,
}

impl Counters {
    /// All of them with their names.
    pub const fn named(&self) -> [(&'static str, u64); 14] {
        [
            ("flowlets", self.flowlets),
            ("moves", self.moves),
            ("fallbacks", self.fallbacks),
            ("probes", self.probes),
            ("shims", self.shims),
            ("shared", self.shared),
            ("controlled", self.controlled),
            ("hashed", self.hashed),
            ("connections", self.association.connections),
            ("joins", self.association.joins),
            ("unknown_tokens", self.association.unknown_tokens),
            ("token_collisions", self.association.token_collisions),
            ("table_collisions", self.association.table_collisions),
            ("wraps", self.association.wraps),
        ]
    }
}

/// Sum over several switches.
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

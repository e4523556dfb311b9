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
    /// Data packets that were given a shim.
    pub shims: u64,
    /// Flowlets of subflows that share their hop with another subflow of the connection, because all k hops were in use.
    pub shared: u64,
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
        })
    }
}

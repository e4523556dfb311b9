//! Counters of a trace.

use std::collections::BTreeMap;

use heddle_policy::{AssociationCounters, Counters};

/// Counters that are not 0, by name.
pub type Counts = BTreeMap<String, u64>;

/// The counters of a scheme by name, those that are 0 aside.
pub fn counts(counters: &Counters) -> Counts {
    let Counters {
        flowlets,
        moves,
        fallbacks,
        probes,
        shims,
        shared,
        controlled,
        hashed,
        association:
            AssociationCounters {
                connections,
                joins,
                unknown_tokens,
                token_collisions,
                table_collisions,
                wraps,
            },
    } = *counters;
    let all = [
        ("flowlets", flowlets),
        ("moves", moves),
        ("fallbacks", fallbacks),
        ("probes", probes),
        ("shims", shims),
        ("shared", shared),
        ("controlled", controlled),
        ("hashed", hashed),
        ("connections", connections),
        ("joins", joins),
        ("unknown_tokens", unknown_tokens),
        ("token_collisions", token_collisions),
        ("table_collisions", table_collisions),
        ("wraps", wraps),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).map(|(name, n)| (name.into(), n)).collect()
}

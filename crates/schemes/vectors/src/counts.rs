//! Counters by name.

use std::collections::BTreeMap;

use heddle_policy::Counters;

/// Counters that are not 0, by name.
pub type Counts = BTreeMap<String, u64>;

/// The counters of a scheme by name, those that are 0 aside.
pub fn counts(counters: &Counters) -> Counts {
    let counted = counters.named().into_iter().filter(|(_, count)| *count > 0);
    counted.map(|(name, count)| (name.to_owned(), count)).collect()
}

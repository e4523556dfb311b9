//! Counters by name.

use std::collections::BTreeMap;

use heddle_policy::Counters;

/// Counters that are not 0, by name.
pub type Counts = BTreeMap<String, u64>;

/// The counters of a scheme by name, those that are 0 aside.
pub fn counts(counters: &Counters) -> Counts {
    let all = serde_json::to_value(counters).and_then(serde_json::from_value::<Counts>);
    let mut counts = all.expect("counters are numbers with names");
    counts.retain(|_, count| *count > 0);
    counts
}

//! The keys of `[tables]` behind the sizes of maps, and why a start empties the tables.

use std::collections::BTreeMap;

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{BUCKET_ENTRIES, MAGLEV_STRIDE};
use heddle_balancer_maps::maps::Replaced;

/// The entries of maps, by name.
type Entries = BTreeMap<&'static str, u32>;

/// The reason why maps of these sizes were made afresh in the place of others.
pub(super) fn why_replaced(replaced: &Replaced, sizes: &Sizes) -> String {
    let keys = differences(&replaced.entries, &sizes.entries());
    if replaced.has_other_layout || keys.is_empty() {
        return "the layout of the maps has changed".into();
    }
    format!("[tables] {}", keys.join(", "))
}

/// The keys of `[tables]` that lead from some maps to others, each with the room that it gives: in
/// flows and tokens more than the file asks for, by rounding.
pub(super) fn differences(before: &Entries, now: &Entries) -> Vec<String> {
    // A map that is missing has no other size.
    let before = now.iter().map(|(map, now)| (*map, before.get(map).copied().unwrap_or(*now)));
    let (before, now) = (Rooms::of(&before.collect()), Rooms::of(now));
    let pairs = before.0.into_iter().zip(now.0).filter(|(before, now)| before != now);
    let told = |((key, before), (_, now))| format!("{key} (room for {now}, before {before})");
    let follows = before.has_default_own_backends() && now.has_default_own_backends();
    pairs.filter(|((key, _), _)| !(follows && *key == OWN_BACKENDS)).map(told).collect()
}

const OWN_BACKENDS: &str = "own_backends";

/// The room that each key gives.
struct Rooms([(&'static str, u32); 6]);

impl Rooms {
    /// The inverse of the configuration's `sizes`.
    fn of(entries: &Entries) -> Rooms {
        let entries_of = |map| entries.get(map).copied().unwrap_or_default();
        let services = entries_of("access_limits").saturating_sub(1);
        let targets = entries_of("targets").saturating_sub(1);
        Rooms([
            ("flows", entries_of("flows") * BUCKET_ENTRIES),
            ("tokens", entries_of("tokens") * BUCKET_ENTRIES),
            ("services", services),
            (OWN_BACKENDS, entries_of("maglev") / MAGLEV_STRIDE),
            ("ports", entries_of("vips").saturating_sub(2 * services + 2 * targets + 2)),
            ("targets", targets),
        ])
    }

    /// True if `own_backends` is as large as `services`, which is its default.
    fn has_default_own_backends(&self) -> bool {
        let Rooms([_, _, (_, services), (_, own_backends), ..]) = self;
        services == own_backends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(tables: &str) -> Sizes {
        let file =
            format!("balancer = {{ name = 'a', interfaces = ['eth0'] }}\n[tables]\n{tables}");
        crate::config::load("a", &file).unwrap().sizes
    }

    fn changed(before: &str, now: &str) -> Vec<String> {
        differences(&sizes(before).entries(), &sizes(now).entries())
    }

    #[test]
    fn each_key_is_named_with_its_room() {
        assert_eq!(changed("", ""), [""; 0]);
        assert_eq!(changed("flows = 4096", "flows = 4097"), [""; 0], "the same by rounding");
        for (now, wanted) in [
            ("flows = 4096", "flows (room for 5632, before 1441792)"),
            ("tokens = 4096", "tokens (room for 5632, before 1441792)"),
            ("services = 40", "services (room for 40, before 31)"),
            ("own_backends = 5", "own_backends (room for 5, before 31)"),
            ("ports = 0", "ports (room for 0, before 1024)"),
            ("targets = 100", "targets (room for 100, before 4095)"),
        ] {
            assert_eq!(changed("", now), [wanted]);
        }
        assert_eq!(changed("services = 9", "targets = 100\nports = 7").len(), 3);
    }

    #[test]
    fn other_maps_than_those_of_keys_are_the_layout() {
        let now = sizes("");
        let replaced = |entries| Replaced { has_other_layout: false, entries };
        let flows = replaced([("flows", 8)].into());
        let told = why_replaced(&flows, &now);
        assert_eq!(told, "[tables] flows (room for 1441792, before 32)");
        for other in
            [replaced([("candidates", 8)].into()), Replaced { has_other_layout: true, ..flows }]
        {
            assert_eq!(why_replaced(&other, &now), "the layout of the maps has changed");
        }
    }
}

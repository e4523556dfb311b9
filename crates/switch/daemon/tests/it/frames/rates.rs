//! The bench of packets a second, with few packets.

use std::collections::BTreeSet;

use heddle_switch::bench::{Load, rates};
use heddle_testing::{Need, require_program, skip_without};

#[test]
fn packets_arrive_through_every_scheme_at_both_hooks_and_through_the_kernel() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("ip", "iproute2");
    // The thread gets a network of its own.
    let load = Load { rounds: 1, flows: 16, frames: 1000 };
    let all = std::thread::spawn(move || rates(load, |_| ())).join().unwrap().unwrap();
    let cases_at = |hook: &str| -> BTreeSet<&str> {
        all.iter().filter(|one| one.hook == hook).map(|one| one.case.as_str()).collect()
    };
    assert_eq!(cases_at("xdp"), cases_at("tc"));
    assert!(cases_at("tc").len() >= 12 && cases_at("kernel").len() == 2, "{all:?}");
    for one in &all {
        assert!(one.million_per_second > 0.0 && one.to_ecmp > 0.0, "{one:?}");
        // A busy machine may lose some, but not nearly all.
        assert!((0.0..0.9).contains(&one.lost), "{one:?}");
    }
}

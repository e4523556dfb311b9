//! Routes have no loop, whatever links are down, as soon as all switches know of it.

use std::collections::BTreeSet;

use heddle_fabric::{Fabric, Routes};
use heddle_policy::Tor;
use heddle_scenario::{Source, load};
use proptest::prelude::*;

fn fabric(kind: &str) -> Fabric {
    let text = format!(
        "scheme = \"ecmp\"\n[fabric]\n{kind}\n[workload]\nkind = \"flows\"\nsizes = \"websearch\"\nload = 0.1\n[measure]\nflows = 10\n"
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let scenario = load(&Source::new("scenario.toml", &text), &none).unwrap();
    Fabric::new(&scenario.fabric.graph).unwrap()
}

/// The ToRs towards which a walk along any next hops of each switch's own routes can meet a switch
/// twice.
fn loops(fabric: &Fabric, routes: &[Routes]) -> Vec<u32> {
    let to_tor = |tor: &u32| {
        (0..fabric.switches())
            .any(|from| meets_itself(fabric, routes, *tor, from, &mut BTreeSet::new()))
    };
    (0..fabric.tors).filter(to_tor).collect()
}

fn meets_itself(
    fabric: &Fabric,
    routes: &[Routes],
    tor: u32,
    at: u32,
    way: &mut BTreeSet<u32>,
) -> bool {
    if at == tor {
        return false;
    }
    if !way.insert(at) {
        return true;
    }
    let hops = routes[at as usize].next_hops(at, Tor(tor as u16));
    let ports = fabric.ports_of(fabric.hosts + at);
    let found = hops.iter().any(|hop| {
        let next = ports[usize::from(hop.0)].to - fabric.hosts;
        meets_itself(fabric, routes, tor, next, way)
    });
    way.remove(&at);
    found
}

const KINDS: [&str; 3] = [
    "kind = \"leaf-spine\"\nparallel_links = 2\nhosts_per_leaf = 1",
    "kind = \"two-pod\"\nhosts_per_tor = 1",
    "kind = \"fat-tree\"\nk = 4",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn packets_meet_no_switch_twice_whatever_links_are_down(
        kind in 0..KINDS.len(),
        seed in any::<u64>(),
        share in 0_u32..80,
    ) {
        let fabric = fabric(KINDS[kind]);
        let is_down = |link: u32| heddle_policy::mix(seed as u32, link ^ (seed >> 32) as u32) % 100 < share;
        let routes_of = |_| fabric.routes(|link| !is_down(link)).unwrap();
        let routes: Vec<Routes> = (0..fabric.switches()).map(routes_of).collect();
        prop_assert_eq!(loops(&fabric, &routes), Vec::<u32>::new());
    }
}

/// Until the tiers above know of a failed link, they send back what the switch above it sends up:
/// such a packet's TTL ends it.
#[test]
fn switches_that_disagree_can_loop_until_routes_converge() {
    let fabric = fabric(KINDS[1]);
    let whole = || fabric.routes(|_| true).unwrap();
    let tor = 0;
    let above = fabric.ports_of(fabric.hosts + tor).iter().find(|port| port.is_up).unwrap();
    let knows = above.to - fabric.hosts;
    let mut routes: Vec<Routes> = (0..fabric.switches()).map(|_| whole()).collect();
    assert_eq!(loops(&fabric, &routes), Vec::<u32>::new());
    routes[knows as usize] = fabric.routes(|link| link != above.link).unwrap();
    assert_eq!(loops(&fabric, &routes), vec![tor]);
}

//! Other balancers: their tables, deaths and places in the ring.

use super::*;

/// A balancer that comes asks those before it; one that sees another come remembers the ring
/// without it.
#[test]
fn the_ring_before_the_last_change_is_known() {
    let mut comer = Trace::start();
    comer.update(&config(&[1])).unwrap();
    let other = comer.index(102);
    assert!(comer.plan.maps.former_ring.iter().all(|&owner| owner == other));
    let slots = || comer.plan.maps.ring.iter().zip(&comer.plan.maps.second_ring);
    assert!(slots().all(|(&first, &second)| [first, second].contains(&other) && first != second));

    let mut old = Trace::start();
    let both = std::mem::take(&mut old.balancers);
    old.balancers = vec![both[0].clone()];
    old.update(&config(&[1])).unwrap();
    old.balancers = both.clone();
    let changes = old.update(&config(&[1])).unwrap();
    assert!(kinds(&changes).contains(&"ring"));
    assert!(old.plan.maps.former_ring.iter().all(|&owner| owner == 0), "all was this one's");

    // After the other has left, the former ring is the one of both.
    let ring = old.plan.maps.ring.clone();
    old.balancers = vec![both[0].clone()];
    old.update(&config(&[1])).unwrap();
    assert_eq!(old.plan.maps.former_ring, ring);
}

/// A balancer that has changed nothing asks for all flows that it does not know while another one
/// has: `established` is an hour.
#[test]
fn a_change_at_another_balancer_makes_this_one_ask() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    let flags = |trace: &Trace| (trace.plan.maps.tables_changed, trace.plan.maps.ask_always);
    assert_eq!(flags(&trace), (false, false));
    trace.peer_tables_changed = true;
    assert_eq!(kinds(&trace.update(&config(&[1, 2])).unwrap()), ["derived"]);
    assert_eq!(flags(&trace), (false, true));
    // It loses the same backend: the stamps tell of which flows it has to ask.
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (true, false));
    // Stamps do not tell of flows that were placed past a backend that seemed dead there.
    trace.peer_flows_unexplained = true;
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (true, true));
    trace.peer_flows_unexplained = false;
    trace.now += Duration::from_secs(3602);
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (false, true));
    trace.peer_tables_changed = false;
    trace.update(&config(&[1])).unwrap();
    assert_eq!(flags(&trace), (false, false));
}

/// Changes before the first packets move no flows: the next hops and states of backends that are
/// found one by one.
#[test]
fn a_balancer_that_has_only_just_come_has_changed_nothing() {
    let mut trace = Trace::start();
    trace.has_placed_flows = false;
    trace.health = BTreeMap::from([(id(1), State::Down)]);
    trace.update(&config(&[1, 2])).unwrap();
    trace.health.clear();
    trace.update(&config(&[1, 2])).unwrap();
    trace.has_placed_flows = true;
    trace.update(&config(&[1, 2])).unwrap();
    assert!(!trace.plan.maps.tables_changed);
    assert!(trace.takes_flows(1) && trace.takes_flows(2));
}

#[test]
fn when_a_balancer_dies_its_slots_are_ours() {
    let mut trace = Trace::start();
    let config = config(&[1]);
    trace.update(&config).unwrap();
    trace.balancers.retain(|member| member.id == id(101));
    let changes = trace.update(&config).unwrap();
    assert_eq!(kinds(&changes), ["ring", "derived", "down"]);
    assert!(trace.plan.maps.ring.iter().all(|&owner| owner == 0));
    assert!(changes.contains(&Change::Derived(trace.plan.maps.derived())));
    assert_eq!(trace.plan.maps.peers.len(), 1, "its program may go on without its daemon");
}

#[test]
fn who_cannot_be_reached_gets_no_flows_and_a_way_once_known_is_kept() {
    let mut trace = Trace::start();
    let config = config(&[1, 2]);
    let way = trace.next_hops.remove(&IpAddr::from([10, 0, 1, 2])).unwrap();
    trace.update(&config).unwrap();
    assert!(trace.state(2) == DOWN && !trace.takes_flows(2));
    trace.next_hops.insert([10, 0, 1, 2].into(), way);
    trace.update(&config).unwrap();
    assert!(trace.state(2) == UP && trace.takes_flows(2));
    trace.next_hops.clear();
    assert!(trace.update(&config).unwrap().is_empty());
}

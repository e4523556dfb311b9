//! Backends that fail, drain, are down, or come back.

use super::*;

#[test]
fn a_dead_backend_loses_its_slots_before_it_is_down() {
    let mut trace = Trace::start();
    let config = config(&[1, 2, 3]);
    trace.update(&config).unwrap();
    let (first, epoch) = (trace.table().0, trace.plan.maps.epoch);
    trace.health.insert(id(2), State::Down);
    let changes = trace.update(&config).unwrap();
    assert_eq!(kinds(&changes), ["table", "vip", "derived", "down"]);
    assert!(!trace.takes_flows(2) && trace.takes_flows(1) && trace.takes_flows(3));
    assert_eq!((trace.table().0, trace.plan.maps.epoch), (first + 1, epoch + 1));
    let vip = trace.plan.maps.vips.values().find(|vip| vip.id == 1).unwrap();
    assert_eq!(vip.table, (first + 1) * MAGLEV_STRIDE);
    trace.health.insert(id(2), State::Up);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["up", "table", "vip", "derived"]);
    assert_eq!(trace.table().0, first, "the two tables take turns");
}

/// Datagrams have no connection that would end. From `drain.udp` on the target is as a removed one, and
/// as any when it is put back.
#[test]
fn a_backend_that_has_drained_for_long_loses_its_datagrams() {
    let mut trace = Trace::start();
    let text = config_text(&[1, 2]).replace("[[service]]", "[drain]\nudp = '30s'\n[[service]]");
    let config = load("lb.toml", &text).unwrap();
    trace.update(&config).unwrap();
    trace.drained.insert(id(2), true);
    trace.drained_since.insert(id(2), trace.now);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Up as u8);
    trace.now += Duration::from_secs(29);
    assert!(trace.update(&config).unwrap().is_empty());
    trace.now += Duration::from_secs(1);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Removed as u8);
    trace.drained.insert(id(2), false);
    trace.update(&config).unwrap();
    assert_eq!(trace.state(2), TargetState::Up as u8);
    assert!(trace.takes_flows(2));
}

/// A short failure changes one target and nothing else; a longer one changes the table.
#[test]
fn a_backend_that_fails_keeps_its_flows_for_a_while() {
    let mut trace = Trace::start();
    let health = "port = 443\nhealth = { kind = 'tcp', keep_flows = '10s' }\n";
    let config = load("lb.toml", &config_text(&[1, 2]).replace("port = 443\n", health)).unwrap();
    trace.update(&config).unwrap();
    let fail = |trace: &mut Trace| {
        trace.health.insert(id(2), State::Down);
        trace.down_since.insert(id(2), trace.now);
    };
    fail(&mut trace);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived", "failing"]);
    assert!(trace.takes_flows(2));
    let index = u32::from(trace.index(2));
    let stamped = |trace: &Trace| {
        let (of_2, others): (Vec<u32>, _) =
            trace.table().1.iter().partition(|&&word| maglev::target(word) == index);
        let stamps: BTreeSet<u32> = of_2.iter().map(|word| word >> 16).collect();
        (stamps, others.iter().all(|word| word >> 16 == 0))
    };
    let now = |trace: &Trace| BTreeSet::from([ticks(trace.now) >> STAMP_SHIFT]);
    assert_eq!(stamped(&trace), (now(&trace), true), "flows that go elsewhere are asked for");
    trace.now += Duration::from_secs(60);
    trace.health.insert(id(2), State::Up);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["up", "table", "vip", "derived"]);
    assert_eq!(stamped(&trace), (now(&trace), true));

    fail(&mut trace);
    trace.update(&config).unwrap();
    trace.now += Duration::from_secs(10);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived", "down"]);
    fail(&mut trace);
    assert!(trace.update(&config).unwrap().is_empty(), "it has lost its flows already");
}

/// Flows of slots that changed are asked for, all others are not.
#[test]
fn a_slot_that_changes_is_stamped() {
    let mut trace = Trace::start();
    trace.update(&config(&[1, 2])).unwrap();
    assert!(trace.table().1.iter().all(|word| word >> 16 == 0), "no flow is older than the table");
    let before = trace.table().1.to_vec();
    trace.update(&config(&[1, 2, 3])).unwrap();
    let stamp = ticks(trace.now) >> abi::STAMP_SHIFT;
    let mut changed = 0;
    for (old, new) in before.iter().zip(trace.table().1) {
        let same = old == new;
        changed += usize::from(!same);
        assert!(same || (new >> 16 == stamp && maglev::target(*new) != maglev::target(*old)));
    }
    assert!(changed > before.len() / 4 && changed < before.len() / 2, "{changed}");
    trace.now += Duration::from_secs(500);
    assert!(trace.update(&config(&[1, 2, 3])).unwrap().is_empty());
}

#[test]
fn a_drained_backend_keeps_its_flows_and_gets_no_new_ones() {
    let mut trace = Trace::start();
    let config = config(&[1, 2]);
    trace.update(&config).unwrap();
    trace.drained.insert(id(1), true);
    assert_eq!(kinds(&trace.update(&config).unwrap()), ["table", "vip", "derived"]);
    assert!(trace.state(1) == UP && !trace.takes_flows(1));
    trace.drained.insert(id(1), false);
    trace.update(&config).unwrap();
    assert!(trace.takes_flows(1));
}

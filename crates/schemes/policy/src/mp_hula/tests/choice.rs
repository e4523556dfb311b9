//! Hop selection by sections 2.4 and 2.5.

use proptest::prelude::*;

use super::*;

#[test]
fn without_a_shim_and_for_the_first_subflow_it_is_the_best_hop() {
    let mut rig = Rig::knowing(&config(3), 3);
    assert_eq!(rig.send(1, 10, None), 2);
    assert_eq!(rig.send(1, 11, shim(7, 2)), 2, "alone so far");
    assert_eq!(rig.send(1, 12, shim(7, 1)), 2, "though subflow 2 is there");
    assert_eq!(rig.mp_hula.counters().shared, 0);
}

#[test]
fn each_further_subflow_takes_the_best_hop_that_no_other_uses() {
    let mut rig = Rig::knowing(&config(3), 3);
    let ports = [1, 2, 3].map(|n| rig.send(1, 10 + u32::from(n), shim(7, n)));
    assert_eq!(ports, [2, 3, 4]);
    assert_eq!(rig.send(1, 20, shim(8, 2)), 2, "another connection");
    assert_eq!(rig.mp_hula.counters().shared, 0);
}

#[test]
fn with_every_hop_in_use_it_starts_over_at_the_best() {
    let mut rig = Rig::knowing(&config(3), 4);
    assert_eq!(rig.ranked().len(), 3, "the fourth hop is not among the best 3");
    let ports = [1, 2, 3, 4, 5].map(|n| rig.send(1, 10 + u32::from(n), shim(7, n)));
    assert_eq!(ports, [2, 3, 4, 2, 2]);
    assert_eq!(rig.mp_hula.counters().shared, 2);
}

#[test]
fn a_running_flowlet_stays_and_the_next_one_chooses_again() {
    let mut rig = Rig::knowing(&config(2), 2);
    assert_eq!([rig.send(1, 11, shim(7, 1)), rig.send(1, 12, shim(7, 2))], [2, 3]);
    rig.hear(2, 3, 5);
    assert_eq!(rig.ranked(), [(3, 5), (2, 10)]);
    assert_eq!(rig.send(GAP, 11, shim(7, 1)), 2, "pinned");
    assert_eq!(rig.send(GAP, 12, shim(7, 2)), 3, "pinned");
    assert_eq!(rig.send(2 * GAP + 1, 11, shim(7, 1)), 3, "the first goes to the best in any case");
    assert_eq!(rig.send(2 * GAP + 1, 12, shim(7, 2)), 2, "so the second gives way, at its gap");
}

#[test]
fn a_subflow_that_falls_silent_frees_its_hop_after_the_gap() {
    for (silence, port) in [(GAP, 3), (GAP + 1, 2)] {
        let mut rig = Rig::knowing(&config(2), 2);
        assert_eq!(rig.send(1, 11, shim(7, 1)), 2);
        assert_eq!(rig.send(1 + silence, 12, shim(7, 2)), port, "after {silence} ns");
    }
}

#[test]
fn a_subflow_does_not_keep_itself_from_its_hop() {
    let mut rig = Rig::knowing(&config(2), 2);
    assert_eq!(rig.send(1, 12, shim(7, 2)), 2);
    assert_eq!(rig.send(2, 13, shim(7, 2)), 2, "its last flowlet is in another slot");
}

#[test]
fn the_first_subflows_flowlet_began_before_there_was_a_second() {
    let mut rig = Rig::knowing(&config(2), 2);
    assert_eq!(rig.send(1, 11, None), 2);
    assert_eq!(rig.send(2, 12, shim(7, 2)), 2, "subflow 1 has no shim yet");
    assert_eq!(rig.send(3, 11, shim(7, 1)), 2, "now it does");
    assert_eq!(rig.send(GAP + 1, 11, shim(7, 1)), 2);
    assert_eq!(rig.send(GAP + 3, 12, shim(7, 2)), 3);
}

#[test]
fn of_subflows_that_collide_in_a_slot_one_is_not_seen() {
    let mut colliding = config(2);
    colliding.hula.flowlet_slots = 1;
    let mut rig = Rig::knowing(&colliding, 2);
    assert_eq!(rig.send(1, 11, shim(7, 1)), 2);
    assert_eq!(rig.send(2, 12, shim(7, 2)), 2, "a shared flowlet, as in HULA");
}

#[test]
fn hops_that_the_packet_cannot_take_do_not_count() {
    let mut rig = Rig::knowing(&config(3), 3);
    let hops = [Port(3), Port(4), Port(5)];
    let ports = [1, 2, 3].map(|n| rig.send_over(1, 10 + u32::from(n), shim(7, n), &hops));
    assert_eq!(ports, [3, 4, 3], "port 2 is the best, but leads elsewhere");
    let counters = rig.mp_hula.counters();
    assert_eq!((counters.shared, counters.fallbacks), (1, 0));
    assert!([5, 6].contains(&rig.send_over(1, 20, shim(7, 4), &[Port(5), Port(6)])));
    assert_eq!(rig.mp_hula.counters().fallbacks, 1, "none of the best 3");
}

#[test]
fn with_local_detection_ports_that_are_down_do_not_count() {
    let mut looking = config(3);
    looking.hula.local_detection = true;
    let mut rig = Rig::knowing(&looking, 3);
    assert_eq!([rig.send(1, 11, shim(7, 1)), rig.send(1, 12, shim(7, 2))], [2, 3]);
    rig.ports.down[3] = true;
    assert_eq!(rig.send(2, 12, shim(7, 2)), 4, "the running flowlet moves");
    rig.ports.down[2] = true;
    assert_eq!(rig.send(3, 11, shim(7, 1)), 4);
    assert_eq!(rig.mp_hula.counters().fallbacks, 0);
}

#[test]
fn long_flows_may_leave_the_best_hop_to_short_ones() {
    let yielding = with(LongFlows::YieldBest, 3);
    let mut rig = Rig::knowing(&yielding, 3);
    assert_eq!(rig.send(1, 10, None), 2, "short, for all we know");
    let ports = [1, 2, 3].map(|n| rig.send(1, 10 + u32::from(n), shim(7, n)));
    assert_eq!(ports, [3, 4, 3], "the third starts over at the second hop");
    assert_eq!(rig.mp_hula.counters().shared, 1);
    let mut rig = Rig::knowing(&yielding, 1);
    assert_eq!(rig.send(1, 11, shim(7, 1)), 2, "there is no other");
}

#[test]
fn apart_a_further_subflow_leaves_the_hop_of_a_first_one_that_is_identified_later() {
    let apart = with(LongFlows::Apart, 2);
    let mut rig = Rig::knowing(&apart, 2);
    assert_eq!(rig.send(1, 11, None), 2, "no shim before there is a second subflow");
    assert_eq!(rig.send(2, 12, shim(7, 2)), 2, "its SYN: subflow 1 is not known here yet");
    assert_eq!(rig.send(3, 11, shim(7, 1)), 2, "now it is");
    assert_eq!(rig.send(4, 12, shim(7, 2)), 3, "without a pause");
    assert_eq!(rig.send(5, 12, shim(7, 2)), 3);
    assert_eq!(rig.send(6, 11, shim(7, 1)), 2, "the first one stays");
}

#[test]
fn apart_a_further_subflow_leaves_the_hop_on_which_the_first_one_starts_again() {
    let apart = with(LongFlows::Apart, 2);
    let mut rig = Rig::knowing(&apart, 2);
    assert_eq!([rig.send(1, 11, shim(7, 1)), rig.send(1, 12, shim(7, 2))], [2, 3]);
    rig.hear(2, 3, 5);
    assert_eq!(rig.send(GAP, 12, shim(7, 2)), 3);
    assert_eq!(rig.send(GAP + 2, 11, shim(7, 1)), 3, "the best, though it is in use");
    assert_eq!(rig.send(GAP + 3, 12, shim(7, 2)), 2, "so the other one leaves it");
    assert_eq!(rig.mp_hula.counters().shared, 0);
}

#[test]
fn apart_nobody_leaves_the_only_hop() {
    let apart = with(LongFlows::Apart, 1);
    let mut rig = Rig::knowing(&apart, 2);
    assert_eq!([rig.send(1, 12, shim(7, 2)), rig.send(2, 11, shim(7, 1))], [2, 2]);
    rig.hear(3, 3, 5);
    assert_eq!(rig.send(4, 12, shim(7, 2)), 2, "the flowlet runs on");
}

proptest! {
    /// The first subflow always uses the best hop. All others use different hops while one is free,
    /// for any order of the hops.
    #[test]
    fn further_subflows_keep_apart(
        k in 2u8..5,
        steps in prop::collection::vec((0..GAP, 1u8..5, 2u16..6, 0u16..100), 1..200),
    ) {
        let mut rig = Rig::knowing(&config(k), 4);
        let mut last: [Option<(Nanos, u16)>; 5] = [None; 5];
        let mut now = 0;
        for (wait, subflow, port, util) in steps {
            now += wait;
            rig.hear(now, port, util);
            let known: Vec<u16> = rig.ranked().iter().map(|hop| hop.0).collect();
            let live = |seen: Option<(Nanos, u16)>| seen.filter(|seen| now - seen.0 <= GAP).map(|seen| seen.1);
            let live_hop = live(last[usize::from(subflow)]);
            let sent = rig.send(now, u32::from(subflow), shim(7, subflow));
            let others = (1..5).filter(|&n| n != usize::from(subflow));
            let used: Vec<u16> = others.filter_map(|n| live(last[n])).collect();
            let expected = match live_hop {
                Some(port) => port,
                None if subflow == 1 => known[0],
                None => *known.iter().find(|hop| !used.contains(hop)).unwrap_or(&known[0]),
            };
            prop_assert_eq!(sent, expected);
            last[usize::from(subflow)] = Some((now, sent));
        }
    }
}

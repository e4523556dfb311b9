//! Too little room, and tokens that are not unique: nobody who is associated is harmed.

use super::*;

/// A flow other than `flow` whose place in a table of `slots` is the same, or is not.
fn another(flow: u32, slots: usize, same_place: bool) -> u32 {
    let place = |flow| Spot::of(flow, 5, slots).index;
    (flow + 1..).find(|&other| (place(other) == place(flow)) == same_place).unwrap()
}

#[test]
fn a_join_with_an_unknown_token_stays_plain() {
    let mut rig = Rig::new(End::Client, 64);
    rig.see(Connection::new(Version::V1, 11).join(End::Client, 12));
    assert_eq!(rig.shim(12), None);
    assert_eq!(rig.counters(), AssociationCounters { unknown_tokens: 1, ..Default::default() });
}

#[test]
fn of_two_connections_with_one_token_the_second_stays_plain() {
    // Version 0 tells both keys twice: by the SYN/ACK and in the third ACK.
    for (version, refusals) in [(Version::V0, 2), (Version::V1, 1)] {
        let first = Connection::new(version, 11);
        let second = Connection { b: Key([3; 8]), flow: 21, ..first };
        let mut rig = Rig::with(End::Client, &first);
        rig.see_all(&second.handshake());
        rig.see(second.join(End::Client, 22));
        assert_eq!((rig.shim(21), rig.shim(22)), (None, None));
        rig.see(first.join(End::Client, 12));
        assert_eq!((rig.shim(11), rig.shim(12)), (first.shim(1), first.shim(2)), "unharmed");
        let AssociationCounters { connections, token_collisions, unknown_tokens, .. } =
            rig.counters();
        assert_eq!((connections, token_collisions, unknown_tokens), (1, refusals, 1));
    }
}

#[test]
fn a_refused_connection_is_associated_once_the_other_has_gone() {
    let first = Connection::new(Version::V1, 11);
    let second = Connection { b: Key([3; 8]), flow: 21, ..first };
    let mut rig = Rig::with(End::Client, &first);
    rig.see(second.ack());
    rig.see(plain(End::Server, 11, TcpFlags::RST));
    rig.see(second.data());
    rig.see(second.join(End::Client, 22));
    assert_eq!(rig.shim(22), second.shim(2));
}

#[test]
fn a_connection_whose_place_is_held_stays_plain() {
    let first = Connection::new(Version::V1, 11);
    let flow = another(11, 64, true);
    let second = Connection { a: Key([3; 8]), b: Key([4; 8]), flow, ..first };
    let mut rig = Rig::with(End::Client, &first);
    rig.see_all(&second.handshake());
    rig.see(second.join(End::Client, 12));
    assert_eq!((rig.shim(flow), rig.shim(12)), (None, None));
    rig.see(first.join(End::Client, 12));
    assert_eq!((rig.shim(11), rig.shim(12)), (first.shim(1), first.shim(2)), "unharmed");
    assert_eq!((rig.counters().table_collisions, rig.counters().unknown_tokens), (1, 1));
}

#[test]
fn a_join_whose_place_is_held_stays_plain_and_is_not_counted_as_a_subflow() {
    let connection = Connection::new(Version::V1, 11);
    let mut rig = Rig::with(End::Client, &connection);
    let flow = another(11, 64, true);
    rig.see(connection.join(End::Client, flow));
    assert_eq!((rig.shim(11), rig.shim(flow)), (None, None));
    assert_eq!((rig.counters().joins, rig.counters().table_collisions), (0, 1));
}

#[test]
fn a_connection_whose_tokens_place_is_held_stays_plain() {
    let first = Connection::new(Version::V1, 11);
    let flow = another(11, 2, false);
    let mut rig = Rig::new(End::Client, 2);
    rig.see_all(&first.handshake());
    // 4 places for tokens: of 60 connections some need one of the first's, and some do not.
    let mut outcomes = [0; 2];
    for i in 3..63 {
        let second = Connection { a: Key([i; 8]), b: Key([i + 100; 8]), flow, ..first };
        let before = rig.counters();
        rig.see(second.ack());
        let refused = rig.counters().table_collisions - before.table_collisions;
        let associated = rig.counters().connections - before.connections;
        assert_eq!(refused + associated, 1);
        outcomes[refused as usize] += 1;
        rig.see(first.ack());
        assert_eq!(rig.counters().connections, before.connections + associated, "the first stays");
        rig.see(plain(End::Client, flow, TcpFlags::RST));
    }
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn without_room_for_key_a_version_0_waits_for_the_third_ack() {
    let first = Connection::new(Version::V0, 11);
    let flow = another(11, 64, true);
    let second = Connection { a: Key([3; 8]), b: Key([4; 8]), flow, ..first };
    let mut rig = Rig::new(End::Server, 64);
    rig.see_all(&[first.syn(), second.syn(), second.syn_ack()]);
    assert_eq!((rig.counters().connections, rig.counters().table_collisions), (0, 1));
    rig.see(second.ack());
    assert_eq!(rig.counters().connections, 1);
}

#[test]
fn a_key_that_no_syn_ack_fetched_gives_way_when_it_is_old() {
    let first = Connection::new(Version::V0, 11);
    let flow = another(11, 64, true);
    let second = Connection { a: Key([3; 8]), b: Key([4; 8]), flow, ..first };
    let mut rig = Rig::new(End::Server, 64);
    rig.see(first.syn());
    rig.now = IDLE + 1;
    rig.see_all(&[second.syn(), second.syn_ack()]);
    assert_eq!(rig.counters().connections, 1);
}

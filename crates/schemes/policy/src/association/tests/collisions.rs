//! Full tables and duplicate tokens: associated connections are not affected.

use alloc::vec::Vec;

use super::*;
use crate::mix;

#[test]
fn a_join_with_an_unknown_token_is_handled_as_tcp() {
    let mut rig = Rig::new(End::Client, 64);
    rig.observe(Connection::new(Version::V1, 11).join(End::Client, 12));
    assert_eq!(rig.shim(12), None);
    assert_eq!(rig.counters(), AssociationCounters { unknown_tokens: 1, ..Default::default() });
}

#[test]
fn the_second_connection_with_a_token_is_handled_as_tcp() {
    // Version 0 carries both keys twice: by the SYN/ACK and in the third packet.
    for (version, refusals) in [(Version::V0, 2), (Version::V1, 1)] {
        let first = Connection::new(version, 11);
        let second = Connection { b: Key([3; 8]), flow: 21, ..first };
        let mut rig = Rig::with(End::Client, &first);
        rig.observe_all(&second.handshake());
        rig.observe(second.join(End::Client, 22));
        assert_eq!((rig.shim(21), rig.shim(22)), (None, None));
        rig.observe(first.join(End::Client, 12));
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
    rig.observe(second.ack());
    rig.observe(plain(End::Server, 11, TcpFlags::RST));
    rig.observe(second.data());
    rig.observe(second.join(End::Client, 22));
    assert_eq!(rig.shim(22), second.shim(2));
}

#[test]
fn a_connection_without_a_free_slot_is_handled_as_tcp() {
    let (first, second) = (Connection::new(Version::V1, 11), Connection::other(1));
    let mut rig = Rig::crowded(End::Client);
    rig.observe_all(&first.handshake());
    rig.observe_all(&second.handshake());
    rig.observe(plain(End::Server, CROWD[0], TcpFlags::RST));
    rig.observe(second.join(End::Client, 12));
    assert_eq!((rig.shim(second.flow), rig.shim(12)), (None, None));
    rig.observe(first.join(End::Client, 12));
    assert_eq!((rig.shim(11), rig.shim(12)), (first.shim(1), first.shim(2)), "unharmed");
    assert_eq!((rig.counters().table_collisions, rig.counters().unknown_tokens), (1, 1));
}

#[test]
fn a_join_without_a_free_slot_is_handled_as_tcp_and_not_counted() {
    let connection = Connection::new(Version::V1, 11);
    let mut rig = Rig::crowded(End::Client);
    rig.observe(connection.ack());
    let before = rig.counters();
    rig.observe(connection.join(End::Client, 12));
    assert_eq!((rig.shim(11), rig.shim(12)), (None, None));
    let after = rig.counters();
    assert_eq!((after.joins, after.table_collisions), (before.joins, before.table_collisions + 1));
}

#[test]
fn a_full_table_keeps_its_entries_and_counts_the_rejected() {
    let mut rig = Rig::new(End::Client, 64);
    let is_inside = |connection: &Connection| {
        let before = rig.counters();
        rig.observe(connection.ack());
        let refused = rig.counters().table_collisions - before.table_collisions;
        let inside = rig.counters().connections - before.connections;
        assert_eq!(refused + inside, 1);
        inside == 1
    };
    let inside: Vec<Connection> = (0..200).map(Connection::other).filter(is_inside).collect();
    assert!((40..=64).contains(&inside.len()), "{}", inside.len());
    for connection in inside {
        let tokens = connection.tokens();
        for token in [tokens.a, tokens.b] {
            let (_, first) = rig.association.find_by_token(0, token).unwrap();
            assert_eq!(first.tokens(), tokens);
        }
    }
}

#[test]
fn a_table_filled_to_a_sixth_refuses_few() {
    let mut rig = Rig::new(End::Client, 4096);
    rig.observe_all(&core::array::from_fn::<_, 683, _>(|i| Connection::other(i as u32).ack()));
    // The bucket of a new entry is full with probability P(Poisson(4 / 6) >= 4) = 0.5 %, and so is
    // that of each of its two tokens.
    assert!(rig.counters().table_collisions < 683 * 15 / 1000);
}

/// Two connections of version 0 whose keys have the same slot in a table of 64.
fn one_place_for_two_keys() -> [Connection; 2] {
    let place = |flow| mix(flow, SALT) % 64;
    let first = Connection::new(Version::V0, 11);
    let flow = (12..).find(|&flow| place(flow) == place(11)).unwrap();
    [first, Connection { a: Key([3; 8]), b: Key([4; 8]), flow, ..first }]
}

#[test]
fn without_room_for_key_a_version_0_waits_for_the_third_ack() {
    let [first, second] = one_place_for_two_keys();
    let mut rig = Rig::new(End::Server, 64);
    rig.observe_all(&[first.syn(), second.syn(), second.syn_ack()]);
    assert_eq!((rig.counters().connections, rig.counters().table_collisions), (0, 1));
    rig.observe(second.ack());
    assert_eq!(rig.counters().connections, 1);
}

#[test]
fn a_key_without_a_syn_ack_is_replaced_after_its_timeout() {
    let [first, second] = one_place_for_two_keys();
    let mut rig = Rig::new(End::Server, 64);
    rig.observe(first.syn());
    rig.now = IDLE + 1;
    rig.observe_all(&[second.syn(), second.syn_ack()]);
    assert_eq!(rig.counters().connections, 1);
}

//! Removal of entries: by RST, by timeout, by a new connection on the same 5-tuple.

use super::*;

/// A ToR with a connection of two subflows, over flows 11 and 12.
fn two_subflows(end: End, version: Version) -> (Rig, Connection) {
    let connection = Connection::new(version, 11);
    let mut rig = Rig::with(end, &connection);
    rig.observe(connection.join(End::Client, 12));
    (rig, connection)
}

#[test]
fn a_reset_ends_its_subflow_at_once() {
    for from in BOTH_ENDS {
        let (mut rig, connection) = two_subflows(End::Client, Version::V1);
        rig.observe(plain(from, 12, TcpFlags::RST | TcpFlags::ACK));
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), None));
        rig.observe(connection.join(End::Client, 12));
        assert_eq!(rig.shim(12), connection.shim(3), "a new one on the same 5-tuple");
    }
}

#[test]
fn without_the_first_subflow_the_others_remain_and_joins_are_handled_as_tcp() {
    let (mut rig, connection) = two_subflows(End::Client, Version::V1);
    rig.observe(plain(End::Client, 11, TcpFlags::RST));
    rig.observe(connection.join(End::Client, 13));
    assert_eq!([11, 12, 13].map(|flow| rig.shim(flow)), [None, connection.shim(2), None]);
    assert_eq!(rig.counters().unknown_tokens, 1);
}

#[test]
fn a_fin_tears_nothing_down() {
    for from in BOTH_ENDS {
        let (mut rig, connection) = two_subflows(End::Client, Version::V0);
        rig.observe(plain(from, 11, TcpFlags::FIN | TcpFlags::ACK));
        assert_eq!(rig.shim(11), connection.shim(1), "data still flows the other way");
        rig.observe(connection.join(End::Client, 13));
        assert_eq!(rig.shim(13), connection.shim(3));
    }
}

#[test]
fn after_both_fins_an_entry_is_valid_until_it_is_replaced() {
    let (connection, newcomer) = (Connection::new(Version::V1, 11), Connection::other(1));
    let mut rig = Rig::crowded(End::Client);
    rig.observe_all(&connection.handshake());
    rig.observe(plain(End::Client, 11, TcpFlags::FIN | TcpFlags::ACK));
    rig.observe(plain(End::Client, 11, TcpFlags::FIN | TcpFlags::ACK));
    rig.observe(newcomer.ack());
    assert_eq!(rig.counters().table_collisions, 1, "one end's FIN, twice");
    rig.observe(plain(End::Server, 11, TcpFlags::FIN | TcpFlags::ACK));
    rig.observe(connection.ack());
    assert_eq!(rig.counters().connections, 2, "still known");
    rig.observe(newcomer.data());
    assert_eq!(rig.counters().connections, 3);
}

#[test]
fn silence_ends_a_subflow_and_its_packets_keep_it() {
    let (mut rig, connection) = two_subflows(End::Server, Version::V1);
    rig.now = IDLE;
    assert_eq!(rig.shim(11), connection.shim(1));
    rig.now = IDLE + 1;
    assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), None), "12 was silent");
    rig.now = 2 * IDLE + 2;
    assert_eq!(rig.shim(11), None);
    rig.observe(connection.join(End::Client, 13));
    assert_eq!(rig.counters().unknown_tokens, 1, "nor does its token lead anywhere");
}

#[test]
fn an_idle_entry_gives_up_its_place() {
    let (old, new) = (Connection::new(Version::V1, 11), Connection::other(1));
    let mut rig = Rig::crowded(End::Client);
    rig.observe(old.ack());
    rig.now = IDLE;
    rig.observe(new.ack());
    assert_eq!((rig.counters().connections, rig.counters().table_collisions), (2, 1));
    rig.now = IDLE + 1;
    rig.observe(new.data());
    assert_eq!(rig.counters().connections, 3);
}

#[test]
fn a_new_connection_on_the_5_tuple_replaces_the_old() {
    for version in [Version::V0, Version::V1] {
        let (mut rig, old) = two_subflows(End::Client, version);
        let new = Connection { a: Key([3; 8]), b: Key([4; 8]), ..old };
        rig.observe_all(&new.handshake());
        assert_eq!(rig.shim(11), None, "one subflow again");
        rig.observe(new.join(End::Client, 13));
        rig.observe(old.join(End::Client, 14));
        let shims = [11, 12, 13, 14].map(|flow| rig.shim(flow));
        assert_eq!(shims, [new.shim(1), old.shim(2), new.shim(2), None]);
    }
}

#[test]
fn a_tcp_connection_on_the_5_tuple_ends_the_old() {
    for (from, flags) in
        [(End::Client, TcpFlags::SYN), (End::Server, TcpFlags::SYN | TcpFlags::ACK)]
    {
        let (mut rig, connection) = two_subflows(End::Client, Version::V1);
        rig.observe(plain(from, 12, flags));
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), None));
    }
}

#[test]
fn a_join_on_the_5_tuple_of_another_connections_subflow_replaces_it() {
    let (mut rig, first) = two_subflows(End::Client, Version::V1);
    let second = Connection { a: Key([3; 8]), b: Key([4; 8]), flow: 21, ..first };
    rig.observe_all(&second.handshake());
    rig.observe(second.join(End::Server, 12));
    assert_eq!(
        [11, 12, 21].map(|flow| rig.shim(flow)),
        [first.shim(1), second.shim(2), second.shim(1)]
    );
}

#[test]
fn a_clock_that_steps_back_ends_nothing() {
    let (mut rig, connection) = two_subflows(End::Client, Version::V1);
    rig.now = IDLE;
    assert_eq!(rig.shim(11), connection.shim(1));
    rig.now = 0;
    assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), connection.shim(2)));
}

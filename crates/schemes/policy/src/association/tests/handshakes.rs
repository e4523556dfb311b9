//! Successful handshakes with lost and repeated packets.

use super::*;

#[test]
fn version_0_is_associated_at_the_syn_ack() {
    for end in BOTH_ENDS {
        let (mut rig, connection) = (Rig::new(end, 64), Connection::new(Version::V0, 11));
        rig.observe(connection.syn());
        assert_eq!(rig.counters().connections, 0);
        rig.observe(connection.syn_ack());
        assert_eq!(rig.counters().connections, 1);
        assert_eq!(rig.shim(11), None, "one subflow needs no shim");
        rig.observe(connection.ack());
        rig.observe(connection.join(End::Client, 12));
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), connection.shim(2)));
        rig.observe_all(&connection.join_replies(End::Client, 12));
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), connection.shim(2)));
        assert_eq!((rig.counters().connections, rig.counters().joins), (1, 1));
    }
}

#[test]
fn version_1_is_associated_at_the_third_ack() {
    for end in BOTH_ENDS {
        let (mut rig, connection) = (Rig::new(end, 64), Connection::new(Version::V1, 11));
        rig.observe_all(&[connection.syn(), connection.syn_ack()]);
        assert_eq!(rig.counters().connections, 0, "no key A yet");
        rig.observe(connection.ack());
        assert_eq!(rig.counters().connections, 1);
        rig.observe(connection.join(End::Client, 12));
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), connection.shim(2)));
        assert_eq!(rig.shim(13), None, "another flow");
    }
}

#[test]
fn the_versions_hash_the_same_keys_to_different_ids() {
    let ids = [Version::V0, Version::V1].map(|version| Connection::new(version, 11).tokens().id());
    assert_ne!(ids[0], ids[1]);
    // Python: hashlib.sha1(bytes([1] * 8)).hexdigest()[:8], and of [2] * 8; the same with sha256.
    assert_eq!(ids[0].0, 0xc035_7a32_c088_da70);
    assert_eq!(ids[1].0, 0x04ab_c882_10ae_0fdb);
}

#[test]
fn either_end_opens_further_subflows_with_the_others_token() {
    for (end, version) in BOTH_ENDS.into_iter().zip([Version::V0, Version::V1]) {
        let connection = Connection::new(version, 11);
        let mut rig = Rig::with(end, &connection);
        rig.observe(connection.join(End::Server, 12));
        rig.observe(connection.join(End::Client, 13));
        assert_eq!([11, 12, 13].map(|flow| rig.shim(flow)), [1, 2, 3].map(|n| connection.shim(n)));
    }
}

/// True if a join is associated after the ToR has seen `packets` only.
fn suffices(version: Version, packets: &[Packet]) -> bool {
    let mut rig = Rig::new(End::Client, 64);
    rig.observe_all(packets);
    rig.observe(Connection::new(version, 11).join(End::Client, 12));
    rig.shim(12).is_some()
}

#[test]
fn packets_that_never_reached_the_tor() {
    let v1 = Connection::new(Version::V1, 11);
    assert!(suffices(Version::V1, &[v1.syn(), v1.syn_ack(), v1.data()]), "third ACK lost");
    assert!(suffices(Version::V1, &[v1.syn(), v1.ack()]), "SYN/ACK unseen");
    assert!(suffices(Version::V1, &[v1.ack()]), "SYN unseen, too");
    assert!(!suffices(Version::V1, &[v1.syn(), v1.syn_ack()]));
    let v0 = Connection::new(Version::V0, 11);
    assert!(suffices(Version::V0, &[v0.syn(), v0.syn_ack()]), "third ACK lost");
    assert!(suffices(Version::V0, &[v0.syn(), v0.ack()]), "SYN/ACK unseen");
    assert!(suffices(Version::V0, &[v0.syn_ack(), v0.ack()]), "SYN unseen");
    assert!(!suffices(Version::V0, &[v0.syn_ack()]));
}

#[test]
fn packets_that_were_lost_behind_the_tor_come_again() {
    for version in [Version::V0, Version::V1] {
        let connection = Connection::new(version, 11);
        let [syn, syn_ack, ack] = connection.handshake();
        let mut rig = Rig::new(End::Client, 64);
        rig.observe_all(&[syn, syn, syn_ack, syn, syn_ack, ack, syn_ack, ack]);
        let join = connection.join(End::Client, 12);
        rig.observe_all(&[join, join, join]);
        assert_eq!((rig.shim(11), rig.shim(12)), (connection.shim(1), connection.shim(2)));
        assert_eq!((rig.counters().connections, rig.counters().joins), (1, 1));
    }
}

#[test]
fn a_syn_that_comes_again_after_the_join_undoes_nothing() {
    for version in [Version::V0, Version::V1] {
        let connection = Connection::new(version, 11);
        let mut rig = Rig::with(End::Server, &connection);
        rig.observe(connection.join(End::Client, 12));
        rig.observe_all(&connection.handshake());
        rig.observe(connection.join(End::Client, 13));
        assert_eq!([11, 12, 13].map(|flow| rig.shim(flow)), [1, 2, 3].map(|n| connection.shim(n)));
    }
}

#[test]
fn simultaneous_joins_of_both_ends_are_distinguished() {
    for end in BOTH_ENDS {
        let connection = Connection::new(Version::V1, 11);
        let mut rig = Rig::with(end, &connection);
        let mut joins = [connection.join(End::Client, 12), connection.join(End::Server, 13)];
        if end == End::Server {
            joins.reverse(); // each ToR sees its own host's first
        }
        rig.observe_all(&joins);
        rig.observe_all(&connection.join_replies(End::Client, 12));
        rig.observe_all(&connection.join_replies(End::Server, 13));
        let numbers = [11, 12, 13].map(|flow| rig.shim(flow).unwrap().subflow.number());
        let expected = if end == End::Client { [1, 2, 3] } else { [1, 3, 2] };
        assert_eq!(numbers, expected, "a ToR numbers what leaves its own host");
    }
}

#[test]
fn a_connection_without_mptcp_in_its_syn_ack_is_tcp() {
    for version in [Version::V0, Version::V1] {
        let connection = Connection::new(version, 11);
        let mut rig = Rig::new(End::Client, 64);
        rig.observe(connection.syn());
        rig.observe(plain(End::Server, 11, TcpFlags::SYN | TcpFlags::ACK));
        rig.observe(connection.syn_ack());
        assert_eq!(rig.counters(), AssociationCounters::default(), "key A is gone");
    }
}

#[test]
fn the_seventeenth_subflow_takes_number_2_again() {
    let connection = Connection::new(Version::V1, 0);
    let mut rig = Rig::new(End::Client, 4096);
    rig.observe_all(&connection.handshake());
    rig.observe_all(&core::array::from_fn::<_, 17, _>(|i| {
        connection.join(End::Client, i as u32 + 1)
    }));
    assert_eq!(
        [0, 1, 15, 16, 17].map(|flow| rig.shim(flow)),
        [1, 2, 16, 2, 3].map(|n| connection.shim(n))
    );
    assert_eq!((rig.counters().joins, rig.counters().wraps), (17, 1));
}

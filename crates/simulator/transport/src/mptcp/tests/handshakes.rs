//! Handshakes of connections and subflows (RFC 8684 section 3.1 and 3.2, figures 3 and 8).

use std::vec::Vec;

use super::net::{Fate, Net, Sent};
use super::*;
use crate::mptcp::Handshake;
use crate::{Kind, Options};

const BYTES: u64 = 400_000;

fn run(config: MptcpConfig) -> Net {
    let mut net = Net::new([link(), link()]);
    net.open(config, &[0, 1], BYTES);
    net.run();
    net
}

/// Kinds and options of a path's segments that carry an MPTCP option or no data.
fn story(sent: &[Sent], path: usize) -> Vec<(Kind, Options)> {
    sent.iter()
        .filter(|sent| sent.path == path)
        .map(|sent| (sent.segment.kind, sent.segment.options))
        .filter(|(kind, options)| *kind != Kind::Data || matches!(options, Options::Mptcp(_)))
        .collect()
}

#[test]
fn version_1_sends_the_clients_key_in_the_third_packet_and_the_first_data() {
    let net = run(config());
    let there = story(&net.there, 0);
    let [(Kind::Syn, syn), (Kind::HandshakeAck, third), (Kind::Data, data)] = there[..] else {
        panic!("{there:?}")
    };
    assert_eq!(syn, Options::Mptcp(Handshake::Capable));
    let Options::Mptcp(Handshake::Keys(client, server)) = third else { panic!("{third:?}") };
    assert_eq!(data, third);
    assert_eq!(net.back[0].segment.options, Options::Mptcp(Handshake::Key(server)));
    assert_ne!(client, server);
}

#[test]
fn version_0_sends_the_clients_key_in_the_syn() {
    let net = run(MptcpConfig { version: Version::V0, ..config() });
    let there = story(&net.there, 0);
    let [(Kind::Syn, syn), (Kind::HandshakeAck, third)] = there[..] else { panic!("{there:?}") };
    let Options::Mptcp(Handshake::Keys(client, server)) = third else { panic!("{third:?}") };
    assert_eq!(syn, Options::Mptcp(Handshake::Key(client)));
    assert_eq!(net.back[0].segment.options, Options::Mptcp(Handshake::Key(server)));
}

#[test]
fn a_join_names_the_servers_token_and_both_ends_prove_the_keys_before_data_flows() {
    for version in [Version::V0, Version::V1] {
        let net = run(MptcpConfig { version, ..config() });
        let third = net.there.iter().find(|sent| sent.segment.kind == Kind::HandshakeAck).unwrap();
        let Options::Mptcp(Handshake::Keys(client, server)) = third.segment.options else {
            panic!("{third:?}")
        };
        let join: Vec<_> = net.there.iter().filter(|sent| sent.path == 1).take(3).collect();
        let Options::Mptcp(Handshake::JoinSyn(token, nonce_a)) = join[0].segment.options else {
            panic!("{join:?}")
        };
        assert_eq!(token, version.token(server));
        let acks: Vec<_> = net.back.iter().filter(|sent| sent.path == 1).take(2).collect();
        let Options::Mptcp(Handshake::JoinSynAck(hmac_b, nonce_b)) = acks[0].segment.options else {
            panic!("{acks:?}")
        };
        let expected = version.join_hmac(server, client, nonce_b, nonce_a).syn_ack();
        assert_eq!(hmac_b, expected.to_be_bytes());
        let hmac_a = version.join_hmac(client, server, nonce_a, nonce_b).ack();
        assert_eq!(join[1].segment.options, Options::Mptcp(Handshake::JoinAck(hmac_a)));
        assert_eq!(acks[1].segment.kind, Kind::Ack, "the fourth packet");
        assert_eq!(join[2].segment.kind, Kind::Data);
        assert!(join[2].at > acks[1].at, "data waits for the fourth packet");
    }
}

#[test]
fn a_client_joins_once_data_is_acknowledged_or_at_once() {
    let first_join = |version, join| {
        let mut net = run(MptcpConfig { version, join, ..config() });
        assert_eq!(net.flows[0].counters().refused_joins, 0);
        net.there.iter().find(|sent| sent.path == 1).unwrap().at
    };
    let round_trip = Time::micros(206);
    let at_once = first_join(Version::V0, JoinTime::AtOnce);
    assert!((Time::micros(200)..round_trip).contains(&at_once));
    let after_data = first_join(Version::V1, JoinTime::AfterData);
    assert!(after_data > Time::micros(400));
    assert_eq!(first_join(Version::V0, JoinTime::AfterData), after_data);
    // The server of version 1 does not know the client's key before.
    assert_eq!(first_join(Version::V1, JoinTime::AtOnce), after_data);
}

#[test]
fn one_subflow_makes_no_joins() {
    let mut net = Net::new([link()]);
    net.open(MptcpConfig { subflows: 1, ..config() }, &[0], BYTES);
    net.run();
    assert!(net.there.iter().all(|sent| sent.path == 0));
}

/// Loses the first segment that `lost` names; gives how the transfer went.
fn losing(config: MptcpConfig, lost: fn(usize, &crate::Segment) -> bool) -> Net {
    let mut done = false;
    let mut net = Net::new([link(), link()]).with_fate(move |path, segment, _| {
        if !done && lost(path, segment) {
            done = true;
            return Fate::Drop;
        }
        Fate::Pass
    });
    net.open(config, &[0, 1], 2 * BYTES);
    net.run();
    net
}

#[test]
fn any_packet_of_a_handshake_may_be_lost() {
    type Lost = fn(usize, &crate::Segment) -> bool;
    let cases: [(&str, Lost); 9] = [
        ("SYN", |path, s| path == 0 && s.kind == Kind::Syn),
        ("SYN/ACK", |path, s| path == 0 && s.kind == Kind::SynAck),
        ("third packet", |path, s| path == 0 && s.kind == Kind::HandshakeAck),
        ("first data", |path, s| path == 0 && s.kind == Kind::Data && s.seq == 0),
        ("join SYN", |path, s| path == 1 && s.kind == Kind::Syn),
        ("join SYN/ACK", |path, s| path == 1 && s.kind == Kind::SynAck),
        ("join proof", |path, s| path == 1 && s.kind == Kind::HandshakeAck),
        ("fourth packet", |path, s| path == 1 && s.kind == Kind::Ack),
        ("joined data", |path, s| path == 1 && s.kind == Kind::Data),
    ];
    for version in [Version::V0, Version::V1] {
        for (name, lost) in cases {
            let mut net = losing(MptcpConfig { version, ..config() }, lost);
            assert_eq!(net.flows[0].delivered(), 2 * BYTES, "{name}");
            let data = |path| net.there.iter().any(|s| s.path == path && s.segment.len > 0);
            assert!(data(0) && data(1), "both subflows carry data though the {name} was lost");
        }
    }
}

/// Joins that wait for the server to learn the client's key must not delay the segment that carries
/// it.
#[test]
fn the_key_is_repeated_before_joins_that_need_it() {
    let narrow = Link::new(Rate::mbps(100), Time::micros(100), Bytes(1_600));
    let mut lost = 0;
    let mut net = Net::new([narrow]).with_fate(move |path, segment, _| {
        let tells_key = path == 0 && matches!(segment.options, Options::Mptcp(Handshake::Keys(..)));
        lost += u32::from(tells_key);
        if tells_key && lost <= 2 { Fate::Drop } else { Fate::Pass }
    });
    let join = JoinTime::AtOnce;
    let flow = net.open(MptcpConfig { subflows: 4, join, ..config() }, &[0; 4], 20_000);
    net.run_until(Time::secs(2));
    assert_eq!(net.flows[flow].delivered(), 20_000);
}

#[test]
fn a_join_that_cannot_prove_the_keys_opens_nothing() {
    for kind in [Kind::SynAck, Kind::HandshakeAck] {
        let mut net = Net::new([link(), link()]);
        let flow = net.open(config(), &[0, 1], BYTES);
        net.forge = Some((1, kind));
        net.run();
        assert_eq!(net.flows[flow].delivered(), BYTES);
        let on_join = net.there.iter().filter(|sent| sent.path == 1);
        assert_eq!(on_join.filter(|sent| sent.segment.kind == Kind::Data).count(), 0);
    }
}

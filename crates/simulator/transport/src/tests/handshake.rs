//! Opening a connection.

use heddle_units::{Rate, Time};
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Kind, TcpConfig};

const LINK: Link = Link {
    rate: Rate::gbps(10),
    delay: Time::micros(50),
    buffer: heddle_units::Bytes(u64::MAX),
    mark_above: heddle_units::Bytes(u64::MAX),
};

fn kinds(net: &Net) -> Vec<(u64, Kind)> {
    net.forward.iter().map(|sent| (sent.at.as_nanos() / 1000, sent.segment.kind)).collect()
}

#[test]
fn nothing_is_sent_before_the_first_write() {
    let mut net = Net::new(TcpConfig::default(), LINK);
    net.open(0);
    net.run_until(Time::secs(1));
    assert!(net.forward.is_empty());
    net.write(100);
    net.run();
    assert_eq!(kinds(&net), [(1_000_000, Kind::Syn), (1_000_100, Kind::Data)]);
}

#[test]
fn data_follows_the_handshake_after_one_round_trip() {
    let mut net = Net::one(TcpConfig::default(), LINK, 3000);
    net.run();
    assert_eq!(
        kinds(&net),
        [(0, Kind::Syn), (100, Kind::Data), (100, Kind::Data), (100, Kind::Data)]
    );
    let lengths: Vec<_> = net.forward.iter().map(|sent| sent.segment.len).collect();
    assert_eq!(lengths, [0, 1460, 1460, 80]);
    let srtt = net.sender().srtt().unwrap();
    assert!(srtt.0.abs_diff(Time::micros(100).0) < Time::micros(2).0, "{srtt}");
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout_doubling() {
    let config = TcpConfig { initial_rto: Some(Time::millis(3)), ..TcpConfig::default() };
    let lost = |kind, n| if kind == Kind::Syn && n < 3 { Fate::Drop } else { Fate::Pass };
    let mut net = Net::one(config, LINK, 10_000).with_fate(lost);
    net.run();
    let syns: Vec<_> = kinds(&net).into_iter().filter(|(_, kind)| *kind == Kind::Syn).collect();
    assert_eq!(syns, [0, 3000, 9000, 21_000].map(|at| (at, Kind::Syn)));
    assert_eq!(net.sender().counters().timeouts, 3);
    assert_eq!(net.sender().counters().retransmitted, 3);
}

#[test]
fn after_a_lost_syn_the_initial_window_is_one_segment() {
    for kind in [Kind::Syn, Kind::SynAck] {
        let lost = move |k, n| if k == kind && n == 0 { Fate::Drop } else { Fate::Pass };
        let mut net = Net::one(TcpConfig::default(), LINK, 100_000).with_fate(lost);
        net.run_until(Time::micros(10_150));
        assert_eq!(kinds(&net).len(), 3, "{:?}", kinds(&net));
        assert_eq!((net.cwnd(), net.sender().counters().timeouts), (1, 1));
        net.run();
    }
}

#[test]
fn a_second_syn_ack_changes_nothing() {
    let twice = |kind, _| if kind == Kind::Syn { Fate::Duplicate } else { Fate::Pass };
    let mut net = Net::one(TcpConfig::default(), LINK, 100_000).with_fate(twice);
    net.run();
    assert_eq!(net.backward.iter().filter(|sent| sent.segment.kind == Kind::SynAck).count(), 2);
    assert_eq!(net.sender().counters().retransmitted, 0);
}

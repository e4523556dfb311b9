//! A receive window that is full of data behind a slow path: waiting, opportunistic retransmission,
//! penalising.

use std::collections::BTreeMap;
use std::vec::Vec;

use super::net::{Net, Sent};
use super::*;
use crate::Kind;

/// Raiciu et al., NSDI 2012, figure 4: WiFi of 8 Mbps and 20 ms with a buffer of 80 ms, and 3G of 2
/// Mbps and 150 ms with one of 2 s.
fn wifi() -> Link {
    Link::new(Rate::mbps(8), Time::millis(10), Bytes(80_000))
}

fn mobile() -> Link {
    Link::new(Rate::mbps(2), Time::millis(75), Bytes(500_000))
}

fn with(full_window: FullWindow, receive_window: u64) -> MptcpConfig {
    let receive_window = Bytes(receive_window);
    let tcp = TcpConfig { receive_window, min_rto: Time::millis(200), ..TcpConfig::default() };
    MptcpConfig { tcp, full_window, ..config() }
}

/// Mbps of a flow over 60 s.
fn goodput(mut net: Net) -> f64 {
    net.run_until(Time::secs(60));
    net.flows[0].delivered() as f64 * 8.0 / 60e6
}

fn over_both(config: MptcpConfig) -> Net {
    let mut net = Net::new([wifi(), mobile()]);
    net.open(config, &[0, 1], u64::MAX);
    net
}

/// Data segments that another path had carried before, with the time since then.
fn copies(net: &Net) -> Vec<(Sent, Sent)> {
    let mut first: BTreeMap<u64, Sent> = BTreeMap::new();
    let mut copies = Vec::new();
    for sent in net.there.iter().filter(|sent| sent.segment.kind == Kind::Data) {
        let before = *first.entry(sent.segment.data_seq).or_insert(*sent);
        if before.path != sent.path {
            copies.push((before, *sent));
        }
    }
    copies
}

/// The paper's claim: with a window that the slow path's data fills, plain MPTCP is worse than TCP
/// on the better path, and with both mechanisms it is better.
#[test]
fn with_a_full_window_penalising_makes_mptcp_better_than_tcp_on_the_better_path() {
    for window in [150_000, 200_000, 400_000] {
        let alone = {
            let mut net = Net::new([wifi()]);
            net.open_tcp(with(FullWindow::Wait, window).tcp, 0, u64::MAX);
            goodput(net)
        };
        let by = |full_window| goodput(over_both(with(full_window, window)));
        let (wait, penalise) = (by(FullWindow::Wait), by(FullWindow::Penalise));
        assert!(wait < 0.8 * alone, "{window}: {wait} and {alone}");
        assert!(penalise > 1.1 * alone, "{window}: {penalise} and {alone}");
    }
}

#[test]
fn the_fast_path_repeats_what_is_missing_once() {
    let mut net = over_both(with(FullWindow::Retransmit, 100_000));
    net.run_until(Time::secs(5));
    let copies = copies(&net);
    assert!(copies.len() > 10, "{}", copies.len());
    let acked_before = |at| {
        let acks = net.back.iter().filter(|ack| ack.at <= at);
        acks.map(|ack| ack.segment.data_seq).max().unwrap_or(0)
    };
    let mut sent = BTreeMap::new();
    for (first, copy) in &copies {
        assert_eq!((first.path, copy.path), (1, 0), "from the slow path to the fast one");
        assert!(copy.segment.data_seq <= acked_before(copy.at), "the first that is missing");
        *sent.entry((copy.segment.data_seq, copy.segment.seq)).or_insert(0) += 1;
    }
    let bytes: u64 = sent.keys().map(|_| 1460).sum();
    assert_eq!(net.flows[0].counters().reinjected, bytes, "each once, retransmissions aside");
    assert_eq!(net.flows[0].counters().penalties, 0);
}

/// A round-trip time of three times the other's: no copy, but a penalty, as in Linux.
#[test]
fn a_path_that_is_little_slower_is_not_helped_but_penalised() {
    let slow = Link::new(Rate::mbps(8), Time::millis(30), Bytes(20_000));
    for (full_window, penalised) in [(FullWindow::Retransmit, false), (FullWindow::Penalise, true)]
    {
        let mut net = Net::new([wifi(), slow]);
        let mut config = with(full_window, 30_000);
        config.tcp.initial_ssthresh = Some(8);
        net.open(config, &[0, 1], u64::MAX);
        net.run_until(Time::secs(2));
        let counters = net.flows[0].counters();
        assert_eq!(counters.penalties > 0, penalised, "{full_window:?}");
    }
}

#[test]
fn penalties_come_once_in_a_round_trip_of_the_fast_path() {
    let mut net = over_both(with(FullWindow::Penalise, 100_000));
    net.run_until(Time::secs(20));
    let penalties = net.flows[0].counters().penalties;
    assert!(penalties > 5, "{penalties}");
    assert!(penalties <= 20_000 / 20 + 1, "{penalties} in 20 s of round trips of 20 ms or more");
}

#[test]
fn a_window_with_room_changes_nothing() {
    let run = |full_window| {
        let mut net = over_both(with(full_window, 4_000_000));
        net.run_until(Time::secs(5));
        (net.flows[0].delivered(), net.flows[0].counters())
    };
    assert_eq!(run(FullWindow::Wait), run(FullWindow::Penalise));
}

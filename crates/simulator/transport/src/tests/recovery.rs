//! Loss recovery and reordering.

use heddle_units::{Rate, Time};
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Kind, Recovery, TcpConfig};

const MSS: u64 = 1460;
const RTT: Time = Time::micros(100);

fn config(recovery: Recovery) -> TcpConfig {
    TcpConfig { recovery, initial_window: 40, ..TcpConfig::default() }
}

fn link() -> Link {
    Link::new(Rate::gbps(100), RTT / 2)
}

/// Retransmissions: time in round trips since the first data, and segment number.
fn repeats(net: &Net) -> Vec<(u64, u64)> {
    let mut next = 0;
    let mut repeats = Vec::new();
    for sent in net.forward.iter().filter(|sent| sent.segment.kind == Kind::Data) {
        if sent.segment.seq < next {
            repeats.push(((sent.at.0 / RTT.0).saturating_sub(1), sent.segment.seq / MSS));
        }
        next = next.max(sent.segment.seq + u64::from(sent.segment.len));
    }
    repeats
}

fn only_fast(net: &Net, recoveries: u64) {
    let counters = net.sender().counters();
    assert_eq!((counters.timeouts, counters.fast_recoveries), (0, recoveries));
    assert_eq!(counters.retransmitted as usize, repeats(net).len());
}

#[test]
fn a_single_loss_is_repaired_in_a_round_trip_without_a_timeout() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut net = Net::one(config(recovery), link(), 400 * MSS).losing(&[10]);
        net.run();
        assert_eq!(repeats(&net), [(1, 10)], "{recovery:?}");
        only_fast(&net, 1);
    }
}

#[test]
fn the_third_duplicate_starts_recovery_and_limited_transmit_comes_before() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let config = TcpConfig { initial_window: 5, ..config(recovery) };
        let mut net = Net::one(config, link(), 400 * MSS).losing(&[1]);
        net.run_until(RTT * 2 + RTT / 2);
        let sent: Vec<_> = net.forward[6..].iter().map(|sent| sent.segment.seq / MSS).collect();
        // The first acknowledgement lets 5 and 6 go; two duplicates 7 and 8; the third calls for 1.
        assert_eq!(sent, [5, 6, 7, 8, 1], "{recovery:?}");
    }
}

#[test]
fn a_burst_of_losses_costs_sack_one_round_trip_and_newreno_one_for_each() {
    const LOST: &[u64] = &[10, 12, 14, 16, 18];
    let run = |recovery| {
        let mut net = Net::one(config(recovery), link(), 400 * MSS).losing(LOST);
        net.run();
        only_fast(&net, 1);
        repeats(&net)
    };
    // Half of the window of 50 has to leave the network before SACK sends more than it may.
    assert_eq!(run(Recovery::Sack), [(1, 10), (1, 12), (1, 14), (2, 16), (2, 18)]);
    assert_eq!(run(Recovery::NewReno), [(1, 10), (2, 12), (3, 14), (4, 16), (5, 18)]);
}

#[test]
fn sack_recovery_leaves_half_a_window_in_flight() {
    let mut net = Net::one(config(Recovery::Sack), link(), 4000 * MSS).losing(&[5, 6, 7, 30]);
    net.run_until(RTT * 3 + RTT / 2);
    assert_eq!(net.cwnd(), 22, "five acknowledgements, then half of 45");
    only_fast(&net, 1);
    let late = net.forward.iter().filter(|sent| sent.at > RTT * 2 + RTT / 2);
    assert_eq!(late.count(), 22, "a window for the round trip after the repair");
}

#[test]
fn newreno_leaves_recovery_without_a_burst() {
    let mut net = Net::one(config(Recovery::NewReno), link(), 4000 * MSS).losing(&[5, 6, 7, 30]);
    net.run_until(RTT * 12);
    only_fast(&net, 1);
    let mut times: Vec<_> = net.forward.iter().skip(41).map(|sent| sent.at).collect();
    times.dedup();
    let burst = |at| net.forward.iter().filter(|sent| sent.at == at).count();
    assert!(times.into_iter().all(|at| burst(at) <= 4));
}

#[test]
fn a_lost_retransmission_needs_a_timeout() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        // 40 segments, two for each of ten acknowledgements, two by limited transmit, then segment
        // 10 again.
        let mut net = Net::one(config(recovery), link(), 400 * MSS).losing(&[10, 62]);
        net.run();
        assert_eq!(repeats(&net)[..2], [(1, 10), (101, 10)], "{recovery:?}");
        assert_eq!(net.sender().counters().timeouts, 1);
    }
}

#[test]
fn a_rescue_retransmission_saves_a_lost_tail_behind_a_lost_hole() {
    // 10 is lost, and the last two: the first repair's acknowledgement shows that the tail is
    // missing.
    let mut net = Net::one(config(Recovery::Sack), link(), 40 * MSS).losing(&[10, 38, 39]);
    net.run();
    assert_eq!(repeats(&net), [(1, 10), (2, 39), (3, 38)]);
    only_fast(&net, 1);
}

#[test]
fn a_lost_tail_needs_a_timeout() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut net = Net::one(config(recovery), link(), 40 * MSS).losing(&[38, 39]);
        net.run();
        assert_eq!(repeats(&net), [(101, 38), (102, 39)], "{recovery:?}");
        assert_eq!(net.sender().counters().timeouts, 1);
        assert!(net.now > Time::millis(10) && net.now < Time::millis(11), "{}", net.now);
    }
}

#[test]
fn after_a_timeout_only_what_sack_reports_missing_is_sent_again() {
    const LOST: &[u64] = &[2, 4, 5, 6, 7, 8, 9];
    let short = |recovery| TcpConfig { initial_window: 10, ..config(recovery) };
    let mut sack = Net::one(short(Recovery::Sack), link(), 10 * MSS).losing(LOST);
    sack.run();
    assert_eq!(sack.sender().counters().timeouts, 1);
    let again: Vec<_> = repeats(&sack).into_iter().map(|(_, n)| n).collect();
    assert_eq!(again, [2, 4, 5, 6, 7, 8, 9]);

    let mut newreno = Net::one(short(Recovery::NewReno), link(), 10 * MSS).losing(LOST);
    newreno.run();
    assert_eq!(newreno.sender().counters().fast_recoveries, 0);
    let again: Vec<_> = repeats(&newreno).into_iter().map(|(_, n)| n).collect();
    assert_eq!(again, [2, 4, 5, 6, 7, 8, 9], "the acknowledgement of 2 covers 3 as well");
}

#[test]
fn lost_acknowledgements_cost_nothing_while_later_ones_come() {
    let lost = |kind, n| if kind == Kind::Ack && n % 3 != 2 { Fate::Drop } else { Fate::Pass };
    let mut net = Net::one(config(Recovery::Sack), link(), 402 * MSS).with_fate(lost);
    net.run();
    assert_eq!(repeats(&net), []);
}

#[test]
fn a_lost_last_acknowledgement_costs_a_timeout_and_one_segment() {
    let lost = |kind, n| if kind == Kind::Ack && n == 19 { Fate::Drop } else { Fate::Pass };
    let mut net = Net::one(config(Recovery::Sack), link(), 20 * MSS).with_fate(lost);
    net.run();
    assert_eq!(repeats(&net), [(101, 19)]);
    assert_eq!(net.receiver().delivered(), 20 * MSS);
}

/// Segment 10 comes late, so that `overtaken` others come before it.
fn reordered(recovery: Recovery, dup_threshold: u32, overtaken: u64) -> Net {
    let config = TcpConfig { dup_threshold, ..config(recovery) };
    let per_segment = Rate::gbps(100).time_for(heddle_units::Bytes(1518));
    let late = Fate::Delay(per_segment * overtaken + per_segment / 2);
    let fate = move |kind, n| if kind == Kind::Data && n == 10 { late } else { Fate::Pass };
    let mut net = Net::one(config, link(), 400 * MSS).with_fate(fate);
    net.run();
    net
}

#[test]
fn reordering_below_the_threshold_repeats_nothing_and_above_it_does() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        for (threshold, overtaken, recoveries) in [(3, 2, 0), (3, 3, 1), (10, 9, 0), (10, 10, 1)] {
            let net = reordered(recovery, threshold, overtaken);
            let counters = net.sender().counters();
            assert_eq!(
                counters.fast_recoveries, recoveries,
                "{recovery:?}: {threshold}, {overtaken}"
            );
            assert_eq!(counters.retransmitted > 0, recoveries > 0);
            assert!(recovery == Recovery::NewReno || counters.retransmitted <= 1, "10 alone");
            assert_eq!(net.receiver().reordered(), 1);
        }
    }
}

#[test]
fn a_high_threshold_keeps_sending_while_it_waits() {
    let net = reordered(Recovery::Sack, 1000, 35);
    assert_eq!(net.sender().counters().retransmitted, 0);
    // 40 in the first window; what overtakes lets as many go at once as it would have in order,
    // less the one missing.
    let second = net.forward.iter().filter(|sent| sent.at > RTT && sent.at < RTT * 2 + RTT / 2);
    assert!(second.count() >= 40 + 39);
}

#[test]
fn duplicated_segments_cost_nothing_with_sack() {
    let twice =
        |kind, n| if kind == Kind::Data && n % 2 == 0 { Fate::Duplicate } else { Fate::Pass };
    let mut net = Net::one(config(Recovery::Sack), link(), 400 * MSS).with_fate(twice);
    net.run();
    assert_eq!(repeats(&net), []);
    assert_eq!(net.receiver().reordered(), 0);
}

//! ECN: reductions of the window for marks instead of losses.

use heddle_units::{Bytes, Rate, Time};
use std::vec::Vec;

use super::net::{Fate, Link, Net};
use crate::{Control, Kind, TcpConfig};

const RTT: Time = Time::micros(100);
const LONG: u64 = u64::MAX / 2;

fn config(control: Control) -> TcpConfig {
    TcpConfig { control, initial_window: 40, ..TcpConfig::default() }
}

fn fast() -> Link {
    Link::new(Rate::gbps(1000), RTT / 2)
}

#[test]
fn many_marks_in_a_window_halve_it_once() {
    for (control, window) in [(Control::NewReno, 20), (Control::Cubic, 28)] {
        let mark = |kind, n| match kind {
            Kind::Data if (5..25).contains(&n) => Fate::Mark,
            _ => Fate::Pass,
        };
        let mut net = Net::one(config(control), fast(), LONG).with_fate(mark);
        net.run_until(RTT * 2 + RTT / 2);
        // Five acknowledgements of slow start come before the first mark's.
        let cut = (40 + 5) * window / 40;
        assert!(net.cwnd().abs_diff(cut) <= 1, "{control:?}: {}", net.cwnd());
        assert_eq!(net.forward.iter().filter(|sent| sent.segment.ecn.is_cwr()).count(), 1);
        assert_eq!(net.sender().counters().retransmitted, 0);
    }
}

#[test]
fn the_echo_lasts_until_the_window_is_reduced_and_no_longer() {
    let mark = |kind, n| if kind == Kind::Data && n == 10 { Fate::Mark } else { Fate::Pass };
    let mut net = Net::one(config(Control::NewReno), fast(), LONG).with_fate(mark);
    net.run_until(RTT * 6);
    let cwr = net.forward.iter().find(|sent| sent.segment.ecn.is_cwr()).unwrap().segment.seq / 1460;
    let echoed: Vec<_> = net
        .backward
        .iter()
        .filter(|sent| sent.segment.ecn.is_marked())
        .map(|sent| sent.segment.seq / 1460)
        .collect();
    assert_eq!(echoed, (11..=cwr).collect::<Vec<_>>());
}

#[test]
fn a_lossy_window_is_not_reduced_again_for_its_marks() {
    let fate = |kind, n| match (kind, n) {
        (Kind::Data, 10) => Fate::Drop,
        (Kind::Data, 20..39) => Fate::Mark,
        _ => Fate::Pass,
    };
    let mut net = Net::one(config(Control::NewReno), fast(), LONG).with_fate(fate);
    net.run_until(RTT * 3 + RTT / 2);
    // Ten acknowledgements come before the loss, a round trip of congestion avoidance after its
    // repair.
    assert!((25..=26).contains(&net.cwnd()), "{}", net.cwnd());
}

/// DCTCP on 10 Gbps and 100 us with K of 65 segments, the DCTCP paper's own setting (SIGCOMM 2010,
/// section 3.3).
fn dctcp(flows: u64, delayed_ack: Option<Time>) -> (Vec<u64>, f64) {
    const K: u64 = 65;
    let link = Link { mark_above: Bytes(K * 1518), ..Link::new(Rate::gbps(10), RTT / 2) };
    let mut net =
        Net::new(TcpConfig { control: Control::Dctcp, delayed_ack, ..TcpConfig::default() }, link);
    for _ in 0..flows {
        net.open(LONG);
        net.run_until(net.now + Time::micros(37));
    }
    net.run_until(Time::millis(100));
    let (start, before) = (net.now, net.backward.len());
    let mut queues = Vec::new();
    while net.now < Time::millis(300) {
        net.run_until(net.now + Time::micros(7));
        queues.push(net.queue() / 1518);
    }
    let acks = &net.backward[before..];
    assert!(net.now > start && net.sender().counters().retransmitted == 0);
    let marked = acks.iter().filter(|sent| sent.segment.ecn.is_marked()).count();
    (queues, marked as f64 / acks.len() as f64)
}

/// The paper's alpha for one flow of window w: alpha^2 (1 - alpha / 4) = (2w + 1) / (w + 1)^2
/// (equation 6).
fn alpha(w: f64) -> f64 {
    let right = (2.0 * w + 1.0) / ((w + 1.0) * (w + 1.0));
    (0..50).fold(0.1, |alpha: f64, _| libm::sqrt(right / (1.0 - alpha / 4.0)))
}

#[test]
fn dctcp_keeps_the_queue_near_k_and_marks_by_theory() {
    for delayed_ack in [None, Some(Time::micros(200))] {
        let (queues, marked) = dctcp(1, delayed_ack);
        let w = (125_000.0 / 1518.0) + 65.0;
        let swing = (w + 1.0) * alpha(w) / 2.0;
        let (low, high) = (*queues.iter().min().unwrap(), *queues.iter().max().unwrap());
        assert!((65..=67).contains(&high), "up to {high}");
        let bottom = 66.0 - swing;
        assert!((low as f64 - bottom).abs() < 2.0, "down to {low}, theory says {bottom:.1}");
        assert!((marked / alpha(w) - 1.0).abs() < 0.2, "{marked:.3} marked, alpha {:.3}", alpha(w));
    }
}

#[test]
fn dctcp_flows_together_keep_the_queue_near_k() {
    let (queues, _) = dctcp(10, None);
    let mean = queues.iter().sum::<u64>() as f64 / queues.len() as f64;
    assert!((45.0..85.0).contains(&mean), "mean {mean:.1}");
    assert!(*queues.iter().min().unwrap() > 10, "the link is never idle");
}

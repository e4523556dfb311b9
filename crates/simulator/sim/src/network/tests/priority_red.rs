//! RED at switches' ports that send the first bytes of flows before others: an average for each
//! queue, against schedules by hand. Both thresholds are one, above which all data is marked.

use heddle_scenario::{Red, Share};

use super::priority_queue::switch_port;
use super::*;

/// RED whose thresholds are one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneThreshold {
    pub(super) above: u64,
    pub(super) weight: f64,
    pub(super) on_departure: bool,
}

pub(super) fn red_port(limits: PortLimits, red: OneThreshold) -> Network {
    let share = |share| Share::new(share).unwrap();
    let red = Red {
        min: Bytes(red.above),
        max: Bytes(red.above),
        probability: share(1.0),
        weight: share(red.weight),
        gentle: false,
        on_departure: red.on_departure,
        to_hosts: true,
    };
    let class = LinkClass::new(RATE, DELAY, limits).managed();
    let random = Random::new(1, Stream::Marks);
    Network {
        classes: vec![class.with_priority(Priority::FirstBytes)],
        management: Management::of_ports(vec![0], None, Some(red), random),
        ..switch_port(limits)
    }
}

fn port(above: u64, weight: f64, on_departure: bool) -> Network {
    red_port(limits(100_000), OneThreshold { above, weight, on_departure })
}

/// True of each packet that arrives marked; its size tells its queue: 1000 or 1001 bytes.
fn marked(network: &mut Network) -> Vec<(u16, bool)> {
    network.arrivals(LATER).iter().map(|(_, size, marked)| (*size, *marked)).collect()
}

/// Sends a packet that starts at once, four of the first queue and four of the second.
fn fill(network: &mut Network) {
    network.send_data(Time::ZERO, 1001);
    (0..4).for_each(|_| network.send_early(Time::ZERO, 1000));
    (0..4).for_each(|_| network.send_data(Time::ZERO, 1001));
}

#[test]
fn each_queue_counts_its_own_packets_and_the_one_in_transmission() {
    let mut network = port(2500, 1.0, false);
    fill(&mut network);
    let first = [false, false, true, true].map(|marked| (1000, marked));
    let second = [false, false, true, true].map(|marked| (1001, marked));
    let expected = [&[(1001, false)][..], &first, &second].concat();
    assert_eq!(marked(&mut network), expected, "1001 bytes before the first of each, then 2000");
}

#[test]
fn a_departing_packet_counts_those_behind_it_in_its_queue() {
    let mut network = port(2500, 1.0, true);
    fill(&mut network);
    let first = [true, false, false, false].map(|marked| (1000, marked));
    let second = [true, false, false, false].map(|marked| (1001, marked));
    let expected = [&[(1001, false)][..], &first, &second].concat();
    assert_eq!(marked(&mut network), expected, "the first of all does not wait; 3000 behind");
}

/// With a weight of a half the averages are 0 (of the packet that starts at once), 500.5, 1251.25,
/// 2127.125 of the second queue, and 500.5, 1250.75, 2125.875 of the first.
#[test]
fn each_queue_has_an_average_of_its_own() {
    let mut network = port(1500, 0.5, false);
    (0..4).for_each(|_| network.send_data(Time::ZERO, 1001));
    (0..3).for_each(|_| network.send_early(Time::ZERO, 1000));
    let first = [(1000, false), (1000, false), (1000, true)];
    let second = [(1001, false), (1001, false), (1001, true)];
    assert_eq!(marked(&mut network), [&[(1001, false)][..], &first, &second].concat());
}

/// The first queue's average is 3187.5 when its last packet has found 4500 bytes, which is sent at
/// byte 6000. At byte 9000 it has been idle for two packets of 1500: a quarter is left, and with the
/// 1500 bytes in transmission it becomes 1148. The second queue is not idle meanwhile.
#[test]
fn the_average_of_a_queue_decays_while_it_is_idle_and_the_other_is_sent() {
    let mut network = port(2000, 0.5, false);
    network.send_data(Time::ZERO, 1500);
    (0..3).for_each(|_| network.send_early(Time::ZERO, 1500));
    (0..4).for_each(|_| network.send_data(Time::ZERO, 1500));
    let mut marks = Vec::new();
    let mut arrived = |network: &mut Network, until| {
        marks.extend(network.arrivals(until).into_iter().map(|(_, _, marked)| marked));
    };
    arrived(&mut network, bytes(9000));
    network.send_early(bytes(9000), 1500);
    network.check(bytes(9000));
    arrived(&mut network, LATER);
    // Data, three that go first, two of data; the third, the late one, the fourth.
    assert_eq!(marks, [false, false, false, true, false, false, true, false, true]);
}

#[test]
fn control_packets_are_averaged_and_not_marked() {
    let mut network = port(2500, 1.0, false);
    network.send_data(Time::ZERO, 1001);
    let control = Segment { kind: heddle_transport::Kind::Ack, ..Segment::default() };
    (0..30).for_each(|_| network.send_segment(Time::ZERO, 64, PacketKind::Reverse, control));
    network.send_early(Time::ZERO, 1000);
    network.send_data(Time::ZERO, 1001);
    let arrived = marked(&mut network);
    assert_eq!(arrived.iter().filter(|arrival| arrival.1).count(), 1);
    assert!(arrived.contains(&(1000, true)), "30 times 64 and 1001 bytes before it");
}

//! Switches' ports that send control packets first: two queues with a buffer each, and headers of
//! packets whose payload is cut off.

use heddle_scenario::{Impairment, Red, Share};
use heddle_transport::Kind;

use super::*;

pub(super) fn port(limits: PortLimits, trim_above: Option<Bytes>) -> Network {
    let class = LinkClass::new(RATE, DELAY, limits).with_priority(Priority::ControlFirst);
    Network {
        classes: vec![class.trimming(trim_above)],
        priority_queues: vec![PriorityQueue::default()],
        ..one_port(limits, None)
    }
}

impl Network {
    /// Sends data of 1500 bytes on the wire.
    fn send_full(&mut self, now: Time) {
        let segment = Segment { len: 1442, ..Segment::default() };
        self.send_segment(now, 1500, PacketKind::Forward, segment);
        self.check(now);
    }

    fn send_control(&mut self, now: Time) {
        let segment = Segment { kind: Kind::Ack, ..Segment::default() };
        self.send_segment(now, 64, PacketKind::Reverse, segment);
        self.check(now);
    }
}

/// Each arrival as the byte at which its transmission ends, and its size.
fn ends(network: &mut Network) -> Vec<(u64, u16)> {
    let arrived = network.arrivals(LATER).into_iter();
    arrived.map(|(at, size, _)| ((at - DELAY).0 / bytes(1).0, size)).collect()
}

#[test]
fn control_packets_go_first_and_take_no_room_from_data() {
    let mut network = port(limits(4500), None);
    network.send_full(Time::ZERO);
    (0..5).for_each(|_| network.send_control(bytes(100)));
    network.send_full(bytes(100));
    network.send_full(bytes(100));
    assert_eq!(network.port_stats[0].buffer_drops, 0, "1400 and twice 1500 fit");
    network.send_full(bytes(100));
    assert_eq!(network.port_stats[0].buffer_drops, 1);
    let acks = [1564, 1628, 1692, 1756, 1820].map(|end| (end, 64));
    let data = [(3320, 1500), (4820, 1500)];
    assert_eq!(ends(&mut network), [&[(1500, 1500)][..], &acks, &data].concat());
}

#[test]
fn control_packets_have_a_buffer_of_the_same_size() {
    let mut network = port(limits(3000), None);
    network.send_full(Time::ZERO);
    network.send_full(Time::ZERO);
    (0..24).for_each(|_| network.send_control(Time::ZERO));
    assert_eq!(network.port_stats[0].buffer_drops, 1, "1500 and 23 times 64 are 2972");
}

#[test]
fn data_is_marked_by_the_data_before_it_alone() {
    let limits = PortLimits { mark_above: Some(Bytes(3000)), ..limits(100_000) };
    let mut network = port(limits, None);
    network.send_full(Time::ZERO);
    (0..50).for_each(|_| network.send_control(Time::ZERO));
    (0..3).for_each(|_| network.send_full(Time::ZERO));
    let data = network.arrivals(LATER).into_iter().filter(|arrival| arrival.1 == 1500);
    let marked: Vec<bool> = data.map(|arrival| arrival.2).collect();
    assert_eq!(marked, [false, false, false, true], "0, 1500, 3000 and 4500 bytes before them");
}

/// RED whose average is the queue and whose thresholds are one, as `mark_above`.
pub(super) fn red(threshold: u64, on_departure: bool) -> Management {
    let share = |share| Share::new(share).unwrap();
    let red = Red {
        min: Bytes(threshold),
        max: Bytes(threshold),
        probability: share(1.0),
        weight: share(1.0),
        gentle: false,
        on_departure,
        to_hosts: true,
    };
    Management::of_ports(vec![0], None, Some(red), Random::new(1, Stream::Marks))
}

/// A port that marks by RED at 3000 bytes, on arrival or on departure.
fn red_port(on_departure: bool) -> Network {
    let class = LinkClass::new(RATE, DELAY, limits(100_000)).managed();
    Network {
        classes: vec![class.with_priority(Priority::ControlFirst)],
        management: red(3000, on_departure),
        ..port(limits(100_000), None)
    }
}

/// True of each of five data packets that is marked, with control packets between them.
fn marked(mut network: Network) -> Vec<bool> {
    network.send_full(Time::ZERO);
    (0..50).for_each(|_| network.send_control(Time::ZERO));
    (0..4).for_each(|_| network.send_full(Time::ZERO));
    let data = network.arrivals(LATER).into_iter().filter(|arrival| arrival.1 == 1500);
    data.map(|arrival| arrival.2).collect()
}

#[test]
fn red_averages_data_alone() {
    let expected = [false, false, false, true, true];
    assert_eq!(marked(red_port(false)), expected, "0, 1500, 3000 and more before them");
}

#[test]
fn red_on_departure_counts_the_data_behind() {
    let expected = [false, true, false, false, false];
    assert_eq!(
        marked(red_port(true)),
        expected,
        "the first does not wait; 4500, 3000 and less behind"
    );
}

#[test]
fn data_above_the_threshold_is_cut_to_its_header_which_goes_first() {
    let mut network = port(limits(100_000), Some(Bytes(4500)));
    (0..3).for_each(|_| network.send_full(Time::ZERO));
    network.send_control(bytes(100));
    network.send_full(bytes(100));
    network.send_full(bytes(1700));
    assert_eq!(network.port_stats[0].trims, 1, "4400 bytes were before it; then 2928");
    let expected = [(1500, 1500), (1564, 64), (1628, 64), (3128, 1500), (4628, 1500), (6128, 1500)];
    assert_eq!(ends(&mut network), expected);
    assert_eq!(network.port_stats[0].buffer_drops, 0);
}

#[test]
fn headers_are_dropped_only_where_control_packets_are() {
    let mut network = port(limits(3000), Some(Bytes(3000)));
    (0..40).for_each(|_| network.send_full(Time::ZERO));
    let stats = network.port_stats[0];
    assert_eq!((stats.trims, stats.buffer_drops), (38, 38 - 23));
}

#[test]
fn a_changed_rate_changes_the_thresholds_with_it() {
    let mut network = port(limits(100_000), Some(Bytes(4500)));
    let half = Impairment { rate: Some(Rate::gbps(5)), ..Impairment::default() };
    network.degrade(Time::ZERO, 0, 0, &half);
    (0..4).for_each(|_| network.send_full(Time::ZERO));
    assert_eq!(network.port_stats[0].trims, 1);
    assert_eq!(ends(&mut network), [(3000, 1500), (3128, 64), (6128, 1500), (9128, 1500)]);
}

/// A port of 2.5 Gbps whose limits are given for 10 Gbps has a quarter of them: it cuts data that
/// does not fit into 6000 bytes, and RED marks behind more than 3000.
#[test]
fn scaled_limits_are_in_proportion_to_the_rate() {
    const QUARTER: Rate = Rate::mbps(2500);
    let class = LinkClass::new(QUARTER, DELAY, limits(24_000)).limits_at(Some(RATE)).managed();
    let class = class.with_priority(Priority::ControlFirst).trimming(Some(Bytes(24_000)));
    let mut network = Network {
        classes: vec![class],
        management: red(12_000, false),
        ..port(limits(24_000), None)
    };
    (0..6).for_each(|_| network.send_full(Time::ZERO));
    let stats = network.port_stats[0];
    assert_eq!((stats.trims, stats.ecn_marks), (2, 1), "four fit, of which the last finds 4500");
    let end = |bytes| QUARTER.time_for(Bytes(bytes)) + DELAY;
    let headers = [1564, 1628].map(|bytes| (end(bytes), 64, false));
    let data = |bytes, marked| (end(bytes), 1500, marked);
    let rest = [data(3128, false), data(4628, false), data(6128, true)];
    let expected = [&[data(1500, false)][..], &headers, &rest].concat();
    assert_eq!(network.arrivals(LATER), expected);
}

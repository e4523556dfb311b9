//! Traces of one port against computed values.

use heddle_transport::Kind;

use super::*;

#[test]
fn a_packet_takes_its_transmission_and_the_links_delay() {
    let mut network = one_port(limits(10_000), None);
    network.send_data(Time::ZERO, 1500);
    network.send_data(Time::ZERO, 64);
    network.send_data(bytes(1000), 100);
    let expected = [(1500, 1500), (1564, 64), (1664, 100)];
    let expected = expected.map(|(end, size)| (bytes(end) + DELAY, size, false));
    assert_eq!(network.arrivals(LATER), expected);
}

#[test]
fn a_buffer_drops_what_does_not_fit_beside_the_rest_of_the_packet_in_transmission() {
    let mut network = one_port(limits(3000), None);
    network.send_data(Time::ZERO, 1500);
    network.send_data(Time::ZERO, 1500);
    network.send_data(Time::ZERO, 64);
    assert_eq!(network.port_stats[0].buffer_drops, 1, "3000 bytes are full");
    network.send_data(bytes(63), 64);
    assert_eq!(network.port_stats[0].buffer_drops, 2, "63 bytes have left");
    network.send_data(bytes(64), 64);
    assert_eq!(network.port_stats[0].buffer_drops, 2, "64 bytes have left");
    assert_eq!(network.arrivals(LATER).len(), 3);
}

#[test]
fn a_limit_of_packets_does_not_count_the_one_in_transmission() {
    let mut network = one_port(PortLimits { packets: Some(2), ..limits(100_000) }, None);
    for _ in 0..4 {
        network.send_data(Time::ZERO, 1000);
    }
    assert_eq!(network.port_stats[0].buffer_drops, 1, "one in transmission, two wait");
    network.send_data(bytes(1000) - Time(1), 1000);
    assert_eq!(network.port_stats[0].buffer_drops, 2, "just before the first has left");
    network.send_data(bytes(1000), 1000);
    assert_eq!(network.port_stats[0].buffer_drops, 2);
    assert_eq!(network.arrivals(LATER).len(), 4);
}

#[test]
fn a_port_where_nothing_may_wait_still_sends() {
    let mut network = one_port(PortLimits { packets: Some(0), ..limits(100_000) }, None);
    network.send_data(Time::ZERO, 1000);
    network.send_data(Time::ZERO, 1000);
    network.send_data(bytes(1000), 1000);
    assert_eq!(network.port_stats[0].buffer_drops, 1);
    assert_eq!(network.arrivals(LATER).len(), 2);
}

#[test]
fn packets_that_find_more_than_the_threshold_are_marked() {
    let mark_above = Some(Bytes(2000));
    let mut network = one_port(PortLimits { mark_above, ..limits(100_000) }, None);
    for size in [1000, 1000, 1, 1] {
        network.send_data(Time::ZERO, size);
    }
    let marked: Vec<bool> = network.arrivals(LATER).iter().map(|arrival| arrival.2).collect();
    assert_eq!(marked, [false, false, false, true], "found 0, 1000, 2000 and 2001 bytes");
    assert_eq!(network.port_stats[0].ecn_marks, 1);
}

/// RFC 3168 sections 5.2 and 6.1.1: acknowledgements and SYNs are not ECN-capable.
#[test]
fn only_data_is_marked() {
    let mark_above = Some(Bytes(100));
    let mut network = one_port(PortLimits { mark_above, ..limits(100_000) }, None);
    network.send_data(Time::ZERO, 1000);
    let of_kind = |kind| Segment { kind, ..Segment::default() };
    for (packet, kind) in [
        (PacketKind::Reverse, Kind::Ack),
        (PacketKind::Reverse, Kind::SynAck),
        (PacketKind::Forward, Kind::Syn),
        (PacketKind::Probe, Kind::default()),
        (PacketKind::Forward, Kind::Data),
    ] {
        network.send_segment(Time::ZERO, 64, packet, of_kind(kind));
    }
    let marked: Vec<bool> = network.arrivals(LATER).iter().map(|arrival| arrival.2).collect();
    assert_eq!(marked, [false, false, false, false, false, true]);
    assert_eq!(network.port_stats[0].ecn_marks, 1);
}

#[test]
fn a_failure_loses_what_is_on_the_link_and_what_is_sent_to_it() {
    let mut network = one_port(limits(10_000), None);
    network.send_data(Time::ZERO, 1000);
    network.send_data(Time::ZERO, 1000);
    network.fail(0, bytes(500));
    network.check(bytes(500));
    network.send_data(bytes(600), 1000);
    assert_eq!(network.port_stats[0], PortStats { failure_drops: 3, ..PortStats::default() });
    network.recover(0);
    network.send_data(bytes(700), 1000);
    assert_eq!(network.arrivals(LATER), [(bytes(1700) + DELAY, 1000, false)]);
}

/// The pending event of a lost packet may coincide with another arrival; each packet is taken once.
#[test]
fn an_event_left_over_from_a_failure_takes_nothing_twice() {
    let mut network = one_port(limits(10_000), None);
    network.send_data(Time::ZERO, 1000);
    network.fail(0, Time::ZERO);
    network.recover(0);
    network.send_data(Time::ZERO, 1000);
    network.send_data(Time::ZERO, 1000);
    let expected = [1000, 2000].map(|end| (bytes(end) + DELAY, 1000, false));
    assert_eq!(network.arrivals(LATER), expected);
}

#[test]
fn packets_dropped_from_the_queue_by_a_failure_were_not_sent() {
    let mut network = one_port(limits(10_000), None);
    network.send_data(Time::ZERO, 1000);
    network.send_data(Time::ZERO, 1000);
    network.fail(0, bytes(500));
    assert_eq!(network.ports[0].accepted_bytes, 500);
}

/// Waiting packets do not count.
#[test]
fn utilisation_counts_a_packet_when_it_starts_and_not_when_it_is_queued() {
    let shift = DreShift(17);
    let mut network = one_port(limits(10_000_000), Some(shift));
    for _ in 0..1000 {
        network.send_data(Time::ZERO, 1500);
    }
    let one_packet = (1500 << 16) / RATE.bytes_in(Time::nanos(shift.tau())).0;
    assert_eq!(u64::from(network.utilisation(0, Time::ZERO)), one_packet);
    let full = network.utilisation(0, bytes(1500 * 900));
    assert!(full > 60_000, "an overloaded port reads about 1: {full}");
}

/// The link is busy for half of the time, whether packets come one by one or wait for each other,
/// and whether or not they have arrived when the next ones come.
#[test]
fn utilisation_is_the_share_of_time_that_a_link_is_busy() {
    let shift = DreShift(17);
    for (together, delay) in [(1, DELAY), (2, DELAY), (8, DELAY), (8, Time::micros(100))] {
        let mut network = one_port(limits(10_000_000), Some(shift));
        network.classes[0].delay = delay;
        for burst in 0..2000 / together {
            let now = bytes(3000 * together * burst);
            network.arrivals(now);
            (0..together).for_each(|_| network.send_data(now, 1500));
        }
        let half = network.utilisation(0, bytes(3000 * 2000));
        assert!((30_000..34_500).contains(&half), "{together} together: {half}");
    }
}

//! A host's own port: control packets go before data that waits.

use heddle_transport::Kind;

use super::*;

fn host_port() -> Network {
    let network = one_port(limits(100_000), None);
    let classes = vec![LinkClass::new(RATE, DELAY, limits(100_000)).of_host()];
    Network { classes, host_queues: vec![HostQueue::default()], ..network }
}

impl Network {
    fn send_ack(&mut self, now: Time) {
        let segment = Segment { kind: Kind::Ack, ..Segment::default() };
        self.send_segment(now, 64, PacketKind::Reverse, segment);
        self.check(now);
    }
}

/// Each arrival as the byte at which its transmission ends, and its size.
fn ends(network: &mut Network) -> Vec<(Time, u16)> {
    network.arrivals(LATER).into_iter().map(|(at, size, _)| (at - DELAY, size)).collect()
}

#[test]
fn an_acknowledgement_waits_for_the_packet_in_transmission_alone() {
    let mut network = host_port();
    for _ in 0..3 {
        network.send_data(Time::ZERO, 1500);
    }
    network.send_ack(bytes(100));
    network.send_data(bytes(200), 1000);
    let expected = [(1500, 1500), (1564, 64), (3064, 1500), (4564, 1500), (5564, 1000)];
    assert_eq!(ends(&mut network), expected.map(|(end, size)| (bytes(end), size)));
}

#[test]
fn acknowledgements_keep_their_order_and_data_its_own() {
    let mut network = host_port();
    network.send_data(Time::ZERO, 1500);
    network.send_data(Time::ZERO, 1500);
    network.send_ack(bytes(10));
    network.send_ack(bytes(20));
    // The second data packet starts at byte 1628; this one waits for it.
    network.send_ack(bytes(1700));
    network.send_data(bytes(1700), 700);
    let expected = [(1500, 1500), (1564, 64), (1628, 64), (3128, 1500), (3192, 64), (3892, 700)];
    assert_eq!(ends(&mut network), expected.map(|(end, size)| (bytes(end), size)));
}

#[test]
fn a_port_that_fails_forgets_its_queue() {
    let mut network = host_port();
    for _ in 0..3 {
        network.send_data(Time::ZERO, 1500);
    }
    network.send_ack(bytes(100));
    network.fail(0, bytes(200));
    network.send_ack(bytes(300));
    assert_eq!(network.port_stats[0].failure_drops, 5);
    network.recover(0);
    let at = bytes(10_000);
    network.send_data(at, 1500);
    network.send_ack(at);
    assert_eq!(ends(&mut network), [(at + bytes(1500), 1500), (at + bytes(1564), 64)]);
}

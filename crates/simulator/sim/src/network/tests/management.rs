//! RED and shared buffers against the closed forms of their papers.

use heddle_scenario::{Red, Share, SharedBuffer};

use super::super::management::Average;
use super::*;

const RED: (u64, u64) = (30_000, 90_000);

fn red(probability: f64, weight: f64) -> Red {
    let share = |share| Share::new(share).unwrap();
    Red {
        min: Bytes(RED.0),
        max: Bytes(RED.1),
        probability: share(probability),
        weight: share(weight),
        gentle: false,
        on_departure: false,
        to_hosts: true,
    }
}

fn class() -> LinkClass {
    LinkClass::new(RATE, DELAY, limits(1_000_000))
}

/// An average of this many bytes: a packet of weight 1 found them.
fn average(held: u64) -> Average {
    let mut average = Average::default();
    average.update(&red(0.1, 1.0), bytes(held), Time::ZERO, &class());
    average
}

/// Packets from one mark to the next at a constant average.
fn gaps(red: &Red, held: u64, count: usize) -> Vec<u32> {
    let (mut average, mut random) = (average(held), Random::new(1, Stream::Marks));
    let mut gaps = Vec::new();
    let mut gap = 0;
    while gaps.len() < count {
        gap += 1;
        if average.draw(red, &class(), &mut random) {
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps
}

/// Floyd and Jacobson, section 7: uniform from 1 to 1 / p, where p grows linearly from `min` to
/// `max`. 60 KB are half of the way: 1 / p is 20.
#[test]
fn packets_between_marks_are_uniform() {
    let gaps = gaps(&red(0.1, 0.002), 60_000, 20_000);
    let mut counts = [0u32; 20];
    gaps.iter().for_each(|&gap| counts[gap as usize - 1] += 1);
    let expected = 1000.0;
    let chi_squared: f64 =
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    // 19 degrees of freedom: exceeded with a probability of 0.001.
    assert!(chi_squared < 43.82, "{chi_squared}: {counts:?}");
}

/// One mark in (1 / p + 1) / 2 packets, the mean of that distribution.
#[test]
fn the_share_of_marks_grows_linearly_and_then_at_once_or_gently() {
    let share = |red: &Red, held| {
        let gaps = gaps(red, held, 5000);
        1.0 / (f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64)
    };
    let near = |found: f64, probability: f64| {
        let expected = 2.0 / (1.0 / probability + 1.0);
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
    };
    let abrupt = red(0.1, 0.002);
    near(share(&abrupt, 45_000), 0.025);
    near(share(&abrupt, 75_000), 0.075);
    near(share(&abrupt, 90_001), 1.0);
    let gentle = Red { gentle: true, ..abrupt };
    near(share(&gentle, 90_000), 0.1);
    near(share(&gentle, 135_000), 0.55);
    near(share(&gentle, 180_001), 1.0);
    let (mut below, mut random) = (average(RED.0), Random::new(1, Stream::Marks));
    assert!((0..1000).all(|_| !below.draw(&abrupt, &class(), &mut random)), "not above `min`");
}

/// After n packets that find q bytes the average is q (1 - (1 - w)^n) (section 6, equation 2 for a
/// constant queue).
#[test]
fn the_average_follows_a_constant_queue_and_decays_while_the_port_is_idle() {
    let red = red(0.1, 0.01);
    let mut grown = Average::default();
    for count in 1..=500 {
        grown.update(&red, bytes(60_000), Time::ZERO, &class());
        let share = 1.0 - 0.99_f64.powi(count);
        let expected = bytes(60_000).0 as f64 * share;
        assert!((grown.waiting() / expected - 1.0).abs() < 1e-6, "{count}");
    }
    // Idle for 69 packets, and the packet that finds the port free: the share that is left is
    // 0.99^70, about a half.
    let before = grown.waiting();
    grown.update(&red, Time::ZERO, bytes(1500) * 69, &class());
    assert!((grown.waiting() / before - 0.99_f64.powi(70)).abs() < 1e-6);
}

/// The ports of one switch.
fn switch(ports: usize, shared: SharedBuffer) -> Network {
    let class = LinkClass::new(RATE, DELAY, limits(shared.bytes.0)).managed();
    let random = Random::new(1, Stream::Marks);
    Network {
        ports: vec![Port::new(0, 0); ports],
        port_stats: vec![PortStats::default(); ports],
        classes: vec![class],
        management: Management::of_ports(vec![0; ports], Some(shared), None, random),
        ..one_port(limits(shared.bytes.0), None)
    }
}

impl Network {
    fn send_to(&mut self, now: Time, port: u32) {
        let packet = self.packets.add(hot(now, 1500, PacketKind::Forward), Body::default());
        self.send(now, port, packet);
    }

    fn held(&self, now: Time) -> Vec<u64> {
        (0..self.ports.len() as u32).map(|port| self.backlog(port, now).0).collect()
    }

    /// Offers each of some ports twice its rate, packets of all ports in turn, while the switch
    /// never holds more than its buffer.
    fn overload(&mut self, (from, until): (Time, Time), ports: std::ops::Range<u32>, buffer: u64) {
        let gap = bytes(1500) / 2 / u64::from(ports.len() as u32);
        let mut now = from;
        while now < until {
            for port in ports.clone() {
                self.send_to(now, port);
                let held: u64 = self.held(now).iter().sum();
                assert!(held <= buffer, "{held} of {buffer}");
                now += gap;
            }
            self.arrivals(now - Time(1));
        }
    }
}

/// Choudhury and Hahne, equation 2: n ports that overflow hold alpha B / (1 + alpha n) each, and B
/// / (1 + alpha n) is free.
#[test]
fn ports_that_overflow_hold_the_equilibrium_of_the_paper() {
    let until = Time::millis(5);
    for alpha in [0.25, 1.0, 4.0] {
        for count in [1, 2, 5] {
            let shared = SharedBuffer { bytes: Bytes(600_000), alpha };
            let mut network = switch(8, shared);
            network.overload((Time::ZERO, until), 0..count, 600_000);
            let expected = 600_000.0 * alpha / (1.0 + alpha * f64::from(count));
            assert_eq!(shared.threshold(count), Bytes(expected as u64));
            for (port, held) in network.held(until).into_iter().enumerate() {
                let near = if port < count as usize { expected } else { 0.0 };
                assert!(
                    (held as f64 - near).abs() <= 3000.0,
                    "{alpha} {count}: {held}, not {near}"
                );
            }
            let drops: u64 = network.port_stats.iter().map(|stats| stats.buffer_drops).sum();
            assert!(drops > 0, "{alpha} {count}");
        }
    }
}

/// A port that begins to overflow takes its share from those before: thresholds fall, and their
/// queues drain to it.
#[test]
fn another_port_lowers_the_thresholds_of_all() {
    let shared = SharedBuffer { bytes: Bytes(600_000), alpha: 1.0 };
    let mut network = switch(3, shared);
    let times = [0, 5, 10].map(Time::millis);
    network.overload((times[0], times[1]), 0..1, 600_000);
    assert!((network.held(times[1])[0] as f64 - 300_000.0).abs() <= 3000.0);
    network.overload((times[1], times[2]), 0..2, 600_000);
    for held in &network.held(times[2])[..2] {
        assert!((*held as f64 - 200_000.0).abs() <= 3000.0, "{held}");
    }
    network.arrivals(times[2] + LATER);
    assert_eq!(network.held(times[2] + LATER), [0, 0, 0]);
}

/// A full switch drops at every port, however little a port holds.
#[test]
fn the_buffer_is_a_limit_where_thresholds_are_not() {
    let mut network = switch(2, SharedBuffer { bytes: Bytes(6000), alpha: 100.0 });
    (0..5).for_each(|_| network.send_to(Time::ZERO, 0));
    network.send_to(Time::ZERO, 1);
    assert_eq!(network.held(Time::ZERO), [6000, 0]);
    let drops = [0, 1].map(|port: usize| network.port_stats[port].buffer_drops);
    assert_eq!(drops, [1, 1]);
    // A packet has left: as much is free.
    network.send_to(bytes(1500), 1);
    assert_eq!(network.held(bytes(1500)), [4500, 1500]);
}

#[test]
fn a_link_that_fails_frees_what_its_port_held() {
    let mut network = switch(2, SharedBuffer { bytes: Bytes(6000), alpha: 100.0 });
    (0..4).for_each(|_| network.send_to(Time::ZERO, 0));
    network.fail(0, bytes(100));
    (0..5).for_each(|_| network.send_to(bytes(100), 1));
    assert_eq!(network.held(bytes(100)), [0, 6000]);
    let stats = [0, 1].map(|port: usize| network.port_stats[port]);
    assert_eq!((stats[0].failure_drops, stats[0].buffer_drops, stats[1].buffer_drops), (4, 0, 1));
}

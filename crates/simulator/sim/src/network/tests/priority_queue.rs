//! Ports with two queues: a host's own, and a switch's that sends the first bytes of flows before
//! others.

use std::collections::VecDeque;

use heddle_scenario::Impairment;
use heddle_transport::Kind;
use proptest::prelude::*;

use super::priority_red::{OneThreshold, red_port};
use super::*;

fn host_port() -> Network {
    let network = one_port(limits(100_000), None);
    let classes =
        vec![LinkClass::new(RATE, DELAY, limits(100_000)).with_priority(Priority::Control)];
    Network { classes, priority_queues: vec![PriorityQueue::default()], ..network }
}

pub(super) fn switch_port(limits: PortLimits) -> Network {
    let network = one_port(limits, None);
    let classes = vec![LinkClass::new(RATE, DELAY, limits).with_priority(Priority::FirstBytes)];
    Network { classes, priority_queues: vec![PriorityQueue::default()], ..network }
}

impl Network {
    /// Sends a data packet of the first bytes of its flow.
    pub(super) fn send_early(&mut self, now: Time, size: u16) {
        let body = Body { is_early: true, ..Body::default() };
        let packet = self.packets.add(hot(now, size, PacketKind::Forward), body);
        self.send(now, 0, packet);
    }

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

#[test]
fn first_bytes_acknowledgements_and_probes_go_before_data() {
    let mut network = switch_port(limits(100_000));
    (0..3).for_each(|_| network.send_data(Time::ZERO, 1500));
    network.send_early(bytes(100), 1000);
    network.send_ack(bytes(200));
    network.send_segment(bytes(300), 70, PacketKind::Probe, Segment::default());
    let expected = [(1500, 1500), (2500, 1000), (2564, 64), (2634, 70), (4134, 1500), (5634, 1500)];
    assert_eq!(ends(&mut network), expected.map(|(end, size)| (bytes(end), size)));
}

#[test]
fn an_eighth_of_the_buffer_is_for_packets_that_go_first() {
    let mut network = switch_port(limits(8000));
    (0..8).for_each(|_| network.send_data(Time::ZERO, 1000));
    assert_eq!(network.port_stats[0].buffer_drops, 1, "7000 bytes hold seven");
    network.send_early(Time::ZERO, 1000);
    network.send_early(Time::ZERO, 64);
    network.send_ack(Time::ZERO);
    assert_eq!(
        network.port_stats[0].buffer_drops, 3,
        "8000 bytes are full, for acknowledgements too"
    );
    let sizes: Vec<u16> = network.arrivals(LATER).iter().map(|arrival| arrival.1).collect();
    assert_eq!(sizes, [1000; 8]);
}

#[test]
fn a_packet_that_goes_first_is_marked_by_what_it_waits_for() {
    let mut network = switch_port(PortLimits { mark_above: Some(Bytes(2000)), ..limits(100_000) });
    (0..4).for_each(|_| network.send_data(Time::ZERO, 1000));
    (0..3).for_each(|_| network.send_early(Time::ZERO, 1000));
    let marked: Vec<bool> = network.arrivals(LATER).iter().map(|arrival| arrival.2).collect();
    // Data found 0 to 3000 bytes; early packets 1000 to 3000 before them.
    assert_eq!(marked, [false, false, false, true, false, false, true]);
}

#[test]
fn both_queues_take_a_new_rate() {
    let mut network = switch_port(limits(100_000));
    (0..3).for_each(|_| network.send_data(Time::ZERO, 1500));
    network.send_early(bytes(100), 1000);
    let half = Impairment { rate: Some(Rate::gbps(5)), ..Impairment::default() };
    network.degrade(bytes(200), 0, 0, &half);
    network.check(bytes(200));
    network.send_early(bytes(300), 500);
    let expected = [1500, 3500, 4500, 7500, 10_500];
    let at: Vec<Time> = ends(&mut network).into_iter().map(|(end, _)| end).collect();
    assert_eq!(at, expected.map(bytes));
}

/// Mean waits of the two classes of an M/D/1 queue with priorities, without preemption (Cobham,
/// Operations Research 1954): R / (1 - rho1) and R / ((1 - rho1)(1 - rho1 - rho2)), where R is half
/// the load times the service time. Ten standard errors of these means are about 5 %.
#[test]
fn mean_waits_are_those_of_the_queue_with_priorities() {
    // The sizes tell the classes apart.
    const SIZES: [u16; 2] = [1000, 1001];
    let (service, loads) = (bytes(1000).0 as f64, [0.3, 0.5]);
    let load = loads[0] + loads[1];
    let mut network = switch_port(limits(1 << 40));
    let mut random = Random::new(7, Stream::Losses);
    let (mut now, mut sent) = (0.0, [VecDeque::new(), VecDeque::new()]);
    let (mut waits, mut counts) = ([0.0; 2], [0.0; 2]);
    for _ in 0..400_000 {
        now += random.exponential(service / load);
        let at = Time(now as u64);
        for (arrival, size, _) in network.arrivals(at) {
            let class = usize::from(size - SIZES[0]);
            let sent: Time = sent[class].pop_front().unwrap();
            waits[class] += (arrival - DELAY - bytes(size.into()) - sent).0 as f64 / service;
            counts[class] += 1.0;
        }
        let class = usize::from(random.unit() >= loads[0] / load);
        sent[class].push_back(at);
        if class == 0 { network.send_early(at, SIZES[0]) } else { network.send_data(at, SIZES[1]) }
    }
    let rest = load / 2.0;
    let expected = [rest / (1.0 - loads[0]), rest / ((1.0 - loads[0]) * (1.0 - load))];
    for class in 0..2 {
        let ratio = waits[class] / counts[class] / expected[class];
        assert!((ratio - 1.0).abs() < 0.05, "class {class}: {ratio}");
    }
}

/// Two queues of packets (size, marked), without optimisations.
struct Model {
    limits: PortLimits,
    red: Option<OneThreshold>,
    /// Of each queue, in picoseconds.
    averages: [f64; 2],
    /// Ends of the last packets of each queue that have started.
    ends: [Time; 2],
    queues: [VecDeque<(u16, bool)>; 2],
    free_at: Time,
    drops: u64,
    arrivals: VecDeque<Arrived>,
}

fn sum(queue: &VecDeque<(u16, bool)>) -> Time {
    bytes(queue.iter().map(|packet| u64::from(packet.0)).sum())
}

impl Model {
    fn new(limits: PortLimits, red: Option<OneThreshold>) -> Model {
        let (averages, ends, queues, arrivals) = Default::default();
        Model { limits, red, averages, ends, queues, free_at: Time::ZERO, drops: 0, arrivals }
    }

    /// Averages the bytes before a packet of a queue; true if it is marked.
    fn average(&mut self, queue: usize, before: Time, idle: Time, on_departure: bool) -> bool {
        let Some(red) = self.red.filter(|red| red.on_departure == on_departure) else {
            return false;
        };
        let average = &mut self.averages[queue];
        *average *= libm::pow(1.0 - red.weight, idle.0 as f64 / bytes(1500).0 as f64);
        *average += red.weight * (before.0 as f64 - *average);
        *average > bytes(red.above).0 as f64
    }

    /// Starts the transmissions that begin before `now`, and at it.
    fn advance(&mut self, now: Time) {
        while self.free_at <= now {
            let queue = usize::from(self.queues[0].is_empty());
            let Some((size, marked)) = self.queues[queue].pop_front() else { return };
            let behind = sum(&self.queues[queue]);
            let departs_marked = self.average(queue, behind, Time::ZERO, true);
            self.start(self.free_at, queue, (size, marked || departs_marked));
        }
    }

    fn start(&mut self, at: Time, queue: usize, (size, marked): (u16, bool)) {
        self.free_at = at + bytes(size.into());
        self.ends[queue] = self.free_at;
        self.arrivals.push_back((self.free_at + DELAY, size, marked));
    }

    fn send(&mut self, now: Time, size: u16, is_early: bool) {
        self.advance(now);
        let queue = usize::from(!is_early);
        let [first, second] = [0, 1].map(|queue: usize| sum(&self.queues[queue]));
        let rest = self.free_at.saturating_sub(now);
        let own = [first, second][queue];
        let idle = match own {
            Time::ZERO => now.saturating_sub(self.ends[queue]),
            _ => Time::ZERO,
        };
        let marked = self.average(queue, rest + own, idle, false);
        let before = if is_early { rest + first } else { rest + first + second };
        let whole = bytes(self.limits.bytes.0);
        let limit = if is_early { whole } else { whole - Time(whole.0 / 8) };
        if rest + first + second + bytes(size.into()) > limit {
            self.drops += 1;
            return;
        }
        let marked = marked || self.limits.mark_above.is_some_and(|most| before > bytes(most.0));
        match rest > Time::ZERO {
            true => self.queues[queue].push_back((size, marked)),
            false => self.start(now, queue, (size, marked)),
        }
    }
}

fn one_threshold() -> impl Strategy<Value = OneThreshold> {
    let weight = prop::sample::select(vec![1.0, 0.5, 0.1]);
    (0u64..10_000, weight, any::<bool>()).prop_map(|(above, weight, on_departure)| OneThreshold {
        above,
        weight,
        on_departure,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_port_with_two_queues_agrees_with_the_model(
        buffer in 2_000u64..20_000,
        mark_above in prop::option::of((0u64..10_000).prop_map(Bytes)),
        red in prop::option::of(one_threshold()),
        steps in prop::collection::vec(
            (prop_oneof![Just(0), Just(51_200), 0u64..2_000_000], 64u16..1519, any::<bool>()),
            1..200,
        ),
    ) {
        let mark_above = mark_above.filter(|_| red.is_none());
        let limits = PortLimits { mark_above, ..limits(buffer) };
        let mut network = red.map_or_else(|| switch_port(limits), |red| red_port(limits, red));
        let mut model = Model::new(limits, red);
        let mut now = Time::ZERO;
        for (gap, size, is_early) in steps {
            now += Time(gap);
            model.advance(now);
            let due = model.arrivals.iter().take_while(|arrived| arrived.0 <= now).count();
            let got: Vec<Arrived> = model.arrivals.drain(..due).collect();
            prop_assert_eq!(network.arrivals(now), got);
            if is_early { network.send_early(now, size) } else { network.send_data(now, size) }
            model.send(now, size, is_early);
            network.check(now);
        }
        model.advance(now + LATER);
        prop_assert_eq!(network.arrivals(now + LATER), Vec::from(model.arrivals));
        prop_assert_eq!(network.port_stats[0].buffer_drops, model.drops);
        prop_assert_eq!(network.packets.len(), 0);
    }
}

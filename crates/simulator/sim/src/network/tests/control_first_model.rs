//! A port that sends control packets first against a simple model of its two queues.

use std::collections::VecDeque;

use heddle_transport::Kind;
use proptest::prelude::*;

use super::control_first::{port, red};
use super::*;

/// Bytes of a control packet, and of a header.
const SMALL: u16 = 64;

/// Bytes of a data packet that are not payload.
const HEADER: u16 = 58;

/// Marking of data behind more than so many bytes.
#[derive(Clone, Copy, Debug)]
enum Marks {
    Threshold(u64),
    Red { above: u64, on_departure: bool },
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    bytes: u16,
    is_data: bool,
    is_marked: bool,
}

/// Two lists and the end of the last transmission, without optimisations.
struct Model {
    buffer: u64,
    trim_above: Option<u64>,
    marks: Marks,
    control: VecDeque<Waiting>,
    data: VecDeque<Waiting>,
    free: Time,
    sent: VecDeque<Arrived>,
    stats: PortStats,
    up: bool,
}

fn sum(queue: &VecDeque<Waiting>) -> Time {
    bytes(queue.iter().map(|packet| u64::from(packet.bytes)).sum())
}

impl Model {
    fn new(buffer: u64, trim_above: Option<u64>, marks: Marks) -> Model {
        let (control, data, sent) = Default::default();
        let (free, stats) = (Time::ZERO, PortStats::default());
        Model { buffer, trim_above, marks, control, data, free, sent, stats, up: true }
    }

    /// Starts the transmissions that are due.
    fn advance(&mut self, now: Time) {
        while self.free <= now {
            let next = self.control.pop_front().or_else(|| self.data.pop_front());
            let Some(packet) = next else { return };
            self.start(self.free, packet);
        }
    }

    fn start(&mut self, at: Time, packet: Waiting) {
        let is_marked = match self.marks {
            Marks::Red { above, on_departure: true } => {
                packet.is_data && sum(&self.data) > bytes(above)
            }
            _ => false,
        };
        self.stats.ecn_marks += u64::from(is_marked);
        self.free = at + bytes(packet.bytes.into());
        self.sent.push_back((self.free + DELAY, packet.bytes, packet.is_marked || is_marked));
    }

    fn send(&mut self, now: Time, size: u16, is_data: bool) {
        self.advance(now);
        let packet = Waiting { bytes: size, is_data, is_marked: false };
        let (rest, own) = (self.free.saturating_sub(now), bytes(size.into()));
        let before = rest + sum(&self.data);
        if !self.up {
            self.stats.failure_drops += 1;
        } else if rest == Time::ZERO {
            match own > bytes(self.buffer) {
                true => self.stats.buffer_drops += 1,
                false => self.start(now, packet),
            }
        } else if !is_data {
            self.send_small(rest, packet);
        } else if self.trim_above.is_some_and(|most| before + own > bytes(most)) {
            self.stats.trims += 1;
            self.send_small(rest, Waiting { bytes: SMALL, is_data: false, ..packet });
        } else if before + own > bytes(self.buffer) {
            self.stats.buffer_drops += 1;
        } else {
            let is_marked = match self.marks {
                Marks::Threshold(above) | Marks::Red { above, on_departure: false } => {
                    before > bytes(above)
                }
                Marks::Red { .. } => false,
            };
            self.stats.ecn_marks += u64::from(is_marked);
            self.data.push_back(Waiting { is_marked, ..packet });
        }
    }

    fn send_small(&mut self, rest: Time, packet: Waiting) {
        let held = rest + sum(&self.control) + bytes(packet.bytes.into());
        match held > bytes(self.buffer) {
            true => self.stats.buffer_drops += 1,
            false => self.control.push_back(packet),
        }
    }

    /// Arrivals until and at `now`.
    fn arrivals(&mut self, now: Time) -> Vec<Arrived> {
        self.advance(now);
        let due = self.sent.iter().take_while(|(at, ..)| *at <= now).count();
        self.sent.drain(..due).collect()
    }

    fn fail(&mut self, now: Time) {
        let lost = self.sent.len() + self.control.len() + self.data.len();
        self.stats.failure_drops += lost as u64;
        (self.control, self.data, self.sent) = Default::default();
        (self.free, self.up) = (now, false);
    }
}

fn network(buffer: u64, trim_above: Option<u64>, marks: Marks) -> Network {
    let mut network = port(limits(buffer), trim_above.map(Bytes));
    let class = match marks {
        Marks::Threshold(above) => {
            let limits = PortLimits { mark_above: Some(Bytes(above)), ..limits(buffer) };
            LinkClass::new(RATE, DELAY, limits)
        }
        Marks::Red { above, on_departure } => {
            network.management = red(above, on_departure);
            LinkClass::new(RATE, DELAY, limits(buffer)).managed()
        }
    };
    let class = class.with_priority(Priority::ControlFirst);
    network.classes = vec![class.trimming(trim_above.map(Bytes))];
    network
}

fn send(network: &mut Network, now: Time, size: u16, is_data: bool) {
    let kind = if is_data { Kind::Data } else { Kind::Ack };
    let len = if is_data { size - HEADER } else { 0 };
    let segment = Segment { kind, len, ..Segment::default() };
    let direction = if is_data { PacketKind::Forward } else { PacketKind::Reverse };
    network.send_segment(now, size, direction, segment);
}

#[derive(Clone, Debug)]
enum Step {
    Data(u16),
    Control,
    Fail,
    Recover,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        40 => (SMALL..1519).prop_map(Step::Data),
        20 => Just(Step::Control),
        1 => Just(Step::Fail),
        1 => Just(Step::Recover),
    ];
    prop::collection::vec((prop_oneof![Just(0), Just(51_200), 0u64..2_000_000], step), 1..200)
}

fn marks() -> impl Strategy<Value = Marks> {
    let red = (0u64..10_000, any::<bool>());
    prop_oneof![
        (0u64..10_000).prop_map(Marks::Threshold),
        red.prop_map(|(above, on_departure)| Marks::Red { above, on_departure }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The port orders, cuts, drops, marks and delivers as the model does.
    #[test]
    fn a_port_with_control_first_agrees_with_the_model(
        buffer in 1_000u64..20_000,
        trim_above in prop::option::of(1_000u64..20_000),
        marks in marks(),
        steps in steps(),
    ) {
        let mut network = network(buffer, trim_above, marks);
        let mut model = Model::new(buffer, trim_above, marks);
        let mut now = Time::ZERO;
        for (gap, step) in steps {
            now += Time(gap);
            prop_assert_eq!(network.arrivals(now), model.arrivals(now));
            match step {
                Step::Data(size) => {
                    send(&mut network, now, size, true);
                    model.send(now, size, true);
                }
                Step::Control => {
                    send(&mut network, now, SMALL, false);
                    model.send(now, SMALL, false);
                }
                Step::Fail => {
                    // A port notes starts, and marks on departure, as it is looked at.
                    network.update_started(0, now);
                    network.fail(0, now);
                    model.fail(now);
                }
                Step::Recover => {
                    network.recover(0);
                    model.up = true;
                }
            }
            network.check(now);
        }
        let later = now + LATER;
        prop_assert_eq!(network.arrivals(later), model.arrivals(later));
        prop_assert_eq!(network.port_stats[0], model.stats);
        prop_assert_eq!(network.packets.len(), 0);
    }
}

//! Flows that begin, send and end, as a stream of packets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use heddle_policy::cflb::Fields;
use heddle_units::Time;

use super::headers::Headers;
use super::random::{Random, pareto_mean};
use super::{
    super::flows::{Flows, Packet},
    Mix,
};

/// Packets a second of all flows together, on average.
pub const RATE: f64 = 300_000.0;

/// Longest duration of a flow, about.
pub const LONGEST: Time = Time::secs(30);

/// Sizes of flows in packets.
const SHAPE: f64 = 1.1;
const MOST: f64 = 20_000.0;

/// A flow's packets a second, unless it would last too long.
const SLOWEST: f64 = 10.0;
const FASTEST: f64 = 1000.0;

/// A flow that has packets to send.
#[derive(Clone, Debug)]
struct Active {
    fields: Fields,
    /// True once it has sent a packet that is reported.
    number: Option<u32>,
    left: u32,
    /// Between two packets, in seconds.
    mean_gap: f64,
}

/// A trace. See [`Mix::packets`].
#[derive(Clone, Debug)]
pub struct Packets {
    random: Random,
    headers: Headers,
    flows: Flows,
    /// Places of ended flows are used again.
    active: Vec<Active>,
    free: Vec<u32>,
    /// Time of an active flow's next packet.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    next_flow: Time,
    least: f64,
    left: u64,
}

impl Packets {
    pub(super) fn new(mix: Mix, seed: u64, count: u64) -> Packets {
        let least = if mix == Mix::OnePair { 30.0 } else { 3.0 };
        Packets {
            random: Random::new(seed),
            headers: Headers::new(mix),
            flows: Flows::default(),
            active: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            next_flow: Time(0),
            least,
            left: count,
        }
    }

    fn begin(&mut self) {
        let now = self.next_flow;
        let packets = self.random.pareto(SHAPE, self.least, MOST);
        let rate = self.random.log_uniform(SLOWEST, FASTEST).max(packets / LONGEST.as_secs_f64());
        let fields = self.headers.draw(&mut self.random);
        let flow = Active { fields, number: None, left: packets as u32, mean_gap: 1.0 / rate };
        let place = self.place(flow);
        self.due.push(Reverse((now, place)));
        let gap = self.random.exponential(pareto_mean(SHAPE, self.least, MOST) / RATE);
        self.next_flow = after(now, gap);
    }

    fn place(&mut self, flow: Active) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.active[place as usize] = flow;
                place
            }
            None => {
                self.active.push(flow);
                self.active.len() as u32 - 1
            }
        }
    }

    /// The next packet of all, warm-up included: when, and at which place.
    fn send(&mut self) -> (Time, u32) {
        let (now, place) = loop {
            match self.due.peek() {
                Some(&Reverse((time, place))) if time <= self.next_flow => break (time, place),
                _ => self.begin(),
            }
        };
        self.due.pop();
        let flow = &mut self.active[place as usize];
        flow.left -= 1;
        if flow.left == 0 {
            self.free.push(place);
        } else {
            let gap = self.random.exponential(flow.mean_gap);
            self.due.push(Reverse((after(now, gap), place)));
        }
        (now, place)
    }
}

fn after(now: Time, seconds: f64) -> Time {
    now.saturating_add(Time((seconds * 1e12) as u64))
}

impl Iterator for Packets {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        self.left = self.left.checked_sub(1)?;
        loop {
            let (now, place) = self.send();
            if now >= LONGEST {
                let Active { fields, number, .. } = &mut self.active[place as usize];
                let flow = *number.get_or_insert_with(|| self.flows.number(fields));
                return Some(Packet { at: now.saturating_sub(LONGEST), flow, fields: *fields });
            }
        }
    }
}

//! Connections over drop-tail links on a virtual clock: a path of a connection is a link there and
//! a delay back. A hook may lose, delay or repeat segments. Invariants are checked at every step.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

use heddle_units::{Bytes, Rate, Time};

use crate::mptcp::{Handshake, MptcpConfig, MptcpConnection, Parameters};
use crate::tcp::TcpConnection;
use crate::{ConnectionCounters, Kind, Options, Segment, TcpConfig};

/// Impairment of a segment, in addition to its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Delay(Time),
    Duplicate,
}

/// A sent segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub flow: usize,
    pub path: usize,
    pub segment: Segment,
}

#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate: Rate,
    /// Propagation delay, the same in both directions.
    pub delay: Time,
    pub buffer: Bytes,
    pub is_up: bool,
    /// Drops early with a probability that grows to this as the buffer fills: without it, on a
    /// clock this exact, the flow that raises its window is the one that loses (phase effects,
    /// Floyd and Jacobson 1992).
    pub early: f64,
    pub busy_until: Time,
    /// Bytes that have gone over it.
    pub carried: u64,
}

impl Link {
    pub fn new(rate: Rate, delay: Time, buffer: Bytes) -> Link {
        Link { rate, delay, buffer, is_up: true, early: 0.0, busy_until: Time::ZERO, carried: 0 }
    }
}

enum AnyConnection {
    Tcp(TcpConnection, TcpConfig),
    Mptcp(Box<MptcpConnection>, Parameters),
}

/// Calls a method of [`Connection`] with the configuration that belongs to it.
macro_rules! with_connection {
    ($flow:expr, $connection:ident, $config:ident => $call:expr) => {
        match &mut $flow.connection {
            AnyConnection::Tcp($connection, $config) => $call,
            AnyConnection::Mptcp($connection, $config) => $call,
        }
    };
}

pub struct Flow {
    connection: AnyConnection,
    /// The link of each path.
    routes: Vec<usize>,
    /// First mapping of each byte of each path, by ranges.
    mapped: BTreeMap<(usize, u64), (u64, u64)>,
    window_end: u64,
    pub finished: Option<Time>,
}

impl Flow {
    pub fn delivered(&mut self) -> u64 {
        with_connection!(self, connection, _config => connection.delivered())
    }

    pub fn counters(&mut self) -> ConnectionCounters {
        with_connection!(self, connection, _config => connection.counters())
    }

    fn deadline(&mut self) -> Time {
        with_connection!(self, connection, _config => connection.deadline().min(connection.ack_deadline()))
    }

    fn check(&mut self, now: Time) {
        let (acked, delivered, written) = with_connection!(self, connection, _config => (connection.acked(), connection.delivered(), connection.written()));
        assert!(acked <= delivered && delivered <= written);
        if delivered == written && self.finished.is_none() {
            self.finished = Some(now);
        }
    }

    /// The mapping of a subflow byte never changes, and no byte exceeds the receive window.
    fn check_sending(&mut self, path: usize, segment: &Segment) {
        if segment.kind != Kind::Data || matches!(self.connection, AnyConnection::Tcp(..)) {
            return;
        }
        let (seq, data, len) = (segment.seq, segment.data_seq, u64::from(segment.len));
        assert!(len > 0 && data + len <= self.window_end, "beyond the window");
        match self.place_of(path, seq) {
            Some(place) => {
                assert_eq!(place, data, "the first byte has moved");
                assert_eq!(
                    self.place_of(path, seq + len - 1),
                    Some(data + len - 1),
                    "the last has"
                );
            }
            None => {
                self.mapped.insert((path, seq), (data, len));
            }
        }
    }

    /// Data sequence number to which a byte of a subflow was first mapped.
    fn place_of(&self, path: usize, seq: u64) -> Option<u64> {
        let ((known, start), (place, len)) = self.mapped.range(..=(path, seq)).next_back()?;
        (*known == path && seq < start + len).then(|| place + (seq - start))
    }

    fn note_window(&mut self, ack: &Segment) {
        self.window_end = self.window_end.max(ack.data_seq + u64::from(ack.window));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

/// Decides a segment's fate by its path, kind and number among those of its kind.
type Hook = Box<dyn FnMut(usize, &Segment, u64) -> Fate>;

pub struct Net {
    pub now: Time,
    pub links: Vec<Link>,
    pub flows: Vec<Flow>,
    pub there: Vec<Sent>,
    pub back: Vec<Sent>,
    /// Segments of this path and kind have their HMAC changed.
    pub forge: Option<(usize, Kind)>,
    wire: BTreeMap<(Time, u64), (usize, usize, Way, Segment)>,
    hook: Hook,
    seen: [u64; 5],
    launched: u64,
    steps: u64,
}

impl Net {
    pub fn new(links: impl IntoIterator<Item = Link>) -> Net {
        Net {
            now: Time::ZERO,
            links: links.into_iter().collect(),
            flows: Vec::new(),
            there: Vec::new(),
            back: Vec::new(),
            forge: None,
            wire: BTreeMap::new(),
            hook: Box::new(|_, _, _| Fate::Pass),
            seen: [0; 5],
            launched: 0,
            steps: 0,
        }
    }

    pub fn with_fate(mut self, hook: impl FnMut(usize, &Segment, u64) -> Fate + 'static) -> Net {
        self.hook = Box::new(hook);
        self
    }

    /// Adds an MPTCP connection whose subflows take `routes`, and writes to it.
    pub fn open(&mut self, config: MptcpConfig, routes: &[usize], bytes: u64) -> usize {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(self.flows.len() as u64 + 1);
        let random = move || {
            bits = bits.rotate_left(17).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1);
            bits
        };
        let with = Parameters::from(config);
        let mut connection = MptcpConnection::new(&with, random);
        connection.write(self.now, bytes);
        self.add(AnyConnection::Mptcp(Box::new(connection), with), routes)
    }

    /// Adds a TCP connection.
    pub fn open_tcp(&mut self, config: TcpConfig, route: usize, bytes: u64) -> usize {
        let mut connection = TcpConnection::new(&config);
        connection.write(self.now, bytes);
        self.add(AnyConnection::Tcp(connection, config), &[route])
    }

    fn add(&mut self, connection: AnyConnection, routes: &[usize]) -> usize {
        let (routes, mapped) = (routes.to_vec(), BTreeMap::new());
        self.flows.push(Flow { connection, routes, mapped, window_end: 0, finished: None });
        self.flows.len() - 1
    }

    pub fn run_until(&mut self, end: Time) {
        (0..self.flows.len()).for_each(|flow| self.pump(flow));
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.step(next);
        }
        self.now = end;
    }

    /// Runs until every flow has everything.
    pub fn run(&mut self) {
        (0..self.flows.len()).for_each(|flow| self.pump(flow));
        while self.flows.iter().any(|flow| flow.finished.is_none()) {
            let next = self.next_event().expect("stuck");
            self.step(next);
        }
    }

    fn next_event(&mut self) -> Option<Time> {
        let timer = self.flows.iter_mut().map(Flow::deadline).min();
        let arrival = self.wire.keys().next().map(|(at, _)| *at);
        timer.into_iter().chain(arrival).min().filter(|at| *at != Time::NEVER)
    }

    fn step(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.steps += 1;
        assert!(self.steps < 20_000_000, "livelock at {}", self.now);
        match self.wire.first_key_value() {
            Some(((arrival, _), _)) if *arrival <= at => {
                let (_, (flow, path, way, segment)) = self.wire.pop_first().unwrap();
                self.arrive(flow, path, way, &segment);
            }
            _ => (0..self.flows.len()).for_each(|flow| self.tick(flow)),
        }
        let now = self.now;
        self.flows.iter_mut().for_each(|flow| flow.check(now));
    }

    fn tick(&mut self, number: usize) {
        let now = self.now;
        let flow = &mut self.flows[number];
        with_connection!(flow, connection, config => connection.on_timer(config, now));
        while let Some((path, ack)) = with_connection!(self.flows[number], connection, config => connection.on_ack_timer(config, now))
        {
            self.send_ack(number, path, ack);
        }
        self.pump(number);
    }

    fn arrive(&mut self, number: usize, path: usize, way: Way, segment: &Segment) {
        let segment = &match self.forge {
            Some(of) if of == (path, segment.kind) => forged(*segment),
            _ => *segment,
        };
        let (now, flow) = (self.now, &mut self.flows[number]);
        if way == Way::Back {
            flow.note_window(segment);
            with_connection!(flow, connection, config => connection.on_ack(config, now, path, segment));
            return self.pump(number);
        }
        if let Some(ack) = with_connection!(flow, connection, config => connection.on_segment(config, now, path, segment))
        {
            self.send_ack(number, path, ack);
        }
    }

    fn pump(&mut self, number: usize) {
        let now = self.now;
        while let Some((path, segment)) = with_connection!(self.flows[number], connection, config => connection.next_segment(config, now))
        {
            self.flows[number].check_sending(path, &segment);
            self.send(number, path, segment);
        }
    }

    fn send(&mut self, flow: usize, path: usize, segment: Segment) {
        self.there.push(Sent { at: self.now, flow, path, segment });
        let fate = self.fate(path, &segment);
        self.launched += 1;
        let chance = chance(self.launched);
        let link = &mut self.links[self.flows[flow].routes[path]];
        let queue = link.rate.bytes_in(link.busy_until.saturating_sub(self.now)).0;
        let fits = queue + u64::from(segment.wire_bytes()) <= link.buffer.0
            && chance >= link.early * queue as f64 / link.buffer.0 as f64;
        if fate == Fate::Drop || !fits || !link.is_up {
            return;
        }
        link.busy_until = link.busy_until.max(self.now) + link.rate.time_for(segment.wire_size());
        link.carried += u64::from(segment.wire_bytes());
        let at = link.busy_until + link.delay;
        self.launch(at, flow, path, Way::There, segment, fate);
    }

    fn send_ack(&mut self, flow: usize, path: usize, segment: Segment) {
        self.back.push(Sent { at: self.now, flow, path, segment });
        let fate = self.fate(path, &segment);
        let link = &self.links[self.flows[flow].routes[path]];
        if fate != Fate::Drop && link.is_up {
            self.launch(self.now + link.delay, flow, path, Way::Back, segment, fate);
        }
    }

    fn fate(&mut self, path: usize, segment: &Segment) -> Fate {
        let seen = &mut self.seen[segment.kind as usize];
        *seen += 1;
        (self.hook)(path, segment, *seen - 1)
    }

    fn launch(
        &mut self,
        at: Time,
        flow: usize,
        path: usize,
        way: Way,
        segment: Segment,
        fate: Fate,
    ) {
        let at = if let Fate::Delay(more) = fate { at + more } else { at };
        for _ in 0..if fate == Fate::Duplicate { 2 } else { 1 } {
            self.launched += 1;
            self.wire.insert((at, self.launched), (flow, path, way, segment));
        }
    }
}

/// A number from 0 to 1 that looks random.
fn chance(seed: u64) -> f64 {
    let mixed = (seed ^ seed >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x81da_def4_bc2d_d44d);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn forged(segment: Segment) -> Segment {
    let options = match segment.options {
        Options::Mptcp(Handshake::JoinSynAck(hmac, nonce)) => {
            Options::Mptcp(Handshake::JoinSynAck(hmac.map(|byte| !byte), nonce))
        }
        Options::Mptcp(Handshake::JoinAck(hmac)) => {
            Options::Mptcp(Handshake::JoinAck(hmac.map(|byte| !byte)))
        }
        other => other,
    };
    Segment { options, ..segment }
}

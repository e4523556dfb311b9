//! Two-ended connections on a virtual clock: every sender's data goes through one bottleneck, every
//! acknowledgement takes a fixed delay back. A hook decides what else happens to each segment.
//! Invariants are checked at every step.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

use heddle_units::{Bytes, Rate, Time};

use crate::{Kind, LossDetection, Receiver, Segment, Sender, TcpConfig};

/// Impairment of a segment, in addition to the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Pass,
    /// It is lost, before the bottleneck.
    Drop,
    /// It takes this much longer, after the bottleneck.
    Delay(Time),
    /// It arrives twice.
    Duplicate,
    /// It is marked.
    Mark,
}

/// A drop-tail link with its one-way delay.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate: Rate,
    /// Propagation delay, the same in both directions.
    pub delay: Time,
    /// Queue limit in bytes, the segment in transmission included.
    pub buffer: Bytes,
    /// Segments that find more than this waiting are marked.
    pub mark_above: Bytes,
}

impl Link {
    /// A link that neither drops nor marks.
    pub fn new(rate: Rate, delay: Time) -> Link {
        Link { rate, delay, buffer: Bytes(u64::MAX), mark_above: Bytes(u64::MAX) }
    }

    /// Bytes on the wire in a round trip.
    pub fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.delay * 2)
    }
}

/// A sent segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub segment: Segment,
}

/// One connection.
pub struct Flow {
    pub sender: Sender,
    pub receiver: Receiver,
    /// End of the receive window known to the sender.
    window_end: u64,
    /// The end of the data sent so far.
    sent_end: u64,
    /// True while every acknowledgement has advanced the cumulative acknowledgement without SACK
    /// blocks.
    orderly: bool,
    /// Bytes that have arrived, for the reference of what is delivered.
    arrived: Vec<(u64, u64)>,
}

/// The test bench.
pub struct Net {
    pub now: Time,
    pub config: TcpConfig,
    pub flows: Vec<Flow>,
    /// Data and SYNs.
    pub forward: Vec<Sent>,
    /// Acknowledgements and SYN/ACKs.
    pub backward: Vec<Sent>,
    /// Segments that found the buffer full.
    pub overflows: u64,
    link: Link,
    busy_until: Time,
    /// Segments in flight, by arrival time and then in order of sending.
    wire: BTreeMap<(Time, u64), (usize, Segment)>,
    hook: Box<dyn FnMut(Kind, u64) -> Fate>,
    seen: [u64; 5],
    launched: u64,
    steps: u64,
}

impl Net {
    pub fn new(config: TcpConfig, link: Link) -> Net {
        Net {
            now: Time::ZERO,
            config,
            flows: Vec::new(),
            forward: Vec::new(),
            backward: Vec::new(),
            overflows: 0,
            link,
            busy_until: Time::ZERO,
            wire: BTreeMap::new(),
            hook: Box::new(|_, _| Fate::Pass),
            seen: [0; 5],
            launched: 0,
            steps: 0,
        }
    }

    /// One connection that sends `bytes` from time 0.
    pub fn one(config: TcpConfig, link: Link, bytes: u64) -> Net {
        let mut net = Net::new(config, link);
        net.open(bytes);
        net
    }

    /// Decides the fate of the nth segment of each kind, counted from 0 over all connections.
    pub fn with_fate(mut self, hook: impl FnMut(Kind, u64) -> Fate + 'static) -> Net {
        self.hook = Box::new(hook);
        self
    }

    /// Loses the data segments with these numbers, in order of sending.
    pub fn losing(self, numbers: &'static [u64]) -> Net {
        let lost = |kind, n| kind == Kind::Data && numbers.contains(&n);
        self.with_fate(move |kind, n| if lost(kind, n) { Fate::Drop } else { Fate::Pass })
    }

    /// Adds a connection that sends `bytes` from now on. The hook sees its first segments at the
    /// next step.
    pub fn open(&mut self, bytes: u64) -> usize {
        self.flows.push(Flow {
            sender: Sender::new(&self.config),
            receiver: Receiver::new(),
            window_end: 0,
            sent_end: 0,
            orderly: true,
            arrived: Vec::new(),
        });
        let flow = self.flows.len() - 1;
        self.flows[flow].sender.write(self.now, bytes);
        flow
    }

    pub fn sender(&self) -> &Sender {
        &self.flows[0].sender
    }

    pub fn receiver(&self) -> &Receiver {
        &self.flows[0].receiver
    }

    /// The first connection's window in whole segments.
    pub fn cwnd(&self) -> u64 {
        self.sender().cwnd() / u64::from(self.config.mss)
    }

    /// Bytes waiting at the bottleneck.
    pub fn queue(&self) -> u64 {
        self.link.rate.bytes_in(self.busy_until.saturating_sub(self.now)).0
    }

    /// Writes to the first connection.
    pub fn write(&mut self, bytes: u64) {
        self.flows[0].sender.write(self.now, bytes);
        self.pump(0);
    }

    /// Runs until `end`, which is then the time.
    pub fn run_until(&mut self, end: Time) {
        (0..self.flows.len()).for_each(|flow| self.pump(flow));
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.step(next);
        }
        self.now = end;
    }

    /// Runs until nothing is left to do, and checks that everything has been delivered.
    pub fn run(&mut self) {
        (0..self.flows.len()).for_each(|flow| self.pump(flow));
        while let Some(next) = self.next_event() {
            self.step(next);
        }
        for flow in &self.flows {
            assert!(flow.sender.is_idle(), "stuck at {}", flow.sender.acked());
            assert_eq!(flow.receiver.delivered(), flow.sender.written());
        }
    }

    fn next_event(&self) -> Option<Time> {
        let deadlines = |flow: &Flow| [flow.sender.deadline(), flow.receiver.deadline()];
        let timer = self.flows.iter().flat_map(deadlines).min();
        let arrival = self.wire.keys().next().map(|(at, _)| *at);
        timer.into_iter().chain(arrival).min().filter(|at| *at != Time::NEVER)
    }

    fn step(&mut self, at: Time) {
        self.now = at;
        self.steps += 1;
        assert!(self.steps < 50_000_000, "livelock");
        match self.wire.first_key_value() {
            Some(((arrival, _), _)) if *arrival == at => {
                let (_, (flow, segment)) = self.wire.pop_first().unwrap();
                self.arrive(flow, &segment);
            }
            _ => (0..self.flows.len()).for_each(|flow| self.tick(flow)),
        }
    }

    fn tick(&mut self, flow: usize) {
        let Flow { sender, receiver, .. } = &mut self.flows[flow];
        sender.on_timer(&self.config, self.now);
        let ack = receiver.on_timer(&self.config, self.now);
        self.send_ack(flow, ack);
        self.pump(flow);
    }

    fn arrive(&mut self, number: usize, segment: &Segment) {
        let flow = &mut self.flows[number];
        match segment.kind {
            Kind::Syn | Kind::Data | Kind::HandshakeAck => {
                let ack = flow.receiver.on_segment(&self.config, self.now, segment);
                flow.check_delivery(segment);
                self.send_ack(number, ack);
            }
            Kind::SynAck
            | Kind::Ack
            | Kind::Trimmed
            | Kind::Nack
            | Kind::Request
            | Kind::Credit => {
                flow.note_ack(segment);
                flow.sender.on_segment(&self.config, self.now, segment);
                self.pump(number);
            }
        }
    }

    fn pump(&mut self, number: usize) {
        while let Some(segment) = self.flows[number].sender.next_segment(&self.config, self.now) {
            self.flows[number].check_sending(&self.config, &segment);
            self.send(number, segment);
        }
        let sender = &self.flows[number].sender;
        assert!(sender.is_idle() || sender.deadline() != Time::NEVER, "nothing will wake it");
    }

    fn send(&mut self, flow: usize, mut segment: Segment) {
        self.forward.push(Sent { at: self.now, segment });
        let fate = self.fate(segment.kind);
        let queue = self.queue();
        if fate == Fate::Drop {
            return;
        }
        if queue + u64::from(segment.wire_bytes()) > self.link.buffer.0 {
            self.overflows += 1;
            return;
        }
        if fate == Fate::Mark || queue > self.link.mark_above.0 {
            segment.ecn.mark();
        }
        let start = self.busy_until.max(self.now);
        self.busy_until = start + self.link.rate.time_for(segment.wire_size());
        self.launch(self.busy_until + self.link.delay, flow, &segment, fate);
    }

    fn send_ack(&mut self, flow: usize, segment: Option<Segment>) {
        let Some(segment) = segment else { return };
        self.backward.push(Sent { at: self.now, segment });
        match self.fate(segment.kind) {
            Fate::Drop => {}
            fate => self.launch(self.now + self.link.delay, flow, &segment, fate),
        }
    }

    fn fate(&mut self, kind: Kind) -> Fate {
        let seen = &mut self.seen[kind as usize];
        *seen += 1;
        (self.hook)(kind, *seen - 1)
    }

    fn launch(&mut self, at: Time, flow: usize, segment: &Segment, fate: Fate) {
        let at = if let Fate::Delay(more) = fate { at + more } else { at };
        let copies = if fate == Fate::Duplicate { 2 } else { 1 };
        for _ in 0..copies {
            self.launched += 1;
            self.wire.insert((at, self.launched), (flow, *segment));
        }
    }
}

impl Flow {
    fn note_ack(&mut self, ack: &Segment) {
        let progress = ack.seq > self.sender.acked() && ack.sacks().count() == 0;
        self.orderly &= progress || ack.kind == Kind::SynAck;
        self.window_end = self.window_end.max(ack.seq + u64::from(ack.window));
    }

    /// No byte is sent that was not written, is beyond either window or has been acknowledged, and
    /// none is skipped.
    fn check_sending(&mut self, config: &TcpConfig, segment: &Segment) {
        if segment.kind == Kind::Syn {
            return;
        }
        let end = segment.seq + u64::from(segment.len);
        assert!(0 < segment.len && segment.len <= config.mss);
        assert!(end <= self.sender.written(), "never written");
        assert!(end <= self.window_end, "beyond the receiver's window");
        assert!(segment.seq >= self.sender.acked(), "sent again though acknowledged");
        assert!(
            segment.seq == self.sent_end || end <= self.sent_end,
            "neither new nor sent before"
        );
        self.sent_end = self.sent_end.max(end);
        // A tail loss probe does not wait for the window.
        let waits = config.loss_detection == LossDetection::DupAck;
        if waits && self.orderly && self.sender.counters().timeouts == 0 {
            assert!(end - self.sender.acked() <= self.sender.cwnd(), "beyond the window");
        }
    }

    /// The delivered bytes are exactly those that have arrived without a gap.
    fn check_delivery(&mut self, segment: &Segment) {
        if segment.kind == Kind::Data {
            self.arrived.push((segment.seq, segment.seq + u64::from(segment.len)));
            self.arrived.sort_unstable();
        }
        let mut end = 0;
        for range in &self.arrived {
            end = if range.0 <= end { end.max(range.1) } else { end };
        }
        self.arrived.retain(|range| range.0 > end);
        self.arrived.push((0, end));
        assert_eq!(self.receiver.delivered(), end);
    }
}

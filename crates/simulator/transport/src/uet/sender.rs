//! The client of a UET connection.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use heddle_units::Time;

use super::UetParameters;
use super::control::Control;
use super::nscc::{Acknowledged, Trimmed};
use super::probes::Probes;
use super::rccc::Credit;
use super::receiver::BITMAP;
use crate::{HEADER_BYTES, Kind, Options, Segment, SenderCounters, SenderState, Timestamp};

/// The state of a packet that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    InFlight,
    /// Trimmed, or without an answer for too long: it is to be sent again.
    Lost,
    Received,
}

/// A packet that has been sent and is not acknowledged in order.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// Its first byte in the stream.
    offset: u64,
    /// Time at which it was last sent.
    sent_at: Time,
    len: u16,
    place: Place,
}

impl Packet {
    /// Bytes on the wire.
    fn size(&self) -> u64 {
        u64::from(self.len) + u64::from(HEADER_BYTES)
    }

    fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// Data to send, and packets on their way.
#[derive(Clone, Debug)]
pub(super) struct UetSender {
    written: u64,
    /// The first byte that has not been sent.
    next: u64,
    /// Packets from the first that is not acknowledged in order.
    packets: VecDeque<Packet>,
    /// Number of the first of them.
    first: u64,
    /// Bytes on the wire of the packets in flight.
    in_flight: u64,
    /// Number of packets that are lost.
    lost: usize,
    /// Times and numbers of packets in the order in which they were sent; some have an answer.
    sends: VecDeque<(Time, u64)>,
    rto: Time,
    control: Control,
    probes: Option<Probes>,
    /// Smoothed round-trip time.
    srtt: Option<Time>,
    counters: SenderCounters,
}

impl UetSender {
    pub(super) fn new(parameters: &UetParameters) -> UetSender {
        UetSender {
            written: 0,
            next: 0,
            packets: VecDeque::new(),
            first: 0,
            in_flight: 0,
            lost: 0,
            sends: VecDeque::new(),
            rto: parameters.rto,
            control: Control::new(parameters),
            probes: parameters.probes.then(Probes::new),
            srtt: None,
            counters: SenderCounters::default(),
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        if self.next == self.written
            && self.packets.is_empty()
            && let Some(credit) = self.control.credit_mut()
        {
            credit.begin();
        }
        self.written = self.written.saturating_add(bytes);
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes acknowledged in order.
    pub(super) fn acked(&self) -> u64 {
        self.packets.front().map_or(self.next, |packet| packet.offset)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.acked() == self.written
    }

    pub(super) fn counters(&self) -> SenderCounters {
        self.counters
    }

    pub(super) fn state(&self) -> SenderState {
        SenderState {
            cwnd: self.control.window(),
            ssthresh: None,
            srtt: self.srtt,
            in_flight: self.next - self.acked(),
            acked: self.acked(),
            counters: self.counters,
        }
    }

    /// True if a packet may be sent, credit is to be asked for, or a probe is due.
    pub(super) fn can_send(&self, parameters: &UetParameters) -> bool {
        self.has_room(parameters)
            || self.needs_request(parameters)
            || self.probes.as_ref().is_some_and(Probes::is_due)
    }

    /// True if there is a next packet and room for it.
    fn has_room(&self, parameters: &UetParameters) -> bool {
        let len = match self.next_lost() {
            Some(place) => self.packets[place].len,
            None => self.next_len(parameters),
        };
        let size = u64::from(len) + u64::from(HEADER_BYTES);
        len > 0 && self.control.allows(size, self.in_flight)
    }

    fn needs_request(&self, parameters: &UetParameters) -> bool {
        let wanted = |credit: &Credit| credit.needs_request(parameters, self.wanted(parameters));
        self.control.credit().is_some_and(wanted)
    }

    /// Bytes on the wire for which credit is asked.
    fn wanted(&self, parameters: &UetParameters) -> u64 {
        self.control.wanted(parameters, self.waiting(parameters))
    }

    /// Bytes on the wire that wait to be sent; a lost packet counts as a full one.
    fn waiting(&self, parameters: &UetParameters) -> u64 {
        let (mss, header) = (u64::from(parameters.mss), u64::from(HEADER_BYTES));
        let new = self.written - self.next;
        new + new.div_ceil(mss) * header + self.lost as u64 * (mss + header)
    }

    /// The next packet, a probe before lost ones and these before new ones, or a request; `None` if
    /// none may be sent.
    pub(super) fn next_segment(
        &mut self,
        parameters: &UetParameters,
        now: Time,
    ) -> Option<Segment> {
        if let Some(probes) = self.probes.as_mut().filter(|probes| probes.is_due()) {
            return Some(probes.send(now, self.next));
        }
        if !self.has_room(parameters) {
            return self.needs_request(parameters).then(|| self.request(parameters, now));
        }
        let place = match self.next_lost() {
            Some(place) => self.resend(place, now),
            None => self.send_new(parameters, now),
        };
        let packet = self.packets[place];
        let number = self.first + place as u64;
        self.in_flight += packet.size();
        self.sends.push_back((now, number));
        self.counters.segments += 1;
        if let Some(credit) = self.control.credit_mut() {
            credit.spend(packet.size());
        }
        Some(Segment {
            seq: packet.offset,
            data_seq: number,
            timestamp: Timestamp::at(now),
            window: u32::from(!self.has_room(parameters)),
            options: self.tell_demand(parameters, now),
            len: packet.len,
            kind: Kind::Data,
            ..Segment::default()
        })
    }

    /// Asks for credit.
    fn request(&mut self, parameters: &UetParameters, now: Time) -> Segment {
        let options = self.tell_demand(parameters, now);
        Segment {
            kind: Kind::Request,
            timestamp: Timestamp::at(now),
            options,
            ..Segment::default()
        }
    }

    /// The demand for credit, as an option.
    fn tell_demand(&mut self, parameters: &UetParameters, now: Time) -> Options {
        if self.control.credit().is_none() {
            return Options::None;
        }
        let wanted = self.wanted(parameters);
        let Some(credit) = self.control.credit_mut() else { return Options::None };
        let demand = credit.demand(parameters, wanted);
        credit.told(now, demand);
        Options::of_demand(demand)
    }

    fn next_lost(&self) -> Option<usize> {
        match self.lost {
            0 => None,
            _ => self.packets.iter().position(|packet| packet.place == Place::Lost),
        }
    }

    /// Payload bytes of the next new packet.
    fn next_len(&self, parameters: &UetParameters) -> u16 {
        (self.written - self.next).min(parameters.mss.into()) as u16
    }

    fn resend(&mut self, place: usize, now: Time) -> usize {
        let packet = &mut self.packets[place];
        (packet.place, packet.sent_at) = (Place::InFlight, now);
        self.lost -= 1;
        self.counters.retransmitted += 1;
        place
    }

    fn send_new(&mut self, parameters: &UetParameters, now: Time) -> usize {
        let len = self.next_len(parameters);
        let packet = Packet { offset: self.next, sent_at: now, len, place: Place::InFlight };
        self.next = packet.end();
        self.packets.push_back(packet);
        self.packets.len() - 1
    }

    /// Handles an acknowledgement, a NACK or credit.
    pub(super) fn on_answer(&mut self, parameters: &UetParameters, now: Time, answer: &Segment) {
        match answer.kind {
            Kind::Ack => self.on_ack(parameters, now, answer),
            Kind::Nack => self.on_nack(parameters, now, answer),
            Kind::Credit => {
                if let Some(credit) = self.control.credit_mut() {
                    credit.on_grant(now, answer.seq);
                }
            }
            _ => return,
        }
        self.forget_answered();
    }

    fn on_ack(&mut self, parameters: &UetParameters, now: Time, ack: &Segment) {
        let probed_at = self.probes.as_ref().and_then(|probes| probes.answered(ack));
        let rtt = match probed_at {
            // A probe is shorter than the packets for which the round trip is.
            Some(sent_at) => Some((now - sent_at).max(parameters.base_rtt)),
            None => self.sent_with(ack).map(|packet| now - packet.sent_at),
        };
        let bytes = self.receive_in_order(ack.seq) + self.receive_by_bitmap(ack);
        match (probed_at, rtt) {
            (Some(sent_at), Some(rtt)) if rtt - parameters.base_rtt < parameters.target_delay => {
                self.lose_before(sent_at, ack.data_seq);
            }
            (None, Some(rtt)) => self.smooth(rtt),
            _ => {}
        }
        let (marked, in_flight) = (ack.ecn.is_marked(), self.in_flight);
        self.control.on_ack(parameters, &Acknowledged { now, marked, rtt, bytes, in_flight });
        self.expect_answers(parameters, now);
    }

    /// Takes packets for lost that were sent before a probe, up to the last that its answer tells of.
    fn lose_before(&mut self, probed_at: Time, last: u64) {
        let known = self.packets.len().min((last + 1).saturating_sub(self.first) as usize);
        let is_lost =
            |packet: &Packet| packet.place == Place::InFlight && packet.sent_at < probed_at;
        let lost: Vec<u64> = (0..known)
            .filter(|place| is_lost(&self.packets[*place]))
            .map(|place| self.first + place as u64)
            .collect();
        self.counters.fast_recoveries += u64::from(!lost.is_empty());
        lost.into_iter().for_each(|number| self.lose(number));
    }

    /// Sets the time of the next probe.
    fn expect_answers(&mut self, parameters: &UetParameters, now: Time) {
        let (is_idle, more_waits) = (self.is_idle(), self.next < self.written);
        match &mut self.probes {
            Some(probes) if is_idle => probes.stop(),
            Some(probes) => probes.start(parameters, now, more_waits),
            None => {}
        }
    }

    fn on_nack(&mut self, parameters: &UetParameters, now: Time, nack: &Segment) {
        let Some(packet) = self.sent_with(nack) else { return };
        let (bytes, in_flight) = (packet.size(), self.in_flight);
        self.lose(nack.data_seq);
        let trimmed = Trimmed { now, bytes, in_flight };
        self.control.on_nack(parameters, &trimmed, nack.window > 0);
    }

    /// The packet that is in flight as an answer has it: sent at the time that is echoed.
    fn sent_with(&self, answer: &Segment) -> Option<Packet> {
        let place = usize::try_from(answer.data_seq.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get(place)?;
        let is_it =
            packet.place == Place::InFlight && Timestamp::at(packet.sent_at) == answer.timestamp;
        is_it.then_some(*packet)
    }

    /// Removes the packets below a byte of the stream; returns the bytes that are newly received.
    fn receive_in_order(&mut self, up_to: u64) -> u64 {
        let mut bytes = 0;
        while self.packets.front().is_some_and(|packet| packet.end() <= up_to) {
            bytes += self.receive(0);
            self.packets.pop_front();
            self.first += 1;
        }
        bytes
    }

    /// The same of the packets of a bitmap.
    fn receive_by_bitmap(&mut self, ack: &Segment) -> u64 {
        let Options::Received([low, high]) = ack.options else { return 0 };
        let bits = u64::from(low) | u64::from(high) << 32;
        let mut bytes = 0;
        for behind in (0..BITMAP).filter(|behind| bits & 1 << behind != 0) {
            let Some(number) = ack.data_seq.checked_sub(behind) else { break };
            let Some(place) = number.checked_sub(self.first) else { break };
            if (place as usize) < self.packets.len() {
                bytes += self.receive(place as usize);
            }
        }
        bytes
    }

    /// Records that a packet has arrived; returns its bytes on the wire if that is new.
    fn receive(&mut self, place: usize) -> u64 {
        let packet = &mut self.packets[place];
        let size = packet.size();
        match core::mem::replace(&mut packet.place, Place::Received) {
            Place::Received => return 0,
            Place::InFlight => self.in_flight -= size,
            Place::Lost => self.lost -= 1,
        }
        size
    }

    /// Takes a packet in flight for lost.
    fn lose(&mut self, number: u64) {
        let packet = &mut self.packets[(number - self.first) as usize];
        packet.place = Place::Lost;
        self.in_flight -= packet.size();
        self.lost += 1;
    }

    fn smooth(&mut self, rtt: Time) {
        let before = self.srtt.unwrap_or(rtt);
        self.srtt = Some(Time(before.0 - before.0 / 8 + rtt.0 / 8));
    }

    /// Time of the next timeout or probe.
    pub(super) fn deadline(&self) -> Time {
        self.timeout_at().min(self.probes.as_ref().map_or(Time::NEVER, Probes::at))
    }

    /// Time at which the packet that was sent first of those in flight is taken for lost; with none
    /// in flight, at which credit is asked for again.
    fn timeout_at(&self) -> Time {
        let since = match self.sends.front() {
            Some((sent_at, _)) => Some(*sent_at),
            None => self.credit_missing_since(),
        };
        since.map_or(Time::NEVER, |since| since + self.rto)
    }

    /// Time from which credit is missing for what waits to be sent.
    fn credit_missing_since(&self) -> Option<Time> {
        let waits = self.next < self.written || self.lost > 0;
        self.control.credit().filter(|_| waits)?.missing_since()
    }

    /// Takes the packets for lost whose time is over.
    pub(super) fn on_timer(&mut self, parameters: &UetParameters, now: Time) {
        self.forget_answered();
        if let Some(probes) = &mut self.probes {
            probes.on_timer(parameters, now);
        }
        if self.timeout_at() > now {
            return;
        }
        if self.sends.is_empty()
            && let Some(credit) = self.control.credit_mut()
        {
            return credit.ask_again(now);
        }
        self.counters.timeouts += 1;
        while let Some((_, number)) =
            self.sends.front().copied().filter(|_| self.timeout_at() <= now)
        {
            let size = self.packets[(number - self.first) as usize].size();
            self.lose(number);
            self.control.on_timeout(parameters, size);
            self.forget_answered();
        }
    }

    /// Removes the first entries of `sends` whose packets are no longer in flight since then.
    fn forget_answered(&mut self) {
        while let Some((sent_at, number)) = self.sends.front().copied() {
            let place = number.checked_sub(self.first).map(|place| place as usize);
            let packet = place.and_then(|place| self.packets.get(place));
            let is_it =
                |packet: &Packet| packet.place == Place::InFlight && packet.sent_at == sent_at;
            if packet.is_some_and(is_it) {
                return;
            }
            self.sends.pop_front();
        }
    }
}

//! The client's end of a connection: writes a stream onto subflows.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use heddle_units::Time;
use heddle_wire::{Key, Version};

use super::coupled::Coupled;
use super::handshake::Handshake;
use super::secrets::{Nonces, Secrets};
use super::subflow::{Opening, Subflow, confirm};
use super::{JoinTime, Parameters, Scheduler};
use crate::{Kind, Options, Segment};

/// Bytes that a subflow was late with, for another one to carry.
#[derive(Clone, Debug)]
struct Late {
    from: usize,
    data: Range<u64>,
}

/// The client's end. Data is given to a subflow when it can send it, never before, so that a slow subflow holds none back.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Bytes in the stream so far.
    written: u64,
    /// The next byte that no subflow has been given.
    nxt: u64,
    /// The first byte not acknowledged by the connection's own acknowledgements.
    una: u64,
    /// End of the receive window.
    window_end: u64,
    /// The server's key, once its SYN/ACK has told it.
    server_key: Option<Key>,
    subflows: Vec<Subflow>,
    coupled: Coupled,
    /// The third packet of the first subflow's handshake has to go.
    keys_due: bool,
    /// The subflow that the next turn begins with.
    turn: usize,
    late: VecDeque<Late>,
    /// The rest of a segment sent again whose bytes belong to several places of the stream.
    rest: Option<(usize, Segment)>,
    reinjected: u64,
}

impl Client {
    pub(super) fn new() -> Client {
        Client {
            written: 0,
            nxt: 0,
            una: 0,
            window_end: 0,
            server_key: None,
            subflows: Vec::new(),
            coupled: Coupled::default(),
            keys_due: false,
            turn: 0,
            late: VecDeque::new(),
            rest: None,
            reinjected: 0,
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn acked(&self) -> u64 {
        self.una
    }

    pub(super) fn subflows(&self) -> &[Subflow] {
        &self.subflows
    }

    pub(super) fn reinjected(&self) -> u64 {
        self.reinjected
    }

    /// The next segment to send now and its subflow.
    pub(super) fn next_segment(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
    ) -> Option<(usize, Segment)> {
        if let Some((path, segment)) = self.rest.take() {
            return Some(self.mapped(path, segment));
        }
        let (path, segment) = self
            .next_opening(with, secrets, now)
            .or_else(|| self.next_hole(with, now))
            .or_else(|| self.next_data(with, now))
            .or_else(|| self.next_rescue(with, now))?;
        if segment.kind != Kind::Data {
            return Some((path, segment));
        }
        let (path, segment) = self.mapped(path, segment);
        Some((path, self.with_keys(with, secrets, path, segment)))
    }

    /// SYNs, and the third packets of handshakes.
    fn next_opening(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
    ) -> Option<(usize, Segment)> {
        if self.subflows.is_empty() && self.written > 0 {
            self.subflows.push(Subflow::new(&with.subflow, 0));
        }
        if core::mem::take(&mut self.keys_due)
            && let Some(keys) = self.keys(secrets)
        {
            return Some((0, confirm(keys, now)));
        }
        for path in 0..self.subflows.len() {
            if self.subflows[path].is_open() {
                continue;
            }
            if let Some(segment) = self.subflows[path].next_opening(&with.subflow, now) {
                return Some((path, self.asking(with, secrets, path, segment)));
            }
        }
        None
    }

    /// Puts the option onto a SYN.
    fn asking(
        &self,
        with: &Parameters,
        secrets: &Secrets,
        path: usize,
        segment: Segment,
    ) -> Segment {
        if segment.kind != Kind::Syn {
            return segment;
        }
        let version = with.config.version;
        let handshake = match (path, version, self.server_key) {
            (0, Version::V0, _) => Handshake::Key(secrets.client),
            (0, Version::V1, _) | (_, _, None) => Handshake::Capable,
            (_, _, Some(key)) => Handshake::Join(version.token(key), self.subflows[path].nonce),
        };
        Segment { options: Options::Mptcp(handshake), ..segment }
    }

    fn keys(&self, secrets: &Secrets) -> Option<Handshake> {
        self.server_key.map(|key| Handshake::Keys(secrets.client, key))
    }

    /// Segments known to be lost go before new data, on their own subflow.
    #[inline]
    fn next_hole(&mut self, with: &Parameters, now: Time) -> Option<(usize, Segment)> {
        let repairing =
            self.subflows.iter_mut().enumerate().filter(|(_, s)| s.sender.is_repairing());
        repairing
            .into_iter()
            .find_map(|(path, subflow)| Some((path, subflow.sender.next_hole(&with.subflow, now)?)))
    }

    /// What a subflow sends when there is nothing new: see RFC 6675 section 4, rules 3 and 4.
    fn next_rescue(&mut self, with: &Parameters, now: Time) -> Option<(usize, Segment)> {
        let repairing =
            self.subflows.iter_mut().enumerate().filter(|(_, s)| s.sender.is_repairing());
        repairing.into_iter().find_map(|(path, subflow)| {
            Some((path, subflow.sender.next_segment(&with.subflow, now)?))
        })
    }

    /// New data, on the subflow that the scheduler chooses.
    fn next_data(&mut self, with: &Parameters, now: Time) -> Option<(usize, Segment)> {
        self.forget_late();
        let path = self.choose(with)?;
        let data = self.take_data(with, path)?;
        let segment = self.subflows[path].send(&with.subflow, now, data)?;
        Some((path, segment))
    }

    fn choose(&mut self, with: &Parameters) -> Option<usize> {
        let paths = self.subflows.len();
        let ready = |path: &usize| self.is_ready(with, *path);
        match with.config.scheduler {
            Scheduler::LowestRtt => {
                (0..paths).filter(ready).min_by_key(|path| self.subflows[*path].sender.srtt())
            }
            Scheduler::RoundRobin | Scheduler::Redundant => {
                let chosen = (0..paths).map(|step| (self.turn + step) % paths).find(ready)?;
                self.turn = (chosen + 1) % paths;
                Some(chosen)
            }
        }
    }

    /// Whether a subflow can send, and there is something for it.
    #[inline]
    fn is_ready(&self, with: &Parameters, path: usize) -> bool {
        let subflow = &self.subflows[path];
        subflow.is_open()
            && subflow.sender.has_room(&with.subflow)
            && (self.late_for(path).is_some() || !self.new_for(with, path).is_empty())
    }

    /// The first bytes that another subflow is late with, by their place in the list.
    #[inline]
    fn late_for(&self, path: usize) -> Option<usize> {
        self.late.iter().position(|late| late.from != path)
    }

    /// The next segment's bytes of those that are new to a subflow; empty if there is none, or the receive window is full.
    #[inline]
    fn new_for(&self, with: &Parameters, path: usize) -> Range<u64> {
        let start = match with.config.scheduler {
            Scheduler::Redundant => self.subflows[path].cursor.max(self.una),
            Scheduler::LowestRtt | Scheduler::RoundRobin => self.nxt,
        };
        let end = self.written.min(start.saturating_add(u64::from(with.subflow.mss)));
        if end <= self.window_end { start..end } else { start..start }
    }

    /// Takes the bytes for a subflow that is ready.
    #[inline]
    fn take_data(&mut self, with: &Parameters, path: usize) -> Option<Range<u64>> {
        if let Some(place) = self.late_for(path) {
            return self.take_late(place, u64::from(with.subflow.mss));
        }
        let data = self.new_for(with, path);
        self.nxt = self.nxt.max(data.end);
        self.subflows[path].cursor = data.end;
        Some(data)
    }

    fn take_late(&mut self, place: usize, mss: u64) -> Option<Range<u64>> {
        let late = self.late.get_mut(place)?;
        let end = late.data.end.min(late.data.start + mss);
        let taken = late.data.start..end;
        late.data.start = end;
        if late.data.is_empty() {
            self.late.remove(place);
        }
        self.reinjected += taken.end - taken.start;
        Some(taken)
    }

    /// Drops late bytes that have been acknowledged meanwhile.
    #[inline]
    fn forget_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        for late in &mut self.late {
            late.data.start = late.data.start.max(self.una).min(late.data.end);
        }
        self.late.retain(|late| !late.data.is_empty());
    }

    /// Writes the data sequence mapping into a segment of data. One sent again may hold bytes of several places: the rest waits.
    #[inline]
    fn mapped(&mut self, path: usize, mut segment: Segment) -> (usize, Segment) {
        let bytes = segment.seq..segment.seq + u64::from(segment.len);
        if let Some(data) = self.subflows[path].mappings.first(bytes) {
            let len = (data.end - data.start) as u16;
            if len < segment.len {
                let (seq, rest) = (segment.seq + u64::from(len), segment.len - len);
                self.rest = Some((path, Segment { seq, len: rest, ..segment }));
            }
            segment.data_seq = data.start;
            segment.len = len;
        }
        (path, segment)
    }

    /// With RFC 8684 the first data carries both keys, in case the third packet is lost.
    #[inline]
    fn with_keys(
        &self,
        with: &Parameters,
        secrets: &Secrets,
        path: usize,
        segment: Segment,
    ) -> Segment {
        if segment.seq > 0 || path > 0 || with.config.version == Version::V0 {
            return segment;
        }
        let options = self.keys(secrets).map_or(Options::None, Options::Mptcp);
        Segment { options, ..segment }
    }

    /// Takes in an answer that came over `path`.
    #[inline]
    pub(super) fn on_answer(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
        path: usize,
        answer: &Segment,
    ) {
        if path >= self.subflows.len() {
            return;
        }
        match answer.kind {
            Kind::Ack => self.on_ack(with, secrets, now, path, answer),
            Kind::SynAck => self.on_syn_ack(with, secrets, now, path, answer),
            Kind::Syn | Kind::Data | Kind::Confirm => {}
        }
    }

    #[inline]
    fn on_ack(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
        path: usize,
        answer: &Segment,
    ) {
        if self.subflows[path].opening != Opening::Open {
            return self.on_proof_taken(path, answer);
        }
        self.note_data_ack(answer);
        let subflow = &mut self.subflows[path];
        self.coupled.before_ack(with.config.coupling, path, &mut subflow.sender);
        subflow.on_ack(&with.subflow, now, answer);
        self.coupled.after_ack(with.config.coupling, path, &subflow.sender);
        if self.una > 0 && self.subflows.len() == 1 {
            self.join(with, secrets, JoinTime::AfterData);
        }
    }

    /// The connection's own acknowledgement and window.
    #[inline]
    fn note_data_ack(&mut self, answer: &Segment) {
        if answer.data_seq <= self.nxt {
            self.una = self.una.max(answer.data_seq);
            let end = answer.data_seq.saturating_add(u64::from(answer.window));
            self.window_end = self.window_end.max(end);
        }
    }

    /// The fourth packet of a join: now data may be sent.
    fn on_proof_taken(&mut self, path: usize, answer: &Segment) {
        let subflow = &mut self.subflows[path];
        if matches!(subflow.opening, Opening::Proving { .. }) {
            subflow.opening = Opening::Open;
            self.coupled.add(path, &subflow.sender);
            self.note_data_ack(answer);
        }
    }

    fn on_syn_ack(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
        path: usize,
        answer: &Segment,
    ) {
        if self.subflows[path].opening != Opening::Asking {
            return;
        }
        match (path, answer.options) {
            (0, Options::Mptcp(Handshake::Key(key))) => {
                self.server_key = Some(key);
                self.keys_due = true;
                self.note_data_ack(answer);
                let subflow = &mut self.subflows[0];
                subflow.opening = Opening::Open;
                subflow.on_ack(&with.subflow, now, answer);
                self.coupled.add(0, &subflow.sender);
                self.join(with, secrets, JoinTime::AtOnce);
            }
            (_, Options::Mptcp(Handshake::JoinAnswer(hmac, nonce))) => {
                self.on_join_answer(with, secrets, now, path, answer, (hmac, nonce));
            }
            _ => {}
        }
    }

    /// The server's half of a join: it has to prove that it knows both keys.
    fn on_join_answer(
        &mut self,
        with: &Parameters,
        secrets: &Secrets,
        now: Time,
        path: usize,
        answer: &Segment,
        (hmac, nonce): ([u8; 8], u32),
    ) {
        let Some(server_key) = self.server_key else { return };
        let subflow = &mut self.subflows[path];
        let nonces = Nonces { client: subflow.nonce, server: nonce };
        let keys = (secrets.client, server_key);
        if nonces.server_proof(with.config.version, keys) != hmac {
            return;
        }
        let proof = Handshake::JoinProof(nonces.client_proof(with.config.version, keys));
        subflow.on_ack(&with.subflow, now, answer);
        subflow.opening = Opening::Proving { proof, at: now, wait: subflow.sender.rto() };
    }

    /// Opens the further subflows, if this is the time for it.
    fn join(&mut self, with: &Parameters, secrets: &Secrets, time: JoinTime) {
        if with.config.join != time {
            return;
        }
        for path in 1..usize::from(with.config.subflows) {
            self.subflows.push(Subflow::new(&with.subflow, secrets.client_nonce(path)));
        }
    }

    /// When [`Client::on_timer`] is next needed.
    pub(super) fn deadline(&self) -> Time {
        self.subflows.iter().map(Subflow::deadline).min().unwrap_or(Time::NEVER)
    }

    /// Looks at the clock. What a subflow has timed out with is given to the others as well.
    pub(super) fn on_timer(&mut self, with: &Parameters, now: Time) {
        for path in 0..self.subflows.len() {
            let subflow = &mut self.subflows[path];
            if subflow.sender.deadline() > now {
                continue;
            }
            subflow.sender.on_timer(&with.subflow, now);
            if subflow.is_open() && with.config.scheduler != Scheduler::Redundant {
                self.reinject(path);
            }
        }
    }

    /// Lets the other subflows carry what this one has in flight, once.
    fn reinject(&mut self, from: usize) {
        let has_other = (0..self.subflows.len()).any(|p| p != from && self.subflows[p].is_open());
        if !has_other {
            return;
        }
        let subflow = &mut self.subflows[from];
        let end = subflow.sender.written();
        let bytes = subflow.sender.acked().max(subflow.reinjected_to)..end;
        subflow.reinjected_to = end;
        let late = subflow.mappings.ranges(bytes).filter(|data| data.end > self.una);
        self.late.extend(late.map(|data| Late { from, data }));
    }
}

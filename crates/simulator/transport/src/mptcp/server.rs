//! The server's end of a connection: puts together what the subflows deliver.

use alloc::vec::Vec;

use heddle_units::Time;
use heddle_wire::Key;

use super::Context;
use super::handshake::Handshake;
use super::mapping::Held;
use super::secrets::Nonces;
use super::stream::Stream;
use crate::{Kind, Options, Receiver, Segment};

/// A subflow at the server.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    receiver: Receiver,
    held: Held,
    /// The nonces of its join.
    nonces: Option<Nonces>,
    /// Whether data is taken: the client has proven that it knows the keys.
    is_open: bool,
}

/// The server's end.
#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    stream: Stream,
    subflows: Vec<Arrivals>,
    /// The client's key, once it has told it.
    client_key: Option<Key>,
}

impl Server {
    pub(super) fn delivered(&self) -> u64 {
        self.stream.delivered()
    }

    /// Data segments that the network delivered behind a later one of their subflow.
    pub(super) fn reordered(&self) -> u64 {
        self.subflows.iter().map(|subflow| subflow.receiver.reordered()).sum()
    }

    /// Takes in a segment that came over `path`.
    #[inline]
    pub(super) fn on_segment(
        &mut self,
        with: &Context,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        if let Options::Mptcp(handshake) = segment.options {
            self.note_keys(with, path, handshake);
        }
        let answer = match segment.kind {
            Kind::Data => self.on_data(with, path, segment),
            Kind::Syn => self.on_syn(with, path, segment),
            Kind::Confirm => self.on_confirm(with, path, segment),
            Kind::SynAck | Kind::Ack => None,
        };
        answer.map(|answer| self.signed(with, answer))
    }

    /// Writes the connection's acknowledgement and window into an answer.
    #[inline]
    fn signed(&self, with: &Context, answer: Segment) -> Segment {
        let window = u32::try_from(with.config.tcp.receive_window.0).unwrap_or(u32::MAX);
        Segment { data_seq: self.stream.delivered(), window, ..answer }
    }

    #[inline]
    fn on_data(&mut self, with: &Context, path: usize, segment: &Segment) -> Option<Segment> {
        let subflow = self.subflows.get_mut(path).filter(|subflow| subflow.is_open)?;
        let before = subflow.receiver.delivered();
        let answer = subflow.receiver.on_segment(with.subflow, with.now, segment);
        let delivered = subflow.receiver.delivered();
        let len = u64::from(segment.len);
        let data = segment.data_seq..segment.data_seq.saturating_add(len);
        if segment.seq == before && delivered == before + len {
            self.stream.insert(data);
        } else if segment.seq.saturating_add(len) > before {
            subflow.held.insert(segment.seq, data);
        }
        if !subflow.held.is_empty() {
            self.release(path, delivered);
        }
        answer
    }

    /// Gives the stream what a subflow has put in order, up to its count of bytes.
    #[cold]
    fn release(&mut self, path: usize, delivered: u64) {
        for data in self.subflows[path].held.release(delivered) {
            self.stream.insert(data);
        }
    }

    fn on_syn(&mut self, with: &Context, path: usize, segment: &Segment) -> Option<Segment> {
        let Options::Mptcp(asked) = segment.options else { return None };
        let handshake = match asked {
            Handshake::Capable | Handshake::Key(_) if path == 0 => {
                self.subflow(path).is_open = true;
                Handshake::Key(with.secrets.server)
            }
            Handshake::Join(token, nonce)
                if token == with.config.version.token(with.secrets.server) =>
            {
                let keys = (self.client_key?, with.secrets.server);
                let nonces = Nonces { client: nonce, server: with.secrets.server_nonce(path) };
                self.subflow(path).nonces = Some(nonces);
                let proof = nonces.server_proof(with.config.version, keys);
                Handshake::JoinAnswer(proof, nonces.server)
            }
            _ => return None,
        };
        let answer = self.subflow(path).receiver.on_segment(with.subflow, with.now, segment)?;
        Some(Segment { options: Options::Mptcp(handshake), ..answer })
    }

    /// The third packet of a join is acknowledged, or the client would never send data (RFC 8684 section 3.2).
    fn on_confirm(&mut self, with: &Context, path: usize, segment: &Segment) -> Option<Segment> {
        let Options::Mptcp(Handshake::JoinProof(proof)) = segment.options else { return None };
        let keys = (self.client_key?, with.secrets.server);
        let subflow = self.subflows.get_mut(path)?;
        if subflow.nonces?.client_proof(with.config.version, keys) != proof {
            return None;
        }
        subflow.is_open = true;
        subflow.receiver.on_segment(with.subflow, with.now, segment)
    }

    fn note_keys(&mut self, with: &Context, path: usize, handshake: Handshake) {
        match handshake {
            Handshake::Key(client) if path == 0 => self.client_key = Some(client),
            Handshake::Keys(client, server) if server == with.secrets.server => {
                self.client_key = Some(client);
            }
            _ => {}
        }
    }

    fn subflow(&mut self, path: usize) -> &mut Arrivals {
        if path >= self.subflows.len() {
            self.subflows.resize_with(path + 1, Arrivals::default);
        }
        &mut self.subflows[path]
    }

    pub(super) fn deadline(&self) -> Time {
        self.subflows.iter().map(|subflow| subflow.receiver.deadline()).min().unwrap_or(Time::NEVER)
    }

    /// A delayed acknowledgement that is due.
    pub(super) fn on_timer(&mut self, with: &Context) -> Option<(usize, Segment)> {
        let mut subflows = self.subflows.iter_mut().enumerate();
        let (path, answer) = subflows.find_map(|(path, subflow)| {
            Some((path, subflow.receiver.on_timer(with.subflow, with.now)?))
        })?;
        Some((path, self.signed(with, answer)))
    }
}

//! The server of a connection: reassembles the stream from the subflows.

use alloc::vec::Vec;

use heddle_units::Time;
use heddle_wire::Key;

use super::Context;
use super::Handshake;
use super::mapping::OutOfOrderMappings;
use super::secrets::Nonces;
use super::stream::Stream;
use crate::{Kind, Options, Receiver, Segment};

/// A subflow at the server.
#[derive(Clone, Debug, Default)]
struct ServerSubflow {
    receiver: Receiver,
    out_of_order: OutOfOrderMappings,
    /// Nonces of the join.
    nonces: Option<Nonces>,
    /// True if data is accepted: the client is authenticated.
    is_open: bool,
}

/// The server.
#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    stream: Stream,
    subflows: Vec<ServerSubflow>,
    /// The client's key, once received.
    client_key: Option<Key>,
    /// SYNs of joins that were not answered.
    refused_joins: u64,
}

impl Server {
    pub(super) fn delivered(&self) -> u64 {
        self.stream.delivered()
    }

    /// SYNs of joins that were not answered: of an unknown token, or before the client's key was
    /// known.
    pub(super) fn refused_joins(&self) -> u64 {
        self.refused_joins
    }

    /// Data segments delivered out of order by the network, summed over subflows.
    pub(super) fn reordered(&self) -> u64 {
        self.subflows.iter().map(|subflow| subflow.receiver.reordered()).sum()
    }

    /// Handles a segment that arrived on `path`, and returns the reply.
    #[inline]
    pub(super) fn on_segment(
        &mut self,
        cx: &Context,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        if let Options::Mptcp(handshake) = segment.options {
            self.learn_keys(cx, path, handshake);
        }
        let ack = match segment.kind {
            Kind::Data => self.on_data(cx, path, segment),
            Kind::Syn => self.on_syn(cx, path, segment),
            Kind::HandshakeAck => self.on_handshake_ack(cx, path, segment),
            Kind::SynAck
            | Kind::Ack
            | Kind::Trimmed
            | Kind::Nack
            | Kind::Request
            | Kind::Credit => None,
        };
        ack.map(|ack| self.with_data_ack(cx, ack))
    }

    /// Adds the data ACK and the connection's receive window to a reply.
    #[inline]
    fn with_data_ack(&self, cx: &Context, ack: Segment) -> Segment {
        let window = u32::try_from(cx.config.tcp.receive_window.0).unwrap_or(u32::MAX);
        Segment { data_seq: self.stream.delivered(), window, ..ack }
    }

    #[inline]
    fn on_data(&mut self, cx: &Context, path: usize, segment: &Segment) -> Option<Segment> {
        let subflow = self.subflows.get_mut(path).filter(|subflow| subflow.is_open)?;
        let before = subflow.receiver.delivered();
        let ack = subflow.receiver.on_segment(cx.subflow, cx.now, segment);
        let delivered = subflow.receiver.delivered();
        let len = u64::from(segment.len);
        let data = segment.data_seq..segment.data_seq.saturating_add(len);
        if segment.seq == before && delivered == before + len {
            self.stream.insert(data);
        } else if segment.seq.saturating_add(len) > before {
            subflow.out_of_order.insert(segment.seq, data);
        }
        if !subflow.out_of_order.is_empty() {
            self.release(path, delivered);
        }
        ack
    }

    /// Inserts into the stream what a subflow has delivered in order, up to its byte `delivered`.
    #[cold]
    fn release(&mut self, path: usize, delivered: u64) {
        for data in self.subflows[path].out_of_order.release(delivered) {
            self.stream.insert(data);
        }
    }

    fn on_syn(&mut self, cx: &Context, path: usize, segment: &Segment) -> Option<Segment> {
        let Options::Mptcp(asked) = segment.options else { return None };
        let handshake = match asked {
            Handshake::Capable | Handshake::Key(_) if path == 0 => {
                self.subflow(path).is_open = true;
                Handshake::Key(cx.secrets.server)
            }
            Handshake::JoinSyn(token, nonce) => {
                let known = token == cx.config.version.token(cx.secrets.server);
                let Some(client_key) = self.client_key.filter(|_| known) else {
                    self.refused_joins += 1;
                    return None;
                };
                let keys = (client_key, cx.secrets.server);
                let nonces = Nonces { client: nonce, server: cx.secrets.server_nonce(path) };
                self.subflow(path).nonces = Some(nonces);
                let hmac = nonces.server_hmac(cx.config.version, keys);
                Handshake::JoinSynAck(hmac, nonces.server)
            }
            _ => return None,
        };
        let ack = self.subflow(path).receiver.on_segment(cx.subflow, cx.now, segment)?;
        Some(Segment { options: Options::Mptcp(handshake), ..ack })
    }

    /// Handles the third packet of a join. It is acknowledged, because the client sends data only
    /// after that (RFC 8684 section 3.2).
    fn on_handshake_ack(
        &mut self,
        cx: &Context,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        let Options::Mptcp(Handshake::JoinAck(hmac)) = segment.options else { return None };
        let keys = (self.client_key?, cx.secrets.server);
        let subflow = self.subflows.get_mut(path)?;
        if subflow.nonces?.client_hmac(cx.config.version, keys) != hmac {
            return None;
        }
        subflow.is_open = true;
        subflow.receiver.on_segment(cx.subflow, cx.now, segment)
    }

    fn learn_keys(&mut self, cx: &Context, path: usize, handshake: Handshake) {
        match handshake {
            Handshake::Key(client) if path == 0 => self.client_key = Some(client),
            Handshake::Keys(client, server) if server == cx.secrets.server => {
                self.client_key = Some(client);
            }
            _ => {}
        }
    }

    fn subflow(&mut self, path: usize) -> &mut ServerSubflow {
        if path >= self.subflows.len() {
            self.subflows.resize_with(path + 1, ServerSubflow::default);
        }
        &mut self.subflows[path]
    }

    pub(super) fn deadline(&self) -> Time {
        self.subflows.iter().map(|subflow| subflow.receiver.deadline()).min().unwrap_or(Time::NEVER)
    }

    /// Returns a delayed acknowledgement that is due.
    pub(super) fn on_timer(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        let mut subflows = self.subflows.iter_mut().enumerate();
        let (path, ack) = subflows.find_map(|(path, subflow)| {
            Some((path, subflow.receiver.on_timer(cx.subflow, cx.now)?))
        })?;
        Some((path, self.with_data_ack(cx, ack)))
    }
}

//! An MPTCP connection.

use heddle_units::Time;

use super::client::Client;
use super::secrets::Secrets;
use super::server::Server;
use super::{Context, MptcpConfig, Parameters};
use crate::{Agreed, ConnectionCounters, Options, Segment, SenderCounters, SenderState};

/// An MPTCP connection: client and server. Each path is a subflow.
#[derive(Clone, Debug)]
pub(crate) struct MptcpConnection {
    client: Client,
    server: Server,
    secrets: Secrets,
}

impl MptcpConnection {
    pub(crate) fn paths(parameters: &Parameters) -> usize {
        usize::from(parameters.config.subflows.max(1))
    }

    pub(crate) fn new(parameters: &Parameters, random: impl FnMut() -> u64) -> MptcpConnection {
        MptcpConnection {
            client: Client::new(),
            server: Server::default(),
            secrets: Secrets::new(parameters.config.subflows, random),
        }
    }

    pub(crate) fn write(&mut self, _: Time, bytes: u64) {
        self.client.write(bytes);
    }

    pub(crate) fn written(&self) -> u64 {
        self.client.written()
    }

    pub(crate) fn acked(&self) -> u64 {
        self.client.acked()
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.server.delivered()
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.client.is_idle()
    }

    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        parameters: &Parameters,
        now: Time,
        path: usize,
        ack: &Segment,
    ) {
        self.client.on_ack(&context(parameters, &self.secrets, now), path, ack);
    }

    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        parameters: &Parameters,
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        self.server.on_segment(&context(parameters, &self.secrets, now), path, segment)
    }

    #[inline]
    pub(crate) fn next_segment(
        &mut self,
        parameters: &Parameters,
        now: Time,
    ) -> Option<(usize, Segment)> {
        self.client.next_segment(&context(parameters, &self.secrets, now))
    }

    pub(crate) fn set_queue_full(&mut self, parameters: &Parameters, path: usize, is_full: bool) {
        self.client.set_queue_full(&parameters.subflow, path, is_full);
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.client.deadline()
    }

    pub(crate) fn on_timer(&mut self, parameters: &Parameters, now: Time) {
        self.client.on_timer(&context(parameters, &self.secrets, now));
    }

    #[inline]
    pub(crate) fn ack_deadline(&self) -> Time {
        self.server.deadline()
    }

    pub(crate) fn on_ack_timer(
        &mut self,
        parameters: &Parameters,
        now: Time,
    ) -> Option<(usize, Segment)> {
        self.server.on_timer(&context(parameters, &self.secrets, now))
    }

    #[inline]
    pub(crate) fn stream_offset(&self, segment: &Segment) -> u64 {
        segment.data_seq
    }

    pub(crate) fn counters(&self) -> ConnectionCounters {
        let each = self.client.subflows().map(|subflow| subflow.sender.counters());
        let zero = ConnectionCounters {
            reordered: self.server.reordered(),
            reinjected: self.client.reinjected(),
            penalties: self.client.penalties(),
            refused_joins: self.server.refused_joins(),
            ..ConnectionCounters::default()
        };
        each.fold(zero, add)
    }

    pub(crate) fn path_counters(&self, path: usize) -> SenderCounters {
        let subflow = self.client.subflows().nth(path);
        subflow.map_or_else(SenderCounters::default, |subflow| subflow.sender.counters())
    }

    pub(crate) fn sender_state(&self, path: usize) -> Option<SenderState> {
        self.client.subflows().nth(path).map(|subflow| subflow.sender.state())
    }

    pub(crate) fn agreed(&self, parameters: &Parameters) -> Agreed {
        let MptcpConfig { tcp, version, .. } = parameters.config;
        let first = |key| version.initial_data_seq(key);
        let data_seqs = Some((first(self.secrets.client), first(self.secrets.server)));
        Agreed { tcp, data_seqs }
    }

    pub(crate) fn options(
        parameters: &Parameters,
        segment: &Segment,
        area: &mut [u8; 40],
    ) -> usize {
        let Options::Mptcp(handshake) = segment.options else { return 0 };
        let option = handshake.option(parameters.config.version, segment.len);
        option.emit(area).unwrap_or(0)
    }
}

#[inline]
fn context<'a>(parameters: &'a Parameters, secrets: &'a Secrets, now: Time) -> Context<'a> {
    Context { config: &parameters.config, subflow: &parameters.subflow, secrets, now }
}

fn add(sum: ConnectionCounters, sender: SenderCounters) -> ConnectionCounters {
    ConnectionCounters {
        segments: sum.segments + sender.segments,
        retransmitted: sum.retransmitted + sender.retransmitted,
        timeouts: sum.timeouts + sender.timeouts,
        fast_recoveries: sum.fast_recoveries + sender.fast_recoveries,
        ..sum
    }
}

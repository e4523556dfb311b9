//! Both ends of an MPTCP connection.

use heddle_units::Time;

use super::client::Client;
use super::secrets::Secrets;
use super::server::Server;
use super::{Context, Parameters};
use crate::{Ends, EndsCounters, Options, Segment, SenderCounters};

/// Both ends of an MPTCP connection; a path is a subflow.
#[derive(Clone, Debug)]
pub struct MptcpEnds {
    client: Client,
    server: Server,
    secrets: Secrets,
}

impl Ends for MptcpEnds {
    type Config = Parameters;

    fn paths(with: &Parameters) -> usize {
        usize::from(with.config.subflows.max(1))
    }

    fn new(with: &Parameters, random: impl FnMut() -> u64) -> MptcpEnds {
        MptcpEnds {
            client: Client::new(),
            server: Server::default(),
            secrets: Secrets::new(with.config.subflows, random),
        }
    }

    fn write(&mut self, _: Time, bytes: u64) {
        self.client.write(bytes);
    }

    fn written(&self) -> u64 {
        self.client.written()
    }

    fn acked(&self) -> u64 {
        self.client.acked()
    }

    #[inline]
    fn delivered(&self) -> u64 {
        self.server.delivered()
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.client.is_idle()
    }

    #[inline]
    fn on_answer(&mut self, with: &Parameters, now: Time, path: usize, answer: &Segment) {
        self.client.on_answer(&context(with, &self.secrets, now), path, answer);
    }

    #[inline]
    fn on_segment(
        &mut self,
        with: &Parameters,
        now: Time,
        path: usize,
        segment: &Segment,
    ) -> Option<Segment> {
        self.server.on_segment(&context(with, &self.secrets, now), path, segment)
    }

    #[inline]
    fn next_segment(&mut self, with: &Parameters, now: Time) -> Option<(usize, Segment)> {
        self.client.next_segment(&context(with, &self.secrets, now))
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.client.deadline()
    }

    fn on_timer(&mut self, with: &Parameters, now: Time) {
        self.client.on_timer(&context(with, &self.secrets, now));
    }

    #[inline]
    fn answer_deadline(&self) -> Time {
        self.server.deadline()
    }

    fn on_answer_timer(&mut self, with: &Parameters, now: Time) -> Option<(usize, Segment)> {
        self.server.on_timer(&context(with, &self.secrets, now))
    }

    fn counters(&self) -> EndsCounters {
        let each = self.client.subflows().map(|subflow| subflow.sender.counters());
        let zero = EndsCounters {
            reordered: self.server.reordered(),
            reinjected: self.client.reinjected(),
            ..EndsCounters::default()
        };
        each.fold(zero, add)
    }

    fn options(with: &Parameters, segment: &Segment, area: &mut [u8; 40]) -> usize {
        let Options::Mptcp(handshake) = segment.options else { return 0 };
        let option = handshake.option(with.config.version, segment.len);
        option.emit(area).unwrap_or(0)
    }
}

#[inline]
fn context<'a>(with: &'a Parameters, secrets: &'a Secrets, now: Time) -> Context<'a> {
    Context { config: &with.config, subflow: &with.subflow, secrets, now }
}

fn add(sum: EndsCounters, sender: SenderCounters) -> EndsCounters {
    EndsCounters {
        segments: sum.segments + sender.segments,
        retransmitted: sum.retransmitted + sender.retransmitted,
        timeouts: sum.timeouts + sender.timeouts,
        fast_recoveries: sum.fast_recoveries + sender.fast_recoveries,
        ..sum
    }
}

//! The way of a packet and its reasons: the program's explaining variant runs on it, and its trace
//! is put into words.

mod format;
mod frame;
mod reasons;
mod steered;
#[cfg(test)]
mod tests;

use heddle_balancer_maps::abi::{Counter, FLOW_STATE_MASK, FlowState, Trace};
use heddle_wire::{Key, Version};

use super::Core;
use super::answers::failed;
use super::event_sources::Checks;
use super::names::Names;
use crate::admin::{BackendStatus, Explained, MptcpOption, Packet, Problem, ProblemKind};
use crate::ids::WireId;

impl Core {
    /// The way of a packet through the program.
    pub(super) fn explain(&mut self, packet: &Packet) -> Result<Explained, Problem> {
        let refused = |message| Problem { kind: ProblemKind::Refused, message };
        let frame = frame::of(packet).map_err(refused)?;
        let explanation = self.explainer.explain(&frame).map_err(failed)?;
        let trace = explanation.trace.unwrap_or_default();
        let backends = match counters(&trace).any(|counter| counter == Counter::DropNoBackend) {
            true => self.backends(&Checks::new(), |_, _| true)?,
            false => Vec::new(),
        };
        let named = steered::backend(&explanation.run.data).filter(|_| trace.owner != 0);
        self.with_names(|names| Ok(Facts { packet, trace, named, backends, names }.explained()))
    }
}

/// A packet, the program's trace of it, and the names in it.
struct Facts<'a> {
    packet: &'a Packet,
    trace: Trace,
    /// The backend that the steering message to another balancer names.
    named: Option<WireId>,
    /// The state of backends; only where none takes the packet.
    backends: Vec<BackendStatus>,
    names: Names<'a>,
}

impl Facts<'_> {
    fn explained(&self) -> Explained {
        let names = counters(&self.trace).map(|counter| (counter, counter.name().to_owned()));
        let (verdicts, events): (Vec<_>, Vec<_>) =
            names.partition(|(counter, _)| is_verdict(*counter));
        let verdict = verdicts.into_iter().map(|(_, name)| name).next();
        Explained {
            verdict: verdict.unwrap_or_else(|| Counter::PassNoVip.name().into()),
            events: events.into_iter().map(|(_, name)| name).collect(),
            service: self.names.service(self.trace.vip).map(|service| service.name.clone()),
            backend: self.backend().map(str::to_owned),
            owner: self.owner().map(str::to_owned),
            token: self.token(),
            flow_state: self.flow_state().map(|state| state.name().to_owned()),
            reasons: reasons::of(self),
        }
    }

    /// The program's verdict.
    fn verdict(&self) -> Counter {
        counters(&self.trace).find(|counter| is_verdict(*counter)).unwrap_or(Counter::PassNoVip)
    }

    fn events(&self) -> impl Iterator<Item = Counter> {
        counters(&self.trace).filter(|counter| !is_verdict(*counter))
    }

    /// The backend that the packet would reach: directly, or through another balancer.
    fn backend(&self) -> Option<&str> {
        let id = match self.trace.owner {
            0 => self.names.id(self.trace.target),
            _ => self.named,
        };
        self.names.backend(id?).map(|(_, backend)| backend.name.as_str())
    }

    /// The balancer that it would go to first.
    fn owner(&self) -> Option<&str> {
        (self.trace.owner != 0).then(|| self.names.target(self.trace.owner))
    }

    /// The token that it carries, or means, or that its flow has.
    fn token(&self) -> Option<u32> {
        match self.packet.mptcp {
            Some(MptcpOption::Join { token }) => Some(token),
            Some(MptcpOption::Keys { receiver, .. }) => {
                Some(Version::V1.token(Key(receiver.to_be_bytes())).0)
            }
            Some(MptcpOption::Capable) | None => {
                (self.trace.token != 0).then_some(self.trace.token)
            }
        }
    }

    /// The state of its flow, if there is an entry.
    fn flow_state(&self) -> Option<FlowState> {
        let state = FlowState::from_number(u32::from(self.trace.flow_state) & FLOW_STATE_MASK)?;
        (state != FlowState::Free).then_some(state)
    }
}

fn counters(trace: &Trace) -> impl Iterator<Item = Counter> + use<'_> {
    Counter::ALL.iter().copied().filter(|counter| trace.counted(*counter))
}

fn is_verdict(counter: Counter) -> bool {
    (counter as usize) < Counter::VERDICTS
}

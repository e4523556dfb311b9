//! Load balancing in hosts: the sender chooses an *entropy value* for each packet, which switches
//! hash together with the 5-tuple.
//!
//! On the wire it is a field that switches hash anyway: the source port of UDP (REPS in Ultra
//! Ethernet), the flow label of IPv6 (PLB), or other bits (FlowBender). Each acknowledgement echoes
//! the entropy value of a data packet, and whether that packet was marked (CE). Switches run plain
//! ECMP.
//!
//! | Policy | Unit | Entropy value chosen by |
//! |---|---|---|
//! | [`Policy::Spray`] | packet | random choice |
//! | [`Bitmap`] | packet | turns, without values whose packets were marked or trimmed |
//! | [`FlowBender`] | flow, until it meets congestion | share of marked acknowledgements in a round trip |
//! | [`Plb`] | flow, until congestion lasts | round trips in a row with many marks |
//! | [`Reps`] | packet | values whose packets arrived without a mark |
//!
//! A policy is the state of one flow: of a TCP connection or of an MPTCP subflow. As schemes of
//! switches, policies have neither clock nor random generator: both are arguments ([`Step`]).

mod bitmap;
mod flowbender;
mod plb;
mod reps;
mod rounds;

pub use bitmap::Bitmap;
pub use flowbender::{FlowBender, FlowBenderConfig};
pub use plb::{Plb, PlbConfig};
pub use reps::{Reps, RepsConfig};

use crate::Step;

/// An acknowledgement, as a policy reads it. Sequence numbers are in bytes of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Entropy value of the data packet that it answers.
    pub entropy: u32,
    /// True if that packet was marked.
    pub marked: bool,
    /// The acknowledgement number.
    pub una: u64,
    /// First byte not yet sent.
    pub nxt: u64,
}

/// A sign of loss, as TCP finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Entry into fast recovery: later packets have arrived.
    FastRecovery,
    /// A retransmission timeout.
    Timeout,
}

/// A policy and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Config {
    /// Random choice for each packet.
    Spray,
    /// Values in turn, without those that meet congestion.
    Bitmap,
    /// FlowBender.
    FlowBender(FlowBenderConfig),
    /// PLB.
    Plb(PlbConfig),
    /// REPS.
    Reps(RepsConfig),
}

/// A policy and its state for one flow.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Random choice for each packet, of 16 bits. It keeps no state.
    Spray,
    /// Values in turn, without those that meet congestion.
    Bitmap(Bitmap),
    /// FlowBender.
    FlowBender(FlowBender),
    /// PLB.
    Plb(Plb),
    /// REPS.
    Reps(Reps),
}

impl Policy {
    /// State of a flow that has sent nothing.
    pub fn new(config: &Config) -> Policy {
        match *config {
            Config::Spray => Policy::Spray,
            Config::Bitmap => Policy::Bitmap(Bitmap::new()),
            Config::FlowBender(config) => Policy::FlowBender(FlowBender::new(config)),
            Config::Plb(config) => Policy::Plb(Plb::new(config)),
            Config::Reps(config) => Policy::Reps(Reps::new(config)),
        }
    }

    /// Entropy value of the next packet.
    #[inline]
    pub fn next(&mut self, step: Step) -> u32 {
        match self {
            Policy::Spray => random_16_bits(step.rnd),
            Policy::Bitmap(flow) => flow.next(step),
            Policy::FlowBender(flow) => flow.value(),
            Policy::Plb(flow) => flow.label(),
            Policy::Reps(flow) => flow.next(step),
        }
    }

    /// Handles an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, step: Step, feedback: &Feedback) {
        match self {
            Policy::Spray => {}
            Policy::Bitmap(flow) if feedback.marked => flow.on_mark(feedback.entropy),
            Policy::Bitmap(_) => {}
            Policy::FlowBender(flow) => flow.on_ack(step, feedback),
            Policy::Plb(flow) => flow.on_ack(step, feedback),
            Policy::Reps(flow) => flow.on_ack(step, feedback),
        }
    }

    /// Handles the news that a switch has trimmed a packet: to most a mark like others.
    pub fn on_trim(&mut self, step: Step, feedback: &Feedback) {
        match self {
            Policy::Bitmap(flow) => flow.on_trim(feedback.entropy),
            _ => self.on_ack(step, &Feedback { marked: true, ..*feedback }),
        }
    }

    /// Handles a sign of loss.
    pub fn on_loss(&mut self, step: Step, loss: Loss) {
        match (self, loss) {
            (Policy::FlowBender(flow), Loss::Timeout) => flow.on_timeout(step),
            (Policy::Plb(flow), Loss::Timeout) => flow.on_timeout(step),
            (Policy::Reps(flow), _) => flow.on_failure(step),
            (Policy::Spray | Policy::Bitmap(_) | Policy::FlowBender(_) | Policy::Plb(_), _) => {}
        }
    }

    /// Bytes of state that a host would keep of a flow.
    pub fn state_bytes(&self) -> usize {
        match self {
            Policy::Spray => 0,
            Policy::Bitmap(_) => Bitmap::STATE_BYTES,
            Policy::FlowBender(_) => FlowBender::STATE_BYTES,
            Policy::Plb(_) => Plb::STATE_BYTES,
            Policy::Reps(_) => Reps::STATE_BYTES,
        }
    }
}

#[inline]
fn random_16_bits(rnd: u32) -> u32 {
    rnd >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, chi_square};

    #[test]
    fn spraying_draws_each_value_as_often() {
        let (mut spray, mut random) = (Policy::new(&Config::Spray), Random(1));
        let mut counts = [0u32; 16];
        for now in 0..40_000 {
            counts[(spray.next(random.step(now)) >> 12) as usize] += 1;
        }
        assert!(chi_square(&counts) < 37.70, "p < 0.001 for 15 degrees: {counts:?}");
    }

    #[test]
    fn loss_is_ignored_where_only_a_timeout_counts() {
        let step = Step { now: 0, rnd: u32::MAX };
        let configs =
            [Config::FlowBender(FlowBenderConfig::default()), Config::Plb(PlbConfig::default())];
        for config in configs {
            let mut policy = Policy::new(&config);
            let before = policy.next(step);
            policy.on_loss(step, Loss::FastRecovery);
            assert_eq!(policy.next(step), before, "{config:?}");
            policy.on_loss(step, Loss::Timeout);
            assert_ne!(policy.next(step), before, "{config:?}");
        }
    }
}

//! The entries of the tables that are alive: one that has timed out stays until a new one takes its
//! place. A flow that has ended is alive for `closing`; the program may know its backend for longer,
//! since its end may have been forged.

use heddle_balancer_maps::Balancer;
use heddle_balancer_maps::abi::{FlowState, Settings, TICK_SHIFT, TokenState};
use heddle_balancer_maps::maps::{Flow, Maps, Token};

use std::time::Duration;

/// The time and the timeouts, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetimes {
    now: u32,
    settings: Settings,
}

impl Lifetimes {
    /// With the timeouts in force, now.
    pub(super) fn of(balancer: &Balancer) -> Result<Lifetimes, heddle_balancer_maps::Error> {
        Ok(Lifetimes { now: balancer.now()?, settings: balancer.maps.settings.get()? })
    }

    /// The flows that are alive, in the table's order.
    pub(super) fn flows<'a>(&'a self, maps: &'a Maps) -> impl Iterator<Item = Flow> + 'a {
        maps.flows.iter().filter(|flow| self.age(flow.seen) < self.of_flow(flow.state))
    }

    /// The tokens that are alive, in the table's order.
    pub(super) fn tokens<'a>(&'a self, maps: &'a Maps) -> impl Iterator<Item = Token> + 'a {
        maps.tokens.iter().filter(|token| self.age(token.seen) < self.of_token(token.state))
    }

    /// The time since a tick.
    pub(super) fn since(&self, tick: u32) -> Duration {
        Duration::from_nanos(u64::from(self.age(tick)) << TICK_SHIFT)
    }

    /// Ticks wrap. A packet may have come since the time was read: that one is new, not old.
    fn age(&self, seen: u32) -> u32 {
        let age = self.now.wrapping_sub(seen);
        if age < 1 << 31 { age } else { 0 }
    }

    fn of_flow(&self, state: FlowState) -> u32 {
        match state {
            FlowState::Established => self.settings.flow_timeout,
            FlowState::Closing | FlowState::ClosingStateful => self.settings.closing_timeout,
            FlowState::Udp => self.settings.udp_timeout,
            _ => self.settings.syn_timeout,
        }
    }

    fn of_token(&self, state: TokenState) -> u32 {
        match state {
            TokenState::Confirmed => self.settings.token_timeout,
            _ => self.settings.provisional_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: u32) -> Lifetimes {
        let settings = Settings {
            flow_timeout: 500,
            syn_timeout: 10,
            closing_timeout: 20,
            token_timeout: 300,
            provisional_timeout: 30,
            ..Settings::default()
        };
        Lifetimes { now, settings }
    }

    /// 60 ticks of 2^24 ns are a second and 6.6 ms.
    #[test]
    fn ticks_are_time_and_wrap() {
        assert_eq!(at(1060).since(1000), Duration::from_nanos(60 << 24));
        assert_eq!(at(2).since(u32::MAX), Duration::from_nanos(3 << 24));
        assert_eq!(at(1000).since(1001), Duration::ZERO, "seen after the clock was read");
    }

    #[test]
    fn each_state_has_its_timeout() {
        let lifetimes = at(1000);
        assert_eq!(lifetimes.of_flow(FlowState::Established), 500);
        for state in [FlowState::New, FlowState::Learning, FlowState::Joining] {
            assert_eq!(lifetimes.of_flow(state), 10);
        }
        for state in [FlowState::Closing, FlowState::ClosingStateful] {
            assert_eq!(lifetimes.of_flow(state), 20, "an end");
        }
        assert_eq!(lifetimes.of_token(TokenState::Confirmed), 300);
        assert_eq!(lifetimes.of_token(TokenState::Provisional), 30);
    }
}

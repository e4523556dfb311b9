//! Random scenarios, with invariants checked after each event.
//!
//! A seed makes a scenario and its run. `HEDDLE_SEED` runs that seed alone.

mod closed_connections;
mod done;
mod draw;
mod forecast;
mod group_routing;
mod so_far;
mod uet;

use std::ops::RangeInclusive;

use super::*;
use crate::outcome::Outcome;
use crate::schemes;
use heddle_policy::Shim;

impl<S: Scheme> Simulation<'_, S> {
    /// Every packet sent is accounted for.
    fn check_balance(&self) {
        let (sent, received) = self.hosts.packets();
        let sent = sent + self.switching.probes_sent;
        let lost: u64 =
            self.network.port_stats.iter().map(|l| l.buffer_drops + l.failure_drops).sum();
        let consumed = received + self.switching.counters().probes;
        let under_way = self.network.packets.len() as u64;
        assert_eq!(sent, consumed + lost + self.switching.unroutable + under_way);
    }

    /// Packets are as long as their segments plus their shim, and no link of a host carries a shim.
    fn check_sizes(&self) {
        for (port, info) in self.network.ports.iter().zip(&self.fabric.ports) {
            let at_host = info.owner < self.fabric.hosts || info.to_host;
            for packet in self.network.list(port.head) {
                let hot = &self.network.packets.hot[packet as usize];
                if hot.kind != PacketKind::Probe {
                    let plain = self.network.packets.body[packet as usize].segment.wire_bytes();
                    let has_shim = !at_host && self.network.packets.shim(packet).is_some();
                    let shim = if has_shim { Shim::BYTES as u32 } else { 0 };
                    assert_eq!(u32::from(hot.size), plain + shim);
                }
            }
        }
    }

    /// Runs to the end, with checks.
    fn run_checked(&mut self) {
        let mut before = Time::ZERO;
        while self.step() {
            assert!(before <= self.now, "time goes back");
            before = self.now;
            self.check_balance();
            if self.totals.events.is_multiple_of(DEEP_CHECK_EVERY) {
                self.network.check(self.now);
                self.hosts.check();
                self.check_sizes();
            }
        }
    }
}

/// Events between two checks of every packet and connection.
const DEEP_CHECK_EVERY: u64 = 7;

struct Checked<'a>(&'a Scenario, u64);

impl schemes::WithScheme for Checked<'_> {
    type Output = Outcome;

    fn with<S: Scheme>(self, config: S::Config) -> Outcome {
        let Checked(scenario, seed) = self;
        let mut simulation =
            Simulation::<S>::new(scenario, config, seed).unwrap_or_else(|error| panic!("{error}"));
        simulation.run_checked();
        simulation.finish()
    }
}

fn run_checked(scenario: &Scenario, seed: u64) -> Outcome {
    let outcome = schemes::dispatch(&scenario.scheme, seed, Checked(scenario, seed));
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Prints the command to replay a seed, if its run fails.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay with HEDDLE_SEED={}", self.0);
        }
    }
}

fn seeds() -> RangeInclusive<u64> {
    match std::env::var("HEDDLE_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("HEDDLE_SEED is a number");
            seed..=seed
        }
        Err(_) => 1..=96,
    }
}

#[test]
fn invariants_hold_after_each_event_of_many_runs() {
    for seed in seeds() {
        let _replay = Replay(seed);
        let scenario = draw::scenario(seed);
        let outcome = run_checked(&scenario, seed);
        assert!(outcome.totals.received > 0);
    }
}

//! The state of backends and balancers at a time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use heddle_balancer_maps::abi::{self, STAMP_SHIFT, TargetState};

use super::Table;
use crate::config::{Backend, Config, Member, Service};
use crate::health::State;
use crate::ids::WireId;
use crate::links::Macs;
use crate::neighbours::NextHop;

/// The steps in which a backend's weight grows. Each changes the Maglev table, and a change of a
/// table makes other balancers ask.
const SLOW_START_STEPS: u32 = 10;

/// The state of the world now.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Time since any moment, always the same one.
    pub now: Duration,
    /// The same moment in the data plane's ticks.
    pub tick: u32,
    /// This balancer; `None` if it has no address, and so is alone.
    pub own: Option<WireId>,
    /// The balancers that share the work, this one included.
    pub balancers: &'a [Member],
    /// All balancers that are listed, this one and those that do not answer included.
    pub listed: &'a [Member],
    /// The health checks' states; a backend that is missing was not probed yet.
    pub health: &'a BTreeMap<WireId, State>,
    /// The time at which each backend went down; one that is missing has been down for long.
    pub down_since: &'a BTreeMap<WireId, Duration>,
    /// The time at which each backend came up or was added; one that is missing has been up for
    /// long.
    pub up_since: &'a BTreeMap<WireId, Duration>,
    /// The backends that a command has drained (`true`) or put back (`false`); for the others the
    /// file decides.
    pub drained: &'a BTreeMap<WireId, bool>,
    /// The time since which each drained backend drains.
    pub drained_since: &'a BTreeMap<WireId, Duration>,
    /// The next hop of each address; one that is missing could not be resolved.
    pub next_hops: &'a BTreeMap<IpAddr, NextHop>,
    /// False of a balancer that has only just come: changes of its tables move no flows.
    pub has_placed_flows: bool,
    /// True if the tables of another balancer have changed within `established`.
    pub peer_tables_changed: bool,
    /// True if another balancer has known flows within `established` that neither hash nor stamps
    /// explain.
    pub peer_flows_unexplained: bool,
    /// The Ethernet addresses of the interfaces that the program is attached to; empty: not known
    /// yet.
    pub macs: &'a Macs,
}

impl<'a> World<'a> {
    /// The other balancers that are alive.
    pub fn others(&self) -> impl Iterator<Item = &'a Member> + use<'a> {
        let this_balancer = self.own;
        self.balancers.iter().filter(move |member| Some(member.id) != this_balancer)
    }

    /// The other balancers that are listed.
    pub fn others_listed(&self) -> impl Iterator<Item = &'a Member> + use<'a> {
        let this_balancer = self.own;
        self.listed.iter().filter(move |member| Some(member.id) != this_balancer)
    }

    /// The stamp of what changes now ([`heddle_hashing::maglev::stamped`]).
    pub(super) fn stamp(&self) -> u16 {
        (self.tick >> STAMP_SHIFT) as u16
    }

    /// True if a slot of this table has changed lately: flows that are older may be at another
    /// backend than the one that the hash gives.
    pub(super) fn has_changed(&self, config: &Config, table: &Table) -> bool {
        let established = ticks(config.timeouts.established) >> STAMP_SHIFT;
        table.has_changed(self.stamp(), established)
    }

    /// The state of a backend's target. One that was not probed yet is up: a restart must not move
    /// flows.
    pub(super) fn state_of(
        &self,
        service: &Service,
        backend: &Backend,
        drain_udp: Duration,
    ) -> TargetState {
        if backend.in_maintenance {
            return TargetState::Down;
        }
        if self.health.get(&backend.id) != Some(&State::Down) {
            return if self.has_drained(backend, drain_udp) {
                TargetState::Removed
            } else {
                TargetState::Up
            };
        }
        let keep = service.health.as_ref().map_or(Duration::ZERO, |(check, _)| check.keep_flows);
        match self.down_since.get(&backend.id) {
            Some(since) if self.now < *since + keep => TargetState::Failing,
            _ => TargetState::Down,
        }
    }

    /// A backend's weight in [`SLOW_START_STEPS`] parts: all of them, or as many as it has after a
    /// part of `slow_start`, one at least.
    pub(super) fn weight_of(&self, service: &Service, backend: &Backend) -> u32 {
        let steps = match self.up_since.get(&backend.id) {
            Some(since) if self.now < *since + service.slow_start => {
                let part = (self.now - *since).as_secs_f64() / service.slow_start.as_secs_f64();
                ((part * f64::from(SLOW_START_STEPS)) as u32).max(1)
            }
            _ => SLOW_START_STEPS,
        };
        backend.weight * steps
    }

    /// True of a backend that has drained for so long: its connections stay, its datagrams do not.
    fn has_drained(&self, backend: &Backend, limit: Duration) -> bool {
        let since = self.drained_since.get(&backend.id).filter(|_| self.is_drained(backend));
        since.is_some_and(|since| self.now >= *since + limit)
    }

    pub(super) fn is_drained(&self, backend: &Backend) -> bool {
        self.drained.get(&backend.id).copied().unwrap_or(backend.drained)
    }
}

/// A duration in ticks of 2^24 ns, 1 at least.
pub fn ticks(duration: Duration) -> u32 {
    let ticks = duration.as_nanos() >> abi::TICK_SHIFT;
    u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
}

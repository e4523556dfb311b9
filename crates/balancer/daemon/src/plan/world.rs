//! What is known of backends and balancers at a time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::config::{Backend, Member};
use crate::health::State;
use crate::ids::WireId;
use crate::neighbours::NextHop;

/// What is known now.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Time since any moment, always the same one.
    pub now: Duration,
    /// This balancer; `None` if it has no address, and so is alone.
    pub own: Option<WireId>,
    /// The balancers that are alive, this one included.
    pub balancers: &'a [Member],
    /// What health checks say; who is missing has not been asked.
    pub health: &'a BTreeMap<WireId, State>,
    /// Which backends were drained (`true`) or put back (`false`) by command; for the others the file says.
    pub drained: &'a BTreeMap<WireId, bool>,
    /// The way to each address; who is missing could not be resolved.
    pub next_hops: &'a BTreeMap<IpAddr, NextHop>,
}

impl<'a> World<'a> {
    /// The other balancers that are alive.
    pub fn others(&self) -> impl Iterator<Item = &'a Member> + use<'a> {
        let own = self.own;
        self.balancers.iter().filter(move |member| Some(member.id) != own)
    }

    /// Whether a backend serves. Who has not been asked yet does: a restart must not move flows.
    pub(super) fn is_healthy(&self, backend: &Backend) -> bool {
        self.health.get(&backend.id) != Some(&State::Down)
    }

    pub(super) fn is_drained(&self, backend: &Backend) -> bool {
        self.drained.get(&backend.id).copied().unwrap_or(backend.drained)
    }
}

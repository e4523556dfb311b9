//! The names of the numbers in the maps.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZeroU32;

use heddle_balancer_maps::abi::{NO_TARGET, RING_SHIFT};

use crate::config::{Backend, Config, Member, Service};
use crate::ids::WireId;
use crate::plan::Plan;

/// The name of numbers whose owners were taken out of the configuration.
pub(super) const GONE: &str = "(gone)";

/// A backend that was taken out of the configuration since the daemon's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Former {
    pub(super) service: String,
    pub(super) name: String,
}

/// Names by number, under a configuration and its plan.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) config: &'a Config,
    pub(super) plan: &'a Plan,
    /// The balancers that are listed.
    pub(super) members: &'a [Member],
    /// The backends that have left, as long as entries may name them.
    pub(super) former: &'a BTreeMap<WireId, Former>,
}

impl<'a> Names<'a> {
    /// The service of this number.
    pub(super) fn service(&self, number: u16) -> Option<&'a Service> {
        let services = &self.plan.services;
        self.config.services.iter().find(|service| services.index(&service.key()) == Some(number))
    }

    /// The backend of this id, and its service.
    pub(super) fn backend(&self, id: WireId) -> Option<(&'a Service, &'a Backend)> {
        self.config.services.iter().find_map(|service| {
            let backend = service.backends.iter().find(|backend| backend.id == id)?;
            Some((service, backend))
        })
    }

    /// The balancer of this id.
    pub(super) fn member(&self, id: WireId) -> Option<&'a Member> {
        self.members.iter().chain(self.config.members()).find(|member| member.id == id)
    }

    /// The backend or balancer of this index.
    pub(super) fn id(&self, target: u16) -> Option<WireId> {
        NonZeroU32::new(self.plan.maps.targets.get(&target)?.id).map(WireId)
    }

    /// A backend's name, or a balancer's, by index; [`GONE`] if it is not in use now.
    pub(super) fn target(&self, target: u16) -> &'a str {
        let Some(id) = self.id(target) else { return GONE };
        let backend = self.backend(id).map(|(_, backend)| backend.name.as_str());
        backend.or_else(|| Some(self.member(id)?.name.as_str())).unwrap_or(GONE)
    }

    /// The same for a reader: of one that is not in use now, the name that it had, or else its
    /// address.
    pub(super) fn described(&self, target: u16) -> String {
        let name = self.target(target);
        let left = self.id(target).filter(|_| name == GONE);
        match left.and_then(|id| self.former.get(&id)) {
            Some(former) => format!("{} {GONE}", former.name),
            None => match left.and_then(|_| self.address(target)) {
                Some(address) => format!("{address} {GONE}"),
                None => name.to_owned(),
            },
        }
    }

    /// The indices of the backends that have left, by the name that they had in a service or in any
    /// one, or by their address.
    pub(super) fn left(&self, service: Option<&str>, name: &str) -> Vec<u16> {
        let targets = self.plan.maps.targets.keys().copied();
        let is_meant = |target: &u16| {
            let had_name = |former: &Former| {
                former.name == name && service.is_none_or(|service| former.service == service)
            };
            let named = self.id(*target).and_then(|id| self.former.get(&id)).is_some_and(had_name);
            named || self.address(*target).is_some_and(|address| address.to_string() == name)
        };
        targets.filter(|target| self.target(*target) == GONE).filter(is_meant).collect()
    }

    fn address(&self, target: u16) -> Option<IpAddr> {
        Some(self.plan.maps.targets.get(&target)?.address.into())
    }

    /// The index of the balancer that has the part of the token space that a token is in;
    /// [`NO_TARGET`]: this one.
    pub(super) fn owner(&self, token: u32) -> u16 {
        let slot = (token >> RING_SHIFT) as usize;
        self.plan.maps.ring.get(slot).copied().unwrap_or(NO_TARGET as u16)
    }
}

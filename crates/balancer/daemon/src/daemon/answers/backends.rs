//! The state of backends.

use std::collections::BTreeMap;

use super::{failed, named_backends, services};
use crate::admin::{BackendStatus, Backends, Problem, Selection};
use crate::config::{Backend, Service};
use crate::daemon::Core;
use crate::daemon::event_sources::{Checks, SourceStatus, check_name};
use crate::daemon::lifetimes::Lifetimes;
use crate::health::State;

/// The reason of a backend that is down because the configuration says so.
pub(super) const IN_MAINTENANCE: &str = "in maintenance";

impl Core {
    /// The backends of a selection, in the configuration's order.
    pub(in crate::daemon) fn selected(
        &self,
        Selection { service, backend }: &Selection,
        sources: &SourceStatus,
    ) -> Result<Backends, Problem> {
        let config = &self.state.inputs.config;
        match backend {
            Some(name) => drop(named_backends(config, service.as_deref(), name)?),
            None => drop(services(config, service.as_deref())?),
        }
        let named = config.services.iter().find(|named| service.as_ref() == Some(&named.name));
        let asked = |s: &Service, b: &Backend| {
            named.is_none_or(|named| named.owner() == s.name)
                && backend.as_ref().is_none_or(|name| *name == b.name)
        };
        Ok(Backends { backends: self.backends(&sources.checks, asked)? })
    }

    /// The backends that `wanted` selects, in the configuration's order.
    pub(in crate::daemon) fn backends(
        &self,
        checks: &Checks,
        wanted: impl Fn(&Service, &Backend) -> bool,
    ) -> Result<Vec<BackendStatus>, Problem> {
        let flows = self.flows_by_target().map_err(failed)?;
        let mut all = Vec::new();
        for service in self.state.inputs.config.owners() {
            for backend in service.backends.iter().filter(|backend| wanted(service, backend)) {
                all.push(self.backend_status(service, backend, checks, &flows).map_err(failed)?);
            }
        }
        Ok(all)
    }

    fn flows_by_target(&self) -> Result<BTreeMap<u16, u64>, heddle_balancer_maps::Error> {
        let maps = &self.balancer.maps;
        let mut flows = BTreeMap::new();
        for flow in Lifetimes::of(&self.balancer)?.flows(maps) {
            *flows.entry(flow.target).or_default() += 1;
        }
        Ok(flows)
    }

    fn backend_status(
        &self,
        service: &Service,
        backend: &Backend,
        checks: &Checks,
        flows: &BTreeMap<u16, u64>,
    ) -> Result<BackendStatus, heddle_balancer_maps::Error> {
        let count = self.count_of(backend)?;
        let check = checks.get(&check_name(service, backend));
        let index = self.state.plan.targets.index(&backend.id);
        Ok(BackendStatus {
            service: service.name.clone(),
            name: backend.name.clone(),
            address: backend.address,
            weight: backend.weight,
            health: self.health_of(service, backend),
            since: self.state.since(backend.id, check.map(|check| check.since.elapsed())),
            reason: match backend.in_maintenance {
                true => Some(IN_MAINTENANCE.into()),
                false => check.and_then(|check| Some(check.last_failure.as_ref()?.to_string())),
            },
            draining: self.is_drained(backend),
            sorry: backend.sorry,
            unreachable: self.unreachable(backend),
            flows: index.and_then(|index| flows.get(&index)).copied().unwrap_or(0),
            packets: count.packets,
            bytes: count.bytes,
        })
    }

    /// Without a health check a backend counts as up; in maintenance as down.
    fn health_of(&self, service: &Service, backend: &Backend) -> State {
        match service.health {
            _ if backend.in_maintenance => State::Down,
            None => State::Up,
            Some(_) => self.state.inputs.health.get(&backend.id).copied().unwrap_or_default(),
        }
    }

    /// The reason why nothing can be sent to a backend, if so.
    pub(in crate::daemon) fn unreachable(&self, backend: &Backend) -> Option<String> {
        match self.state.next_hops.get(&backend.address) {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("its next hop is not resolved yet".into()),
        }
    }
}

/// True if a backend can serve: neither down nor without a next hop.
pub(super) fn serves(status: &BackendStatus) -> bool {
    status.health != State::Down && status.unreachable.is_none()
}

/// Numbers of backends that can serve.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Serving {
    /// By their health checks, or without one.
    pub(super) up: u32,
    /// The check has no result yet.
    pub(super) unchecked: u32,
}

impl Serving {
    pub(super) fn of<'a>(backends: impl Iterator<Item = &'a BackendStatus>) -> Serving {
        let mut numbers = Serving::default();
        for backend in backends.filter(|backend| serves(backend)) {
            match backend.health {
                State::Unknown => numbers.unchecked += 1,
                _ => numbers.up += 1,
            }
        }
        numbers
    }
}

//! The state of backends, draining, and weights.

use std::collections::BTreeMap;

use super::{failed, named_backends, refused};
use crate::admin::{BackendStatus, Problem, Switch};
use crate::config::{Backend, MAX_WEIGHT, Service};
use crate::daemon::Core;
use crate::daemon::event_sources::{Checks, check_name};
use crate::daemon::lifetimes::Lifetimes;
use crate::health::State;

impl Core {
    /// Starts or ends draining a backend, in one service or in all. The maps follow with the next reconciliation.
    pub(super) fn drain(
        &mut self,
        service: Option<&str>,
        backend: &str,
        switch: Switch,
    ) -> Result<(), Problem> {
        let ids: Vec<_> = named_backends(&self.state.inputs.config, service, backend)?
            .into_iter()
            .map(|backend| backend.id)
            .collect();
        tracing::info!(backend, service, ?switch, "drain");
        self.state.inputs.drained.extend(ids.into_iter().map(|id| (id, switch == Switch::On)));
        Ok(())
    }

    /// Gives a backend another weight, in one service or in all, until the file is read again. The maps have it when this returns.
    pub(super) fn weigh(
        &mut self,
        service: Option<&str>,
        backend: &str,
        weight: u32,
    ) -> Result<(), Problem> {
        if weight > MAX_WEIGHT {
            let message = format!("weight {weight} is above the maximum: 0 to {MAX_WEIGHT}");
            return Err(refused(message));
        }
        let inputs = &self.state.inputs;
        let found = named_backends(&inputs.config, service, backend)?;
        let ids: Vec<_> = found.into_iter().map(|backend| backend.id).collect();
        let mut config = inputs.config.clone();
        let all = config.services.iter_mut().flat_map(|service| &mut service.backends);
        all.filter(|backend| ids.contains(&backend.id)).for_each(|backend| backend.weight = weight);
        let inputs = inputs.with(config, inputs.keys);
        let replaced = self.state.replace_inputs(inputs, &mut self.balancer.maps);
        replaced.map_err(|error| refused(error.to_string()))?;
        tracing::info!(backend, service, weight, "weigh");
        Ok(())
    }

    /// The backends that `wanted` selects, in the configuration's order.
    pub(in crate::daemon) fn backends(
        &self,
        checks: &Checks,
        wanted: impl Fn(&Service, &Backend) -> bool,
    ) -> Result<Vec<BackendStatus>, Problem> {
        let flows = self.flows_by_target().map_err(failed)?;
        let mut all = Vec::new();
        for service in &self.state.inputs.config.services {
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
            since: check.map_or_else(|| self.state.uptime(), |check| check.since.elapsed()),
            reason: match backend.in_maintenance {
                true => Some("in maintenance".into()),
                false => check.and_then(|check| Some(check.last_failure.as_ref()?.to_string())),
            },
            draining: self.is_drained(backend),
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

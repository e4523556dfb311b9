//! The state of the daemon and of the balancers.

use heddle_balancer_maps::abi::NO_TARGET;

use super::backends::{IN_MAINTENANCE, Serving, serves};
use super::changes::changes;
use super::failed;
use crate::admin::{
    BackendStatus, HealthStatus, Heartbeats, MemberStatus, Problem, ServiceStatus, Services, Status,
};
use crate::config::{Member, Service};
use crate::daemon::Core;
use crate::daemon::event_sources::{Checks, SourceStatus, check_name};
use crate::daemon::lifetimes::Lifetimes;
use crate::daemon::state::Inputs;
use crate::health::{Failure, State};
use crate::heartbeat::{Liveness, Report};
use crate::members::Source;
use crate::metrics::{self, Build};
use crate::mtu::narrow;

/// A table is nearly full from this share on; then new flows push others out.
const NEARLY_FULL: f64 = 0.9;

impl Core {
    pub(super) fn status(&self, sources: &SourceStatus) -> Result<Status, Problem> {
        let backends = self.backends(&sources.checks, |_, _| true)?;
        let maps = &self.balancer.maps;
        let lifetimes = Lifetimes::of(&self.balancer).map_err(failed)?;
        let flows = lifetimes.flows(maps).count();
        let tokens = lifetimes.tokens(maps).count();
        let fills = [
            Fill { table: "flow", used: flows, room: maps.flows.room() },
            Fill { table: "token", used: tokens, room: maps.tokens.room() },
        ];
        let services = self.state.inputs.config.services.iter();
        let (shared, own) = self.changes();
        let Build { version, kernel } = metrics::build();
        let serving = Serving::of(backends.iter());
        Ok(Status {
            name: self.state.inputs.config.balancer.name.clone(),
            version,
            kernel,
            uptime: self.state.uptime(),
            interfaces: self.interfaces.clone(),
            services: services.map(|s| (s.name.clone(), s.mptcp)).collect(),
            backends_up: serving.up,
            backends_unchecked: serving.unchecked,
            backends: backends.len() as u32,
            members: self.state.members().len().max(1) as u32,
            flows: flows as u64,
            tokens: tokens as u64,
            ready: self.ready,
            warnings: self.warnings(sources, &backends, &fills),
            changes: own,
            shared_changes: shared,
        })
    }

    /// The differences from the file: those that all balancers share, and those by commands on this
    /// one.
    fn changes(&self) -> (Vec<String>, Vec<String>) {
        let Inputs { keys, .. } = &self.state.inputs;
        let shared = changes(&self.file, &Inputs::new(self.shared.base.clone(), *keys));
        let all = changes(&self.file, &self.state.inputs);
        all.into_iter().partition(|change| shared.contains(change))
    }

    pub(super) fn health_status(&self, sources: &SourceStatus) -> HealthStatus {
        let causes: Vec<String> = self.health(sources).causes().map(str::to_owned).collect();
        HealthStatus { healthy: causes.is_empty(), causes }
    }

    pub(super) fn services(&self, sources: &SourceStatus) -> Result<Services, Problem> {
        let backends = self.backends(&sources.checks, |_, _| true)?;
        let services = self.state.inputs.config.services.iter();
        Ok(Services { services: services.map(|s| service_status(s, &backends)).collect() })
    }

    fn warnings(
        &self,
        sources: &SourceStatus,
        backends: &[BackendStatus],
        fills: &[Fill],
    ) -> Vec<String> {
        let mut warnings: Vec<String> = self.health(sources).causes().map(str::to_owned).collect();
        warnings.extend(without_backends(&self.state.inputs.config.services, backends));
        warnings.extend(down(backends));
        warnings.extend(unreachable(backends));
        warnings.extend(self.narrow_paths());
        warnings.extend(lost_ways(&self.state.inputs.config.services, &sources.checks, backends));
        warnings.extend(fills.iter().filter_map(nearly_full));
        warnings.extend(store(self.state.view.source).map(str::to_owned));
        warnings.extend(self.shared.warnings());
        warnings.extend(self.pending.iter().cloned());
        if let Some(error) = &self.state_file_error {
            warnings.push(format!("the list of balancers is not kept for a restart: {error}"));
        }
        let members = self.member_statuses(sources);
        warnings.extend(members.iter().flat_map(|member| {
            let refused = sources.peers.get(&member.address);
            of_peer(member, refused.is_some_and(|report| report.refused_recently))
        }));
        warnings
    }

    /// The paths whose MTU cannot carry what is configured.
    fn narrow_paths(&self) -> impl Iterator<Item = String> {
        let hops = &self.state.next_hops;
        let mtu = |address| hops.get(&address)?.as_ref().ok().map(|hop| hop.mtu);
        let others = self.state.listed();
        let others: Vec<_> = others.iter().filter(|member| !self.state.is_own(member)).collect();
        let others: Vec<_> = others.iter().map(|member| member.address).collect();
        let found = narrow(&self.state.inputs.config, &others, mtu).into_iter();
        found.map(|narrow| {
            format!("{}; fix: an MTU of {} all the way", narrow.message, narrow.least)
        })
    }

    pub(super) fn member_statuses(&self, sources: &SourceStatus) -> Vec<MemberStatus> {
        let (alive, listed) = (self.state.members(), self.state.listed());
        let status = |member: &Member| {
            let is_alive = alive.iter().any(|other| other.id == member.id);
            self.member_status(member, is_alive, sources.peers.get(&member.address))
        };
        let mut all: Vec<MemberStatus> = listed.iter().map(status).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn member_status(&self, member: &Member, alive: bool, report: Option<&Report>) -> MemberStatus {
        let is_self = self.state.is_own(member);
        let index = match is_self {
            true => Some(NO_TARGET as u16),
            false => self.state.plan.targets.index(&member.id),
        };
        let ring = self.state.plan.maps.ring.iter();
        let slots = ring.filter(|owner| Some(**owner) == index).count() as u32;
        MemberStatus {
            name: member.name.clone(),
            address: member.address,
            own: is_self,
            alive,
            registered: !self.state.view.lapsed.contains_key(&member.name),
            heartbeats: report.filter(|_| !is_self).map(heartbeats),
            slots,
        }
    }
}

fn service_status(service: &Service, all: &[BackendStatus]) -> ServiceStatus {
    let backends = || all.iter().filter(|backend| backend.service == service.owner());
    let serving = Serving::of(backends());
    ServiceStatus {
        name: service.name.clone(),
        address: service.address,
        ports: service.ports.to_string(),
        protocol: service.protocol,
        mptcp: service.mptcp,
        forwarding: service.forwarding,
        group: service.group.clone(),
        backends_up: serving.up,
        backends_unchecked: serving.unchecked,
        backends: backends().count() as u32,
    }
}

fn heartbeats(report: &Report) -> Heartbeats {
    Heartbeats {
        liveness: report.liveness,
        round_trip: report.round_trip,
        missed: report.missed,
        refused: report.refused,
        refused_recently: report.refused_recently,
        differs: report.differs,
    }
}

fn store(source: Source) -> Option<&'static str> {
    match source {
        Source::Lost => {
            Some("the store of balancers does not answer: its last list and changes are used")
        }
        Source::Old => Some(
            "the store of balancers has not answered since the start: the old list of the daemon before is used",
        ),
        Source::Starting => Some("the list of balancers is not known yet"),
        Source::Current => None,
    }
}

/// Faults of another balancer, or of the path to it.
pub(super) fn of_peer(member: &MemberStatus, refused_recently: bool) -> Vec<String> {
    let Some(heartbeats) = &member.heartbeats else { return Vec::new() };
    let MemberStatus { name, address, .. } = member;
    let mut warnings = Vec::new();
    if heartbeats.liveness == Liveness::Dead {
        warnings.push(format!("balancer {name} ({address}) does not answer heartbeats"));
    }
    if refused_recently {
        warnings.push(format!(
            "balancer {name} has another secret: its messages are refused, {} so far",
            heartbeats.refused
        ));
    }
    if heartbeats.differs && heartbeats.liveness == Liveness::Alive {
        warnings
            .push(format!("balancer {name} has another seed, other services or other backends"));
    }
    if !member.registered {
        warnings.push(format!(
            "balancer {name} is not registered in the store any more, but still answers"
        ));
    }
    warnings
}

/// Services that drop all new connections.
pub(super) fn without_backends(services: &[Service], backends: &[BackendStatus]) -> Vec<String> {
    let takes = |status: &BackendStatus| serves(status) && !status.draining && status.weight > 0;
    let has_one = |name: &str| backends.iter().any(|b| b.service == name && takes(b));
    let none = services.iter().filter(|service| !has_one(service.owner()));
    none.map(|service| format!("service {} has no backend for new connections", service.name))
        .collect()
}

/// Backends that fail their checks.
pub(super) fn down(backends: &[BackendStatus]) -> Vec<String> {
    let down = backends.iter().filter(|backend| backend.health == State::Down);
    let told = |BackendStatus { name, service, reason, .. }: &BackendStatus| match reason {
        Some(reason) if reason == IN_MAINTENANCE => None,
        Some(reason) => Some(format!("{name} of {service} is down: {reason}")),
        None => Some(format!("{name} of {service} is down until further checks succeed")),
    };
    down.filter_map(told).collect()
}

fn unreachable(backends: &[BackendStatus]) -> Vec<String> {
    let lost = backends.iter().filter_map(|backend| {
        let why = backend.unreachable.as_ref()?;
        Some(format!("nothing can be sent to {} of {}: {why}", backend.name, backend.service))
    });
    lost.collect()
}

/// Backends whose address answers, and the service's address there does not, before they are down.
fn lost_ways(services: &[Service], checks: &Checks, backends: &[BackendStatus]) -> Vec<String> {
    let is_down = |service: &Service, name: &str| {
        let named = |b: &&BackendStatus| b.service == service.name && b.name == name;
        backends.iter().find(named).is_some_and(|backend| backend.health == State::Down)
    };
    let failures = |service: &Service| -> Vec<String> {
        let lost = service.backends.iter().filter_map(|backend| {
            let failure = checks.get(&check_name(service, backend))?.last_failure.as_ref()?;
            let is_lost = matches!(failure, Failure::Forwarding { .. });
            (is_lost && !is_down(service, &backend.name))
                .then(|| format!("{} of {}: {failure}", backend.name, service.name))
        });
        lost.collect()
    };
    services.iter().filter(|service| service.owns_backends()).flat_map(failures).collect()
}

/// Entries of a table that live, and those that it has room for.
pub(super) struct Fill {
    pub(super) table: &'static str,
    pub(super) used: usize,
    pub(super) room: usize,
}

pub(super) fn nearly_full(fill: &Fill) -> Option<String> {
    let Fill { table, used, room } = *fill;
    let share = used as f64 / room as f64;
    (share >= NEARLY_FULL).then(|| {
        format!("the {table} table is {:.0} % full: [tables] {table}s gives it room", share * 100.0)
    })
}

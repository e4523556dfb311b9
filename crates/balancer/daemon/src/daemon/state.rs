//! The daemon's knowledge, and the plan made of it: all of the daemon but the kernel's objects.

mod isolation;
mod lately;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use heddle_balancer_maps::abi::TargetState;

use super::apply::{self, Contents, DataPlane};
use super::error::CoreError;
use super::event_sources::check_name;
use super::names::{Former, Names};
use crate::config::{self, Config, Membership};
use crate::health::State as HealthState;
use crate::heartbeat::{Conclusions, Liveness};
use crate::ids::WireId;
use crate::links::Macs;
use crate::members::{Known, Source, View};
use crate::neighbours::{NextHop, NextHops};
use crate::plan::{self, Keys, Phase, Plan, World};
use isolation::{Isolation, Surroundings};
use lately::Lately;

/// All that a reload replaces, at once or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    /// The configuration in force.
    pub(super) config: Config,
    /// The keys in force.
    pub(super) keys: Keys,
    /// The health checks' states.
    pub(super) health: BTreeMap<WireId, HealthState>,
    /// The backends that a command has drained (`true`) or put back (`false`).
    pub(super) drained: BTreeMap<WireId, bool>,
}

impl Inputs {
    /// At the start.
    pub(super) fn new(config: Config, keys: Keys) -> Inputs {
        Inputs { config, keys, health: BTreeMap::new(), drained: BTreeMap::new() }
    }

    /// With another configuration. Health of backends that it does not check is forgotten, and
    /// drains of those that it does not have: they do not count for others that may get their
    /// names.
    pub(super) fn with(&self, config: Config, keys: Keys) -> Inputs {
        let (mut health, mut drained) = (self.health.clone(), self.drained.clone());
        let (checked, all) =
            (ids(&config, |service| service.health.is_some()), ids(&config, |_| true));
        health.retain(|id, _| checked.contains(id));
        drained.retain(|id, _| all.contains(id));
        Inputs { config, keys, health, drained }
    }
}

/// The ids of the backends of some services.
fn ids(config: &Config, of: impl Fn(&config::Service) -> bool) -> BTreeSet<WireId> {
    let services = config.services.iter().filter(|service| of(service));
    services.flat_map(|service| &service.backends).map(|backend| backend.id).collect()
}

/// The ids of the backends that are not in maintenance.
fn in_service(config: &Config) -> BTreeSet<WireId> {
    let backends = config.services.iter().flat_map(|service| &service.backends);
    backends.filter(|backend| !backend.in_maintenance).map(|backend| backend.id).collect()
}

/// The daemon's knowledge and plan.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) inputs: Inputs,
    /// The balancers that are listed.
    pub(super) view: View,
    /// The conclusions of heartbeats, by address.
    liveness: BTreeMap<IpAddr, Liveness>,
    /// An interface of this balancer has a carrier, as far as heartbeats need to know.
    has_carrier: bool,
    /// An interface of this balancer has a carrier.
    pub(super) has_own_carrier: bool,
    /// Balancers that count as alive until heartbeats tell: those that were when the daemon
    /// started.
    assumed: BTreeSet<IpAddr>,
    /// True until the ring of a balancer that found none is whole for the first time. It has placed
    /// no flows yet.
    is_first_ring: bool,
    peer_tables: Lately,
    /// Whose flows neither hash nor stamps explain.
    peer_flows: Lately,
    isolation: Isolation,
    /// The uptime at which each backend that is down went down.
    down_since: BTreeMap<WireId, Duration>,
    /// The time since which each drained backend drains; a restart begins anew.
    drained_since: BTreeMap<WireId, Duration>,
    /// The uptime at which each backend came up again, or was added by a reload.
    up_since: BTreeMap<WireId, Duration>,
    /// The health checks' states when this balancer had contact last.
    health_in_contact: BTreeMap<WireId, HealthState>,
    /// Lapsed balancers that have died since: they are forgotten.
    forgotten: BTreeSet<String>,
    /// The backends that have left, as long as entries may name them.
    pub(super) former: BTreeMap<WireId, Former>,
    pub(super) next_hops: NextHops,
    /// The addresses whose next hop was lost.
    lost_hops: BTreeSet<IpAddr>,
    /// The Ethernet addresses of the interfaces.
    pub(super) macs: Macs,
    /// The plan that the maps follow.
    pub(super) plan: Plan,
    pub(super) started: Instant,
    /// The data plane's tick then.
    pub(super) started_tick: u32,
    reconcile_error: Option<String>,
    /// A write has failed, and was not undone: the maps are between two plans.
    between_plans: bool,
}

impl State {
    /// With the plan found in the maps.
    pub(super) fn new(inputs: Inputs, plan: Plan, known: Option<Known>) -> State {
        State {
            view: initial_view(&inputs.config, known),
            liveness: BTreeMap::new(),
            has_carrier: true,
            has_own_carrier: true,
            assumed: assumed(&plan),
            is_first_ring: plan.maps.ring.is_empty(),
            peer_tables: Lately::default(),
            peer_flows: Lately::default(),
            isolation: Isolation::No,
            down_since: BTreeMap::new(),
            drained_since: BTreeMap::new(),
            up_since: BTreeMap::new(),
            health_in_contact: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            inputs,
            plan,
            former: BTreeMap::new(),
            next_hops: NextHops::new(),
            lost_hops: BTreeSet::new(),
            macs: Macs::new(),
            started: Instant::now(),
            started_tick: 1,
            reconcile_error: None,
            between_plans: false,
        }
    }

    /// Takes in the state of a health check; that of one that is no more is ignored.
    pub(super) fn set_health(&mut self, check: &str, state: HealthState) {
        let services =
            self.inputs.config.services.iter().filter(|service| service.health.is_some());
        let all = services.flat_map(|service| service.backends.iter().map(move |b| (service, b)));
        let named = all.filter(|(service, backend)| check_name(service, backend) == check);
        let ids: Vec<WireId> = named.map(|(_, backend)| backend.id).collect();
        for id in ids {
            if state == HealthState::Down {
                self.down_since.entry(id).or_insert(self.started.elapsed());
            } else if self.down_since.remove(&id).is_some() {
                self.up_since.insert(id, self.started.elapsed());
            }
            self.inputs.health.insert(id, state);
        }
    }

    /// All other balancers that are alive are known now. The rings until then were made without
    /// some of them, and are not what the owners were before: a balancer that has only just come
    /// was none of them.
    pub(super) fn ring_is_whole(&mut self) {
        if std::mem::take(&mut self.is_first_ring) {
            self.plan.maps.ring.clear();
        }
    }

    /// Takes in another list of balancers.
    pub(super) fn set_view(&mut self, view: View) {
        self.forgotten.retain(|name| view.lapsed.contains_key(name));
        self.view = view;
    }

    /// Takes in the conclusions of heartbeats. Whoever is neither registered nor answers is gone.
    pub(super) fn set_heartbeats(&mut self, conclusions: &Conclusions) {
        self.has_carrier = conclusions.has_carrier;
        self.peer_tables.update(&conclusions.peers, |known| known.tables_changed, self.uptime());
        self.peer_flows.update(&conclusions.peers, |known| known.flows_unexplained, self.uptime());
        let liveness = conclusions.peers.iter().map(|(address, known)| (*address, known.liveness));
        let liveness: BTreeMap<_, _> = liveness.collect();
        self.assumed.retain(|address| {
            liveness.get(address).is_none_or(|liveness| *liveness == Liveness::Unknown)
        });
        self.liveness = liveness;
        let lapsed = self.view.lapsed.iter();
        let dead =
            lapsed.filter(|(_, address)| self.liveness.get(address) == Some(&Liveness::Dead));
        self.forgotten.extend(dead.map(|(name, _)| name.clone()));
    }

    /// Takes in the next hops of all addresses. One that is lost is logged, and when it is found
    /// again.
    pub(super) fn set_next_hops(&mut self, hops: NextHops) {
        self.lost_hops.retain(|address| hops.contains_key(address));
        for (address, found) in &hops {
            match (self.next_hops.get(address), found) {
                (Some(Ok(_)), Err(error)) => {
                    tracing::warn!(%address, %error, "nothing can be sent there any more");
                    self.lost_hops.insert(*address);
                }
                (_, Ok(_)) if self.lost_hops.remove(address) => {
                    tracing::info!(%address, "packets can be sent there again");
                }
                _ => {}
            }
        }
        self.next_hops = hops;
    }

    /// The balancers that are listed, this one and those that do not answer included.
    pub(super) fn listed(&self) -> Vec<config::Member> {
        let all = self.view.all().filter(|(name, _)| !self.forgotten.contains(*name));
        all.map(|(name, address)| self.inputs.config.member(name, *address)).collect()
    }

    /// The balancers that share the work: those that are listed and answer, and this one.
    pub(super) fn members(&self) -> Vec<config::Member> {
        let mut members = self.listed();
        members.retain(|member| self.is_own(member) || self.is_alive(member.address));
        members
    }

    /// True of this balancer.
    pub(super) fn is_own(&self, member: &config::Member) -> bool {
        self.inputs.config.balancer.member.as_ref().is_some_and(|own| own.id == member.id)
    }

    fn is_alive(&self, address: IpAddr) -> bool {
        match self.liveness.get(&address) {
            Some(Liveness::Alive) => true,
            Some(Liveness::Dead) => false,
            Some(Liveness::Unknown) | None => self.assumed.contains(&address),
        }
    }

    /// Notes whether this balancer is cut off from everything around it.
    pub(super) fn note_isolation(&mut self) {
        let is_other = |member: &config::Member| !self.is_own(member);
        let checked = ids(&self.inputs.config, |service| service.health.is_some());
        let is_up = |id: &WireId| self.inputs.health.get(id) == Some(&HealthState::Up);
        let was_up = |id: &&WireId| self.health_in_contact.get(id) == Some(&HealthState::Up);
        let has_peers = self.listed().iter().any(is_other);
        let around = Surroundings {
            has_peers,
            has_contact: self.members().iter().any(is_other),
            has_carrier: if has_peers { self.has_carrier } else { self.has_own_carrier },
            some_backend_up: checked.is_empty() || checked.iter().any(is_up),
            all_backends_back: checked.iter().filter(was_up).all(is_up),
            check_interval: self.longest_check_interval(),
        };
        let before = self.isolation.cause();
        self.isolation = self.isolation.next(&around, self.uptime());
        match (before, self.isolation.cause()) {
            (before, Some(cause)) if before != Some(cause) => tracing::warn!("{cause}"),
            (Some(_), None) => tracing::info!("not cut off any more"),
            _ => {}
        }
        if self.isolation.trusts_checks(self.uptime()) {
            self.health_in_contact.clone_from(&self.inputs.health);
        }
    }

    fn longest_check_interval(&self) -> Duration {
        let services = self.inputs.config.services.iter();
        let checks = services.filter_map(|service| service.health.as_ref());
        checks.map(|(check, _)| check.interval).max().unwrap_or_default()
    }

    /// The reason why no packets should be sent to this balancer, if it is cut off or was just now.
    pub(super) fn isolation(&self) -> Option<&'static str> {
        self.isolation.cause()
    }

    /// The names of other balancers of which heartbeats have told nothing yet.
    pub(super) fn undecided(&self) -> Vec<String> {
        let mut others = self.listed();
        others.retain(|member| {
            let liveness = self.liveness.get(&member.address);
            !self.is_own(member) && liveness.is_none_or(|known| *known == Liveness::Unknown)
        });
        others.into_iter().map(|member| member.name).collect()
    }

    /// The names of the backends and balancers of which no next hop is known, neither found now nor
    /// by the daemon before. Those that are not configured any more do not count.
    pub(super) fn without_next_hop(&self) -> Vec<String> {
        let Inputs { config, .. } = &self.inputs;
        let (plan, members, former) = (&self.plan, &self.listed(), &self.former);
        let names = Names { config, plan, members, former };
        let wanted = self.plan.targets.iter().filter(|(_, _, phase)| *phase == Phase::Active);
        let has_hop = |index| {
            let target = self.plan.maps.targets.get(&index);
            target.is_some_and(|target| target.ifindex != 0)
        };
        let lost = wanted.filter(|(_, index, _)| !has_hop(*index));
        lost.map(|(_, index, _)| names.target(index).to_owned()).collect()
    }

    /// The reason why the maps do not follow the plan, if so.
    pub(super) fn reconcile_error(&self) -> Option<&str> {
        self.reconcile_error.as_deref()
    }

    /// Makes the maps follow the plan for the world as it is now. A failure is logged, and the next
    /// call tries again.
    pub(super) fn reconcile(&mut self, maps: &mut impl DataPlane) {
        let error = self.try_reconcile(maps).err().map(|error| error.to_string());
        match (&error, &self.reconcile_error) {
            (Some(error), old) if old.as_ref() != Some(error) => {
                tracing::error!(%error, "the maps are not in sync with the plan");
            }
            (None, Some(_)) => tracing::info!("the maps are in sync with the plan again"),
            _ => {}
        }
        self.reconcile_error = error;
    }

    /// The same once, with the error.
    ///
    /// # Errors
    /// If more is wanted than the maps have room for, or the kernel refuses a write.
    pub(super) fn try_reconcile(&mut self, maps: &mut impl DataPlane) -> Result<(), CoreError> {
        self.note_drains();
        let held = self.held(maps)?;
        let plan = self.next_plan(&self.inputs, &held.maps)?;
        let written = apply::write(maps, &held, &Contents::new(&self.inputs, &plan.maps));
        self.between_plans = written.is_err();
        written?;
        self.plan = plan;
        self.former.retain(|id, _| self.plan.targets.index(id).is_some());
        Ok(())
    }

    /// Makes maps and settings follow other inputs, which are kept if that succeeds. Else all is as
    /// it was.
    ///
    /// # Errors
    /// As for [`State::try_reconcile`].
    pub(super) fn replace_inputs(
        &mut self,
        inputs: Inputs,
        maps: &mut impl DataPlane,
    ) -> Result<(), CoreError> {
        let up_since = self.up_since_with(&inputs.config);
        let before = std::mem::replace(&mut self.up_since, up_since);
        let replaced = self.try_replace(inputs, maps);
        if replaced.is_err() {
            self.up_since = before;
        }
        replaced
    }

    /// Checks that the maps have room for other inputs.
    ///
    /// # Errors
    /// As for [`State::try_reconcile`], writes aside.
    pub(super) fn check_room(
        &self,
        inputs: &Inputs,
        maps: &impl DataPlane,
    ) -> Result<(), CoreError> {
        let held = self.held(maps)?;
        self.next_plan(inputs, &held.maps)?;
        Ok(())
    }

    fn try_replace(&mut self, inputs: Inputs, maps: &mut impl DataPlane) -> Result<(), CoreError> {
        let held = self.held(maps)?;
        let plan = self.next_plan(&inputs, &held.maps)?;
        let written = apply::replace(maps, &held, &Contents::new(&inputs, &plan.maps));
        // A rollback restores what the maps held before, which was no plan either if an earlier
        // write had failed.
        self.between_plans =
            written.as_ref().is_err_and(|failed| self.between_plans || failed.rollback.is_some());
        written?;
        let before = std::mem::replace(&mut self.inputs, inputs).config;
        self.plan = plan;
        self.note_former(&before);
        Ok(())
    }

    /// Notes the names of the backends that have left since a configuration before.
    fn note_former(&mut self, before: &Config) {
        for service in &before.services {
            for backend in &service.backends {
                let (service, name) = (service.name.clone(), backend.name.clone());
                self.former.entry(backend.id).or_insert(Former { service, name });
            }
        }
        let all = ids(&self.inputs.config, |_| true);
        self.former.retain(|id, _| !all.contains(id) && self.plan.targets.index(id).is_some());
    }

    /// Drains begin with the first plan that has them, and end with one that has not.
    fn note_drains(&mut self) {
        let (now, drained) = (self.uptime(), &self.inputs.drained);
        let backends = self.inputs.config.services.iter().flat_map(|service| &service.backends);
        let drains = backends.filter(|one| drained.get(&one.id).copied().unwrap_or(one.drained));
        let since = |id| self.drained_since.get(&id).copied().unwrap_or(now);
        self.drained_since = drains.map(|backend| (backend.id, since(backend.id))).collect();
    }

    /// Backends that are added, or leave maintenance, come up now.
    fn up_since_with(&self, config: &Config) -> BTreeMap<WireId, Duration> {
        let (before, after) = (in_service(&self.inputs.config), in_service(config));
        let kept = self.up_since.iter().filter(|(id, _)| after.contains(id));
        let added = after.difference(&before).map(|id| (*id, self.uptime()));
        kept.map(|(id, since)| (*id, *since)).chain(added).collect()
    }

    /// The contents of the maps: those of the plan, unless a write has failed.
    fn held(&self, maps: &impl DataPlane) -> Result<Contents<'_>, heddle_balancer_maps::Error> {
        if self.between_plans {
            maps.read()
        } else {
            Ok(Contents::new(&self.inputs, &self.plan.maps))
        }
    }

    /// The plan that follows on what the maps hold. After a failed write its epoch is new: flows
    /// may have registered in the epoch of the plan that failed, or not for the part of it that was
    /// written.
    fn next_plan(&self, inputs: &Inputs, held: &plan::Maps) -> Result<Plan, plan::Full> {
        let (members, listed, next_hops) = (self.members(), self.listed(), self.known_hops());
        let established = inputs.config.timeouts.established;
        let world = World {
            now: self.started.elapsed(),
            tick: self.started_tick.wrapping_add(plan::ticks(self.started.elapsed())),
            own: inputs.config.balancer.member.as_ref().map(|member| member.id),
            balancers: &members,
            listed: &listed,
            health: if self.isolation.uses_earlier_health() {
                &self.health_in_contact
            } else {
                &inputs.health
            },
            down_since: &self.down_since,
            up_since: &self.up_since,
            drained: &inputs.drained,
            drained_since: &self.drained_since,
            next_hops: &next_hops,
            has_placed_flows: !self.is_first_ring,
            peer_tables_changed: self.peer_tables.have(self.uptime(), established),
            peer_flows_unexplained: self.peer_flows.have(self.uptime(), established),
            macs: &self.macs,
        };
        if !self.between_plans {
            return self.plan.next(&inputs.config, &world);
        }
        let found = Plan { maps: held.clone(), ..self.plan.clone() };
        let mut plan = found.next(&inputs.config, &world)?;
        plan.maps.epoch = held.epoch.wrapping_add(1);
        Ok(plan)
    }

    /// For how long a backend drains, or else has been in its health check's state (`checked`), or
    /// without a check has been there.
    pub(super) fn since(&self, id: WireId, checked: Option<Duration>) -> Duration {
        let uptime = self.uptime();
        let from = |begun: &BTreeMap<WireId, Duration>| {
            begun.get(&id).map(|begun| uptime.saturating_sub(*begun))
        };
        let since = from(&self.drained_since).or(checked).or_else(|| from(&self.up_since));
        since.unwrap_or(uptime)
    }

    fn known_hops(&self) -> BTreeMap<IpAddr, NextHop> {
        let known = self.next_hops.iter();
        known.filter_map(|(address, found)| Some((*address, *found.as_ref().ok()?))).collect()
    }

    /// The daemon's uptime.
    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }
}

impl<'a> Contents<'a> {
    /// Maps with the settings of these inputs.
    pub(super) fn new(inputs: &Inputs, maps: &'a plan::Maps) -> Contents<'a> {
        let settings = plan::settings(&inputs.config, &inputs.keys, maps);
        Contents { settings, maps: Cow::Borrowed(maps) }
    }
}

/// The list of balancers until the first news of it.
fn initial_view(config: &Config, known: Option<Known>) -> View {
    let Some(own) = &config.balancer.member else {
        return View { source: Source::Current, ..View::default() };
    };
    let member = crate::members::Member { name: own.name.clone(), address: own.address };
    let mut view = View::alone(&member);
    match (&config.membership, known) {
        (Membership::Static(members), _) => {
            let listed = members.iter().map(|member| (member.name.clone(), member.address));
            view.members.extend(listed);
            view.source = Source::Current;
        }
        (Membership::Etcd(_), Some(known)) => {
            let others = known.members.into_iter().filter(|(name, _)| *name != member.name);
            view.members.extend(others);
            view.source = Source::Old;
            view.changes = known.changes;
        }
        (Membership::Etcd(_), None) => {}
    }
    view
}

/// The addresses of the balancers that were alive in the plan of the daemon before.
fn assumed(plan: &Plan) -> BTreeSet<IpAddr> {
    let is_up = |index: &u16| {
        let target = plan.maps.targets.get(index);
        target.is_some_and(|target| target.state == TargetState::Up as u8)
    };
    let peers = plan.maps.peers.iter().filter(|(_, index)| is_up(index));
    peers.map(|(address, _)| *address).collect()
}

#[cfg(test)]
mod tests;

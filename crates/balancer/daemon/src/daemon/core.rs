//! What the daemon knows, and the balancer that it keeps.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use heddle_balancer_maps::{Attached, Balancer, Explainer, Mode, interface_index};

use super::door::Ask;
use super::key_supply::KeySupply;
use super::wiring::{Checks, News};
use super::{Options, apply};
use crate::config::{self, Config, Membership, Secret, SecretError};
use crate::health::State;
use crate::ids::WireId;
use crate::members::View;
use crate::neighbours::{NextHop, NextHops};
use crate::plan::{self, Keys, Plan, World};

/// Why a balancer could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The data plane.
    #[error(transparent)]
    DataPlane(#[from] heddle_balancer_maps::Error),
    /// The secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// No randomness for the tables' seed.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// More is configured than maps have room for.
    #[error(transparent)]
    Full(#[from] plan::Full),
}

/// The daemon's state.
pub struct Core {
    pub(super) config: Config,
    pub(super) path: PathBuf,
    pub(super) balancer: Balancer,
    pub(super) explainer: Explainer,
    pub(super) plan: Plan,
    keys: Keys,
    key_supply: KeySupply,
    pub(super) health: BTreeMap<WireId, State>,
    pub(super) drained: BTreeMap<WireId, bool>,
    pub(super) view: View,
    pub(super) next_hops: NextHops,
    pub(super) interfaces: BTreeMap<String, String>,
    pub(super) started: Instant,
    pub(super) loaded: SystemTime,
    pub(super) counts: Counts,
    /// Why the maps are not as they should be, if so.
    pub(super) trouble: Option<String>,
}

/// What the daemon itself counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) reloads: u64,
    pub(super) failed_reloads: u64,
    pub(super) member_changes: u64,
}

impl Core {
    /// Loads the program, with the maps of the daemon before if there are any, and fills them as far as anything is known yet.
    ///
    /// # Errors
    /// [`CoreError`].
    pub fn start(config: Config, options: &Options) -> Result<Core, CoreError> {
        let balancer = Balancer::load_pinned(&config.balancer.pin, &config.sizes)?;
        let explainer = balancer.explainer()?;
        let keys = keys(&config, balancer.maps.settings.get()?.seed)?;
        let plan = Plan::found(apply::read(&balancer.maps)?);
        let key_supply = KeySupply::new(balancer.ready_keys()?);
        let mut core = Core {
            view: initial_view(&config),
            config,
            path: options.config.clone(),
            balancer,
            explainer,
            plan,
            keys,
            key_supply,
            health: BTreeMap::new(),
            drained: BTreeMap::new(),
            next_hops: NextHops::new(),
            interfaces: BTreeMap::new(),
            started: Instant::now(),
            loaded: SystemTime::now(),
            counts: Counts::default(),
            trouble: None,
        };
        core.apply_settings()?;
        core.try_reconcile()?;
        Ok(core)
    }

    /// Whether a way is known to each backend and balancer, found now or by the daemon before.
    pub(super) fn knows_all_ways(&self) -> bool {
        let mut wanted = self.plan.targets.iter();
        let target = |index| self.plan.maps.targets.get(&index);
        wanted.all(|(_, index, _)| target(index).is_some_and(|target| target.ifindex != 0))
    }

    /// Attaches the program, or puts it in the place of the one before.
    ///
    /// # Errors
    /// [`heddle_balancer_maps::Error`].
    pub fn attach(&mut self, mode: Mode) -> Result<(), CoreError> {
        for name in &self.config.balancer.interfaces {
            let attached = self.balancer.attach(interface_index(name)?, mode)?;
            let mode = if mode == Mode::Native { "native" } else { "generic" };
            self.interfaces.insert(name.clone(), mode.into());
            match attached {
                Attached::Afresh => tracing::info!(interface = name, mode, "attached"),
                Attached::InPlace => {
                    tracing::info!(interface = name, "took over from the daemon before");
                }
            }
        }
        Ok(())
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn apply_settings(&mut self) -> Result<(), heddle_balancer_maps::Error> {
        let settings = plan::settings(&self.config, &self.keys, &self.plan.maps);
        self.balancer.maps.settings.set(&settings)
    }

    pub(super) fn read_keys(&mut self, config: &Config) -> Result<(), CoreError> {
        self.keys = keys(config, self.keys.seed)?;
        Ok(())
    }

    /// Takes in what happened in the world.
    pub(super) fn learn(&mut self, news: News) {
        match news {
            News::Health(target, state) => self.learn_health(&target, state),
            News::Members(view) => {
                if view.members != self.view.members {
                    self.counts.member_changes += 1;
                    tracing::info!(members = ?view.members.keys(), "the balancers have changed");
                }
                self.view = view;
            }
            News::NextHops(hops) => self.next_hops = hops,
        }
    }

    fn learn_health(&mut self, target: &str, state: State) {
        let named = |(service, backend): &(&config::Service, &config::Backend)| {
            super::wiring::check_name(service, backend) == target
        };
        let all = self.config.services.iter().flat_map(|s| s.backends.iter().map(move |b| (s, b)));
        let ids: Vec<WireId> = all.filter(named).map(|(_, backend)| backend.id).collect();
        self.health.extend(ids.into_iter().map(|id| (id, state)));
    }

    pub(super) fn take(&mut self, ask: Ask, checks: &Checks) {
        match ask {
            Ask::Admin(request, to) => drop(to.send(self.answer(request, checks))),
            Ask::Snapshot(to) => drop(to.send(self.snapshot(checks))),
        }
    }

    /// Makes the maps as they should be. What cannot be done now is logged, and tried again.
    pub fn reconcile(&mut self) {
        let result = self.try_reconcile();
        let trouble = result.err().map(|error| error.to_string());
        if let Some(trouble) = trouble.as_ref().filter(|_| trouble != self.trouble) {
            tracing::error!(%trouble, "the maps are not as they should be");
        }
        self.trouble = trouble;
    }

    /// Keeps keys ready where services want them.
    pub(super) fn supply_keys(&mut self) {
        self.key_supply.follow(&self.config, &self.plan.maps.ring);
    }

    fn try_reconcile(&mut self) -> Result<(), CoreError> {
        let members = self.members();
        let next_hops = self.known_hops();
        let world = World {
            now: self.started.elapsed(),
            own: self.config.balancer.member.as_ref().map(|member| member.id),
            balancers: &members,
            health: &self.health,
            drained: &self.drained,
            next_hops: &next_hops,
        };
        let plan = self.plan.next(&self.config, &world)?;
        for change in plan.changes(&self.plan.maps) {
            apply::write(&mut self.balancer.maps, &change)?;
        }
        self.plan = plan;
        Ok(())
    }

    /// The balancers that are alive.
    pub(super) fn members(&self) -> Vec<config::Member> {
        let members = self.view.members.iter();
        members.map(|(name, address)| self.config.member(name, *address)).collect()
    }

    fn known_hops(&self) -> BTreeMap<IpAddr, NextHop> {
        let known = self.next_hops.iter();
        known.filter_map(|(address, found)| Some((*address, *found.as_ref().ok()?))).collect()
    }

    /// How long the daemon has run.
    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Who is alive as long as nobody has said anything else.
fn initial_view(config: &Config) -> View {
    let Some(own) = &config.balancer.member else { return View::default() };
    let own = crate::members::Member { name: own.name.clone(), address: own.address };
    let mut view = View::alone(&own);
    if let Membership::Static(members) = &config.membership {
        view.members.extend(members.iter().map(|member| (member.name.clone(), member.address)));
    }
    view
}

/// The tables' seed is kept as long as their entries are.
fn keys(config: &Config, seed: [u64; 2]) -> Result<Keys, CoreError> {
    let seed = if seed == [0; 2] { random()? } else { seed };
    let Some(steering) = &config.steering else {
        return Ok(Keys { seed, maglev_seed: 0, cookie: 0 });
    };
    let secret = Secret::read(&steering.secret_file)?;
    Ok(Keys { seed, maglev_seed: secret.maglev_seed(), cookie: secret.cookie() })
}

fn random() -> Result<[u64; 2], CoreError> {
    let word = || getrandom::u64().map_err(|error| CoreError::Random(error.to_string()));
    Ok([word()?, word()?])
}

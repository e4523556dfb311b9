//! The daemon's state beside the balancer's eBPF objects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use heddle_balancer_maps::{Attached, Balancer, Explainer, Mode, interface_index};

use super::Options;
use super::apply::{self, Contents, DataPlane};
use super::error::CoreError;
use super::event_sources::{Event, SourceStatus};
use super::handle::Message;
use super::key_supply::KeySupply;
use super::state::{Inputs, State};
use crate::config::{Config, Secret};
use crate::plan::{Keys, Plan};

/// The daemon's state and its balancer.
pub struct Core {
    pub(super) state: State,
    pub(super) path: PathBuf,
    pub(super) balancer: Balancer,
    pub(super) explainer: Explainer,
    key_supply: KeySupply,
    /// The interfaces that the program was attached to, and the mode of each.
    pub(super) interfaces: BTreeMap<String, String>,
    pub(super) loaded: SystemTime,
    pub(super) counts: Counts,
}

/// The daemon's own counters.
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
        let mut balancer = Balancer::load_pinned(&config.balancer.pin, &config.sizes)?;
        let explainer = balancer.explainer()?;
        let keys = keys(&config, balancer.maps.settings.get()?.seed)?;
        let key_supply = KeySupply::new(balancer.ready_keys()?);
        let plan = Plan::found(apply::found(&balancer.maps)?);
        let mut state = State::new(Inputs::new(config, keys), plan);
        let contents = Contents::new(&state.inputs, &state.plan.maps);
        balancer.maps.set_settings(&contents.settings)?;
        state.try_reconcile(&mut balancer.maps)?;
        Ok(Core {
            state,
            path: options.config.clone(),
            balancer,
            explainer,
            key_supply,
            interfaces: BTreeMap::new(),
            loaded: SystemTime::now(),
            counts: Counts::default(),
        })
    }

    /// Attaches the program, or puts it in the place of the one before. Returns the program's id and the interfaces that have it.
    ///
    /// # Errors
    /// [`heddle_balancer_maps::Error`].
    pub fn attach(&mut self, mode: Mode) -> Result<(u32, BTreeSet<String>), CoreError> {
        for name in self.config().balancer.interfaces.clone() {
            let attached = self.balancer.attach(interface_index(&name)?, mode)?;
            let mode = if mode == Mode::Native { "native" } else { "generic" };
            match attached {
                Attached::Afresh => tracing::info!(interface = name, mode, "attached"),
                Attached::InPlace => {
                    tracing::info!(interface = name, "took over from the daemon before");
                }
            }
            self.interfaces.insert(name, mode.into());
        }
        Ok((self.balancer.program.id()?, self.interfaces.keys().cloned().collect()))
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.state.inputs.config
    }

    /// Takes in a change of the world.
    pub(super) fn handle_event(&mut self, event: Event) {
        match event {
            Event::Health(check, state) => self.state.set_health(&check, state),
            Event::Members(view) => {
                if view.members != self.state.view.members {
                    self.counts.member_changes += 1;
                    tracing::info!(members = ?view.members.keys(), "the balancers have changed");
                }
                self.state.view = view;
            }
            Event::NextHops(hops) => self.state.next_hops = hops,
            // An interface that is gone may come back: its last address stands meanwhile.
            Event::Macs(macs) => self.state.macs.extend(macs),
        }
    }

    /// Answers a request from outside.
    pub(super) fn handle_message(&mut self, message: Message, sources: &SourceStatus) {
        match message {
            Message::Admin(request, to) => drop(to.send(self.answer(request, sources))),
            Message::Snapshot(to) => drop(to.send(self.snapshot(sources))),
            Message::Health(to) => drop(to.send(self.health(sources))),
        }
    }

    /// Makes the maps follow the plan. A failure is logged, and the next call tries again.
    pub fn reconcile(&mut self) {
        self.state.reconcile(&mut self.balancer.maps);
    }

    /// Keeps keys ready where services want them.
    pub(super) fn supply_keys(&mut self) {
        self.key_supply.follow(&self.state.inputs.config, &self.state.plan.maps.ring);
    }
}

/// The keys of a configuration. The tables' seed is kept as long as their entries are; `[0, 0]`: there is none yet.
///
/// # Errors
/// Without randomness, or if the secret cannot be read.
pub(super) fn keys(config: &Config, seed: [u64; 2]) -> Result<Keys, CoreError> {
    let seed = if seed == [0; 2] { random()? } else { seed };
    let Some(steering) = &config.steering else {
        return Ok(Keys { seed, maglev_seed: 0, steering: [[0; 2]; 2] });
    };
    let secret = Secret::read(&steering.secret_file)?;
    let steering = [secret.steering_key(), [0; 2]];
    Ok(Keys { seed, maglev_seed: secret.maglev_seed(), steering })
}

fn random() -> Result<[u64; 2], CoreError> {
    let word = || getrandom::u64().map_err(|error| CoreError::Random(error.to_string()));
    Ok([word()?, word()?])
}

//! The daemon's state beside the balancer's eBPF objects.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use heddle_balancer_maps::maps::PeerStates;
use heddle_balancer_maps::{Attached, Balancer, Explainer, Mode, interface_index};
use heddle_daemon::pin_lock::PinLock;

use super::Options;
use super::apply::{self, Contents, DataPlane};
use super::error::CoreError;
use super::event_sources::{Event, SourceStatus};
use super::fresh_pins::FreshPins;
use super::key_supply::KeySupply;
use super::message::Message;
use super::shared::Shared;
use super::state::{Inputs, State};
use super::tables;
use crate::config::{Config, Membership, Secret, SecretError};
use crate::devices::Devices;
use crate::fragments;
use crate::health;
use crate::heartbeat::Probed;
use crate::members::{self, Known, Source, View};
use crate::plan::{Keys, Plan};

/// The daemon's state and its balancer.
pub struct Core {
    pub(super) state: State,
    pub(super) path: PathBuf,
    /// The file's configuration, without what commands have changed since.
    pub(super) file: Config,
    /// The changes that all balancers share.
    pub(super) shared: Shared,
    pub(super) balancer: Balancer,
    // Dropped before the lock.
    fresh_pins: FreshPins,
    _pin_lock: Option<PinLock>,
    pub(super) explainer: Explainer,
    key_supply: KeySupply,
    mode: Mode,
    /// True if there are sockets for probes on the way of packets, which the start alone can open.
    pub(super) can_probe_forwarding: bool,
    /// The settings of the file that are read at the next start, in words.
    pub(super) pending: Vec<String>,
    /// The interfaces that the program was attached to, and the mode of each.
    pub(super) interfaces: BTreeMap<String, String>,
    pub(super) loaded: SystemTime,
    pub(super) counts: Counts,
    /// True as soon as ring, health and maps have been in step once.
    pub(super) ready: bool,
    /// The reason why the list of balancers was not written, if so.
    pub(super) state_file_error: Option<String>,
}

/// The daemon's own counters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) reloads: u64,
    pub(super) failed_reloads: u64,
    pub(super) member_changes: u64,
}

impl Core {
    /// Loads the program, with the maps of the daemon before if there are any that fit, else with
    /// empty ones, and fills them as far as anything is known yet.
    ///
    /// # Errors
    /// [`CoreError`].
    pub fn start(config: Config, options: &Options) -> Result<Core, CoreError> {
        let secrets = Secrets::read(&config)?;
        let pin = &config.balancer.pin;
        let locked = PinLock::take(pin)?;
        let mut balancer = Balancer::load_pinned(pin, &config.sizes)?;
        // The first daemon here has made the folder.
        let is_first = locked.is_none();
        let pin_lock = if is_first { PinLock::take(pin)? } else { locked };
        let fresh_pins = if is_first { FreshPins::new(pin) } else { FreshPins::none() };
        if let Some(replaced) = balancer.replaced() {
            let why = tables::why_replaced(replaced, &config.sizes);
            tracing::warn!("the tables are empty, and connections go on by hash: {why}");
        }
        let explainer = balancer.explainer()?;
        let before = balancer.maps.settings.get()?;
        let keys = secrets.keys(before.seed)?;
        if changes_seed(before.maglev_seed, keys.maglev_seed) {
            tracing::warn!("{SEED_CHANGED}");
        }
        let key_supply = KeySupply::new(balancer.ready_keys()?);
        let plan = Plan::found(apply::found(&balancer.maps)?);
        let known = members::read(&config.balancer.state_dir);
        let shared = Shared::known(&config, known.as_ref());
        let mut state = State::new(Inputs::new(shared.base.clone(), keys), plan, known);
        state.started_tick = balancer.now()?;
        let contents = Contents::new(&state.inputs, &state.plan.maps);
        balancer.maps.set_settings(&contents.settings)?;
        state.try_reconcile(&mut balancer.maps)?;
        Ok(Core {
            can_probe_forwarding: false,
            pending: Vec::new(),
            _pin_lock: pin_lock,
            fresh_pins,
            state,
            path: options.config.clone(),
            file: config,
            shared,
            balancer,
            explainer,
            key_supply,
            mode: options.mode,
            interfaces: BTreeMap::new(),
            loaded: SystemTime::now(),
            counts: Counts::default(),
            ready: false,
            state_file_error: None,
        })
    }

    /// Attaches the program to the devices of the interfaces, or puts it in the place of the one
    /// before. Returns the program's id.
    ///
    /// # Errors
    /// [`heddle_balancer_maps::Error`].
    pub fn attach(&mut self, devices: &Devices) -> Result<u32, CoreError> {
        let mode = if self.mode == Mode::Native { "native" } else { "generic" };
        for name in devices.values().collect::<BTreeSet<_>>() {
            match self.balancer.attach(interface_index(name)?, self.mode)? {
                Attached::Afresh => tracing::info!(interface = name, mode, "attached"),
                Attached::InPlace => {
                    tracing::info!(interface = name, "took over from the daemon before");
                }
            }
        }
        self.fresh_pins.keep();
        self.interfaces = devices.keys().map(|name| (name.clone(), mode.into())).collect();
        Ok(self.balancer.program.id()?)
    }

    /// The program's state of the other balancers, for the heartbeat thread.
    ///
    /// # Errors
    /// [`heddle_balancer_maps::Error`].
    pub(super) fn peer_states(&self) -> Result<PeerStates, CoreError> {
        Ok(self.balancer.peer_states()?)
    }

    /// Handles of the thread that holds fragments back.
    ///
    /// # Errors
    /// [`heddle_balancer_maps::Error`].
    pub(super) fn fragments(&self) -> Result<fragments::Parts, CoreError> {
        Ok(fragments::Parts::of(&self.balancer)?)
    }

    /// The seed of the tables.
    pub(super) fn seed(&self) -> [u64; 2] {
        self.state.inputs.keys.seed
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
                if view.members != self.state.view.members || view.lapsed != self.state.view.lapsed
                {
                    self.counts.member_changes += 1;
                    let (members, lapsed) = (view.members.keys(), view.lapsed.keys());
                    tracing::info!(?members, ?lapsed, "the list of balancers has changed");
                }
                self.keep(&view);
                self.state.set_view(view);
                self.follow_shared();
            }
            Event::Heartbeats(conclusions) => self.state.set_heartbeats(&conclusions),
            Event::Detached(interfaces) => self.attach_again(&interfaces),
            Event::NextHops(hops) => self.state.set_next_hops(hops),
            Event::Carriers(carriers) => self.state.has_own_carrier = !carriers.is_empty(),
            // An interface that is gone may come back: its last address stands meanwhile.
            Event::Macs(macs) => self.state.macs.extend(macs),
        }
    }

    /// Writes the list of balancers down for the next daemon. That it cannot is no reason to stop.
    fn keep(&mut self, view: &View) {
        if view.source != Source::Current
            || !matches!(self.config().membership, Membership::Etcd(_))
        {
            return;
        }
        let members = view.all().map(|(name, address)| (name.clone(), *address)).collect();
        let known = Known { members, changes: view.changes.clone() };
        let written = members::write(&self.config().balancer.state_dir, &known);
        self.state_file_error = written.err().map(|error| {
            tracing::warn!(%error, "the list of balancers cannot be kept for a restart");
            error.to_string()
        });
    }

    /// Attaches the program to interfaces that have lost it. A failure is logged; the next check
    /// tries again.
    pub(super) fn attach_again(&mut self, interfaces: &BTreeSet<String>) {
        for name in interfaces {
            let index = interface_index(name);
            let attached = index.and_then(|index| self.balancer.attach(index, self.mode));
            match attached {
                Ok(_) => tracing::info!(interface = name, "attached again"),
                Err(error) => tracing::warn!(interface = name, %error, "cannot be attached again"),
            }
        }
    }

    /// Notes whether everything is known that this balancer's work depends on. Once it is, it stays
    /// ready.
    pub(super) fn check_ready(&mut self, sources: &SourceStatus) -> bool {
        if !self.ready && self.waits_for(sources).is_none() {
            self.ready = true;
            self.state.ring_is_whole();
            tracing::info!("ready: ring, health and maps are in step");
        }
        self.ready
    }

    /// The conditions that a starting balancer still waits for.
    pub(super) fn waits_for(&self, sources: &SourceStatus) -> Option<String> {
        if self.ready {
            return None;
        }
        if self.state.reconcile_error().is_some() {
            return Some("the maps are not in step".into());
        }
        if self.state.uptime() > READY_LIMIT {
            return None;
        }
        if self.state.view.source == Source::Starting {
            return Some("the list of balancers is not known yet".into());
        }
        let unknown = self.state.undecided();
        if !unknown.is_empty() {
            return Some(format!("not known yet to be alive or dead: {}", unknown.join(", ")));
        }
        let first = |(name, status): (&String, &health::Status)| {
            (status.state == health::State::Unknown).then(|| name.clone())
        };
        let unchecked: Vec<String> = sources.checks.iter().filter_map(first).collect();
        (!unchecked.is_empty()).then(|| format!("not checked yet: {}", unchecked.join(", ")))
    }

    /// The balancers that get heartbeats, and what these contain.
    pub(super) fn probed(&self) -> Probed {
        let config = self.config();
        let Some(steering) = &config.steering else { return Probed::default() };
        let settings = Contents::new(&self.state.inputs, &self.state.plan.maps).settings;
        let listed = self.state.listed();
        let peers = listed.iter().filter_map(|member| {
            let index = *self.state.plan.maps.peers.get(&member.address)?;
            Some((member.address, index))
        });
        let addresses =
            [config.balancer.ipv4.map(IpAddr::V4), config.balancer.ipv6.map(IpAddr::V6)];
        Probed {
            peers: peers.collect(),
            own: addresses.into_iter().flatten().collect(),
            interfaces: config.balancer.interfaces.iter().cloned().collect(),
            port: steering.port,
            key: self.state.inputs.keys.steering[0],
            fingerprint: settings.fingerprint,
        }
    }

    /// Answers a request from outside.
    pub(super) fn handle_message(&mut self, message: Message, sources: &SourceStatus) {
        match message {
            Message::Admin(request, to) => drop(to.send(self.answer(request, sources))),
            Message::Prepare(edit, to) => drop(to.send(self.prepare(&edit, sources))),
            Message::Confirm(edit, revision, to) => {
                drop(to.send(self.confirm(&edit, revision, sources)));
            }
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

/// The longest time after the start for which a balancer waits before it is ready.
const READY_LIMIT: Duration = Duration::from_secs(10);

/// The way to change the secret and keep the seed.
pub(super) const SEED_CHANGED: &str = "the secret would change the hash of flows, so that flows that move between balancers would \
     break; keep the seed: set steering.seed_file to a copy of the first secret";

/// True if a seed takes another one's place. The first one, and the end of the last one, move no
/// flow between balancers.
pub(super) fn changes_seed(before: u64, after: u64) -> bool {
    before != 0 && after != 0 && before != after
}

/// The keys that follow from the secrets of a configuration: read before programs are loaded.
pub(super) struct Secrets {
    maglev_seed: u64,
    steering: [[u64; 2]; 2],
}

impl Secrets {
    /// # Errors
    /// If a secret cannot be used.
    pub(super) fn read(config: &Config) -> Result<Secrets, SecretError> {
        let Some(steering) = &config.steering else {
            return Ok(Secrets { maglev_seed: 0, steering: [[0; 2]; 2] });
        };
        let signs = Secret::read(&steering.secret_file)?.steering_key();
        let accepted = steering.accepted_secret_file.as_deref().map(Secret::read).transpose()?;
        let accepted = accepted.map_or([0; 2], |secret| secret.steering_key());
        let maglev_seed = Secret::read(&steering.seed_file)?.maglev_seed();
        Ok(Secrets { maglev_seed, steering: [signs, accepted] })
    }

    /// All keys. The tables' seed is kept as long as their entries are; `[0, 0]`: there is none
    /// yet.
    ///
    /// # Errors
    /// Without randomness.
    pub(super) fn keys(self, seed: [u64; 2]) -> Result<Keys, CoreError> {
        let seed = if seed == [0; 2] { random()? } else { seed };
        Ok(Keys { seed, maglev_seed: self.maglev_seed, steering: self.steering })
    }
}

fn random() -> Result<[u64; 2], CoreError> {
    let word = || getrandom::u64().map_err(|error| CoreError::Random(error.to_string()));
    Ok([word()?, word()?])
}

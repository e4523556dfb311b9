//! Balancers, and the network around them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use heddle_balancer_maps::abi::{Counter, Forwarding, MptcpMode, Settings, TargetState};
use heddle_balancer_maps::{Action, Balancer, Clock, Error, Explainer, Explanation, Sizes};

use heddle_hashing::ring::Ring;
use heddle_wire::quic::ServerIds;

use crate::network::{self, KEY, Receiver};
use crate::{Flow, SERVICE_UDP};

/// Configuration of a cluster.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Balancers in service.
    pub balancers: usize,
    /// Backends, all of weight 1 and up.
    pub backends: usize,
    /// MPTCP mode of the TCP service.
    pub mode: MptcpMode,
    /// True if there is another TCP service of the same group, at port [`crate::OTHER_PORT`], with
    /// the same backends.
    pub grouped: bool,
    /// Knowledge of the balancers about each other.
    pub peers: Peers,
    /// Forwarding to backends.
    pub forwarding: Forwarding,
    /// Bytes of IP that the network carries; 0: not checked.
    pub mtu: u16,
    /// The VLAN of backends and balancers; 0: none, and their frames have no tag.
    pub vlan: u16,
    /// Ports of each service: [`crate::PORT`] and those behind it, one at least.
    pub ports: u16,
    /// The connection ids of QUIC that name the UDP service's backends, as [`crate::server_id`]
    /// says.
    pub quic: Option<ServerIds>,
    /// The choices for packets to the services' addresses that are for none of them
    /// (`DROPS_UNPARSABLE` and the others).
    pub choices: u32,
    /// Access flags of the services (`ACCESS_FILTERED`, `ACCESS_LIMITED`).
    pub access: u32,
    /// Sizes of each balancer's maps.
    pub sizes: Sizes,
    /// The first balancer explains so many frames before they are sent, and [`Cluster::send`] panics
    /// if that changes a map. The others would do the same, with the load time of one more program.
    pub explained: usize,
    /// All balancers' settings, but for addresses, ports and the seed of the tables, which are the
    /// cluster's.
    pub settings: Settings,
}

impl Default for Setup {
    /// One balancer that learns, four backends; timeouts of some seconds.
    fn default() -> Setup {
        let settings = Settings {
            maglev_seed: 9,
            steering_keys: [KEY, [0; 2]],
            syn_timeout: 600,
            flow_timeout: 18_000,
            closing_timeout: 300,
            udp_timeout: 1200,
            provisional_timeout: 600,
            token_timeout: 7200,
            refresh: 3000,
            learning: 300,
            now: 1000,
            ..Settings::default()
        };
        Setup {
            balancers: 1,
            backends: 4,
            mode: MptcpMode::Learn,
            grouped: false,
            peers: Peers::Known,
            forwarding: Forwarding::Ipip,
            mtu: 0,
            vlan: 0,
            ports: 1,
            quic: None,
            choices: 0,
            access: 0,
            sizes: Sizes { services: 3, maglev_tables: 1, targets: 512, ..Sizes::small() },
            explained: 0,
            settings,
        }
    }
}

/// Knowledge of the balancers about each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// They share the ring.
    Known,
    /// Each is alone with what it learns (Liénardy and Donnet, ANRW 2016; RomanRoads' P3).
    Unknown,
}

/// A backend as the control plane sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Its share of new flows; 0: none, it drains.
    pub weight: u32,
    /// Up, failing its checks lately, removed from all services, or down.
    pub state: TargetState,
}

impl Backend {
    /// A backend that is up, with this share of new flows.
    #[must_use]
    pub fn of_weight(weight: u32) -> Backend {
        Backend { weight, state: TargetState::Up }
    }
}

/// Route and end of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// End of the frame.
    pub outcome: Outcome,
    /// The balancers that it passed, in order; one that is dead is the last.
    pub via: Vec<usize>,
    /// The frame as it left the last balancer.
    pub frame: Vec<u8>,
}

/// End of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Reached this backend.
    Backend(usize),
    /// Went up the stack of the last balancer.
    Passed,
    /// The last balancer dropped it.
    Dropped,
    /// The last balancer sent it back, or to an unknown address.
    Outside,
    /// Was sent to a balancer that is dead.
    Lost,
    /// Was still on its way after more hops than there should ever be.
    Looped,
}

/// More balancers than a packet ever passes: asker, owner, asker.
const MOST_HOPS: usize = 8;

/// A balancer that is alive.
pub(crate) struct Member {
    pub balancer: Balancer,
    /// Its ring's owners and those before them, as its targets; empty: not written yet.
    pub ring: Vec<u32>,
    pub former: Vec<u32>,
    /// The words of its Maglev table.
    pub table: Option<Vec<u32>>,
    /// The targets that fail their checks lately.
    pub failing: BTreeSet<u32>,
    pub epoch: u8,
    /// Loaded when it is first asked.
    explainer: RefCell<Option<Explainer>>,
    /// Frames to be explained before they are sent.
    explains: Cell<usize>,
}

impl Member {
    fn with_explainer<T>(
        &self,
        ask: impl FnOnce(&mut Explainer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &mut *self.explainer.borrow_mut() {
            Some(explainer) => ask(explainer),
            none => ask(none.insert(self.balancer.explainer()?)),
        }
    }
}

/// Balancers with a router in front and backends behind.
pub struct Cluster {
    pub(crate) setup: Setup,
    /// The backends, by number. Changes are seen after [`Cluster::publish`].
    pub backends: Vec<Backend>,
    pub(crate) balancers: Vec<Option<Member>>,
    pub(crate) now: u32,
    /// The ring of all that were alive at the last publication.
    pub(crate) ring: Ring,
}

impl Cluster {
    /// A cluster whose balancers all know each other and the backends.
    ///
    /// # Errors
    /// Those of the kernel: root is needed.
    pub fn new(setup: Setup) -> Result<Cluster, Error> {
        let backends = vec![Backend::of_weight(1); setup.backends];
        let now = setup.settings.now;
        let balancers = (0..setup.balancers).map(|_| None).collect();
        let mut cluster = Cluster { setup, backends, balancers, now, ring: Ring::new(&[]) };
        for balancer in 0..cluster.balancers.len() {
            cluster.start(balancer)?;
        }
        cluster.publish()?;
        Ok(cluster)
    }

    /// A balancer, if it is alive.
    pub fn balancer(&self, balancer: usize) -> Option<&Balancer> {
        self.balancers.get(balancer)?.as_ref().map(|member| &member.balancer)
    }

    /// A balancer, if it is alive, to be changed.
    pub fn balancer_mut(&mut self, balancer: usize) -> Option<&mut Balancer> {
        self.balancers.get_mut(balancer)?.as_mut().map(|member| &mut member.balancer)
    }

    /// The balancers that are alive.
    pub fn alive(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.balancers.len()).filter(|&balancer| self.balancers[balancer].is_some())
    }

    /// The settings of all balancers, but for addresses, ports and the seed of the tables.
    pub fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    /// The tick.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Lets time pass, in ticks; they wrap.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn advance(&mut self, ticks: u32) -> Result<(), Error> {
        self.now = self.now.wrapping_add(ticks);
        for member in self.balancers.iter_mut().flatten() {
            member.balancer.maps.settings.set_now(self.now)?;
        }
        Ok(())
    }

    /// Stops a balancer; the others do not know yet.
    pub fn crash(&mut self, balancer: usize) {
        self.balancers[balancer] = None;
    }

    /// Stops a balancer and publishes the change.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn kill(&mut self, balancer: usize) -> Result<(), Error> {
        self.crash(balancer);
        self.publish()
    }

    /// Starts a balancer with empty tables, and with the view of all that are alive; the others do
    /// not know yet.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn restart(&mut self, balancer: usize) -> Result<(), Error> {
        self.start(balancer)?;
        let alive: Vec<usize> = self.alive().collect();
        self.publish_to(balancer, &alive)
    }

    /// Starts a balancer with empty tables and publishes the change.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn revive(&mut self, balancer: usize) -> Result<(), Error> {
        self.start(balancer)?;
        self.publish()
    }

    fn start(&mut self, balancer: usize) -> Result<(), Error> {
        let explainer = RefCell::default();
        let loaded = Balancer::load(&self.setup.sizes, Clock::Settings)?;
        let epoch = self.setup.settings.epoch;
        let (ring, former, table) = (Vec::new(), Vec::new(), None);
        let member = Member {
            balancer: loaded,
            ring,
            former,
            table,
            failing: BTreeSet::new(),
            epoch,
            explainer,
            explains: Cell::new(if balancer == 0 { self.setup.explained } else { 0 }),
        };
        self.balancers[balancer] = Some(member);
        Ok(())
    }

    /// The balancer that the router sends a flow to: by rendezvous hashing, so that those who stay
    /// keep their flows.
    pub fn route(&self, flow: &Flow) -> Option<usize> {
        let weight = |&balancer: &usize| {
            let mut random = crate::Random::new(mixed(flow.client) ^ (balancer as u64) << 56);
            random.bits()
        };
        self.alive().max_by_key(weight)
    }

    /// Sends a frame of this flow to the balancer that the router chooses.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn arrive(&self, flow: &Flow, frame: &[u8]) -> Result<Delivered, Error> {
        match self.route(flow) {
            Some(balancer) => self.send(balancer, frame),
            None => {
                Ok(Delivered { outcome: Outcome::Lost, via: Vec::new(), frame: frame.to_vec() })
            }
        }
    }

    /// Sends a frame to this balancer, and on through others until it reaches a backend or its end.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn send(&self, balancer: usize, frame: &[u8]) -> Result<Delivered, Error> {
        let mut sent =
            Delivered { outcome: Outcome::Looped, via: vec![balancer], frame: frame.to_vec() };
        while let (&[.., at], true) = (sent.via.as_slice(), sent.via.len() <= MOST_HOPS) {
            let Some(balancer) = self.balancer(at) else {
                sent.outcome = Outcome::Lost;
                break;
            };
            self.check_explanation(at, &sent.frame)?;
            let run = balancer.program.run(&sent.frame, 1)?;
            sent.frame = run.data;
            match sent.arrived(run.action) {
                Ok(next) => sent.via.push(next),
                Err(outcome) => {
                    sent.outcome = outcome;
                    break;
                }
            }
        }
        Ok(sent)
    }

    /// Explains a frame as [`Setup::explained`] says.
    ///
    /// # Panics
    /// If that changes a map.
    fn check_explanation(&self, balancer: usize, frame: &[u8]) -> Result<(), Error> {
        let Some(member) = &self.balancers[balancer] else { return Ok(()) };
        let Some(left) = member.explains.get().checked_sub(1) else { return Ok(()) };
        member.explains.set(left);
        let changed = member.with_explainer(|explainer| explainer.changed_by(frame))?;
        assert!(changed.is_none(), "{changed:?} was changed by explaining {frame:02x?}");
        Ok(())
    }

    /// Explains a balancer's decision about a frame, without effect.
    ///
    /// # Errors
    /// Those of the kernel.
    ///
    /// # Panics
    /// If the balancer is dead.
    pub fn explain(&self, balancer: usize, frame: &[u8]) -> Result<Explanation, Error> {
        let member = self.balancers[balancer].as_ref().expect("a dead balancer explains nothing");
        member.with_explainer(|explainer| explainer.explain(frame))
    }

    /// Runs `action` and returns the counters of all balancers that moved meanwhile.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn watch<T>(
        &mut self,
        action: impl FnOnce(&mut Cluster) -> Result<T, Error>,
    ) -> Result<(T, Events), Error> {
        let before = self.counts()?;
        let result = action(self)?;
        let mut events = self.counts()?;
        for (key, count) in &mut events {
            *count -= before.get(key).copied().unwrap_or(0).min(*count);
        }
        events.retain(|_, count| *count > 0);
        Ok((result, Events(events)))
    }

    fn counts(&self) -> Result<BTreeMap<(usize, u32), u64>, Error> {
        let mut counts = BTreeMap::new();
        for at in self.alive() {
            let Some(balancer) = self.balancer(at) else { continue };
            for service in 0..=SERVICE_UDP {
                for (counter, count) in balancer.maps.counters.of(service)? {
                    *counts.entry((at, counter as u32)).or_default() += count.packets;
                }
            }
        }
        Ok(counts)
    }
}

impl Delivered {
    /// The client's packet, from its IP header on, where a backend has it.
    pub fn packet(&self) -> &[u8] {
        match network::receiver(&self.frame) {
            Receiver::Backend(_, inner) => self.frame.get(inner..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The balancer that it reaches next, or its outcome.
    fn arrived(&self, action: Action) -> Result<usize, Outcome> {
        match action {
            Action::Pass => Err(Outcome::Passed),
            Action::Tx | Action::Redirect => match network::receiver(&self.frame) {
                Receiver::Balancer(next) => Ok(next),
                Receiver::Backend(backend, _) => Err(Outcome::Backend(backend)),
                Receiver::Outside => Err(Outcome::Outside),
            },
            _ => Err(Outcome::Dropped),
        }
    }
}

/// Counts by balancer and counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events(BTreeMap<(usize, u32), u64>);

impl Events {
    /// The counters that moved at a balancer, in their order.
    pub fn at(&self, balancer: usize) -> Vec<Counter> {
        let here = self.0.keys().filter(|(at, _)| *at == balancer);
        here.filter_map(|(_, counter)| Counter::from_number(*counter)).collect()
    }

    /// Count of a counter at all balancers.
    pub fn count(&self, counter: Counter) -> u64 {
        self.0.iter().filter(|((_, c), _)| *c == counter as u32).map(|(_, count)| count).sum()
    }
}

fn mixed(client: SocketAddr) -> u64 {
    let bits = match client.ip() {
        std::net::IpAddr::V4(v4) => u64::from(v4.to_bits()),
        std::net::IpAddr::V6(v6) => (v6.to_bits() >> 64) as u64 ^ v6.to_bits() as u64,
    };
    crate::Random::new(bits << 16 ^ u64::from(client.port())).bits()
}

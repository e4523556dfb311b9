//! The sources of events: health checks, membership, heartbeats, next hops, and the XDP programs'
//! attachment.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use heddle_balancer_maps::Mode;
use heddle_balancer_maps::maps::PeerStates;
use tokio::sync::{mpsc, watch};

use crate::attachment;
use crate::config::{self, Backend, Balancer, Config, Membership, Ports, Service};
use crate::fragments;
use crate::health::forwarding::{Outer, Sockets, Way};
use crate::health::{self, Checker, Forwarding, HealthEvent, State, Target, Through};
use crate::heartbeat::{self, Conclusions, Heartbeats, Probed, Report};
use crate::links::{self, Carriers, Macs};
use crate::members::{Member, View, etcd};
use crate::neighbours::{self, NextHops};
use crate::service::Protocol;
use crate::supervisor::{Supervised, supervise};

/// The health checks' results, by [`check_name`].
pub(super) type Checks = BTreeMap<String, health::Status>;

/// A change of the world.
pub(super) enum Event {
    /// A backend's health check has another state.
    Health(String, State),
    /// The balancers that are listed.
    Members(View),
    /// The conclusions of heartbeats.
    Heartbeats(Conclusions),
    /// The interfaces that have lost the program.
    Detached(BTreeSet<String>),
    /// The next hops of all addresses.
    NextHops(NextHops),
    /// The Ethernet addresses of the interfaces.
    Macs(Macs),
    /// The interfaces that have a carrier.
    Carriers(Carriers),
}

/// The name of a backend's health check.
pub(super) fn check_name(service: &Service, backend: &Backend) -> String {
    format!("{}/{}", service.owner(), backend.name)
}

/// The name of the task that follows the list of balancers.
const MEMBERSHIP: &str = "membership";
/// Changes of backends' health that wait for the daemon; a check with another one waits itself.
const HEALTH_QUEUE: usize = 1024;
/// The longest time that leaving etcd may take.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The running sources.
pub(super) struct EventSources {
    checker: Checker,
    health: mpsc::Receiver<HealthEvent>,
    members: watch::Receiver<View>,
    hops: watch::Receiver<NextHops>,
    addresses: watch::Sender<BTreeSet<IpAddr>>,
    neighbour_watcher: Supervised,
    macs: watch::Receiver<Macs>,
    carriers: watch::Receiver<Carriers>,
    _link_watchers: [Supervised; 2],
    attachment: Option<Attachment>,
    heartbeats: Option<Heartbeats>,
    fragments: Option<fragments::Keeper>,
    conclusions: watch::Receiver<Conclusions>,
    /// True as soon as this balancer may register.
    ready: watch::Sender<bool>,
    /// True when the daemon stops.
    stop: watch::Sender<bool>,
    /// Tasks that have no results of their own here, by name.
    tasks: BTreeMap<&'static str, Supervised>,
}

/// The watcher of attached programs, and the interfaces that have lost theirs.
struct Attachment {
    watcher: Supervised,
    detached: watch::Receiver<BTreeSet<String>>,
}

/// The state of the sources themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceStatus {
    /// The health checks' results.
    pub(super) checks: Checks,
    /// The health checks that have stopped.
    pub(super) stopped_checks: Vec<String>,
    /// True if the neighbour watcher has stopped.
    pub(super) neighbour_watcher_stopped: bool,
    /// True if the watcher of attached programs has stopped.
    pub(super) attachment_watcher_stopped: bool,
    /// The interfaces that the program is not attached to any more.
    pub(super) detached: Vec<String>,
    /// The other tasks that have stopped.
    pub(super) stopped_tasks: Vec<&'static str>,
    /// The heartbeats' results for the other balancers.
    pub(super) peers: BTreeMap<IpAddr, Report>,
}

impl EventSources {
    /// Starts health checks and the neighbour watcher. Must be called inside a tokio runtime;
    /// starts no threads.
    pub(super) fn new(config: &Config, mode: Mode, probes: Option<Arc<Sockets>>) -> EventSources {
        let (events, health) = mpsc::channel(HEALTH_QUEUE);
        let (addresses, wanted) = watch::channel(BTreeSet::new());
        let (to, hops) = watch::channel(NextHops::new());
        let neighbour_watcher =
            supervise("neighbour watcher", move || neighbours::watch(wanted.clone(), to.clone()));
        let (macs, interfaces) = (watch::channel(Macs::new()), config.balancer.interfaces.clone());
        let mac_watcher = supervise("link watcher", move || {
            links::watch(interfaces.clone(), mode, macs.0.clone())
        });
        let interfaces = config.balancer.interfaces.clone();
        // All have one until one is seen without.
        let carriers = interfaces.iter().map(|name| (name.clone(), ())).collect();
        let (to_carriers, carriers) = watch::channel(carriers);
        let carrier_watcher = supervise("carrier watcher", move || {
            links::watch_carriers(interfaces.clone(), to_carriers.clone())
        });
        let mut sources = EventSources {
            checker: Checker::new(events)
                .with_forwarding(probes.map(|sockets| Forwarding { sockets, hops: hops.clone() })),
            health,
            members: watch::channel(View::default()).1,
            hops,
            addresses,
            neighbour_watcher,
            macs: macs.1,
            carriers,
            _link_watchers: [mac_watcher, carrier_watcher],
            attachment: None,
            heartbeats: None,
            fragments: None,
            conclusions: watch::channel(Conclusions::default()).1,
            ready: watch::channel(false).0,
            stop: watch::channel(false).0,
            tasks: BTreeMap::new(),
        };
        sources.follow(config, &View::default());
        sources
    }

    /// Starts to follow the list of balancers in etcd, if that is where it is, from the view that
    /// is known so far. May start threads, which resolve the names of etcd's endpoints.
    pub(super) fn start_membership(&mut self, config: &Config, known: &View) {
        let (Some(store), Some(own)) = (store(config), &config.balancer.member) else { return };
        let member = Member { name: own.name.clone(), address: own.address };
        let (to, members) = watch::channel(known.clone());
        self.members = members;
        let (ready, stop) = (self.ready.subscribe(), self.stop.subscribe());
        self.run(MEMBERSHIP, move || {
            let (member, store, to) = (member.clone(), store.clone(), to.clone());
            let (ready, mut stop) = (ready.clone(), stop.clone());
            async move {
                let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
                etcd::watch(member, store, to, ready, stopped).await;
                Ok::<(), Infallible>(())
            }
        });
    }

    /// Starts the thread of heartbeats. Not before privileges are given up.
    pub(super) fn start_heartbeats(&mut self, states: PeerStates) -> io::Result<()> {
        let (to, conclusions) = watch::channel(Conclusions::default());
        self.conclusions = conclusions;
        self.heartbeats = Some(heartbeat::start(states, to)?);
        Ok(())
    }

    /// Runs a task under supervision; its end is one of the causes for which a balancer is
    /// unhealthy.
    pub(super) fn run<F, E>(
        &mut self,
        name: &'static str,
        start: impl FnMut() -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display + Send + 'static,
    {
        self.tasks.insert(name, supervise(name, start));
    }

    /// Lets this balancer register as one that works.
    pub(super) fn set_ready(&self, ready: bool) {
        self.ready.send_if_modified(|old| ready != std::mem::replace(old, ready));
    }

    /// Starts the thread of waiting fragments. Not before privileges are given up.
    pub(super) fn start_fragments(&mut self, parts: fragments::Parts) -> io::Result<()> {
        self.fragments = Some(fragments::start(parts)?);
        Ok(())
    }

    /// Sends heartbeats to these balancers, and questions about fragments, whose table has this
    /// seed.
    pub(super) fn probe(&self, probed: Probed, seed: [u64; 2]) {
        if let Some(fragments) = &self.fragments {
            fragments.set(fragments::Known { probed: probed.clone(), seed });
        }
        if let Some(heartbeats) = &self.heartbeats {
            heartbeats.set(probed);
        }
    }

    /// Starts to watch whether `interfaces` still have the program with the id `program`.
    pub(super) fn watch_attachment(&mut self, interfaces: Vec<String>, mode: Mode, program: u32) {
        let (to, detached) = watch::channel(BTreeSet::new());
        let watcher = supervise("attachment watcher", move || {
            attachment::watch(interfaces.clone(), mode, program, to.clone())
        });
        self.attachment = Some(Attachment { watcher, detached });
    }

    /// Checks the health, and follows the next hops, of exactly those that this configuration
    /// names.
    pub(super) fn follow(&mut self, config: &Config, listed: &View) {
        self.checker.set(checks(config));
        let mut wanted = addresses(config);
        wanted.extend(listed.all().map(|(_, address)| *address));
        if let Some(own) = &config.balancer.member {
            wanted.remove(&own.address);
        }
        self.addresses.send_if_modified(|old| {
            let changed = *old != wanted;
            *old = wanted;
            changed
        });
    }

    /// The next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            Some(event) = self.health.recv() => note_health(event),
            Ok(()) = self.members.changed() => Event::Members(self.members.borrow_and_update().clone()),
            Ok(()) = self.conclusions.changed() => Event::Heartbeats(self.conclusions.borrow_and_update().clone()),
            Some(lost) = lost(self.attachment.as_mut()) => Event::Detached(lost),
            Ok(()) = self.hops.changed() => Event::NextHops(self.hops.borrow_and_update().clone()),
            Ok(()) = self.macs.changed() => Event::Macs(self.macs.borrow_and_update().clone()),
            Ok(()) = self.carriers.changed() => Event::Carriers(self.carriers.borrow_and_update().clone()),
            else => std::future::pending().await,
        }
    }

    /// The health checks' events that wait, so that many are one change of the maps: at most as
    /// many as the queue holds.
    pub(super) fn waiting(&mut self) -> impl Iterator<Item = Event> {
        waiting(&mut self.health)
    }

    /// The interfaces that the program is not attached to any more.
    pub(super) fn detached(&self) -> BTreeSet<String> {
        self.attachment.as_ref().map(|known| known.detached.borrow().clone()).unwrap_or_default()
    }

    /// The sources' own state.
    pub(super) fn status(&self) -> SourceStatus {
        let attachment = self.attachment.as_ref();
        let detached = attachment.map(|attachment| attachment.detached.borrow().clone());
        SourceStatus {
            checks: self.checker.statuses(),
            stopped_checks: self.checker.stopped(),
            neighbour_watcher_stopped: !self.neighbour_watcher.is_running(),
            attachment_watcher_stopped: attachment.is_some_and(|a| !a.watcher.is_running()),
            detached: detached.into_iter().flatten().collect(),
            stopped_tasks: self.stopped_tasks(),
            peers: self.heartbeats.as_ref().map(Heartbeats::reports).unwrap_or_default(),
        }
    }

    fn stopped_tasks(&self) -> Vec<&'static str> {
        let stopped = self.tasks.iter().filter(|(_, task)| !task.is_running());
        let mut names: Vec<_> = stopped.map(|(name, _)| *name).collect();
        if self.heartbeats.as_ref().is_some_and(|heartbeats| !heartbeats.is_running()) {
            names.push("heartbeats");
        }
        if self.fragments.as_ref().is_some_and(|fragments| !fragments.is_running()) {
            names.push("fragments");
        }
        names
    }

    /// Ends the registration in etcd.
    pub(super) async fn end(mut self) {
        self.stop.send_replace(true);
        let Some(membership) = self.tasks.get_mut(MEMBERSHIP) else { return };
        let _ = tokio::time::timeout(END_TIMEOUT, membership.ended()).await;
    }
}

fn waiting(health: &mut mpsc::Receiver<HealthEvent>) -> impl Iterator<Item = Event> {
    std::iter::from_fn(|| health.try_recv().ok()).map(note_health).take(HEALTH_QUEUE)
}

fn note_health(event: HealthEvent) -> Event {
    let reason = event.reason.as_ref().map(tracing::field::display);
    tracing::info!(target = event.target, state = ?event.state, reason, "health has changed");
    Event::Health(event.target, event.state)
}

/// The etcd cluster that balancers share; none with a static list.
pub(super) fn store(config: &Config) -> Option<etcd::Store> {
    let Membership::Etcd(store) = &config.membership else { return None };
    Some(etcd::Store {
        endpoints: store.endpoints.clone(),
        prefix: store.prefix.clone(),
        time_to_live: store.lease,
        credentials: store.credentials.clone(),
    })
}

/// The interfaces that have lost the program, whenever they change. Cancel safe.
async fn lost(attachment: Option<&mut Attachment>) -> Option<BTreeSet<String>> {
    let detached = &mut attachment?.detached;
    detached.changed().await.ok()?;
    Some(detached.borrow_and_update().clone())
}

fn checks(config: &Config) -> Vec<Target> {
    let mut targets = Vec::new();
    for service in &config.services {
        let Some((check, port)) = &service.health else { continue };
        targets.extend(service.backends.iter().map(|backend| {
            Target {
                name: check_name(service, backend),
                address: SocketAddr::new(backend.address, *port),
                check: check.clone(),
                way: (check.through == Through::Forwarding)
                    .then(|| way(config, service, backend, *port))
                    .flatten(),
            }
        }));
    }
    targets
}

/// True if a service is probed on the way of its packets.
pub(super) fn probes_forwarding(config: &Config) -> bool {
    let mut checks = config.services.iter().filter_map(|service| service.health.as_ref());
    checks.any(|(check, _)| check.through == Through::Forwarding)
}

/// The way of a service's packets to a backend; none if the balancer has no address for it, which
/// the configuration's checks refuse. Of a service with several ports, or of UDP, the port of the check.
fn way(config: &Config, service: &Service, backend: &Backend, port: u16) -> Option<Way> {
    let Balancer { ipv4, ipv6, .. } = &config.balancer;
    let source = |like: IpAddr| match like {
        IpAddr::V4(_) => ipv4.map(IpAddr::V4),
        IpAddr::V6(_) => ipv6.map(IpAddr::V6),
    };
    let port = match (service.protocol, &service.ports) {
        (Protocol::Tcp, Ports::One(port)) => *port,
        _ => port,
    };
    Some(Way {
        vip: SocketAddr::new(service.address, port),
        client: source(service.address)?,
        backend: backend.address,
        outer: match service.forwarding {
            config::Forwarding::L2 => Outer::L2,
            config::Forwarding::Ipip => Outer::Ipip(source(backend.address)?),
            config::Forwarding::Gue => Outer::Gue(source(backend.address)?, config.gue_port),
        },
        takes_reset: service.protocol == Protocol::Udp,
    })
}

fn addresses(config: &Config) -> BTreeSet<IpAddr> {
    let backends = config.services.iter().flat_map(|service| &service.backends);
    let listed = config.members().iter().map(|member| member.address);
    backends.map(|backend| backend.address).chain(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rack that fails: one change of the maps for all of its backends, and none for those to come.
    #[test]
    fn all_changes_of_health_that_wait_come_at_once_and_in_order() {
        let (events, mut health) = mpsc::channel(HEALTH_QUEUE);
        for number in 0..650 {
            let target = format!("s/b{number}");
            events.try_send(HealthEvent { target, state: State::Down, reason: None }).unwrap();
        }
        let targets: Vec<String> = waiting(&mut health)
            .map(|event| match event {
                Event::Health(target, State::Down) => target,
                _ => panic!("another event"),
            })
            .collect();
        let expected: Vec<String> = (0..650).map(|number| format!("s/b{number}")).collect();
        assert_eq!(targets, expected);
        assert!(waiting(&mut health).next().is_none());
    }
}

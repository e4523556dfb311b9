//! The sources of events: health checks, membership, next hops, and the XDP programs' attachment.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::attachment;
use crate::config::{Backend, Config, Membership, Service};
use crate::health::{self, Check, Checker, HealthEvent, Probe, State, Target};
use crate::links::{self, Macs};
use crate::members::{self, Member, Peer, View, etcd, watch_static};
use crate::neighbours::{self, NextHops};
use crate::supervisor::{Supervised, supervise};

/// The health checks' results, by [`check_name`].
pub(super) type Checks = BTreeMap<String, health::Status>;

/// A change of the world.
pub(super) enum Event {
    /// A backend's health check has another state.
    Health(String, State),
    /// The balancers that are alive.
    Members(View),
    /// The next hops of all addresses.
    NextHops(NextHops),
    /// The Ethernet addresses of the interfaces.
    Macs(Macs),
}

/// The name of a backend's health check.
pub(super) fn check_name(service: &Service, backend: &Backend) -> String {
    format!("{}/{}", service.name, backend.name)
}

/// The health check of the other balancers of a static list.
const PEER_INTERVAL: Duration = Duration::from_millis(500);
const PEER_TIMEOUT: Duration = Duration::from_millis(500);
const PEER_FALL: NonZeroU32 = NonZeroU32::new(3).unwrap();
const PEER_RISE: NonZeroU32 = NonZeroU32::new(2).unwrap();
/// The longest time that leaving etcd may take.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// The running sources.
pub(super) struct EventSources {
    checker: Checker,
    health: mpsc::Receiver<HealthEvent>,
    members: watch::Receiver<View>,
    hops: watch::Receiver<NextHops>,
    addresses: watch::Sender<BTreeSet<IpAddr>>,
    neighbour_watcher: Supervised,
    macs: watch::Receiver<Macs>,
    _link_watcher: Supervised,
    attachment: Option<Attachment>,
    leave: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
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
}

impl EventSources {
    /// Starts health checks and the neighbour watcher. Must be called inside a tokio runtime; starts no threads.
    pub(super) fn new(config: &Config) -> EventSources {
        let (events, health) = mpsc::channel(64);
        let (addresses, wanted) = watch::channel(BTreeSet::new());
        let (to, hops) = watch::channel(NextHops::new());
        let neighbour_watcher =
            supervise("neighbour watcher", move || neighbours::watch(wanted.clone(), to.clone()));
        let (macs, interfaces) = (watch::channel(Macs::new()), config.balancer.interfaces.clone());
        let link_watcher =
            supervise("link watcher", move || links::watch(interfaces.clone(), macs.0.clone()));
        let mut sources = EventSources {
            checker: Checker::new(events),
            health,
            members: watch::channel(View::default()).1,
            hops,
            addresses,
            neighbour_watcher,
            macs: macs.1,
            _link_watcher: link_watcher,
            attachment: None,
            leave: None,
        };
        sources.follow(config);
        sources
    }

    /// Starts to follow the list of balancers. May start threads, which resolve the names of etcd's endpoints.
    pub(super) fn start_membership(&mut self, config: &Config) {
        (self.members, self.leave) = follow_members(config);
    }

    /// Starts to watch whether `interfaces` still have the program with the id `program`.
    pub(super) fn watch_attachment(&mut self, interfaces: BTreeSet<String>, program: u32) {
        let (to, detached) = watch::channel(BTreeSet::new());
        let watcher = supervise("attachment watcher", move || {
            attachment::watch(interfaces.clone(), program, to.clone())
        });
        self.attachment = Some(Attachment { watcher, detached });
    }

    /// Checks the health, and follows the next hops, of exactly those that this configuration names.
    pub(super) fn follow(&mut self, config: &Config) {
        self.checker.set(checks(config));
        let mut wanted = addresses(config);
        wanted.extend(self.members.borrow().members.values());
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
            Some(event) = self.health.recv() => {
                tracing::info!(target = event.target, state = ?event.state, why = ?event.why, "health has changed");
                Event::Health(event.target, event.state)
            }
            Ok(()) = self.members.changed() => Event::Members(self.members.borrow_and_update().clone()),
            Ok(()) = self.hops.changed() => Event::NextHops(self.hops.borrow_and_update().clone()),
            Ok(()) = self.macs.changed() => Event::Macs(self.macs.borrow_and_update().clone()),
            else => std::future::pending().await,
        }
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
        }
    }

    /// Gives the lease in etcd back: the other balancers notice at once.
    pub(super) async fn leave(self) {
        let Some((stop, stopped)) = self.leave else { return };
        let _ = stop.send(());
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, stopped).await;
    }
}

fn checks(config: &Config) -> Vec<Target> {
    let mut targets = Vec::new();
    for service in &config.services {
        let Some((check, port)) = &service.health else { continue };
        targets.extend(service.backends.iter().map(|backend| Target {
            name: check_name(service, backend),
            address: SocketAddr::new(backend.address, *port),
            check: check.clone(),
        }));
    }
    targets
}

fn addresses(config: &Config) -> BTreeSet<IpAddr> {
    let backends = config.services.iter().flat_map(|service| &service.backends);
    let listed = config.members().iter().map(|member| member.address);
    backends.map(|backend| backend.address).chain(listed).collect()
}

type Leave = Option<(oneshot::Sender<()>, JoinHandle<()>)>;

fn follow_members(config: &Config) -> (watch::Receiver<View>, Leave) {
    let (to, members) = watch::channel(View::default());
    let Some(own) = &config.balancer.member else { return (members, None) };
    let own = Member { name: own.name.clone(), address: own.address };
    match &config.membership {
        Membership::Static(listed) => {
            let peers = listed.iter().filter(|member| member.name != own.name);
            let peers = peers.map(|member| peer(config, member)).collect();
            tokio::spawn(watch_static(own, peers, to));
            (members, None)
        }
        Membership::Etcd(store) => {
            let store = etcd::Store {
                endpoints: store.endpoints.clone(),
                prefix: store.prefix.clone(),
                time_to_live: store.lease,
                credentials: store.credentials.clone(),
            };
            let (leave, left) = oneshot::channel();
            let stop = async move { drop(left.await) };
            let task = tokio::spawn(members::etcd::watch(own, store, to, stop));
            (members, Some((leave, task)))
        }
    }
}

/// A balancer of the static list. If others can reach its metrics, they check its `/healthz`; all are taken to serve metrics at one port.
fn peer(config: &Config, member: &crate::config::Member) -> Peer {
    let reachable = config.balancer.metrics.filter(|address| !address.ip().is_loopback());
    let check = reachable.map(|metrics| Target {
        name: member.name.clone(),
        address: SocketAddr::new(member.address, metrics.port()),
        check: Check {
            probe: Probe::Http {
                path: "/healthz".into(),
                host: member.name.clone(),
                expect: 200..=200,
            },
            interval: PEER_INTERVAL,
            timeout: PEER_TIMEOUT,
            rise: PEER_RISE,
            fall: PEER_FALL,
        },
    });
    Peer { member: Member { name: member.name.clone(), address: member.address }, check }
}

//! Where news comes from: health checks, other balancers, and the kernel's neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::config::{Backend, Config, Membership, Service};
use crate::health::{self, Check, Checker, HealthEvent, Probe, State, Target};
use crate::members::{self, Member, Peer, View, etcd, watch_static};
use crate::neighbours::{self, NextHops};

/// What is known of health checks, by [`check_name`].
pub(super) type Checks = BTreeMap<String, health::Status>;

/// Something happened.
pub(super) enum News {
    /// A health check's verdict.
    Health(String, State),
    /// The balancers that are alive.
    Members(View),
    /// The ways to all addresses.
    NextHops(NextHops),
}

/// What a backend's health check is called.
pub(super) fn check_name(service: &Service, backend: &Backend) -> String {
    format!("{}/{}", service.name, backend.name)
}

/// How another balancer of a static list is asked whether it lives.
const PEER_INTERVAL: Duration = Duration::from_millis(500);
const PEER_TIMEOUT: Duration = Duration::from_millis(500);
const PEER_FALL: NonZeroU32 = NonZeroU32::new(3).unwrap();
const PEER_RISE: NonZeroU32 = NonZeroU32::new(2).unwrap();
/// How long leaving etcd may take.
const LEAVING: Duration = Duration::from_secs(2);

/// The sources of news.
pub(super) struct Wiring {
    checker: Checker,
    health: mpsc::Receiver<HealthEvent>,
    members: watch::Receiver<View>,
    hops: watch::Receiver<NextHops>,
    addresses: watch::Sender<BTreeSet<IpAddr>>,
    leave: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Wiring {
    /// Begins to ask and to listen.
    pub(super) async fn new(config: &Config) -> io::Result<Wiring> {
        let (events, health) = mpsc::channel(64);
        let (addresses, wanted) = watch::channel(BTreeSet::new());
        let (to, hops) = watch::channel(NextHops::new());
        tokio::spawn(async move {
            if let Err(error) = neighbours::watch(wanted, to).await {
                tracing::error!(%error, "next hops are not followed any more");
            }
        });
        let (members, leave) = follow_members(config);
        let mut wiring =
            Wiring { checker: Checker::new(events), health, members, hops, addresses, leave };
        wiring.follow(config);
        Ok(wiring)
    }

    /// Asks what this configuration names, and no more what it does not.
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

    /// The next thing that happens.
    pub(super) async fn next(&mut self) -> News {
        tokio::select! {
            Some(event) = self.health.recv() => {
                tracing::info!(target = event.target, state = ?event.state, why = ?event.why, "health has changed");
                News::Health(event.target, event.state)
            }
            Ok(()) = self.members.changed() => News::Members(self.members.borrow_and_update().clone()),
            Ok(()) = self.hops.changed() => News::NextHops(self.hops.borrow_and_update().clone()),
            else => std::future::pending().await,
        }
    }

    /// What health checks have found so far.
    pub(super) fn checks(&self) -> Checks {
        self.checker.statuses()
    }

    /// Tells the others that this balancer goes.
    pub(super) async fn leave(self) {
        let Some((tell, left)) = self.leave else { return };
        let _ = tell.send(());
        let _ = tokio::time::timeout(LEAVING, left).await;
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
            };
            let (tell, told) = oneshot::channel();
            let stop = async move { drop(told.await) };
            let task = tokio::spawn(members::etcd::watch(own, store, to, stop));
            (members, Some((tell, task)))
        }
    }
}

/// A balancer whose metrics others can reach is asked by them, at its `/healthz`. All are taken to serve metrics at one port.
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

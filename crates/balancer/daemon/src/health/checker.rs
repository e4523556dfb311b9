//! A probing task for each target.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::forwarding::{self, Sockets, Way};
use super::{Check, Failure, RiseFall, State, jitter, probe};
use crate::neighbours::NextHops;
use crate::supervisor::{Supervised, supervise};

/// The least time without a result after which a target's checks count as stopped.
const SHORTEST_STALL: Duration = Duration::from_secs(5);

/// A target and its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name that no other target of the checker has.
    pub name: String,
    /// Its own address, not a service's.
    pub address: SocketAddr,
    /// The check.
    pub check: Check,
    /// The way of packets, if that is checked, too.
    pub way: Option<Way>,
}

/// Sockets and addresses of probes on the way of packets.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The sockets.
    pub sockets: Arc<Sockets>,
    /// The next hops of backends.
    pub hops: watch::Receiver<NextHops>,
}

/// A change of a target's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthEvent {
    /// The target's name.
    pub target: String,
    /// Its new state.
    pub state: State,
    /// The last probe's failure, if it has failed.
    pub reason: Option<Failure>,
}

/// The results of a target's checks so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Up or down.
    pub state: State,
    /// Since when.
    pub since: Instant,
    /// Successes so far.
    pub passed: u64,
    /// Failures so far.
    pub failed: u64,
    /// The duration of all probes together.
    pub spent: Duration,
    /// The last probe's failure, if it has failed.
    pub last_failure: Option<Failure>,
    /// The end of the last probe; before the first one, the start of the checks.
    pub last_result: Instant,
}

type Statuses = Arc<Mutex<BTreeMap<String, Status>>>;

/// Probes its targets until it is dropped.
#[derive(Debug)]
pub struct Checker {
    running: BTreeMap<String, (Target, Supervised)>,
    statuses: Statuses,
    events: mpsc::Sender<HealthEvent>,
    forwarding: Option<Forwarding>,
}

impl Checker {
    /// Without targets. Changes go to `events`; while that is full, a target whose state has
    /// changed is not probed.
    pub fn new(events: mpsc::Sender<HealthEvent>) -> Checker {
        let (running, statuses) = (BTreeMap::new(), Statuses::default());
        Checker { running, statuses, events, forwarding: None }
    }

    /// Probes the way of packets, too, for targets that have one.
    #[must_use]
    pub fn with_forwarding(self, forwarding: Option<Forwarding>) -> Checker {
        Checker { forwarding, ..self }
    }

    /// Probes these targets from now on and no others. One that stays as it was goes on
    /// undisturbed; one that has changed is unknown again, and its first state is sent. Of two with
    /// one name the last counts. Must be called inside a tokio runtime.
    pub fn set(&mut self, targets: Vec<Target>) {
        let wanted: BTreeMap<_, _> = targets.into_iter().map(|t| (t.name.clone(), t)).collect();
        self.running.retain(|name, (target, _)| wanted.get(name) == Some(target));
        lock(&self.statuses).retain(|name, _| self.running.contains_key(name));
        for (name, target) in wanted {
            if !self.running.contains_key(&name) {
                self.start(target);
            }
        }
    }

    fn start(&mut self, target: Target) {
        let name = target.name.clone();
        lock(&self.statuses).insert(name.clone(), Status::unknown());
        let (statuses, events) = (self.statuses.clone(), self.events.clone());
        let (checked, forwarding) = (target.clone(), self.forwarding.clone());
        let task = supervise(format!("health check of {name}"), move || {
            let (target, statuses, events) = (checked.clone(), statuses.clone(), events.clone());
            let forwarding = forwarding.clone();
            async move {
                check(target, forwarding, statuses, events).await;
                Ok::<(), Infallible>(())
            }
        });
        self.running.insert(name, (target, task));
    }

    /// The results for all targets, by name.
    pub fn statuses(&self) -> BTreeMap<String, Status> {
        lock(&self.statuses).clone()
    }

    /// The targets whose checks have stopped: their task has failed and waits to start again, or
    /// has had no result for longer than three intervals and a timeout.
    pub fn stopped(&self) -> Vec<String> {
        let statuses = lock(&self.statuses);
        let is_stopped = |name: &str, target: &Target, task: &Supervised| {
            let stalled = |status: &Status| status.last_result.elapsed() > stall(&target.check);
            !task.is_running() || statuses.get(name).is_none_or(stalled)
        };
        let all = self.running.iter();
        let stopped = all.filter(|(name, (target, task))| is_stopped(name, target, task));
        stopped.map(|(name, _)| name.clone()).collect()
    }
}

/// The longest time that may pass between two results.
fn stall(check: &Check) -> Duration {
    (3 * check.interval + check.timeout).max(SHORTEST_STALL)
}

/// Probes one target until the receiver of its events is closed.
async fn check(
    target: Target,
    forwarding: Option<Forwarding>,
    statuses: Statuses,
    events: mpsc::Sender<HealthEvent>,
) {
    let start = Instant::now();
    let Check { rise, fall, interval, .. } = target.check;
    let mut health = RiseFall::new(rise, fall, Duration::ZERO);
    // Tokio panics at an interval of nothing.
    let interval = interval.max(Duration::from_millis(1));
    let mut ticks = interval_at(start + jitter(&target.name, interval), interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let begun = ticks.tick().await;
        let result = probe_both(&target, forwarding.as_ref()).await;
        let state = if result.is_ok() { State::Up } else { State::Down };
        let change = health.observe(start.elapsed(), state);
        let reason = result.err();
        if let Some(status) = lock(&statuses).get_mut(&target.name) {
            status.count(reason.as_ref(), begun.elapsed());
            (status.state, status.since) = (health.state(), start + health.since());
        }
        if let Some(state) = change {
            let event = HealthEvent { target: target.name.clone(), state, reason };
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// The target's own address, and then the way of packets, within the check's timeout together.
async fn probe_both(target: &Target, forwarding: Option<&Forwarding>) -> Result<(), Failure> {
    let (begun, timeout) = (Instant::now(), target.check.timeout);
    probe(&target.check.probe, target.address, timeout).await?;
    let (Some(way), Some(Forwarding { sockets, hops })) = (&target.way, forwarding) else {
        return Ok(());
    };
    let hop = hops.borrow().get(&way.backend).cloned();
    let left = timeout.saturating_sub(begun.elapsed());
    let result = forwarding::probe(sockets, way, hop.as_ref(), left).await;
    result.map_err(|reason| Failure::Forwarding {
        vip: way.vip,
        way: way.outer.to_string(),
        reason: Box::new(reason),
    })
}

impl Status {
    fn unknown() -> Status {
        let now = Instant::now();
        Status {
            state: State::Unknown,
            since: now,
            passed: 0,
            failed: 0,
            spent: Duration::ZERO,
            last_failure: None,
            last_result: now,
        }
    }

    fn count(&mut self, failure: Option<&Failure>, took: Duration) {
        *(if failure.is_some() { &mut self.failed } else { &mut self.passed }) += 1;
        self.spent += took;
        self.last_failure = failure.cloned();
        self.last_result = Instant::now();
    }
}

/// No task panics while it holds the lock, so the statuses are whole.
fn lock(statuses: &Statuses) -> std::sync::MutexGuard<'_, BTreeMap<String, Status>> {
    statuses.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

//! Asks all targets, each in a task of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Check, Failure, RiseFall, State, offset, probe};

/// What is asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Tells it from the others.
    pub name: String,
    /// Where it is asked: its own address, not a service's.
    pub address: SocketAddr,
    /// How.
    pub check: Check,
}

/// A target's state has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthEvent {
    /// The target's name.
    pub target: String,
    /// Its new state.
    pub state: State,
    /// The last answer, where that was bad.
    pub why: Option<Failure>,
}

/// What is known of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Up or down.
    pub state: State,
    /// Since when.
    pub since: Instant,
    /// Good answers so far.
    pub passed: u64,
    /// Bad answers so far.
    pub failed: u64,
    /// How long all answers took together.
    pub spent: Duration,
    /// Why the last answer was bad, if it was.
    pub last_failure: Option<Failure>,
}

type Statuses = Arc<Mutex<BTreeMap<String, Status>>>;

/// Asks its targets until it is dropped.
#[derive(Debug)]
pub struct Checker {
    running: BTreeMap<String, (Target, AbortHandle)>,
    tasks: JoinSet<()>,
    statuses: Statuses,
    events: mpsc::Sender<HealthEvent>,
}

impl Checker {
    /// Without targets. Changes go to `events`; while that is full, no target with news is asked again.
    pub fn new(events: mpsc::Sender<HealthEvent>) -> Checker {
        let (running, statuses) = (BTreeMap::new(), Statuses::default());
        Checker { running, tasks: JoinSet::new(), statuses, events }
    }

    /// Asks these targets from now on and no others. One that stays as it was is left in peace; one that has changed is unknown again, and
    /// so told of anew. Of two with one name the last counts. Must be called inside a tokio runtime.
    pub fn set(&mut self, targets: Vec<Target>) {
        let wanted: BTreeMap<_, _> = targets.into_iter().map(|t| (t.name.clone(), t)).collect();
        self.running.retain(|name, (target, task)| {
            let stays = wanted.get(name) == Some(target);
            if !stays {
                task.abort();
            }
            stays
        });
        lock(&self.statuses).retain(|name, _| self.running.contains_key(name));
        for (name, target) in wanted {
            if !self.running.contains_key(&name) {
                self.start(target);
            }
        }
        while self.tasks.try_join_next().is_some() {}
    }

    fn start(&mut self, target: Target) {
        let name = target.name.clone();
        let now = Instant::now();
        let status = Status {
            state: State::Unknown,
            since: now,
            passed: 0,
            failed: 0,
            spent: Duration::ZERO,
            last_failure: None,
        };
        lock(&self.statuses).insert(name.clone(), status);
        let watch = watch(target.clone(), now, self.statuses.clone(), self.events.clone());
        self.running.insert(name, (target, self.tasks.spawn(watch)));
    }

    /// What is known of all targets, by name.
    pub fn statuses(&self) -> BTreeMap<String, Status> {
        lock(&self.statuses).clone()
    }
}

/// Asks one target for ever.
async fn watch(
    target: Target,
    start: Instant,
    statuses: Statuses,
    events: mpsc::Sender<HealthEvent>,
) {
    let Check { rise, fall, interval, timeout, .. } = target.check;
    let mut health = RiseFall::new(rise, fall, Duration::ZERO);
    // Tokio panics at an interval of nothing.
    let interval = interval.max(Duration::from_millis(1));
    let mut ticks = interval_at(start + offset(&target.name, interval), interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let asked = ticks.tick().await;
        let answer = probe(&target.check.probe, target.address, timeout).await;
        let state = if answer.is_ok() { State::Up } else { State::Down };
        let change = health.observe(start.elapsed(), state);
        let why = answer.err();
        if let Some(status) = lock(&statuses).get_mut(&target.name) {
            status.note(why.as_ref(), asked.elapsed());
            (status.state, status.since) = (health.state(), start + health.since());
        }
        if let Some(state) = change {
            let event = HealthEvent { target: target.name.clone(), state, why };
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

impl Status {
    fn note(&mut self, failure: Option<&Failure>, took: Duration) {
        *(if failure.is_some() { &mut self.failed } else { &mut self.passed }) += 1;
        self.spent += took;
        self.last_failure = failure.cloned();
    }
}

/// No task panics while it holds the lock, so what is behind it is whole.
fn lock(statuses: &Statuses) -> std::sync::MutexGuard<'_, BTreeMap<String, Status>> {
    statuses.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

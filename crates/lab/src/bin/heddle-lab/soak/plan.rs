//! The events of a soak, drawn from its seed: the same seed gives the same events in the same
//! order.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use heddle_lab::Fault;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// Machines, links and daemons of balancers; restarts and false alarms.
    Balancers,
    /// Backends are added, drained and removed, or lose their link.
    Backends,
    /// etcd stops and starts again.
    Etcd,
    /// The client closes the further subflows of all connections and opens others.
    Clients,
}

/// Something that happens to the lab.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Balancers fail for `length`; the router withdraws their routes `withdrawal` after it.
    Fault { fault: Fault, victims: Vec<usize>, withdrawal: Duration, length: Duration },
    /// A backend's link is down.
    BackendAway { backend: usize, length: Duration },
    /// A backend is drained and taken back, balancer by balancer in this order.
    Drain { backend: usize, order: Vec<usize>, gap: Duration, length: Duration },
    /// The spare backend is added, drained and removed, balancer by balancer in this order.
    Spare { order: Vec<usize>, gap: Duration, length: Duration },
    /// etcd is killed; a balancer's daemon restarts meanwhile.
    Etcd { restarted: usize, length: Duration },
    /// All further subflows are closed and opened anew.
    Joins,
}

impl Event {
    /// True for a fault of balancers, real or apparent.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(self, Event::Fault { .. })
    }

    /// A short name of its kind.
    pub(crate) fn name(&self) -> String {
        match self {
            Event::Fault { fault, victims, .. } if victims.len() == 1 => fault_name(*fault).into(),
            Event::Fault { fault, victims, .. } => {
                format!("{} x {}", fault_name(*fault), victims.len())
            }
            Event::BackendAway { .. } => "backend away".into(),
            Event::Drain { .. } => "backend drained".into(),
            Event::Spare { .. } => "backend added and removed".into(),
            Event::Etcd { .. } => "etcd away".into(),
            Event::Joins => "subflows opened anew".into(),
        }
    }

    /// The time for which packets to a failed balancer are lost.
    pub(crate) fn withdrawal(&self) -> Duration {
        match self {
            Event::Fault { fault, withdrawal, .. } if fault.cuts() => *withdrawal,
            _ => Duration::ZERO,
        }
    }
}

fn fault_name(fault: Fault) -> &'static str {
    match fault {
        Fault::Machine => "machine",
        Fault::Link => "link",
        Fault::Daemon => "daemon killed",
        Fault::Restart => "upgrade",
        Fault::Pause => "daemon halted",
        Fault::Busy => "processors busy",
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self {
            Event::Fault { fault: Fault::Busy, length, .. } => write!(f, ", for {length:.1?}"),
            Event::Fault { victims, withdrawal, length, fault } => {
                write!(f, ", {}, for {length:.1?}", balancers(victims))?;
                if fault.cuts() {
                    write!(f, ", routes withdrawn after {withdrawal:.1?}")
                } else {
                    Ok(())
                }
            }
            Event::BackendAway { backend, length } => {
                write!(f, ", backend-{backend}, for {length:.1?}")
            }
            Event::Drain { backend, order, gap, length } => write!(
                f,
                ", backend-{backend}, for {length:.1?}, {gap:.1?} apart at {}",
                balancers(order)
            ),
            Event::Spare { order, gap, length } => {
                write!(f, ", for {length:.1?}, {gap:.1?} apart at {}", balancers(order))
            }
            Event::Etcd { restarted, length } => {
                write!(f, ", for {length:.1?}, balancer-{restarted} restarts meanwhile")
            }
            Event::Joins => Ok(()),
        }
    }
}

fn balancers(indices: &[usize]) -> String {
    indices.iter().map(|index| format!("balancer-{index}")).collect::<Vec<_>>().join(", ")
}

/// Events without an end.
#[derive(Debug)]
pub(crate) struct Plan {
    random: Xoshiro256PlusPlus,
    kinds: Vec<Kind>,
    balancers: usize,
    backends: usize,
    at_once: usize,
}

/// The frequency of a kind of event, in parts.
fn weight(kind: Kind) -> u64 {
    match kind {
        Kind::Balancers => 7,
        Kind::Backends => 2,
        Kind::Etcd | Kind::Clients => 1,
    }
}

impl Plan {
    /// Of these kinds, for so many balancers, of which `at_once` fail at the same time, and
    /// backends.
    pub(crate) fn new(
        seed: u64,
        kinds: Vec<Kind>,
        (balancers, at_once): (usize, usize),
        backends: usize,
    ) -> Plan {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Plan { random, kinds, balancers, backends, at_once }
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Event {
        let all: u64 = self.kinds.iter().map(|kind| weight(*kind)).sum();
        let mut left = self.below(all.max(1));
        let kind = self.kinds.iter().copied().find(|kind| {
            let found = left < weight(*kind);
            left = left.saturating_sub(weight(*kind));
            found
        });
        match kind.unwrap_or(Kind::Balancers) {
            Kind::Balancers => self.fault(),
            Kind::Backends => self.backend(),
            Kind::Etcd => Event::Etcd {
                restarted: self.index(self.balancers),
                length: self.between(500, 6000),
            },
            Kind::Clients => Event::Joins,
        }
    }

    /// The pause before the next event.
    pub(crate) fn pause(&mut self) -> Duration {
        self.between(0, 1500)
    }

    fn fault(&mut self) -> Event {
        let fault = Fault::ALL[self.index(Fault::ALL.len())];
        let mut victims = self.order();
        victims.truncate(if fault == Fault::Busy { 1 } else { self.at_once });
        let withdrawal = [0, 0, 300, 1000][self.index(4)];
        let length = self.between(200, 4000);
        Event::Fault { fault, victims, withdrawal: Duration::from_millis(withdrawal), length }
    }

    fn backend(&mut self) -> Event {
        let backend = self.index(self.backends);
        let (order, gap) = (self.order(), self.between(0, 700));
        match self.index(3) {
            0 => Event::BackendAway { backend, length: self.between(200, 4000) },
            1 => Event::Drain { backend, order, gap, length: self.between(200, 3000) },
            _ => Event::Spare { order, gap, length: self.between(200, 3000) },
        }
    }

    /// All balancers, shuffled.
    fn order(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.balancers).collect();
        for last in (1..all.len()).rev() {
            let other = self.index(last + 1);
            all.swap(last, other);
        }
        all
    }

    fn between(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(low + self.below(high - low))
    }

    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or_default()
    }

    /// The bias of a remainder of 64 bits is far below what could be noticed.
    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(seed: u64, kinds: &[Kind], at_once: usize) -> Vec<Event> {
        let mut plan = Plan::new(seed, kinds.to_vec(), (5, at_once), 4);
        (0..200).map(|_| plan.next()).collect()
    }

    #[test]
    fn a_seed_gives_its_events_and_another_seed_others() {
        let all = [Kind::Balancers, Kind::Backends, Kind::Etcd, Kind::Clients];
        assert_eq!(events(7, &all, 1), events(7, &all, 1));
        assert_ne!(events(7, &all, 1), events(8, &all, 1));
    }

    #[test]
    fn victims_are_different_balancers_and_only_wanted_kinds_happen() {
        for event in events(1, &[Kind::Balancers], 2) {
            let Event::Fault { fault, victims, .. } = &event else { panic!("{event}") };
            assert_eq!(victims.len(), if *fault == Fault::Busy { 1 } else { 2 }, "{event}");
            assert!(victims.len() < 2 || victims[0] != victims[1], "{event}");
        }
    }
}

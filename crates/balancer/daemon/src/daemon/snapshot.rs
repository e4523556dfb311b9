//! All counters and gauges at one moment.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

use heddle_balancer_maps::Error;
use heddle_balancer_maps::abi::{Counter, FlowState, NO_TARGET, TargetState, TokenState};

use super::Core;
use super::event_sources::{Checks, SourceStatus};
use super::lifetimes::Lifetimes;
use crate::config;
use crate::heartbeat::{Liveness, Report};
use crate::members::Source;
use crate::metrics::{self, Event, Members, Reloads, Snapshot, Table, Verdict};
use crate::plan::Plan;
use crate::service::NO_SERVICE;

impl Core {
    /// All numbers. A map that cannot be read is left out, and logged.
    pub(super) fn snapshot(&self, sources: &SourceStatus) -> Snapshot {
        Snapshot {
            services: self.or_nothing(self.service_counts()),
            backends: self.or_nothing(self.backend_counts()),
            checks: check_counts(&sources.checks),
            tables: self.or_nothing(self.tables()),
            members: self.member_counts(),
            peers: self.peer_counts(&sources.peers),
            health: self.health(sources),
            reloads: Reloads {
                succeeded: self.counts.reloads,
                failed: self.counts.failed_reloads,
                loaded: self.loaded.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO),
            },
            build: metrics::build(),
        }
    }

    fn or_nothing<T: Default>(&self, read: Result<T, Error>) -> T {
        read.unwrap_or_else(|error| {
            tracing::warn!(%error, "a map cannot be read");
            T::default()
        })
    }

    fn service_counts(&self) -> Result<Vec<metrics::Service>, Error> {
        let services = self.state.inputs.config.services.iter();
        let numbered = services.filter_map(|service| {
            Some((&*service.name, self.state.plan.services.index(&service.key())?))
        });
        let all = numbered.chain([(NO_SERVICE, 0)]);
        all.map(|(name, number)| self.counts_of(name, number)).collect()
    }

    fn counts_of(&self, name: &str, number: u16) -> Result<metrics::Service, Error> {
        let counts = self.balancer.maps.counters.of(number)?;
        let (verdicts, events): (Vec<_>, Vec<_>) =
            counts.into_iter().partition(|(counter, _)| (*counter as usize) < Counter::VERDICTS);
        let verdicts = verdicts.into_iter().map(|(counter, count)| Verdict {
            name: counter.name().into(),
            packets: count.packets,
            bytes: count.bytes,
        });
        let events = events
            .into_iter()
            .map(|(counter, count)| Event { name: counter.name().into(), count: count.packets });
        Ok(metrics::Service {
            name: name.into(),
            verdicts: verdicts.collect(),
            events: events.collect(),
        })
    }

    fn backend_counts(&self) -> Result<Vec<metrics::Backend>, Error> {
        let mut all = Vec::new();
        for service in self.state.inputs.config.owners() {
            for backend in &service.backends {
                let count = self.count_of(backend)?;
                all.push(metrics::Backend {
                    service: service.name.clone(),
                    name: backend.name.clone(),
                    packets: count.packets,
                    bytes: count.bytes,
                    up: is_up(&self.state.plan, backend),
                    draining: self.is_drained(backend),
                    weight: backend.weight,
                });
            }
        }
        Ok(all)
    }

    /// The packets sent to a backend.
    pub(super) fn count_of(
        &self,
        backend: &config::Backend,
    ) -> Result<heddle_balancer_maps::abi::Count, Error> {
        match self.state.plan.targets.index(&backend.id) {
            Some(index) => self.balancer.maps.target_counts.get(index.into()),
            None => Ok(Default::default()),
        }
    }

    /// True if a backend gets no new connections, by command or by the file.
    pub(super) fn is_drained(&self, backend: &config::Backend) -> bool {
        self.state.inputs.drained.get(&backend.id).copied().unwrap_or(backend.drained)
    }

    fn tables(&self) -> Result<Vec<Table>, Error> {
        let maps = &self.balancer.maps;
        let lifetimes = Lifetimes::of(&self.balancer)?;
        let mut flows = [0; FlowState::ALL.len()];
        lifetimes.flows(maps).for_each(|flow| flows[flow.state as usize] += 1);
        let mut tokens = [0; TokenState::ALL.len()];
        lifetimes.tokens(maps).for_each(|token| tokens[token.state as usize] += 1);
        let flows = FlowState::ALL.iter().map(|state| state.name()).zip(flows);
        let tokens = TokenState::ALL.iter().map(|state| state.name()).zip(tokens);
        Ok(vec![
            table("flows", maps.flows.room(), flows),
            table("tokens", maps.tokens.room(), tokens),
        ])
    }

    fn peer_counts(&self, reports: &BTreeMap<IpAddr, Report>) -> Vec<metrics::Peer> {
        let others = self.state.listed().into_iter();
        let known = others.filter_map(|member| Some((reports.get(&member.address)?, member.name)));
        let counts = known.map(|(report, name)| metrics::Peer {
            name,
            up: report.liveness == Liveness::Alive,
            round_trip: report.round_trip,
            missed: report.missed,
            refused: report.refused,
            differs: report.differs,
        });
        counts.collect()
    }

    fn member_counts(&self) -> Members {
        Members {
            count: self.state.members().len().max(1) as u64,
            ring_share: ring_share(&self.state.plan),
            changes: self.counts.member_changes,
            store_up: self.state.view.source == Source::Current,
            shared_used: self.shared.used() as u64,
            shared_ignored: self.shared.ignored.len() as u64,
        }
    }
}

/// True if packets are sent to a backend.
pub(super) fn is_up(plan: &Plan, backend: &config::Backend) -> bool {
    let target = plan.targets.index(&backend.id).and_then(|index| plan.maps.targets.get(&index));
    target.is_some_and(|target| target.state == TargetState::Up as u8)
}

/// The part of the token space that is this balancer's.
fn ring_share(plan: &Plan) -> f64 {
    let ring = &plan.maps.ring;
    let slots = ring.iter().filter(|&&owner| u32::from(owner) == NO_TARGET).count();
    slots as f64 / ring.len().max(1) as f64
}

fn table(name: &str, capacity: usize, used: impl Iterator<Item = (&'static str, u64)>) -> Table {
    // A place that is free has no state.
    let used = used.skip(1).map(|(state, entries)| (state.to_owned(), entries)).collect();
    Table { name: name.into(), capacity: capacity as u64, used }
}

fn check_counts(checks: &Checks) -> Vec<metrics::Checks> {
    let counts = checks.iter().map(|(target, status)| metrics::Checks {
        target: target.clone(),
        passed: status.passed,
        failed: status.failed,
        spent: status.spent,
    });
    counts.collect()
}

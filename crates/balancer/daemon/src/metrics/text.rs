//! A snapshot in text formats: OpenMetrics, and Prometheus' own.
//!
//! Verdicts and events that have not occurred have no sample, as in client libraries that make a
//! counter at its first use: a service would have nearly a hundred lines of zeros.

use std::fmt;

use heddle_daemon::metrics::{Format, Metric, Name};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::{Snapshot, names};

/// One of a backend's numbers.
type Read = fn(&super::Backend) -> u64;
/// One of another balancer's numbers.
type ReadPeer = fn(&super::Peer) -> f64;

/// A snapshot in a text format.
///
/// # Errors
/// None that is known: writing into a string does not fail.
pub fn text(snapshot: Snapshot, format: Format) -> Result<String, fmt::Error> {
    names::NAMES.text(Families(snapshot), format)
}

/// The metrics of a snapshot.
#[derive(Debug)]
pub(super) struct Families(pub(super) Snapshot);

impl Collector for Families {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        self.services(&mut to)?;
        self.backends(&mut to)?;
        self.checks(&mut to)?;
        self.tables(&mut to)?;
        self.members(&mut to)?;
        self.peers(&mut to)?;
        self.health(&mut to)?;
        self.daemon(&mut to)
    }
}

impl Families {
    fn services(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let verdicts = || {
            let services = self.0.services.iter();
            let all = services.flat_map(|service| {
                service.verdicts.iter().map(|verdict| (&*service.name, verdict))
            });
            all.filter(|(_, verdict)| verdict.packets > 0)
        };
        let mut packets = Metric::begin(to, names::PACKETS)?;
        for (service, verdict) in verdicts() {
            packets.count(&[service, &verdict.name], verdict.packets)?;
        }
        let mut bytes = Metric::begin(to, names::BYTES)?;
        for (service, verdict) in verdicts() {
            bytes.count(&[service, &verdict.name], verdict.bytes)?;
        }
        let mut events = Metric::begin(to, names::EVENTS)?;
        for service in &self.0.services {
            for event in service.events.iter().filter(|event| event.count > 0) {
                events.count(&[&service.name, &event.name], event.count)?;
            }
        }
        Ok(())
    }

    fn backends(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let counters: [(Name, Read); 2] = [
            (names::BACKEND_PACKETS, |backend| backend.packets),
            (names::BACKEND_BYTES, |backend| backend.bytes),
        ];
        for (name, value) in counters {
            let mut metric = Metric::begin(to, name)?;
            for backend in &self.0.backends {
                metric.count(&labels(backend), value(backend))?;
            }
        }
        let gauges: [(Name, Read); 3] = [
            (names::BACKEND_UP, |backend| flag(backend.up)),
            (names::BACKEND_DRAINING, |backend| flag(backend.draining)),
            (names::BACKEND_WEIGHT, |backend| backend.weight.into()),
        ];
        for (name, value) in gauges {
            let mut metric = Metric::begin(to, name)?;
            for backend in &self.0.backends {
                metric.level(&labels(backend), value(backend))?;
            }
        }
        Ok(())
    }

    fn checks(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut answers = Metric::begin(to, names::CHECKS)?;
        for check in &self.0.checks {
            for (outcome, count) in [("passed", check.passed), ("failed", check.failed)] {
                answers.count(&[&check.target, outcome], count)?;
            }
        }
        let mut time = Metric::begin(to, names::CHECK_TIME)?;
        for check in &self.0.checks {
            time.count(&[&check.target], check.spent.as_secs_f64())?;
        }
        Ok(())
    }

    fn tables(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut capacity = Metric::begin(to, names::TABLE_CAPACITY)?;
        for table in &self.0.tables {
            capacity.level(&[&table.name], table.capacity)?;
        }
        let mut used = Metric::begin(to, names::TABLE_USED)?;
        for table in &self.0.tables {
            for (state, entries) in &table.used {
                used.level(&[&table.name, state], *entries)?;
            }
        }
        Ok(())
    }

    fn members(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let members = &self.0.members;
        Metric::begin(to, names::MEMBERS)?.alone(&ConstGauge::new(members.count))?;
        Metric::begin(to, names::RING_SHARE)?.alone(&ConstGauge::new(members.ring_share))?;
        Metric::begin(to, names::MEMBER_CHANGES)?.alone(&ConstCounter::new(members.changes))?;
        Metric::begin(to, names::STORE_UP)?.alone(&ConstGauge::new(flag(members.store_up)))?;
        let mut changes = Metric::begin(to, names::SHARED_CHANGES)?;
        changes.level(&["used"], members.shared_used)?;
        changes.level(&["ignored"], members.shared_ignored)
    }

    fn peers(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let gauges: [(Name, ReadPeer); 3] = [
            (names::PEER_UP, |peer| f64::from(u8::from(peer.up))),
            (names::PEER_ROUND_TRIP, |peer| peer.round_trip.unwrap_or_default().as_secs_f64()),
            (names::PEER_DIFFERS, |peer| f64::from(u8::from(peer.differs))),
        ];
        for (name, value) in gauges {
            let mut metric = Metric::begin(to, name)?;
            for peer in &self.0.peers {
                metric.level(&[&peer.name], value(peer))?;
            }
        }
        for (name, of_refused) in [(names::PEER_MISSED, false), (names::PEER_REFUSED, true)] {
            let mut metric = Metric::begin(to, name)?;
            for peer in &self.0.peers {
                metric.count(&[&peer.name], if of_refused { peer.refused } else { peer.missed })?;
            }
        }
        Ok(())
    }

    fn health(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let health = &self.0.health;
        for (name, cause) in [
            (names::READY, &health.starting),
            (names::CONNECTED, &health.isolated),
            (names::MAPS_IN_SYNC, &health.maps_out_of_sync),
            (names::HEALTH_CHECKS_RUNNING, &health.health_checks_stopped),
            (names::NEIGHBOUR_WATCHER_RUNNING, &health.neighbour_watcher_stopped),
            (names::PROGRAMS_ATTACHED, &health.programs_detached),
            (names::TASKS_RUNNING, &health.tasks_stopped),
        ] {
            Metric::begin(to, name)?.alone(&ConstGauge::new(flag(cause.is_none())))?;
        }
        Ok(())
    }

    fn daemon(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut reloads = Metric::begin(to, names::RELOADS)?;
        reloads.count(&["succeeded"], self.0.reloads.succeeded)?;
        reloads.count(&["failed"], self.0.reloads.failed)?;
        let loaded = self.0.reloads.loaded.as_secs_f64();
        Metric::begin(to, names::LOADED)?.alone(&ConstGauge::new(loaded))?;
        Metric::begin(to, names::BUILD)?.fact(&[&self.0.build.version, &self.0.build.kernel])
    }
}

fn labels(backend: &super::Backend) -> [&str; 2] {
    [&backend.service, &backend.name]
}

/// Prometheus' way to say yes and no.
fn flag(on: bool) -> u64 {
    on.into()
}

#[cfg(test)]
mod tests;

//! A snapshot in text formats: OpenMetrics, and Prometheus' own.
//!
//! Verdicts and events that have not occurred have no sample, as in client libraries that make a counter at its first use: a service would
//! have nearly a hundred lines of zeros.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text as format};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::Snapshot;
use super::names::{self, Kind, Name};

/// One of a backend's numbers.
type Read = fn(&super::Backend) -> u64;
/// One of another balancer's numbers.
type ReadPeer = fn(&super::Peer) -> f64;

/// The formats that Prometheus reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text-based exposition format 0.0.4, which promtool and older scrapers read.
    Prometheus,
}

/// A snapshot in a text format.
///
/// # Errors
/// None that is known: writing into a string does not fail.
pub fn text(snapshot: Snapshot, format: Format) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix(names::PREFIX);
    registry.register_collector(Box::new(Families(snapshot)));
    let mut text = String::new();
    format::encode(&mut text, &registry)?;
    Ok(match format {
        Format::OpenMetrics => text,
        Format::Prometheus => prometheus(&text),
    })
}

/// The differences between the formats: a family is named as its samples are, facts are gauges, and nothing marks the end.
fn prometheus(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        let meta = line.strip_prefix("# ").and_then(|meta| {
            let mut words = meta.splitn(3, ' ');
            Some((words.next()?, words.next()?, words.next()?))
        });
        match meta {
            Some((word, name, rest)) => {
                let (suffix, kind) = in_samples(name);
                let rest = if word == "TYPE" { kind } else { rest };
                text.push_str(&format!("# {word} {name}{suffix} {rest}\n"));
            }
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// The suffix of a family's samples, and its type in Prometheus' format.
fn in_samples(family: &str) -> (&'static str, &'static str) {
    let of = |name: &&Name| {
        family.strip_prefix(names::PREFIX).and_then(|rest| rest.strip_prefix('_'))
            == Some(name.name)
    };
    match names::ALL.iter().find(of).map(|name| name.kind) {
        Some(Kind::Counter) => ("_total", "counter"),
        Some(Kind::Info) => ("_info", "gauge"),
        _ => ("", "gauge"),
    }
}

/// The metrics of a snapshot.
#[derive(Debug)]
struct Families(Snapshot);

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
            let of = self.0.services.iter();
            let all = of.flat_map(|service| {
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

/// A metric whose help and type have been written; its samples follow, each with the values of the name's labels.
struct Metric<'a> {
    to: MetricEncoder<'a>,
    labels: &'static [&'static str],
}

impl<'a> Metric<'a> {
    fn begin(to: &'a mut DescriptorEncoder<'_>, name: Name) -> Result<Metric<'a>, fmt::Error> {
        let kind = match name.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Info => MetricType::Info,
        };
        let to = to.encode_descriptor(name.name, name.help, None, kind)?;
        Ok(Metric { to, labels: name.labels })
    }

    fn count<N>(&mut self, values: &[&str], value: N) -> fmt::Result
    where
        ConstCounter<N>: EncodeMetric,
    {
        self.sample(values, &ConstCounter::new(value))
    }

    fn level<N>(&mut self, values: &[&str], value: N) -> fmt::Result
    where
        ConstGauge<N>: EncodeMetric,
    {
        self.sample(values, &ConstGauge::new(value))
    }

    fn sample(&mut self, values: &[&str], sample: &impl EncodeMetric) -> fmt::Result {
        let labels = self.labels(values);
        sample.encode(self.to.encode_family(&labels)?)
    }

    /// The only sample of a metric without labels.
    fn alone(self, sample: &impl EncodeMetric) -> fmt::Result {
        sample.encode(self.to)
    }

    fn fact(&mut self, values: &[&str]) -> fmt::Result {
        let labels = self.labels(values);
        self.to.encode_info(&labels)
    }

    fn labels<'v>(&self, values: &[&'v str]) -> Vec<(&'static str, &'v str)> {
        self.labels.iter().copied().zip(values.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests;

//! From what was counted at two moments to what happens in a second.

use std::time::Instant;

use heddled::admin::{BackendStatus, Status};
use heddled::metrics::{self, Snapshot};

/// The daemon's state at one moment.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) status: Status,
    pub(super) backends: Vec<BackendStatus>,
    pub(super) snapshot: Snapshot,
}

/// Events per second.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    pub(super) sample: Sample,
    pub(super) services: Vec<Service>,
    pub(super) backends: Vec<Backend>,
    /// Events of all services.
    pub(super) events: Vec<EventRate>,
}

/// The rate of a kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EventRate {
    pub(super) name: &'static str,
    /// So far.
    pub(super) total: u64,
    /// A second.
    pub(super) rate: f64,
}

/// A service's packets a second, by outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) to_backends: f64,
    pub(super) to_balancers: f64,
    pub(super) passed: f64,
    pub(super) dropped: f64,
    /// All of them, in bits a second.
    pub(super) bits: f64,
}

/// A backend a second.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    pub(super) status: BackendStatus,
    pub(super) packets: f64,
    pub(super) bits: f64,
}

/// Rows about MPTCP: the row's title, and the counters that it adds up.
const EVENTS: [(&str, &[&str]); 6] = [
    ("tokens added", &["token_added"]),
    ("joins by token", &["sent_join", "steered_join"]),
    ("joins asked", &["queried_join"]),
    ("joins unknown", &["sent_join_unknown"]),
    ("collisions", &["token_collision"]),
    ("tables full", &["flow_full", "token_full"]),
];

impl Rates {
    /// Before there is anything to compare with: nothing happens.
    pub(super) fn first(sample: Sample) -> Rates {
        Rates::between(&sample.clone(), sample)
    }

    /// With a newer sample.
    pub(super) fn next(&self, sample: Sample) -> Rates {
        Rates::between(&self.sample, sample)
    }

    fn between(before: &Sample, sample: Sample) -> Rates {
        let seconds = sample.at.saturating_duration_since(before.at).as_secs_f64();
        let services = sample.snapshot.services.iter();
        let services = services.map(|service| {
            let old = before.snapshot.services.iter().find(|old| old.name == service.name);
            Service::between(old, service, seconds)
        });
        let services = services.collect();
        let backends = sample.backends.iter();
        let backends = backends.map(|status| Backend::between(&before.backends, status, seconds));
        let backends = backends.collect();
        let events = EVENTS.iter().map(|&(name, counters)| {
            let [old, new] = [&before.snapshot, &sample.snapshot].map(|of| total(of, counters));
            EventRate { name, total: new, rate: rate(old, new, seconds) }
        });
        Rates { services, backends, events: events.collect(), sample }
    }
}

impl Service {
    fn between(old: Option<&metrics::Service>, new: &metrics::Service, seconds: f64) -> Service {
        let mut rates = Service { name: new.name.clone(), ..Service::default() };
        for verdict in &new.verdicts {
            let old = old.and_then(|old| old.verdicts.iter().find(|o| o.name == verdict.name));
            let (packets, bytes) =
                old.map_or((verdict.packets, verdict.bytes), |o| (o.packets, o.bytes));
            *rates.class(&verdict.name) += rate(packets, verdict.packets, seconds);
            rates.bits += 8.0 * rate(bytes, verdict.bytes, seconds);
        }
        rates
    }

    /// The sum to which a verdict belongs. A packet that is too big counts as dropped.
    fn class(&mut self, verdict: &str) -> &mut f64 {
        match verdict.split('_').next() {
            Some("sent") => &mut self.to_backends,
            Some("pass") => &mut self.passed,
            Some("drop" | "too") => &mut self.dropped,
            _ => &mut self.to_balancers,
        }
    }
}

impl Backend {
    fn between(before: &[BackendStatus], new: &BackendStatus, seconds: f64) -> Backend {
        let same = |old: &&BackendStatus| (&old.service, &old.name) == (&new.service, &new.name);
        let old = before.iter().find(same).unwrap_or(new);
        Backend {
            status: new.clone(),
            packets: rate(old.packets, new.packets, seconds),
            bits: 8.0 * rate(old.bytes, new.bytes, seconds),
        }
    }
}

/// Counters begin again when the daemon makes its maps anew: that is no rate.
fn rate(old: u64, new: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { new.saturating_sub(old) as f64 / seconds } else { 0.0 }
}

fn total(snapshot: &Snapshot, counters: &[&str]) -> u64 {
    let verdicts = snapshot.services.iter().flat_map(|service| &service.verdicts);
    let events = snapshot.services.iter().flat_map(|service| &service.events);
    let all = verdicts.map(|v| (&v.name, v.packets)).chain(events.map(|e| (&e.name, e.count)));
    all.filter(|(name, _)| counters.contains(&name.as_str())).map(|(_, count)| count).sum()
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use heddled::metrics::{Event, Members, Table, Verdict};
    use heddled::service::MptcpMode;

    use super::*;
    use crate::commands::backends::example;

    /// Two seconds in which 2000 packets of 1000 bytes came, and a sample before them.
    pub(in crate::commands::top) fn two_seconds() -> Rates {
        let start = Instant::now();
        Rates::first(sample(start, 0)).next(sample(start + Duration::from_secs(2), 2000))
    }

    fn sample(at: Instant, packets: u64) -> Sample {
        let verdict =
            |name: &str, n: u64| Verdict { name: name.into(), packets: n, bytes: n * 1000 };
        let verdicts = vec![
            verdict("sent_flow", packets),
            verdict("queried_join", packets / 100),
            verdict("drop_no_backend", packets / 1000),
        ];
        let events = vec![Event { name: "token_added".into(), count: 7 + packets / 10 }];
        let web = metrics::Service { name: "web".into(), verdicts, events };
        let none = metrics::Service {
            name: "none".into(),
            verdicts: vec![verdict("pass_no_vip", 5)],
            events: vec![],
        };
        let backend = BackendStatus { packets, bytes: packets * 1000, ..example("web", "be1") };
        let flows = Table { name: "flows".into(), capacity: 100, used: vec![("new".into(), 25)] };
        let status = Status {
            name: "lb1".into(),
            version: "0.1.0".into(),
            kernel: "6.18".into(),
            uptime: Duration::from_secs(90),
            interfaces: [("eth0".to_owned(), "native".to_owned())].into(),
            services: [("web".to_owned(), MptcpMode::Learn)].into(),
            backends_up: 2,
            backends_unchecked: 0,
            backends: 2,
            members: 2,
            flows: 25,
            tokens: 0,
            ready: true,
            warnings: vec![],
            changes: vec![],
            shared_changes: vec![],
        };
        let members = Members { count: 2, ring_share: 0.5, ..Members::default() };
        let (services, tables) = (vec![web, none], vec![flows]);
        let snapshot = Snapshot { services, tables, members, ..Snapshot::default() };
        Sample { at, status, backends: vec![backend, example("web", "be2")], snapshot }
    }

    #[test]
    fn packets_in_two_seconds() {
        let Rates { services, backends, events, .. } = two_seconds();
        let web = Service {
            name: "web".into(),
            to_backends: 1000.0,
            to_balancers: 10.0,
            passed: 0.0,
            dropped: 1.0,
            bits: 8e6 + 8e4 + 8e3,
        };
        assert_eq!(services[0], web);
        assert_eq!((backends[0].packets, backends[0].bits), (1000.0, 8e6));
        assert_eq!(backends[1].packets, 0.0, "it counted 123456 at both moments");
        assert_eq!(events[0], EventRate { name: "tokens added", total: 207, rate: 100.0 });
        assert_eq!(events[2], EventRate { name: "joins asked", total: 20, rate: 10.0 });
    }

    #[test]
    fn the_first_sample_and_counters_begun_again_are_no_rates() {
        let start = Instant::now();
        let first = Rates::first(sample(start, 2000));
        assert_eq!(first.services[0].to_backends, 0.0);
        let again = first.next(sample(start + Duration::from_secs(1), 0));
        assert_eq!((again.services[0].to_backends, again.events[0].rate), (0.0, 0.0));
    }
}

//! Counters and memory of balancers, and the kernel's counters of joins.

use std::collections::BTreeMap;
use std::{fmt, fs};

use anyhow::{Context as _, bail};
use heddle_lab::{Cluster, Daemons, Lab, mptcp_counters};
use serde::Serialize;
use serde_json::Value;

use super::load::Path;

/// Services of the lab whose backends change: one for IPv4, one for IPv6.
const SERVICES: usize = 2;

/// Prefixes of the kernel's counters that are read. A handshake that falls back to TCP has no
/// joins.
const PREFIXES: [&str; 7] = [
    "MPJoin",
    "MPRst",
    "MPFallback",
    "MPCapableFallback",
    "MPCapableDataFallback",
    "MPCapableSYNTXDrop",
    "Tcp",
];

/// The kernel's counts of joins, resets and fallbacks so far.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinCounters {
    /// At the client and the services' backends.
    service: BTreeMap<String, u64>,
    /// At the backend that is reached past the balancers.
    direct: BTreeMap<String, u64>,
}

impl JoinCounters {
    /// Reads them; `control` is the backend past the balancers.
    pub(super) fn read(lab: &Lab, control: usize) -> anyhow::Result<JoinCounters> {
        let mut read = JoinCounters::default();
        let backends = lab.backends().iter().enumerate();
        let ends = backends.map(|(number, end)| (number == control, end));
        for (is_direct, end) in ends.chain([(false, lab.client())]) {
            let sums = if is_direct { &mut read.direct } else { &mut read.service };
            for (name, value) in mptcp_counters(end)? {
                if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                    *sums.entry(name).or_default() += value;
                }
            }
        }
        Ok(read)
    }

    /// The counts since `before`, of those that have increased.
    pub(super) fn since(&self, before: &JoinCounters) -> JoinCounters {
        JoinCounters {
            service: increases(&self.service, &before.service),
            direct: increases(&self.direct, &before.direct),
        }
    }

    /// Joins that reached a backend which did not know their token: one of the services, or the
    /// one past the balancers. The client sends some to connections that have just ended.
    pub(super) fn refused(&self, path: Path) -> u64 {
        let counts = match path {
            Path::Service => &self.service,
            Path::Direct => &self.direct,
        };
        counts.get("MPJoinNoTokenFound").copied().unwrap_or(0)
    }
}

fn increases(now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let old = |name| before.get(name).copied().unwrap_or(0);
    let grown = now.iter().map(|(name, &value)| (name.clone(), value.saturating_sub(old(name))));
    grown.filter(|(_, value)| *value > 0).collect()
}

impl fmt::Display for JoinCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> =
            self.service.iter().map(|(name, value)| format!("{name} {value}")).collect();
        f.write_str(&counts.join(", "))
    }
}

/// Packets of a balancer: received by its interface, and counted by verdict. Both grow while they
/// are read: those received are read before and after.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packets {
    received_before: u64,
    counted: u64,
    received_after: u64,
}

impl Packets {
    pub(super) fn read(lab: &Lab, daemons: &Daemons<'_>, index: usize) -> anyhow::Result<Packets> {
        let received_before = received(lab, index)?;
        let counted = sum(&daemons.metrics(index)?, "heddle_lb_packets_total{")?;
        Ok(Packets { received_before, counted, received_after: received(lab, index)? })
    }

    /// The packets since `base`.
    pub(super) fn since(&self, base: &Packets) -> NewPackets {
        NewPackets {
            counted: self.counted.saturating_sub(base.counted),
            received_least: self.received_before.saturating_sub(base.received_after),
            received_most: self.received_after.saturating_sub(base.received_before),
        }
    }
}

/// Packets of a balancer in a time: counted, and the least and the most that can have been received
/// meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewPackets {
    pub counted: u64,
    pub received_least: u64,
    pub received_most: u64,
}

/// Packets that a balancer's interface has received.
fn received(lab: &Lab, index: usize) -> anyhow::Result<u64> {
    let text = lab.balancer(index).run("ip -s -j link show eth0")?;
    let link: Value = serde_json::from_str(&text).context("ip -j")?;
    link[0]["stats64"]["rx"]["packets"].as_u64().context("ip -j: no packets")
}

/// The sum of a metric over all labels. One that has not occurred has no line, but its family is
/// declared.
fn sum(metrics: &str, name: &str) -> anyhow::Result<u64> {
    let family = format!("# TYPE {} ", name.trim_end_matches('{'));
    if !metrics.contains(&family) {
        bail!("heddled's metrics have no {name}...}}: {metrics}");
    }
    let of_name = metrics.lines().filter(|line| line.starts_with(name));
    Ok(of_name.map(last_number).sum::<anyhow::Result<f64>>()? as u64)
}

/// Tokens that were another backend's already, at the balancers that run: joins to their
/// connections are refused.
pub(super) fn collisions(cluster: &Cluster<'_>, balancers: usize) -> anyhow::Result<u64> {
    let running = |index: &usize| cluster.daemons().process(*index).is_some();
    let of_event = |line: &&str| line.contains("event=\"token_collision\"");
    let at = |index| {
        let text = cluster.daemons().metrics(index)?;
        text.lines().filter(of_event).map(last_number).sum::<anyhow::Result<f64>>()
    };
    Ok((0..balancers).filter(running).map(at).sum::<anyhow::Result<f64>>()? as u64)
}

fn last_number(line: &str) -> anyhow::Result<f64> {
    let last = line.rsplit(' ').next().unwrap_or(line);
    last.parse().with_context(|| format!("a line of heddled's metrics: {line}"))
}

/// The backends of a service of the lab, and those of them that are drained. Both have the same.
pub(super) fn backends(metrics: &str) -> (usize, usize) {
    let backends_with = |name: &str, value: &str| {
        let of_web = |line: &str| line.contains("service=\"web");
        let line = |line: &&str| line.starts_with(name) && of_web(line) && line.ends_with(value);
        metrics.lines().filter(line).count() / SERVICES
    };
    (
        backends_with("heddle_lb_backend_draining{", ""),
        backends_with("heddle_lb_backend_draining{", " 1"),
    )
}

/// Memory of one daemon process.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Memory {
    /// The balancer.
    pub(super) balancer: usize,
    /// Seconds between the first and the last look.
    pub(super) seconds: u64,
    /// Resident bytes at the first look.
    pub(super) first: u64,
    /// Resident bytes at the last look.
    pub(super) last: u64,
    /// Bytes of its maps at the first look.
    pub(super) maps_first: u64,
    /// Bytes of its maps at the last look.
    pub(super) maps_last: u64,
}

/// Memory of all daemon processes, by process id.
#[derive(Debug, Default)]
pub(super) struct Memories(BTreeMap<u32, Memory>);

impl Memories {
    /// Looks at the running daemons, `now` seconds after the begin.
    pub(super) fn look(
        &mut self,
        cluster: &Cluster<'_>,
        balancers: usize,
        now: u64,
    ) -> anyhow::Result<()> {
        for balancer in 0..balancers {
            let Some(process) = cluster.daemons().process(balancer) else { continue };
            let memory = || format!("the memory of heddled on balancer-{balancer}");
            let resident = resident(process).with_context(memory)?;
            let maps = maps(process).with_context(memory)?;
            let first = Memory {
                balancer,
                seconds: 0,
                first: resident,
                last: resident,
                maps_first: maps,
                maps_last: maps,
            };
            let memory = self.0.entry(process).or_insert(Memory { seconds: now, ..first });
            // Until the end `seconds` is the time of the first look.
            memory.last = resident;
            memory.maps_last = maps;
        }
        Ok(())
    }

    /// The process that was looked at for the longest time, of each balancer that still runs.
    pub(super) fn of_running(
        &self,
        cluster: &Cluster<'_>,
        balancers: usize,
        now: u64,
    ) -> Vec<Memory> {
        let process = |balancer| cluster.daemons().process(balancer);
        let memory = |process| self.0.get(&process).copied();
        let found = (0..balancers).filter_map(process).filter_map(memory);
        found
            .map(|memory| Memory { seconds: now.saturating_sub(memory.seconds), ..memory })
            .collect()
    }
}

fn resident(process: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = number(&status, "VmRSS:", "kB").context("/proc: VmRSS")?;
    Ok(kilobytes * 1024)
}

/// Bytes of the maps that a process has open.
fn maps(process: u32) -> anyhow::Result<u64> {
    let mut sum = 0;
    for file in fs::read_dir(format!("/proc/{process}/fdinfo"))? {
        // It may have been closed meanwhile.
        let Ok(text) = fs::read_to_string(file?.path()) else { continue };
        if text.contains("map_type:") {
            sum += number(&text, "memlock:", "").context("/proc: memlock of a map")?;
        }
    }
    Ok(sum)
}

/// The number behind a word at the begin of a line, with this unit.
fn number(text: &str, word: &str, unit: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.trim().strip_suffix(unit)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels() {
        let text =
            "# TYPE a_total counter\na_total{x=\"1\"} 2\na_total{x=\"2\"} 3\nab_total{x=\"1\"} 4\n";
        assert_eq!(sum(text, "a_total{").unwrap(), 5);
        assert!(sum(text, "b_total{").is_err(), "nothing of that name is counted");
        assert!(sum(&text.replace('2', "two"), "a_total{").is_err());
    }

    #[test]
    fn backends_are_counted_once_though_two_services_have_them() {
        let line = |service, backend, value| {
            format!(
                "heddle_lb_backend_draining{{service=\"{service}\",backend=\"{backend}\"}} {value}\n"
            )
        };
        let text: String = [("web4", 1, 0), ("web4", 2, 1), ("web6", 1, 0), ("web6", 2, 1)]
            .map(|(s, b, v)| line(s, b, v))
            .concat();
        assert_eq!(backends(&text), (2, 1));
    }

    #[test]
    fn counted_packets_lie_between_those_received_before_and_after() {
        let base = Packets { received_before: 10, counted: 11, received_after: 12 };
        let end = Packets { received_before: 100, counted: 101, received_after: 103 };
        let expected = NewPackets { counted: 90, received_least: 88, received_most: 93 };
        assert_eq!(end.since(&base), expected);
    }
}

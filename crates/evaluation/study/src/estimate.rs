//! Estimates of runs, before they start.

use std::sync::OnceLock;

use heddle_scenario::{Scenario, Source, Until, load};
use heddle_sim::{Amount, Forecast, Next, SimError, forecast};
use serde::Serialize;

use crate::grid::timed;
use crate::overload::Offered;
use crate::point::no_files;

/// An estimate of some runs, as if no flow waited for a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Runs: a seed is one.
    pub runs: u64,
    /// Flows that start in all of them.
    pub flows: f64,
    /// Packet hops of all.
    pub packet_hops: f64,
    /// Processor seconds of all on this machine, one core.
    pub cpu_seconds: f64,
    /// Bytes of memory of the largest run.
    pub memory_bytes: f64,
    /// The same if the last measured flows wait for timeouts, which is likely.
    pub with_timeouts: Work,
    /// True if a run may take several times as long as this says: its links are nearly full.
    pub is_open: bool,
    /// True if `measure.time_limit` is over before all flows that are to be measured have started.
    pub is_cut: bool,
}

/// Work of some runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Work {
    /// Flows that start.
    pub flows: f64,
    /// Packet hops.
    pub packet_hops: f64,
    /// Processor seconds on this machine, one core.
    pub cpu_seconds: f64,
}

/// Parts of a link's rate from which on its queues decide how long a run lasts: without losses, and
/// with them.
const NEARLY_FULL: [f64; 2] = [0.9, 0.7];

/// A factor within which two figures are one.
const CLOSE: f64 = 4.0 / 3.0;

/// Processor time above which runs are called absurd: a day.
const LONG_SECONDS: f64 = 86_400.0;

/// Memory that few machines have.
const LARGE_BYTES: f64 = 64e9;

/// Offered bits over a link's rate above which one of them is thought to have another unit.
const ABSURD_SHARE: f64 = 10.0;

impl Estimate {
    /// All seeds of a scenario.
    ///
    /// # Errors
    /// A graph that makes no fabric.
    pub fn of(
        scenario: &Scenario,
        seeds: &[u64],
        offered: Option<&Offered>,
    ) -> Result<Estimate, SimError> {
        let runs = seeds.len() as u64;
        let Forecast { flows, packet_hops, with_timeouts, memory, is_cut, .. } =
            forecast(scenario, seeds.first().copied().unwrap_or(1))?;
        let hosts = scenario.fabric.graph.nodes.iter().take_while(|node| node.tier == 0).count();
        let all = |Amount { flows, packet_hops }: Amount| Work {
            flows: flows * runs as f64,
            packet_hops: packet_hops * runs as f64,
            cpu_seconds: packet_hops * runs as f64 * seconds_per_hop() * slower(hosts),
        };
        let without = Amount { flows, packet_hops };
        let Work { flows, packet_hops, cpu_seconds } = all(without);
        let busiest = offered.map_or(0.0, |offered| offered.busiest);
        let ends_by_flows = matches!(scenario.measure.until, Until::Flows(_));
        Ok(Estimate {
            runs,
            flows,
            packet_hops,
            cpu_seconds,
            with_timeouts: all(with_timeouts.unwrap_or(without)),
            is_open: ends_by_flows && busiest > NEARLY_FULL[usize::from(with_timeouts.is_some())],
            memory_bytes: memory,
            is_cut,
        })
    }

    /// These runs and others.
    #[must_use]
    pub fn and(self, other: Estimate) -> Estimate {
        Estimate {
            runs: self.runs + other.runs,
            flows: self.flows + other.flows,
            packet_hops: self.packet_hops + other.packet_hops,
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
            with_timeouts: self.with_timeouts.and(other.with_timeouts),
            is_open: self.is_open || other.is_open,
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            is_cut: self.is_cut || other.is_cut,
        }
    }

    /// The estimate in words, without its number of runs: ranges where timeouts make a difference.
    pub fn text(&self) -> String {
        let Work { flows, packet_hops, cpu_seconds } = self.with_timeouts;
        let is_range = !self.is_open && packet_hops > CLOSE * self.packet_hops;
        let range = |low: String, high: String| match is_range && low != high {
            true => format!("{low} to {high}"),
            false => low,
        };
        let reason = match (self.is_open, is_range) {
            (true, _) => "; or several times as much: links are nearly full",
            (_, true) => "; the more, the longer the last flows wait for timeouts",
            _ => "",
        };
        format!(
            "estimate: {} flows, {} packet-hops, {} of CPU, {} of memory{reason}",
            range(rounded(self.flows), rounded(flows)),
            range(rounded(self.packet_hops), rounded(packet_hops)),
            range(time(self.cpu_seconds), time(cpu_seconds)),
            bytes(self.memory_bytes)
        )
    }

    /// Absurd values of a scenario, in a sentence each.
    pub fn warnings(&self, scenario: &Scenario, offered: Option<&Offered>) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Until::Flows(wanted) = scenario.measure.until
            && self.is_cut
        {
            warnings.push(format!(
                "`measure.flows` asks for {} flows, and about {} have started when `measure.time_limit` ({}) is over: measure fewer, or give it more time",
                rounded(wanted as f64),
                rounded(self.flows / self.runs.max(1) as f64),
                scenario.measure.time_limit
            ));
        }
        if self.cpu_seconds > LONG_SECONDS {
            warnings.push(format!(
                "{} flows take about {} of CPU: give a smaller `measure.flows`, a shorter `measure.duration` or `measure.warm_up`, or larger `workload.sizes`",
                rounded(self.flows),
                time(self.cpu_seconds)
            ));
        }
        if self.memory_bytes > LARGE_BYTES {
            warnings.push(format!(
                "a run takes about {} of memory: measure fewer flows, or sample less often",
                bytes(self.memory_bytes)
            ));
        }
        let busiest = offered.map_or(0.0, |offered| offered.busiest);
        if busiest > ABSURD_SHARE {
            let percent = rounded(100.0 * busiest);
            warnings.push(format!(
                "a link is offered {percent} % of its rate: look at the units of `workload.capacity` and of the links' rates"
            ));
        }
        warnings
    }
}

impl Work {
    fn and(self, other: Work) -> Work {
        Work {
            flows: self.flows + other.flows,
            packet_hops: self.packet_hops + other.packet_hops,
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
        }
    }
}

/// A fabric of a ToR pair's size with short flows, for the time of a packet hop.
const CALIBRATION: &str = r#"scheme = "ecmp"
fabric = { kind = "leaf-spine" }
workload = { kind = "flows", sizes = "fixed:50KB", load = 0.5 }
measure = { probe_warm_up = "0s", warm_up = "0s", duration = "1ms" }
"#;

/// Processor time of a packet hop on this machine, measured once.
fn seconds_per_hop() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| measured().unwrap_or(RECORDED))
}

/// Processor time of a packet hop where none can be measured (docs/src/performance.md, case a).
const RECORDED: f64 = 61e-9;

fn measured() -> Option<f64> {
    let scenario = load(&Source::new("calibration", CALIBRATION), &no_files).ok()?;
    let (outcome, seconds) = timed(&scenario, 1, &mut |_| Next::Continue).ok()?;
    let hops = outcome.totals.packet_hops;
    (hops > 0 && seconds > 0.0).then(|| seconds / hops as f64)
}

/// The factor by which a packet hop takes longer in a large fabric: 2 from 128 to 8192 hosts
/// (docs/src/performance.md).
fn slower(hosts: usize) -> f64 {
    libm::pow((hosts as f64 / 128.0).max(1.0), 1.0 / 6.0)
}

/// Two digits, with the word for thousands, millions and so on.
fn rounded(number: f64) -> String {
    let (scale, word) = match number {
        n if n >= 1e15 => return format!("{number:.1e}"),
        n if n >= 1e12 => (1e12, " trillion"),
        n if n >= 1e9 => (1e9, " billion"),
        n if n >= 1e6 => (1e6, " million"),
        _ => (1.0, ""),
    };
    format!("{}{word}", two_digits(number / scale))
}

/// A number with two significant digits.
fn two_digits(number: f64) -> String {
    if number < 10.0 && number > 0.0 && (number * 10.0).round() % 10.0 != 0.0 {
        return format!("{number:.1}");
    }
    let unit = libm::pow(10.0, (libm::floor(libm::log10(number.max(1.0))) - 1.0).max(0.0));
    format!("{:.0}", (number / unit).round() * unit)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "under 0.1 s".to_owned(),
        s if s < 120.0 => format!("{} s", two_digits(s)),
        s if s < 7200.0 => format!("{} min", two_digits(s / 60.0)),
        s if s < 172_800.0 => format!("{} h", two_digits(s / 3600.0)),
        s if s < 3650.0 * 86_400.0 => format!("{} days", two_digits(s / 86_400.0)),
        s => format!("{} years", rounded(s / (365.0 * 86_400.0))),
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        b if b < 1e9 => format!("{} MB", two_digits(b / 1e6)),
        b if b < 1e12 => format!("{} GB", two_digits(b / 1e9)),
        b => format!("{} TB", rounded(b / 1e12)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overload::offered;
    use crate::testing::{cell, run, scenario};

    /// 20 KB are 14 segments and as many acknowledgements; of the other hosts one in three is on the
    /// same leaf, two links away, the others are four away.
    #[test]
    fn an_estimate_is_flows_by_packets_by_links() {
        let whole = [("measure", r#"{ warm_up = "0s", duration = "200ms" }"#)];
        let estimate = Estimate::of(&scenario(&whole), &[1, 2], None).unwrap();
        // 40 % of 4 Gbps on average; a seed's own flows are some more or fewer.
        let flows = 2.0 * 0.4 * 4e9 / 8.0 * 0.2 / 20_000.0;
        assert!((estimate.flows / flows - 1.0).abs() < 0.1, "{estimate:?}");
        let hops = flows * 28.0 * (2.0 / 3.0 + 4.0 * 2.0 / 3.0);
        assert!((estimate.packet_hops / hops - 1.0).abs() < 0.1, "{estimate:?}");
        assert!(estimate.cpu_seconds > 0.0 && estimate.memory_bytes < 20e6, "{estimate:?}");
    }

    #[test]
    fn an_estimate_is_near_what_a_run_takes() {
        let changes = [("measure.flows", "1000")];
        let estimate = Estimate::of(&scenario(&changes), &[1], None).unwrap();
        let totals = run(&cell(1, &changes)).totals;
        let ratio = estimate.packet_hops / totals.packet_hops as f64;
        assert!((0.75..1.34).contains(&ratio), "{ratio}");
        let ratio = estimate.flows / totals.flows_started as f64;
        assert!((0.75..1.34).contains(&ratio), "{ratio}");
    }

    /// A text has one figure where two are close, ranges where timeouts make a difference, and no end
    /// where links are nearly full.
    #[test]
    fn an_estimate_says_how_far_it_goes() {
        let work = |factor: f64| Work {
            flows: 1000.0 * factor,
            packet_hops: 2e6 * factor,
            cpu_seconds: 0.2 * factor,
        };
        let Work { flows, packet_hops, cpu_seconds } = work(1.0);
        let memory_bytes = 8e6;
        let estimate =
            Estimate { flows, packet_hops, cpu_seconds, memory_bytes, ..Estimate::default() };
        let text = |factor: f64, is_open: bool| {
            Estimate { with_timeouts: work(factor), is_open, ..estimate }.text()
        };
        let one = "estimate: 1000 flows, 2 million packet-hops, 0.2 s of CPU, 8 MB of memory";
        assert_eq!(text(1.2, false), one);
        let range = text(3.0, false);
        assert!(range.starts_with("estimate: 1000 to 3000 flows, 2 million to 6 million packet-hops, 0.2 s to 0.6 s of CPU, 8 MB"));
        assert!(range.contains("timeouts"), "{range}");
        let open = text(3.0, true);
        assert!(open.starts_with(one) && open.contains("nearly full"), "{open}");
    }

    #[test]
    fn links_that_are_nearly_full_leave_an_estimate_open() {
        let is_open = |load: &str, measure: &str| {
            let scenario = scenario(&[("workload.load", load), ("measure", measure)]);
            let offered = offered(&scenario).unwrap();
            Estimate::of(&scenario, &[1], offered.as_ref()).unwrap().is_open
        };
        assert!(is_open("0.95", "{ flows = 100 }") && !is_open("0.2", "{ flows = 100 }"));
        assert!(!is_open("0.95", "{ duration = \"1ms\" }"), "its length is given");
    }

    #[test]
    fn the_absurd_is_named() {
        let warnings = |changes: &[(&str, &str)]| {
            let scenario = scenario(changes);
            let offered = offered(&scenario).unwrap();
            let offered = offered.as_ref();
            Estimate::of(&scenario, &[1], offered).unwrap().warnings(&scenario, offered)
        };
        assert_eq!(warnings(&[]), [""; 0]);
        let flows = warnings(&[
            ("measure.flows", "1000000000000"),
            ("measure.time_limit", "86400s"),
            ("fabric.host_rate", "100Gbps"),
            ("fabric.spine_rate", "100Gbps"),
        ]);
        let cut = "`measure.flows` asks for 1 trillion flows, and about 86 billion have started when `measure.time_limit` (86400s) is over";
        assert!(flows[0].starts_with(cut), "{flows:?}");
        let flows = &flows[1..];
        assert!(
            flows[0].contains("86 billion flows take about") && flows[0].contains("measure.flows")
        );
        assert!(flows[1].contains("of memory"), "{flows:?}");
        let offer = warnings(&[("fabric.spine_rate", "10Mbps")]);
        assert!(
            offer[0].contains("is offered") && offer[0].contains("workload.capacity"),
            "{offer:?}"
        );
    }

    #[test]
    fn figures_have_two_digits() {
        let texts = [0.0, 5.0, 123.0, 1_940.0, 2.34e6, 1e12].map(rounded);
        assert_eq!(texts, ["0", "5", "120", "1900", "2.3 million", "1 trillion"]);
        let texts = [0.01, 3.21, 300.0, 86_400.0, 1e6, 1e12].map(time);
        assert_eq!(texts, ["under 0.1 s", "3.2 s", "5 min", "24 h", "12 days", "32000 years"]);
        assert_eq!([8.1e6, 3e9, 5e13].map(bytes), ["8.1 MB", "3 GB", "50 TB"]);
    }
}

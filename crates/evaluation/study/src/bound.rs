//! A bound on the mean flow completion time: no scheme, transport or order of service goes below it
//! on this fabric.
//!
//! All flows that cross a cut of the fabric share its capacity. A single server of that capacity
//! that always serves the flow with the shortest remaining time has the least mean completion time
//! of all (Schrage, Operations Research 1968), so that no fabric with the cut in it does better.
//! The cuts are each host's link, the links of each ToR and those of each pod, in both directions;
//! links that have failed do not count while they are down. The least times of single flows (module
//! `single`) are another bound. The largest of all is given.
//!
//! "One big switch" (`scheme = "ideal"`) is no such bound: its ports drop packets, TCP takes time
//! to find its share, and it ignores failures. It is another fabric, so that its own mean can be
//! below the bound of this one.

mod single;

use std::collections::{BTreeMap, BinaryHeap};

use heddle_scenario::{Graph, Scenario};
use heddle_sim::{FlowRecord, wire_bytes};
use single::SingleFlows;

/// The bound in seconds for some finished flows of a run of `scenario`; `None` of no flows.
pub fn mean_fct(scenario: &Scenario, flows: &[FlowRecord]) -> Option<f64> {
    if flows.is_empty() {
        return None;
    }
    let hosts = Hosts::new(&scenario.fabric.graph);
    let mut single = SingleFlows::new(scenario)?;
    let flows: Vec<Flow<'_>> = flows
        .iter()
        .map(|record| Flow { record, least: single.least(record).as_secs_f64() })
        .collect();
    let sums = Side::ALL.iter().flat_map(|&side| {
        let (hosts, flows) = (&hosts, &flows);
        Level::ALL.map(|level| sum_over_cuts(scenario, hosts, flows, (side, level)))
    });
    Some(sums.fold(least_sum(&flows), f64::max) / flows.len() as f64)
}

/// A flow, and the seconds that it takes at least.
#[derive(Clone, Copy)]
struct Flow<'a> {
    record: &'a FlowRecord,
    least: f64,
}

fn least_sum(flows: &[Flow<'_>]) -> f64 {
    flows.iter().map(|flow| flow.least).sum()
}

#[derive(Clone, Copy)]
enum Side {
    Senders,
    Receivers,
}

impl Side {
    const ALL: [Side; 2] = [Side::Senders, Side::Receivers];
}

/// The nodes inside of a cut.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Host,
    Tor,
    Pod,
}

impl Level {
    const ALL: [Level; 3] = [Level::Host, Level::Tor, Level::Pod];
}

/// The node sets that each node belongs to.
struct Hosts {
    /// The ToR of each host, and of each ToR itself; other nodes have none.
    tor: Vec<Option<u32>>,
    pod: Vec<Option<u32>>,
}

impl Hosts {
    fn new(graph: &Graph) -> Hosts {
        let tier = |node: u32| graph.nodes[node as usize].tier;
        let mut tor: Vec<Option<u32>> =
            (0..graph.nodes.len() as u32).map(|node| (tier(node) == 1).then_some(node)).collect();
        for link in &graph.links {
            let (low, high) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1));
            if tier(low) == 0 {
                tor[low as usize] = Some(high);
            }
        }
        let pod = graph.nodes.iter().map(|node| node.pod.map(u32::from)).collect();
        Hosts { tor, pod }
    }

    fn set(&self, node: u32, level: Level) -> Option<u32> {
        match level {
            Level::Host => Some(node),
            Level::Tor => self.tor[node as usize],
            Level::Pod => self.pod[node as usize],
        }
    }
}

/// Sum of the bounds of each cut of a level; flows that cross none have their least times.
fn sum_over_cuts(
    scenario: &Scenario,
    hosts: &Hosts,
    flows: &[Flow<'_>],
    (side, level): (Side, Level),
) -> f64 {
    let mut cuts: BTreeMap<u32, Vec<Flow<'_>>> = BTreeMap::new();
    let mut sum = 0.0;
    for &flow in flows {
        let (from, to) = (hosts.set(flow.record.from, level), hosts.set(flow.record.to, level));
        let inside = if matches!(side, Side::Senders) { from } else { to };
        match inside.filter(|_| from != to) {
            Some(set) => cuts.entry(set).or_default().push(flow),
            None => sum += flow.least,
        }
    }
    for (set, flows) in cuts {
        let capacity = capacity(scenario, side, |node| hosts.set(node, level) == Some(set));
        let jobs = flows.iter().map(|flow| Job {
            at: flow.record.start.as_secs_f64(),
            bits: 8.0 * wire_bytes(&scenario.transport.tcp(), flow.record.size).0 as f64,
        });
        sum += shortest_remaining_time(jobs.collect(), &capacity).max(least_sum(&flows));
    }
    sum
}

/// Bits per second that links which are up carry out of a set of nodes, or into it, from each time
/// on.
fn capacity(scenario: &Scenario, side: Side, inside: impl Fn(u32) -> bool) -> Vec<(f64, f64)> {
    let graph = &scenario.fabric.graph;
    let crosses = |link: u32| {
        let (a, b) = graph.links[link as usize].ends;
        inside(a) != inside(b)
    };
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    let is_down = |link: u32| {
        let (a, b) = graph.links[link as usize].ends;
        scenario
            .fabric
            .failed
            .iter()
            .any(|(x, y)| (x == name(a) && y == name(b)) || (x == name(b) && y == name(a)))
    };
    let rate = |link: u32| {
        let link = &graph.links[link as usize];
        let (a, b) = link.ends;
        let leaves = matches!(side, Side::Senders);
        link.rate_from(if inside(a) == leaves { a } else { b }).0 as f64
    };
    let links = (0..graph.links.len() as u32).filter(|&link| crosses(link));
    let mut sum: f64 = links.filter(|&link| !is_down(link)).map(rate).sum();
    let mut steps = vec![(0.0, sum)];
    for event in &scenario.events {
        let changed: f64 = event.links.iter().filter(|&&l| crosses(l)).map(|&l| rate(l)).sum();
        match event.change.is_up() {
            Some(true) => sum += changed,
            Some(false) => sum -= changed,
            // Impairments make no link better, so that the bound holds without them.
            None => continue,
        }
        steps.push((event.at.as_secs_f64(), sum));
    }
    steps
}

/// A flow at a server.
struct Job {
    /// Its arrival in seconds.
    at: f64,
    bits: f64,
}

/// Sum of the completion times, each from its arrival, at a server that serves the job with the
/// shortest remaining time.
fn shortest_remaining_time(mut jobs: Vec<Job>, capacity: &[(f64, f64)]) -> f64 {
    jobs.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut waiting: BinaryHeap<std::cmp::Reverse<Bits>> = BinaryHeap::new();
    let (mut now, mut sum, mut step) = (0.0, 0.0, 0);
    let mut arrivals = jobs.iter().peekable();
    let mut arrived = 0.0;
    loop {
        while capacity.get(step + 1).is_some_and(|(from, _)| *from <= now) {
            step += 1;
        }
        let rate = capacity[step].1;
        let next_arrival = arrivals.peek().map_or(f64::INFINITY, |job| job.at);
        let next_step = capacity.get(step + 1).map_or(f64::INFINITY, |(from, _)| *from);
        let until = next_arrival.min(next_step);
        match waiting.pop() {
            Some(std::cmp::Reverse(Bits(bits))) if rate > 0.0 && now + bits / rate <= until => {
                now += bits / rate;
                sum += now;
            }
            served => {
                if until.is_infinite() {
                    return sum - arrived;
                }
                let left = |Bits(bits): Bits| Bits((bits - (until - now) * rate).max(0.0));
                waiting.extend(served.map(|std::cmp::Reverse(bits)| std::cmp::Reverse(left(bits))));
                now = until;
                while let Some(job) = arrivals.next_if(|job| job.at <= now) {
                    arrived += job.at;
                    waiting.push(std::cmp::Reverse(Bits(job.bits)));
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Bits(f64);

impl Eq for Bits {}

impl PartialOrd for Bits {
    fn partial_cmp(&self, other: &Bits) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bits {
    fn cmp(&self, other: &Bits) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cell, run, scenario};

    fn jobs(list: &[(f64, f64)]) -> Vec<Job> {
        list.iter().map(|&(at, bits)| Job { at, bits }).collect()
    }

    #[test]
    fn the_shortest_remaining_job_is_served_first() {
        let rate = [(0.0, 1.0)];
        // 10 alone: 10. A job of 1 at time 2 goes first: 1, and the other ends at 11.
        assert_eq!(shortest_remaining_time(jobs(&[(0.0, 10.0)]), &rate), 10.0);
        assert_eq!(shortest_remaining_time(jobs(&[(0.0, 10.0), (2.0, 1.0)]), &rate), 12.0);
        // At time 8 two are left of ten: a job of 5 waits for them.
        assert_eq!(shortest_remaining_time(jobs(&[(0.0, 10.0), (8.0, 5.0)]), &rate), 17.0);
        // Nothing is sent from 1 to 3.
        let broken = [(0.0, 1.0), (1.0, 0.0), (3.0, 2.0)];
        assert_eq!(shortest_remaining_time(jobs(&[(0.0, 3.0)]), &broken), 4.0);
    }

    #[test]
    fn no_scheme_goes_below_it_and_failures_raise_it() {
        let load = ("workload.load", "0.6");
        let flows = ("measure.flows", "300");
        for scheme in ["ecmp", "spray", "drill", "ideal"] {
            let run = run(&cell(1, &[load, flows, ("scheme", scheme)]));
            let (bound, mean) =
                (run.bound_mean_seconds.unwrap(), run.fct.all.unwrap().seconds.mean);
            assert!(bound > 0.0 && bound < mean, "{scheme}: {bound} {mean}");
        }
        let failed = ("fabric.failed", "[\"leaf-1 spine-1\"]");
        let narrow = ("fabric.parallel_links", "1");
        let whole = run(&cell(1, &[load, flows, narrow]));
        let cut = run(&cell(1, &[load, flows, narrow, failed]));
        assert!(cut.bound_mean_seconds > whole.bound_mean_seconds);
    }

    #[test]
    fn packets_on_several_paths_do_not_go_below_it() {
        let slow = [
            ("fabric.spine_rate", "100Mbps"),
            ("fabric.spines", "4"),
            ("measure.flows", "1"),
            ("workload.sizes", "fixed:1MB"),
            ("workload.load", "0.01"),
            ("transport.dup_threshold", "1000"),
        ];
        let means = |more: &[(&str, &str)]| {
            let run = run(&cell(1, &[&slow[..], more].concat()));
            (run.bound_mean_seconds.unwrap(), run.fct.all.unwrap())
        };
        let (bound, spray) = means(&[("scheme", "spray")]);
        assert!(
            spray.slowdown.mean < 0.5,
            "several paths of a tenth of the hosts' rate: {spray:?}"
        );
        assert!(bound <= spray.seconds.mean, "{bound} {spray:?}");
    }

    #[test]
    fn a_flow_on_the_paths_of_faster_links_takes_its_ideal_time_at_least() {
        let quiet = [("measure.flows", "1"), ("workload.load", "0.01")];
        for size in ["fixed:1B", "fixed:1460B", "fixed:14600B"] {
            let run = run(&cell(1, &[&quiet[..], &[("workload.sizes", size)]].concat()));
            let (bound, fct) = (run.bound_mean_seconds.unwrap(), run.fct.all.unwrap());
            let ideal = fct.seconds.mean / fct.slowdown.mean;
            assert!((bound / ideal - 1.0).abs() < 1e-6, "{size}: {bound} {ideal}");
        }
    }

    /// Two interfaces carry a flow of 100 full segments in the time of 50, by two subflows or by
    /// entropy values of packets.
    #[test]
    fn connections_over_two_interfaces_do_not_go_below_it() {
        let two_subflows = ("transport", r#"{ kind = "mptcp", subflows = 2 }"#);
        for over_both in [two_subflows, ("entropy", "spray")] {
            let two = [
                ("fabric.interfaces", "2"),
                ("fabric.spine_rate", "100Gbps"),
                over_both,
                ("measure.flows", "1"),
                ("workload.sizes", "fixed:146KB"),
                ("workload.load", "0.01"),
            ];
            let run = run(&cell(1, &two));
            let (bound, fct) = (run.bound_mean_seconds.unwrap(), run.fct.all.unwrap());
            let ideal = fct.seconds.mean / fct.slowdown.mean;
            assert!(bound <= ideal * (1.0 + 1e-9), "{over_both:?}: {bound} {fct:?}");
            // Frames of 1518 bytes at 1 Gbps.
            assert!(bound >= 49.0 * 1518.0 * 8.0 / 1e9, "{over_both:?}: {bound}");
        }
    }

    #[test]
    fn the_capacity_of_a_cut_follows_the_events() {
        let event = r#"[{ at = "1ms", fail = ["leaf-1 spine-2"] }, { at = "2ms", recover = ["leaf-1 spine-2"] }]"#;
        let scenario = scenario(&[("event", event)]);
        let hosts = Hosts::new(&scenario.fabric.graph);
        let leaf = hosts.set(0, Level::Tor);
        let steps = capacity(&scenario, Side::Senders, |node| hosts.set(node, Level::Tor) == leaf);
        // Each of the two spines by two links of 1 Gbps.
        assert_eq!(steps, [(0.0, 4e9), (0.001, 2e9), (0.002, 4e9)]);
    }
}

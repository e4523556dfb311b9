//! Overload, found before a run: links that are offered more than they carry.

use std::collections::BTreeMap;

use heddle_fabric::{Fabric, FabricError, OfferedLoad, offered_load};
use heddle_scenario::{Connections, Flows, Graph, Node, Scenario, Scheme};
use heddle_sim::wire_bytes;
use heddle_units::{Bytes, Time};
use serde::Serialize;

/// Points at which a distribution of sizes is evaluated.
const SIZES: u32 = 2000;

/// States of the fabric that are looked at.
const MOST_STATES: usize = 16;

/// The load that a scenario offers to its links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offered {
    /// Load as the scenario gives it: payload. Of several workloads the sum, which says something
    /// if they have one capacity.
    pub load: f64,
    /// The same with headers: what links carry. It is without retransmissions, acknowledgements,
    /// probes and shims.
    pub wire_load: f64,
    /// Links that equal splitting (ECMP) offers more than they carry, busiest first.
    pub overloaded: Vec<OverloadedLink>,
    /// The busiest link's share, also if it is not overloaded.
    pub busiest: f64,
    /// The ToR or pod whose links to the tiers above together are offered most, and the share of
    /// their rates: above 1 no scheme carries it.
    pub busiest_cut: Option<(String, f64)>,
}

/// One direction of a link that is offered more than it carries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverloadedLink {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Offered bits per second over the link's rate.
    pub share: f64,
    /// Since when in the run, in seconds.
    pub from_seconds: f64,
}

/// The loads of a scenario, from its start and after each of its failures; `None` for workloads
/// without a load, and where packets take other paths than the shortest.
///
/// # Errors
/// If the graph makes no fabric.
pub fn offered(scenario: &Scenario) -> Result<Option<Offered>, FabricError> {
    let workloads: Vec<(&Flows, f64)> = scenario
        .workload
        .flows()
        .into_iter()
        // A closed loop offers no more than links carry.
        .filter(|flows| !matches!(flows.connections, Connections::ClosedLoop(_)))
        .map(|flows| (flows, wire_per_payload(scenario, flows)))
        .collect();
    if workloads.is_empty() || scenario.fabric.non_minimal.is_some() {
        return Ok(None);
    }
    let fabric = Fabric::new(&scenario.fabric.graph)?;
    let mut is_up = up_at_start(scenario, &fabric.graph);
    let mut offered = Offered {
        load: workloads.iter().map(|(flows, _)| flows.load).sum(),
        wire_load: workloads.iter().map(|(flows, wire)| flows.load * wire).sum(),
        overloaded: Vec::new(),
        busiest: 0.0,
        busiest_cut: None,
    };
    let mut states = vec![(Time::ZERO, None)];
    states.extend(scenario.events.iter().map(|event| (event.at, Some(event))));
    for (at, event) in states.into_iter().take(MOST_STATES) {
        if let Some(event) = event {
            let Some(up) = event.change.is_up() else { continue };
            event.links.iter().for_each(|&link| is_up[link as usize] = up);
        }
        let routes = fabric.routes(|link| is_up[link as usize])?;
        let loads = offered_load(&fabric, &routes, &workloads);
        offered.add_cuts(&fabric.graph, &loads);
        for load in loads {
            offered.busiest = offered.busiest.max(load.share);
            offered.add(load, at);
        }
    }
    offered.overloaded.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(Some(offered))
}

impl Offered {
    /// Looks at the links that leave each ToR upwards and each pod, in each direction. Links that
    /// are down are offered nothing.
    fn add_cuts(&mut self, graph: &Graph, loads: &[OfferedLoad]) {
        let nodes: BTreeMap<&str, &Node> =
            graph.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut cuts: BTreeMap<(String, bool), (f64, f64)> = BTreeMap::new();
        for load in loads.iter().filter(|load| load.share > 0.0) {
            let (Some(from), Some(to)) = (nodes.get(&*load.from), nodes.get(&*load.to)) else {
                continue;
            };
            let crossed = [(from, to, true), (to, from, false)].map(|(inside, outside, up)| {
                cuts_between(inside, outside).into_iter().map(move |cut| (cut, up))
            });
            for cut in crossed.into_iter().flatten() {
                let (offered, capacity) = cuts.entry(cut).or_default();
                *offered += load.share * load.rate.0 as f64;
                *capacity += load.rate.0 as f64;
            }
        }
        for ((cut, _), (offered, capacity)) in cuts {
            let share = offered / capacity;
            if self.busiest_cut.as_ref().is_none_or(|(_, most)| share > *most) {
                self.busiest_cut = Some((cut, share));
            }
        }
    }

    /// Adds a link, once.
    fn add(&mut self, load: OfferedLoad, at: Time) {
        let known = |link: &OverloadedLink| link.from == load.from && link.to == load.to;
        if load.share > 1.0 && !self.overloaded.iter().any(known) {
            let OfferedLoad { from, to, share, .. } = load;
            let from_seconds = at.as_secs_f64();
            self.overloaded.push(OverloadedLink { from, to, share, from_seconds });
        }
    }

    /// True if a scheme is offered more than it carries: queues grow with the length of the run.
    /// ECMP and spraying split equally, whatever links carry; for other schemes this is so if no
    /// split would do.
    pub fn overloads(&self, scheme: &Scheme) -> bool {
        let splits_equally = matches!(scheme, Scheme::Ecmp | Scheme::EcmpNs2 | Scheme::Spray);
        (splits_equally && !self.overloaded.is_empty()) || self.overloaded_cut().is_some()
    }

    /// The ToR or pod that is offered more than its links carry, and the share of their rates.
    fn overloaded_cut(&self) -> Option<(&str, f64)> {
        self.busiest_cut.as_ref().filter(|cut| cut.1 > 1.0).map(|(cut, share)| (&**cut, *share))
    }

    /// The overload in a sentence; `None` without.
    pub fn warning(&self, scheme: &Scheme) -> Option<String> {
        let (first, others) = self.overloaded.split_first()?;
        let since = if first.from_seconds > 0.0 {
            format!(" from {} s on", first.from_seconds)
        } else {
            String::new()
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " (and 1 link more)".to_owned(),
            count => format!(" (and {count} links more)"),
        };
        let split = match scheme {
            Scheme::Ecmp | Scheme::EcmpNs2 => "under ECMP's split",
            _ => "under an equal split",
        };
        let cut = self.overloaded_cut().map_or_else(String::new, |(cut, share)| {
            let percent = (share * 100.0).round();
            format!("; all links of {cut} to the tiers above are offered {percent} %, which no scheme carries")
        });
        let follows = if self.overloads(scheme) {
            "queues grow with the length of the run"
        } else {
            "a steady state depends on the scheme, which has to avoid the link"
        };
        let percent = (first.share * 100.0).round();
        Some(format!(
            "{} {} is offered {percent} % of its rate{others}{since} {split}{cut}: {follows}",
            first.from, first.to
        ))
    }
}

/// Names of what a link upwards from `inside` to `outside` leaves: the ToR, the pod.
fn cuts_between(inside: &Node, outside: &Node) -> Vec<String> {
    let tor = (inside.tier == 1 && outside.tier > 1).then(|| inside.name.clone());
    let pod = inside.pod.filter(|_| outside.pod.is_none() && outside.tier > inside.tier);
    tor.into_iter().chain(pod.map(|pod| format!("pod {pod}"))).collect()
}

/// For each link, true if it is up when the run starts.
fn up_at_start(scenario: &Scenario, graph: &Graph) -> Vec<bool> {
    let name = |node: u32| graph.nodes[node as usize].name.as_str();
    let is_failed = |(a, b): (u32, u32)| {
        let same = |(x, y): &(String, String)| {
            (x == name(a) && y == name(b)) || (x == name(b) && y == name(a))
        };
        scenario.fabric.failed.iter().any(same)
    };
    graph.links.iter().map(|link| !is_failed(link.ends)).collect()
}

/// Bytes on a link for each byte of payload, over the distribution of sizes.
fn wire_per_payload(scenario: &Scenario, flows: &Flows) -> f64 {
    let tcp = scenario.transport.tcp();
    let (mut wire, mut payload) = (0.0, 0.0);
    for step in 0..SIZES {
        let quantile = (f64::from(step) + 0.5) / f64::from(SIZES);
        let size = Bytes(flows.sizes.quantile(quantile).max(1.0) as u64);
        wire += wire_bytes(&tcp, size).0 as f64;
        payload += size.0 as f64;
    }
    wire / payload
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::scenario;

    fn of(changes: &[(&str, &str)]) -> Offered {
        offered(&scenario(changes)).unwrap().unwrap()
    }

    /// 20 KB are 13 segments of 1460 bytes and one of 1020, each with 58 bytes of headers.
    #[test]
    fn a_load_is_payload_and_links_carry_headers_too() {
        let offered = of(&[("workload.load", "0.5")]);
        assert!((offered.wire_load - 0.5 * (20_000.0 + 14.0 * 58.0) / 20_000.0).abs() < 1e-9);
        assert_eq!((offered.overloaded.len(), offered.warning(&Scheme::Ecmp)), (0, None));
    }

    #[test]
    fn an_overloaded_link_is_named() {
        let rate = r#"[{ between = "leaf-1 spine-1", rate = "100Mbps" }]"#;
        let offered = of(&[("workload.load", "0.5"), ("fabric.link", rate)]);
        let said = offered.warning(&Scheme::Ecmp).unwrap();
        assert!(
            said.contains("leaf-1 spine-1 is offered") || said.contains("spine-1 leaf-1"),
            "{said}"
        );
        assert!(offered.busiest > 1.0 && said.contains("ECMP"), "{said}");
        assert!(!said.contains("no scheme"), "other links have room: {said}");
    }

    /// 80 of the 160 Mbps that each leaf is offered cross, half over each spine: 400 Mbps are
    /// enough up, 10 Mbps are not enough down.
    #[test]
    fn an_overloaded_direction_is_named() {
        let rates = r#"[{ between = "leaf-1 spine-1", rate = "1Gbps", reverse_rate = "100Mbps" }]"#;
        let offered = of(&[("workload.load", "0.5"), ("fabric.link", rates)]);
        let names: Vec<_> = offered.overloaded.iter().map(|l| (&*l.from, &*l.to)).collect();
        assert_eq!(names, [("spine-1", "leaf-1")]);
        let other = r#"[{ between = "spine-1 leaf-1", rate = "1Gbps", reverse_rate = "100Mbps" }]"#;
        let offered = of(&[("workload.load", "0.5"), ("fabric.link", other)]);
        assert_eq!((&*offered.overloaded[0].from, offered.overloaded.len()), ("leaf-1", 1));
    }

    /// Of 160 Gbps between the pods 120 are left, and a link carries twice its share under an equal
    /// split.
    #[test]
    fn a_scheme_that_can_avoid_a_link_is_overloaded_only_where_no_split_would_do() {
        let at = |load: &str| {
            let fabric = r#"{ kind = "two-pod", failed = ["core-2 agg-4"] }"#;
            let workload = format!(
                r#"{{ kind = "flows", sizes = "websearch", pattern = "cross-pod", load = {load} }}"#
            );
            of(&[("fabric", fabric), ("workload", &workload)])
        };
        let hula = scenario(&[("scheme", "hula")]).scheme;
        let (half, full) = (at("0.6"), at("0.9"));
        assert_eq!([half.overloads(&Scheme::Ecmp), half.overloads(&hula)], [true, false]);
        assert!(half.overloads(&Scheme::EcmpNs2), "it splits by a hash, too");
        assert!(half.warning(&hula).unwrap().ends_with("which has to avoid the link"));
        assert!(full.overloads(&hula), "{full:?}");
        let (cut, share) = full.busiest_cut.clone().unwrap();
        assert_eq!((cut.as_str(), (share * 100.0).round()), ("pod 2", 125.0));
    }

    #[test]
    fn a_failure_during_the_run_counts() {
        let event = r#"[{ at = "2ms", fail = ["leaf-1 spine-1", "leaf-1 spine-2 #1"] }]"#;
        let offered = of(&[("workload.load", "0.9"), ("event", event)]);
        let first = &offered.overloaded[0];
        assert!(first.from_seconds > 0.0 && first.share > 1.0, "{offered:?}");
        let said = offered.warning(&Scheme::Spray).unwrap();
        assert!(said.contains("all links of leaf-1") && said.contains("no scheme"), "{said}");
    }

    #[test]
    fn a_replay_has_no_load() {
        let none =
            scenario(&[("workload", "{ kind = \"long\" }"), ("measure", "{ duration = \"1ms\" }")]);
        assert_eq!(offered(&none).unwrap(), None);
    }
}

//! Conservation of packets for any fabric, scheme and failures; every flow finishes.

use heddle_fabric::Fabric;
use heddle_scenario::{Change, Event, Graph, Scenario, Scheme, Workload};
use heddle_sim::Outcome;
use heddle_units::{Bytes, Time};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::network::random_fabrics::{scenario, scenario_with_failures};
use crate::network::support::run;

/// Every packet that hosts and ToRs sent has arrived, was dropped or is in flight.
pub fn assert_balanced(outcome: &Outcome) {
    let totals = &outcome.totals;
    let arrived = totals.received + outcome.scheme.probes;
    let lost = totals.dropped + totals.lost_to_failures + totals.unroutable;
    assert_eq!(totals.sent + totals.probes_sent, arrived + lost + totals.in_flight);
    let at_ports: u64 = outcome.port_counters.iter().map(|port| port.dropped).sum();
    assert_eq!(at_ports, totals.dropped);
}

/// All flows have finished with all of their bytes, none faster than their hosts' links allow.
pub fn assert_finished(scenario: &Scenario, outcome: &Outcome) {
    let Workload::Replay(flows) = &scenario.workload else { panic!("a replay") };
    assert_eq!((outcome.flows.len(), outcome.totals.unfinished), (flows.len(), 0));
    let bytes: u64 = flows.iter().map(|flow| flow.size.0).sum();
    assert_eq!(outcome.totals.delivered, Bytes(bytes));
    let links = &scenario.fabric.graph.links;
    let link = |host: u32| links.iter().find(|link| link.ends.0 == host).expect("each has one");
    for flow in &outcome.flows {
        let (first, last) = (link(flow.from), link(flow.to));
        let least = first.rate.min(last.rate).time_for(flow.size) + first.delay + last.delay;
        assert!(least < flow.fct, "{flow:?}");
    }
    let mut expected: Vec<_> = flows
        .iter()
        .map(|f| (scenario.measure.probe_warm_up + f.at, f.from, f.to, f.size))
        .collect();
    let mut finished: Vec<_> =
        outcome.flows.iter().map(|f| (f.start, f.from, f.to, f.size)).collect();
    expected.sort_unstable();
    finished.sort_unstable();
    assert_eq!(finished, expected, "each flow once");
}

/// Links between switches without any one of which all hosts still reach each other.
fn spares(graph: &Graph) -> Vec<u32> {
    let fabric = Fabric::new(graph).expect("it is sound");
    let is_spare = |link: &u32| {
        let routes = fabric.routes(|other| other != *link).expect("it is small");
        fabric.check_reachable(&routes).is_ok()
    };
    let between = |link: &u32| graph.links[*link as usize].ends.0 >= fabric.hosts;
    (0..graph.links.len() as u32).filter(between).filter(is_spare).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_packet_is_accounted_for_and_every_flow_finishes(scenario in scenario(), seed: u64) {
        let outcome = run(&scenario, seed);
        assert_balanced(&outcome);
        assert_finished(&scenario, &outcome);
        prop_assert_eq!(outcome.totals.lost_to_failures + outcome.totals.unroutable, 0);
    }

    #[test]
    fn failures_lose_what_is_counted_and_flows_finish_after_them(
        scenario in scenario_with_failures(),
        seed: u64,
    ) {
        let outcome = run(&scenario, seed);
        assert_balanced(&outcome);
        assert_finished(&scenario, &outcome);
    }

    /// A run stopped at any time is balanced with its packets in flight.
    #[test]
    fn a_run_cut_short_is_balanced_too(
        mut scenario in scenario_with_failures(),
        seed: u64,
        limit in 1u64..3_000,
    ) {
        scenario.measure.time_limit = Time::micros(limit);
        let outcome = run(&scenario, seed);
        assert_balanced(&outcome);
        prop_assert!(outcome.totals.simulated <= Time::micros(limit));
    }

    /// Routing finds another way. HULA's next hops stay those of before, so it may have none; ECMP
    /// stands in for it.
    #[test]
    fn flows_finish_around_a_link_that_stays_down(
        mut scenario in scenario(),
        seed: u64,
        link: Index,
        at in 0u64..3_000,
    ) {
        if matches!(scenario.scheme, Scheme::Hula(_) | Scheme::MpHula(_) | Scheme::Shuttle(_)) {
            scenario.scheme = Scheme::Ecmp;
        }
        let spares = spares(&scenario.fabric.graph);
        if !spares.is_empty() {
            let links = vec![*link.get(&spares)];
            scenario.events = vec![Event::both_ways(Time::micros(at), Change::Fail, links)];
        }
        let outcome = run(&scenario, seed);
        assert_balanced(&outcome);
        assert_finished(&scenario, &outcome);
    }
}

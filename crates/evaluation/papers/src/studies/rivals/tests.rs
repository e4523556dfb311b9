use super::*;
use heddle_scenario::{Entropy, Scenario, Scheme, Transport};
use heddle_study::point::Point as _;

fn scenario(setup: Setup, rival: Rival) -> Scenario {
    Point::Rivals { setup, load: setup.loads()[0], rival }.scenario(Effort::Quick).unwrap()
}

#[test]
fn hosts_that_choose_paths_have_plain_switches() {
    let reps = Rival { hosts: Hosts::Uet, selection: PathSelection::Reps };
    let scenario = scenario(Setup::Permutation, reps);
    assert_eq!(scenario.scheme, Scheme::Ecmp);
    assert!(matches!(scenario.entropy, Entropy::Reps(_)));
    assert!(matches!(scenario.transport, Transport::Uet(_)));
    assert!(scenario.fabric.trim_above.is_some(), "under UET alone: TCP's points load, too");
}

#[test]
fn planes_share_the_rate_of_a_host() {
    let rival = Rival { hosts: Hosts::MptcpDctcp, selection: PathSelection::MpHula };
    for planes in [2, 4] {
        let fabric = scenario(Setup::WebPlanes(planes), rival).fabric;
        assert_eq!(fabric.graph.interfaces(), u32::from(planes));
        let rates = fabric.graph.links.iter().map(|link| link.rate.0);
        let (all, hosts) = (rates.sum::<u64>(), 16 * 100_000_000_000);
        assert_eq!(all, 2 * hosts, "as fast inside as at its hosts");
    }
}

#[test]
fn neighbours_in_the_ring_are_in_other_pods() {
    let rival = Rival { hosts: Hosts::Uet, selection: PathSelection::Spray };
    for hosts in [64, 128] {
        let scenario = scenario(Setup::Ring(hosts), rival);
        let heddle_scenario::Workload::Collective(ring) = &scenario.workload else { panic!() };
        let mut ranks = ring.hosts.clone();
        let pod = |host: u32| scenario.fabric.graph.nodes[host as usize].pod;
        assert!(ranks.windows(2).all(|pair| pod(pair[0]) != pod(pair[1])));
        ranks.sort_unstable();
        assert_eq!(ranks, (0..u32::from(hosts)).collect::<Vec<_>>(), "each host once");
    }
}

/// Equal rows would look like two results.
#[test]
fn no_two_points_are_the_same_scenario() {
    let scenarios: Vec<_> = points(Effort::Medium)
        .into_iter()
        .map(|point| (point, point.scenario(Effort::Medium).unwrap()))
        .collect();
    for (i, (point, scenario)) in scenarios.iter().enumerate() {
        let same = |(_, other): &&(Point, Scenario)| {
            Scenario { title: scenario.title.clone(), ..other.clone() } == *scenario
        };
        let twin = scenarios[i + 1..].iter().find(same);
        assert!(twin.is_none(), "{}: {}", point.label(), twin.unwrap().0.label());
    }
}

//! Ports, next hops and multicast groups of small graphs. Nodes are numbered hosts first, as the
//! graph lists them.

use heddle_policy::{Port, Tor};
use heddle_scenario::{Graph, Link, Node, Routing};
use heddle_units::{Rate, Time};
use proptest::prelude::*;

use super::*;

mod shapes;

/// A graph of nodes in these tiers, called `n0` and up, and links between them.
fn graph(tiers: &[u8], links: &[(u32, u32)]) -> Graph {
    let node = |(index, &tier)| Node { name: format!("n{index}"), tier, pod: None };
    let link = |&ends| Link::new(ends, Rate::gbps(10), Time::micros(1));
    Graph {
        nodes: tiers.iter().enumerate().map(node).collect(),
        links: links.iter().map(link).collect(),
        routing: Routing::UpDown,
    }
}

/// Two hosts, their ToRs (2, 3), two switches above (4, 5) and one on top (6) that only 5 has.
fn diamond() -> Fabric {
    let links = [(0, 2), (1, 3), (2, 4), (2, 5), (3, 4), (5, 3), (5, 6)];
    Fabric::new(&graph(&[0, 0, 1, 1, 2, 2, 3], &links)).unwrap()
}

/// The nodes at the far ends of a switch's ports.
fn far_ends(fabric: &Fabric, switch: u32, ports: &[Port]) -> Vec<u32> {
    let all = fabric.ports_of(fabric.hosts + switch);
    ports.iter().map(|port| all[usize::from(port.0)].to).collect()
}

/// The next nodes of packets for a ToR (the first is 0).
fn next_nodes(fabric: &Fabric, routes: &Routes, node: u32, tor: u16) -> Vec<u32> {
    let switch = node - fabric.hosts;
    far_ends(fabric, switch, routes.next_hops(switch, Tor(tor)))
}

#[test]
fn the_ports_of_a_node_follow_each_other_in_the_order_of_the_links() {
    let fabric = diamond();
    let far = |node| fabric.ports_of(node).iter().map(|port| port.to).collect::<Vec<u32>>();
    assert_eq!(
        (0..7).map(far).collect::<Vec<_>>(),
        [vec![2], vec![3], vec![0, 4, 5], vec![1, 4, 5], vec![2, 3], vec![2, 3, 6], vec![5],]
    );
    for (id, port) in fabric.ports.iter().enumerate() {
        let peer = fabric.ports[port.peer as usize];
        assert_eq!((peer.to, peer.owner, peer.link), (port.owner, port.to, port.link));
        assert_eq!((peer.peer as usize, peer.is_up), (id, !port.is_up));
    }
    assert_eq!((&fabric.host_tor[..], &fabric.host_port[..]), (&[Tor(0), Tor(1)][..], &[2, 5][..]));
}

/// Hosts 0 and 1 with two links each to ToRs 2 and 3: the ports 0 to 3 are theirs.
#[test]
fn interfaces_are_numbered_as_the_hosts_ports() {
    let links = [(0, 2), (0, 2), (1, 3), (1, 3), (2, 3)];
    let mut graph = graph(&[0, 0, 1, 1], &links);
    graph.routing = Routing::Shortest;
    let fabric = Fabric::new(&graph).unwrap();
    assert_eq!((fabric.interfaces, &fabric.interface_port[..]), (2, &[4, 5, 7, 8][..]));
    assert_eq!(fabric.interface_tor, [0, 0, 1, 1].map(Tor));
    assert_eq!((&fabric.host_tor[..], &fabric.host_port[..]), (&[0, 1].map(Tor)[..], &[4, 7][..]));
    graph.links.remove(3);
    let uneven = FabricError::Host("n1".into(), 1, 2);
    assert_eq!(Fabric::new(&graph).unwrap_err(), uneven);
}

/// Hosts 0 and 1 with the ToRs 3 and 4, host 2 with 4 and 5; the switch on top (6) has 3 and 4
/// alone.
#[test]
fn hosts_with_two_tors_reach_each_other_if_some_of_these_do() {
    let links = [(0, 3), (0, 4), (1, 3), (1, 4), (2, 4), (2, 5), (3, 6), (4, 6)];
    let fabric = Fabric::new(&graph(&[0, 0, 0, 1, 1, 1, 2], &links)).unwrap();
    assert_eq!(fabric.interface_tor, [0, 1, 0, 1, 1, 2].map(Tor));
    assert_eq!((fabric.interfaces_of(2), fabric.tors_of(2)), (4..6, vec![Tor(1), Tor(2)]));
    let check = |is_up: fn(u32) -> bool| fabric.check_reachable(&fabric.routes(is_up).unwrap());
    assert_eq!(check(|_| true), Ok(()), "ToR 5 reaches no other");
    assert_eq!(check(|link| link != 6), Ok(()), "without the link from 3 to 6");
    let apart = [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (3, 7), (4, 6), (5, 7)];
    let fabric = Fabric::new(&graph(&[0, 0, 1, 1, 1, 1, 2, 2], &apart)).unwrap();
    let check =
        |cut: &[u32]| fabric.check_reachable(&fabric.routes(|link| !cut.contains(&link)).unwrap());
    assert_eq!((check(&[]), check(&[4])), (Ok(()), Ok(())), "two planes, and one of them");
    let cut = FabricError::Unreachable("n0".into(), "n1".into());
    assert_eq!(check(&[4, 7]), Err(cut), "each plane is cut at another end");
}

#[test]
fn packets_take_all_shortest_paths_up_and_then_down() {
    let fabric = diamond();
    let routes = fabric.routes(|_| true).unwrap();
    let next = |node, tor| next_nodes(&fabric, &routes, node, tor);
    assert_eq!(next(2, 1), [4, 5]);
    assert_eq!((next(4, 1), next(5, 1), next(5, 0)), (vec![3], vec![3], vec![2]));
    assert_eq!((next(6, 0), next(2, 0)), (vec![5], vec![]), "from the top, and at the ToR itself");
    assert_eq!(fabric.check_reachable(&routes), Ok(()));
}

#[test]
fn routes_keep_off_links_that_are_down() {
    let fabric = diamond();
    let routes = fabric.routes(|link| link != 4).unwrap();
    let next = |node, tor| next_nodes(&fabric, &routes, node, tor);
    assert_eq!((next(2, 1), next(4, 1)), (vec![5], vec![]), "without the link from 3 to 4");
    let routes = fabric.routes(|link| link != 4 && link != 5).unwrap();
    let cut = FabricError::Unreachable("n2".into(), "n3".into());
    assert_eq!(fabric.check_reachable(&routes), Err(cut));
}

#[test]
fn each_of_parallel_links_is_a_next_hop() {
    let fabric = graph(&[0, 0, 1, 1, 2], &[(0, 2), (1, 3), (2, 4), (2, 4), (4, 3)]);
    let fabric = Fabric::new(&fabric).unwrap();
    let routes = fabric.routes(|_| true).unwrap();
    assert_eq!(routes.next_hops(0, Tor(1)), [Port(1), Port(2)]);
    let routes = fabric.routes(|link| link != 2).unwrap();
    assert_eq!(routes.next_hops(0, Tor(1)), [Port(2)]);
}

/// HULA section 4.1, figure 2.
#[test]
fn a_probe_goes_on_up_and_down_from_below_and_only_down_from_above() {
    let fabric = diamond();
    let group = |node: u32, port| {
        let switch = node - fabric.hosts;
        far_ends(&fabric, switch, &fabric.multicast_group(switch, Port(port)))
    };
    assert_eq!((group(5, 0), group(5, 1)), (vec![3, 6], vec![2, 6]), "from below");
    assert_eq!(group(5, 2), [2, 3], "from above");
    assert_eq!(group(6, 0), [0; 0], "the top has nobody else");
    assert_eq!(group(2, 1), [0; 0], "hosts get no probes");
}

#[test]
fn graphs_that_cannot_be_routed_are_refused() {
    let error = |tiers: &[u8], links: &[(u32, u32)]| Fabric::new(&graph(tiers, links)).unwrap_err();
    let (zero, one, two) = ("n0".to_owned(), "n1".to_owned(), "n2".to_owned());
    assert_eq!(error(&[0, 1], &[]), FabricError::Host(zero.clone(), 0, 1));
    assert_eq!(error(&[0, 1, 2], &[(0, 2)]), FabricError::HostUplink(zero, two.clone()));
    assert_eq!(error(&[0, 1, 1], &[(0, 1), (1, 2)]), FabricError::SameTier(one, two));
}

#[test]
fn one_big_switch_keeps_the_hosts_their_links_and_the_longest_way() {
    let mut original = diamond().graph;
    original.links[1].rate = Rate::gbps(25);
    original.links[2].delay = Time::micros(3);
    let ideal = one_big_switch(&original);
    assert_eq!(ideal.nodes[..2], original.nodes[..2]);
    assert_eq!(ideal.nodes.len(), 3);
    // The host's own 1 us, the slowest to the second tier and the one to the top.
    let delay = Time::micros(1 + 3 + 1);
    let links =
        [(0, 10), (1, 25)].map(|(host, rate)| Link::new((host, 2), Rate::gbps(rate), delay));
    assert_eq!(ideal.links, links);
    let (host, tor) = (original.links[0].ends.0, original.links[0].ends.1);
    original.links[0].set_rate_from(tor, Rate::gbps(1));
    let around = one_big_switch(&original).links[0];
    assert_eq!([host, 2].map(|end| around.rate_from(end)), [10, 1].map(Rate::gbps));
}

prop_compose! {
    /// Three tiers of switches; each link between neighbouring tiers is there or not, and some skip
    /// a tier.
    fn any_graph()(
        counts in (1u32..5, 1u32..5, 1u32..4),
        present in prop::collection::vec(any::<bool>(), 64),
        skips in prop::collection::vec(prop::bool::weighted(0.2), 16),
    ) -> Graph {
        let (tors, aggs, cores) = counts;
        let tiers = [vec![1; tors as usize], vec![2; aggs as usize], vec![3; cores as usize]];
        let mesh = |low: std::ops::Range<u32>, high: std::ops::Range<u32>| {
            low.flat_map(move |a| high.clone().map(move |b| (a, b))).collect::<Vec<_>>()
        };
        let next_tier = [mesh(0..tors, tors..tors + aggs), mesh(tors..tors + aggs, tors + aggs..tors + aggs + cores)].concat();
        let skip = mesh(0..tors, tors + aggs..tors + aggs + cores);
        let chosen = |links: Vec<(u32, u32)>, keep: Vec<bool>| {
            links.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(link, _)| link).collect::<Vec<_>>()
        };
        let links = [chosen(next_tier, present), chosen(skip, skips)].concat();
        graph(&tiers.concat(), &links)
    }
}

/// A packet on its way: the switch that has it, and whether it has descended.
type State = (u32, bool);

/// All states of a packet one hop later, one for each next hop.
fn one_hop_on(
    fabric: &Fabric,
    routes: &Routes,
    tor: u32,
    (switch, descended): State,
) -> Vec<State> {
    let hops = routes.next_hops(switch, Tor(tor as u16)).iter();
    let taken = hops.map(|hop| fabric.ports_of(switch)[usize::from(hop.0)]);
    taken
        .map(|port| {
            assert!(!(descended && port.is_up), "down and up again at switch {switch}");
            (port.to, !port.is_up)
        })
        .collect()
}

prop_compose! {
    /// Connected switches, each linked to one before it and some to others; packets take the
    /// shortest of all paths.
    fn any_connected_graph()(
        tiers in prop::collection::vec(1u8..4, 2..12),
        before in prop::collection::vec(any::<prop::sample::Index>(), 12),
        more in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
    ) -> Graph {
        let tiers = { let mut tiers = tiers; tiers[0] = 1; tiers.sort_unstable(); tiers };
        let count = tiers.len();
        let tree = (1..count).zip(&before).map(|(node, other)| (node as u32, other.index(node) as u32));
        let more = more.iter().map(|(a, b)| (a.index(count) as u32, b.index(count) as u32)).filter(|(a, b)| a != b);
        let links: Vec<(u32, u32)> = tree.chain(more).collect();
        Graph { routing: Routing::Shortest, ..graph(&tiers, &links) }
    }
}

/// Hops between any two nodes, by Floyd's algorithm.
fn all_hops(graph: &Graph) -> Vec<Vec<u32>> {
    let count = graph.nodes.len();
    let mut hops = vec![vec![1_000; count]; count];
    (0..count).for_each(|node| hops[node][node] = 0);
    for (a, b) in graph.links.iter().map(|link| (link.ends.0 as usize, link.ends.1 as usize)) {
        (hops[a][b], hops[b][a]) = (1, 1);
    }
    for middle in 0..count {
        for a in 0..count {
            for b in 0..count {
                hops[a][b] = hops[a][b].min(hops[a][middle] + hops[middle][b]);
            }
        }
    }
    hops
}

proptest! {
    /// A switch's next hops are all ports that lead one hop nearer and no others, so whichever is
    /// taken, a packet arrives.
    #[test]
    fn every_choice_on_shortest_paths_is_one_hop_nearer(graph in any_connected_graph()) {
        let fabric = Fabric::new(&graph).unwrap();
        let routes = fabric.routes(|_| true).unwrap();
        prop_assert_eq!(fabric.check_reachable(&routes), Ok(()));
        let hops = all_hops(&graph);
        for (tor, switch) in (0..fabric.tors).flat_map(|tor| (0..fabric.switches()).map(move |switch| (tor, switch))) {
            let here = hops[switch as usize][tor as usize];
            let nearer = fabric.ports_of(switch).iter().zip(0..);
            let nearer = nearer.filter(|(port, _)| hops[port.to as usize][tor as usize] + 1 == here);
            let expected: Vec<Port> = nearer.map(|(_, number)| Port(number)).collect();
            prop_assert_eq!(routes.next_hops(switch, Tor(tor as u16)), expected);
        }
    }

    /// Whichever next hop each switch takes, a packet arrives, after as many hops, and never climbs
    /// after it has descended.
    #[test]
    fn every_choice_of_next_hops_arrives(graph in any_graph()) {
        let fabric = Fabric::new(&graph).unwrap();
        let routes = fabric.routes(|_| true).unwrap();
        let pairs = (0..fabric.tors).flat_map(|from| (0..fabric.tors).map(move |to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            let mut front = one_hop_on(&fabric, &routes, to, (from, false));
            while front.iter().any(|(switch, _)| *switch != to) {
                let next = front.iter().map(|state| one_hop_on(&fabric, &routes, to, *state));
                let next: Vec<Vec<State>> = next.collect();
                prop_assert!(next.iter().all(|states| !states.is_empty()), "stuck, or there early");
                front = next.concat();
                front.sort_unstable();
                front.dedup();
            }
        }
    }
}

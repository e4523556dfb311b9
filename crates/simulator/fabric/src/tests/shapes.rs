//! Paths in the fabrics of the papers, by their own formulas.

use heddle_scenario::{Source, load_fabric};

use super::*;

fn fabric(shape: &str) -> Fabric {
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let source = Source::new("f.toml", format!("[fabric]\n{shape}"));
    let file = load_fabric(&source, &no_files).unwrap_or_else(|error| panic!("{error}"));
    Fabric::new(&file.fabric.graph).unwrap()
}

/// In how many digits of base `base` two numbers differ.
fn differing_digits(mut a: u32, mut b: u32, base: u32) -> u64 {
    let mut differing = 0;
    while a != b {
        differing += u64::from(a % base != b % base);
        (a, b) = (a / base, b / base);
    }
    differing
}

/// BCube section 3.2: a shortest path corrects one digit of the address after the other, in any
/// order, each by one switch: d digits d! orders and 2d hops.
#[test]
fn bcube_has_a_path_for_each_order_of_the_digits() {
    for (n, k) in [(4, 1), (3, 2), (2, 3)] {
        let fabric = fabric(&format!("kind = \"bcube\"\nports = {n}\nlevels = {k}"));
        let routes = fabric.routes(|_| true).unwrap();
        assert_eq!(fabric.check_reachable(&routes), Ok(()));
        assert_eq!(fabric.tors, u32::pow(n, k + 1));
        for (from, to) in [(0, 1), (0, n), (1, n), (0, fabric.tors - 1), (n + 1, 0)] {
            let differing = differing_digits(from, to, n);
            let orders: u64 = (1..=differing).product();
            assert_eq!(fabric.count_paths(from, to), orders, "BCube_{k} of {n}: {from} to {to}");
            let paths = fabric.paths(&routes, from, to).unwrap();
            assert_eq!(paths.count(), orders);
            let mut path = Path::default();
            assert!(paths.nth(orders - 1, &mut path));
            assert_eq!(path.hops.len() as u64, 2 * differing + 1);
        }
    }
}

/// VL2 section 4.1: up to one of two aggregation switches, to one of D_A / 2 intermediate switches,
/// and down through one of two.
#[test]
fn vl2_has_a_path_by_each_intermediate_switch_and_two_on_either_side() {
    for (d_a, d_i) in [(4, 6), (8, 4)] {
        let shape = format!(
            "kind = \"vl2\"\naggregation_ports = {d_a}\nintermediate_ports = {d_i}\nhosts_per_tor = 1"
        );
        let fabric = fabric(&shape);
        let last = fabric.tors - 1;
        assert_eq!(fabric.tors, d_a * d_i / 4);
        assert_eq!(fabric.count_paths(0, last), 2 * u64::from(d_a / 2) * 2);
        assert_eq!(fabric.count_paths(0, 1), 2, "ToRs of one pair need no intermediate switch");
    }
}

/// A failed link of a relay leaves the paths that correct another digit first.
#[test]
fn bcube_routes_around_a_failed_port() {
    let fabric = fabric("kind = \"bcube\"\nports = 4\nlevels = 1");
    let name = |node: u32| fabric.node(node).name.as_str();
    let links = fabric.graph.links.iter();
    let failed = links
        .zip(0..)
        .find(|(link, _)| (name(link.ends.0), name(link.ends.1)) == ("relay-1", "switch-0-1"));
    let failed: u32 = failed.unwrap().1;
    let routes = fabric.routes(|link| link != failed).unwrap();
    assert_eq!(fabric.check_reachable(&routes), Ok(()));
    let far = |to: u16| {
        let hops = far_ends(&fabric, 0, routes.next_hops(0, Tor(to)));
        hops.into_iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(far(5), ["switch-1-1"], "towards 11, whose digits both differ");
    assert_eq!(far(1), ["switch-1-1"], "towards 01, now by a detour");
}

/// Links and links between groups of every path between routers.
fn lengths(fabric: &Fabric) -> Vec<(usize, usize)> {
    let routes = fabric.routes(|_| true).unwrap();
    let group = |router: u32| fabric.node(fabric.hosts + router).pod;
    let per_router = fabric.hosts / fabric.tors;
    let pairs = (0..fabric.tors).flat_map(|a| (0..fabric.tors).map(move |b| (a, b)));
    let mut lengths = Vec::new();
    for (from, to) in pairs.filter(|(a, b)| a != b) {
        let paths = fabric.paths(&routes, from * per_router, to * per_router).unwrap();
        for path in paths.iter() {
            let routers: Vec<u32> = path.hops.iter().map(|hop| hop.switch).collect();
            let crossings = routers.windows(2).filter(|pair| group(pair[0]) != group(pair[1]));
            lengths.push((routers.len() - 1, crossings.count()));
            assert!(lengths.last().unwrap().1 <= usize::from(group(from) != group(to)));
        }
    }
    lengths
}

/// Kim et al., section 4.1: of a router's a (a h + 1) - 1 others a - 1 are one link away, in its
/// group; its h links to other groups lead to as many routers by one link, those have a - 1
/// neighbours, its own neighbours (a - 1) h links, and all others are three links away.
#[test]
fn minimal_paths_of_a_dragonfly_have_three_links_and_one_between_groups() {
    for (a, h) in [(4usize, 2usize), (3, 3), (6, 3)] {
        let shape = format!(
            "kind = \"dragonfly\"\nrouters = {a}\nglobal_links = {h}\nhosts_per_router = 1"
        );
        let fabric = fabric(&shape);
        let lengths = lengths(&fabric);
        let routers = a * (a * h + 1);
        let count = |links, crossings| lengths.iter().filter(|l| **l == (links, crossings)).count();
        assert_eq!(count(1, 0), routers * (a - 1));
        assert_eq!(count(1, 1), routers * h);
        assert_eq!(count(2, 1), routers * 2 * (a - 1) * h);
        assert_eq!(count(3, 1), routers * (a - 1) * (a - 1) * h);
        assert_eq!(lengths.len(), routers * (routers - 1), "one path each");
    }
}

/// Two groups of four routers with two links each to the other: a router has both to choose from.
#[test]
fn several_links_between_groups_are_next_hops_alike() {
    let fabric = fabric("kind = \"dragonfly\"\nrouters = 4\ngroups = 2");
    let routes = fabric.routes(|_| true).unwrap();
    assert!((4..8).any(|to| routes.next_hops(0, Tor(to)).len() == 2));
    assert!(lengths(&fabric).iter().all(|&(links, _)| links <= 2));
}

/// Without its link to another group, a group's packets go by a third.
#[test]
fn a_dragonfly_routes_around_a_failed_link_between_groups() {
    let fabric = fabric("kind = \"dragonfly\"\nrouters = 4");
    let crosses = |link: &&heddle_scenario::Link| {
        let pods = [link.ends.0, link.ends.1].map(|end| fabric.node(end).pod);
        pods == [Some(1), Some(2)]
    };
    let cut = fabric.graph.links.iter().position(|link| crosses(&link)).unwrap() as u32;
    let routes = fabric.routes(|link| link != cut).unwrap();
    assert_eq!(fabric.check_reachable(&routes), Ok(()));
    let paths = fabric.paths(&routes, 0, 8).unwrap();
    let group = |switch: u32| fabric.node(fabric.hosts + switch).pod;
    for path in paths.iter() {
        let crossings = path.hops.windows(2).filter(|p| group(p[0].switch) != group(p[1].switch));
        assert_eq!(crossings.count(), 2);
    }
}

/// To a group a packet takes one link between groups, and the link of its own router if that has
/// one; to ToRs as without groups.
#[test]
fn routes_lead_to_groups_beside_tors() {
    let fabric = fabric("kind = \"dragonfly\"\nrouters = 4");
    let (pods, routes) = (fabric.pods().unwrap(), fabric.routes(|_| true).unwrap());
    let by_pods = fabric.routes_by_pods(&pods, |_| true).unwrap();
    assert_eq!((routes.undecided(), routes.to_pod(0)), (None, None));
    assert_eq!((pods.count(), pods.of(0), pods.of(35)), (9, 0, 8));
    for switch in 0..fabric.switches() {
        for tor in (0..fabric.tors as u16).map(Tor) {
            assert_eq!(by_pods.next_hops(switch, tor), routes.next_hops(switch, tor));
        }
        assert_eq!(by_pods.next_hops(switch, by_pods.undecided().unwrap()), []);
        for pod in 0..pods.count() {
            let hops = by_pods.next_hops(switch, by_pods.to_pod(pod).unwrap());
            let far = far_ends(&fabric, switch, hops);
            let far: Vec<u16> = far.into_iter().map(|n| pods.of(n - fabric.hosts)).collect();
            let is_next = match pods.of(switch) == pod {
                true => far.is_empty(),
                false => far == [pod] || far == [pods.of(switch)],
            };
            assert!(is_next, "{switch} {pod} {far:?}");
        }
    }
    assert_eq!(by_pods.to_pod(9), None);
    // Router 1 leads to groups 2 and 3.
    let far = |pod| far_ends(&fabric, 0, by_pods.next_hops(0, by_pods.to_pod(pod).unwrap()));
    assert_eq!([far(1), far(2)].map(|far| pods.of(far[0] - fabric.hosts)), [1, 2]);
}

/// Two links inside of groups and a longer one between them.
#[test]
fn one_big_switch_for_a_dragonfly_is_as_far_across() {
    let original =
        fabric("kind = \"dragonfly\"\nrouters = 4\nlink_delay = \"2us\"\nglobal_delay = \"6us\"")
            .graph;
    let ideal = one_big_switch(&original);
    assert_eq!((ideal.nodes.len(), ideal.links.len()), (73, 72));
    assert!(ideal.links.iter().all(|link| link.delay == Time::micros(2 + (2 + 6 + 2) / 2)));
}

/// A server's ports together are a host's link; the longest path crosses 2 (k + 1) links between
/// relays and switches.
#[test]
fn one_big_switch_for_bcube_is_as_far_across() {
    let original = fabric("kind = \"bcube\"\nports = 4\nlevels = 1\nlink_delay = \"3us\"").graph;
    let ideal = one_big_switch(&original);
    assert_eq!((ideal.nodes.len(), ideal.links.len()), (17, 16));
    assert!(ideal.links.iter().all(|link| link.rate == Rate::gbps(2)));
    assert!(ideal.links.iter().all(|link| link.delay == Time::micros(2 * 3)));
}

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

/// BCube section 3.2: a shortest path corrects one digit of the address after the other, in any order, each by one switch: d digits
/// d! orders and 2d hops.
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

/// VL2 section 4.1: up to one of two aggregation switches, to one of D_A / 2 intermediate switches, and down through one of two.
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

/// A server's ports together are a host's link; the longest path crosses 2 (k + 1) links between relays and switches.
#[test]
fn one_big_switch_for_bcube_is_as_far_across() {
    let original = fabric("kind = \"bcube\"\nports = 4\nlevels = 1\nlink_delay = \"3us\"").graph;
    let ideal = one_big_switch(&original);
    assert_eq!((ideal.nodes.len(), ideal.links.len()), (17, 16));
    assert!(ideal.links.iter().all(|link| link.rate == Rate::gbps(2)));
    assert!(ideal.links.iter().all(|link| link.delay == Time::micros(2 * 3)));
}

//! `routes = "kernel"` where links end at VLAN interfaces or bonds, and where the routes are a VRF's,
//! with the kernel's own drivers.
//!
//! Without such a driver in the kernel a test is skipped, with a line on standard error; results/vlan
//! records a run with them.

use crate::common::routed::{Ends, LEAVES, SPINES};
use crate::common::{Fabric, eventually};
use heddle_testing::{Driver, Need, skip_because, skip_without};

const HULA: &str = "[tors]\n1 = [\"10.0.1.0/24\"]\n2 = [\"10.0.2.0/24\"]\n[scheme]\nkind = \"hula\"\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"\n";
/// The switches that run: the third rack has none.
const RUNNING: [&str; 4] = ["leaf-1", "leaf-2", "spine-1", "spine-2"];
/// The table of the VRF.
const TABLE: u32 = 100;

#[track_caller]
fn skip(driver: Driver) -> bool {
    skip_without(Need::Root) || skip_because(driver.missing().as_deref())
}

/// Routes between the racks, in a table.
fn add_routes(fabric: &Fabric, table: u32) {
    for (leaf, other) in [("leaf-1", 2), ("leaf-2", 1)] {
        let own = 3 - other;
        let hops = format!("nexthop via 10.1.{own}1.1 nexthop via 10.1.{own}2.1");
        fabric.ip(leaf, &format!("route add table {table} 10.0.{other}.0/24 {hops}"));
        for (s, spine) in (1..).zip(SPINES) {
            let via = format!("via 10.1.{other}{s}.0 dev swp{other}");
            fabric.ip(spine, &format!("route add table {table} 10.0.{other}.0/24 {via}"));
        }
    }
}

/// HULA takes both spines, and one alone when probes no longer come by the other.
fn hula_forwards(fabric: &mut Fabric, keys: &str) {
    for node in RUNNING {
        fabric.start_routed(node, &format!("{keys}{HULA}"));
    }
    fabric.wait_for(&RUNNING);
    eventually("probes have found ways", || {
        fabric.has_best("leaf-1", &[2]) && fabric.has_best("leaf-2", &[1])
    });
    assert_eq!(fabric.next_hops("leaf-1", 2), SPINES);
    assert!(fabric.transfer(None, 200_000, || false));
    let through = |spine: &str| fabric.count(spine, "forwarded");
    assert!(through("spine-1") + through("spine-2") > 200_000 / 1500);

    fabric.ip("leaf-2", "link set swp1 down");
    eventually("the other spine is known as the best", || {
        let routes = fabric.status("leaf-1").routes;
        routes.iter().any(|route| route.best.iter().any(|best| best.peer == "spine-2"))
    });
    let before = through("spine-2");
    assert!(fabric.transfer(None, 200_000, || false), "by the other spine");
    assert!(through("spine-2") - before > 200_000 / 1500);
    for node in RUNNING {
        let counters = fabric.status(node).counters;
        let dropped = counters.iter().filter(|(name, _)| name.starts_with("dropped"));
        assert_eq!(dropped.map(|(_, count)| count.packets).sum::<u64>(), 0, "{node}");
    }
}

#[test]
fn vlan_interfaces_are_ports() {
    if skip(Driver::Vlan) {
        return;
    }
    let mut fabric = Fabric::routed_over(Ends::Vlan);
    add_routes(&fabric, 254);
    hula_forwards(&mut fabric, "");
}

#[test]
fn bonds_are_ports() {
    if skip(Driver::Bond) {
        return;
    }
    let mut fabric = Fabric::routed_over(Ends::Bond);
    add_routes(&fabric, 254);
    hula_forwards(&mut fabric, "");
}

/// The main table has none of these routes, nor the kernel's own to the links.
#[test]
fn the_routes_of_a_vrf_are_followed() {
    if skip(Driver::Vrf) {
        return;
    }
    let mut fabric = Fabric::routed();
    for node in LEAVES.iter().chain(&SPINES) {
        fabric.ip(node, &format!("link add red type vrf table {TABLE}"));
        fabric.ip(node, "link set red up");
        let devices: &[&str] = match node.starts_with("leaf") {
            true => &["rack", "swp1", "swp2"],
            false => &["swp1", "swp2", "swp3"],
        };
        for device in devices {
            fabric.ip(node, &format!("link set {device} master red"));
        }
    }
    add_routes(&fabric, TABLE);
    hula_forwards(&mut fabric, "vrf = \"red\"\n");
}

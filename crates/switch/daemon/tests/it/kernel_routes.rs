//! `routes = "kernel"` in namespaces: the kernel's routes by hand, by BIRD and by FRR.

use std::process::{Child, Stdio};

use crate::common::routed::{LEAVES, SPINES, packaged};
use crate::common::{Fabric, eventually};
use heddle_testing::{Need, require_program, skip_without};

/// A list of prefixes in place of realms, with ECMP.
const LISTED: &str =
    "[tors]\n1 = [\"10.0.1.0/24\"]\n2 = [\"10.0.2.0/24\"]\n[scheme]\nkind = \"ecmp\"\n";
const RACKS: &str = "[tors]\n1 = [\"10.0.1.0/24\"]\n2 = [\"10.0.2.0/24\"]\n3 = [\"10.0.3.0/24\"]\n";
const HULA: &str = "[scheme]\nkind = \"hula\"\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"\nlocal_detection = true\n";

fn skip() -> bool {
    if skip_without(Need::Root) {
        return true;
    }
    for (program, package) in [
        ("ip", "iproute2"),
        ("nsenter", "util-linux"),
        ("ethtool", "ethtool"),
        ("ping", "iputils-ping"),
        ("sysctl", "procps"),
    ] {
        require_program(program, package);
    }
    false
}

/// Pings of host-1 to host-2, one in 5 ms.
struct Pings(Child);

impl Pings {
    fn start(fabric: &Fabric, count: u32) -> Pings {
        let words = format!("ping -q -i 0.005 -c {count} 10.0.2.1");
        Pings(fabric.command("host-1", &words).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// All were answered.
    fn end(self, count: u32) {
        let output = self.0.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!(" {count} received")), "{text}");
    }
}

/// A flow stays on its next hop while the other one goes and comes back. Then the route goes, and
/// comes back with a nexthop group, which changes without it.
#[test]
fn next_hops_follow_the_kernels_routes_and_flows_whose_hop_stays_lose_nothing() {
    if skip() {
        return;
    }
    let mut fabric = Fabric::routed();
    for (leaf, other) in [("leaf-1", 2), ("leaf-2", 1)] {
        fabric.ip(leaf, &format!("route add 10.0.{other}.0/24 {}", both(3 - other)));
        let to = format!("route add 10.0.{other}.0/24");
        fabric.ip("spine-1", &format!("{to} via 10.1.{other}1.0"));
        fabric.ip("spine-2", &format!("{to} via 10.1.{other}2.0 table 100"));
    }
    for node in ["leaf-1", "leaf-2", "spine-1"] {
        fabric.start_routed(node, LISTED);
    }
    // The kernel itself does not forward by that table.
    fabric.start_routed("spine-2", &format!("table = 100\n{LISTED}"));
    fabric.wait_for(&["leaf-1", "leaf-2", "spine-1", "spine-2"]);
    let hops = |wanted: &[&str]| {
        eventually("the next hops follow", || fabric.next_hops("leaf-1", 2) == wanted);
    };
    hops(&["spine-1", "spine-2"]);
    for spine in SPINES {
        assert_eq!(fabric.next_hops(spine, 1), ["leaf-1"]);
    }
    eventually("the hosts reach each other", || fabric.pings("host-1", "10.0.2.1"));
    let count = 400;
    let pings = Pings::start(&fabric, count);
    let before = SPINES.map(|spine| fabric.sent("leaf-1", spine));
    eventually("pings go one way", || {
        SPINES.iter().zip(before).any(|(spine, before)| fabric.sent("leaf-1", spine) > before + 20)
    });
    let stays = usize::from(fabric.sent("leaf-1", "spine-2") - before[1] > 10);
    let stays_via = format!("nexthop via 10.1.1{}.1", stays + 1);
    fabric.ip("leaf-1", &format!("route change 10.0.2.0/24 {stays_via}"));
    hops(&SPINES[stays..=stays]);
    fabric.ip("leaf-1", &format!("route change 10.0.2.0/24 {}", both(1)));
    hops(&["spine-1", "spine-2"]);
    pings.end(count);
    assert!(fabric.count("leaf-1", "forwarded") >= u64::from(count));

    fabric.ip("leaf-1", "route del 10.0.2.0/24");
    hops(&[]);
    assert!(!fabric.pings("host-1", "10.0.2.1"), "the kernel has no route either");
    fabric.run("leaf-1", "sysctl -q -w net.ipv4.nexthop_compat_mode=0");
    fabric.ip("leaf-1", "nexthop add id 1 via 10.1.11.1 dev swp1");
    fabric.ip("leaf-1", "nexthop add id 2 via 10.1.12.1 dev swp2");
    fabric.ip("leaf-1", "nexthop add id 10 group 1/2");
    fabric.ip("leaf-1", "route add 10.0.2.0/24 nhid 10");
    hops(&["spine-1", "spine-2"]);
    fabric.ip("leaf-1", "nexthop replace id 10 group 2");
    hops(&["spine-2"]);
    assert!(fabric.pings("host-1", "10.0.2.1"));
}

/// The next hops of a route of leaf `own` by both spines.
fn both(own: u32) -> String {
    format!("nexthop via 10.1.{own}1.1 nexthop via 10.1.{own}2.1")
}

/// A routing daemon in each switch.
#[derive(Clone, Copy)]
enum Router {
    Bird,
    Frr,
}

impl Router {
    /// Starts it, and the switch over its routes.
    fn start(self, fabric: &mut Fabric, node: &'static str) {
        match self {
            Router::Bird => {
                fabric.start_bird(node);
                fabric.start_routed(node, HULA);
            }
            Router::Frr => {
                fabric.start_frr(node);
                fabric.start_routed(node, &format!("{RACKS}{HULA}"));
            }
        }
    }
}

#[test]
fn hula_runs_over_birds_routes_through_a_failure_a_repair_and_a_new_rack() {
    if skip() {
        return;
    }
    require_program("bird", "bird2");
    hula_runs_over(Router::Bird);
    assert!(packaged("leaf-1.toml").contains("realms = true"));
}

#[test]
fn hula_runs_over_frrs_routes_through_a_failure_a_repair_and_a_new_rack() {
    if skip() {
        return;
    }
    require_program("vtysh", "frr");
    hula_runs_over(Router::Frr);
}

/// The fabric's links, addresses and routes are a routing daemon's; HULA chooses among the next
/// hops.
fn hula_runs_over(router: Router) {
    let mut fabric = Fabric::routed();
    for node in ["leaf-1", "leaf-2", "spine-1", "spine-2"] {
        router.start(&mut fabric, node);
    }
    fabric.wait_for(&["leaf-1", "leaf-2", "spine-1", "spine-2"]);
    let hops = |fabric: &Fabric, tor: u16, wanted: &[&str]| {
        eventually("the daemon's next hops are the switch's", || {
            fabric.next_hops("leaf-1", tor) == wanted
        });
    };
    hops(&fabric, 2, &["spine-1", "spine-2"]);
    eventually("probes have found ways", || {
        fabric.has_best("leaf-1", &[2]) && fabric.has_best("leaf-2", &[1])
    });
    assert!(fabric.transfer(None, 200_000, || false));
    let forwarded = |node: &str| fabric.count(node, "forwarded");
    assert!(forwarded("spine-1") + forwarded("spine-2") > 200_000 / 1500);

    fabric.ip("leaf-2", "link set swp1 down");
    hops(&fabric, 2, &["spine-2"]);
    assert!(fabric.transfer(None, 200_000, || false), "by the other spine");
    fabric.ip("leaf-2", "link set swp1 up");
    hops(&fabric, 2, &["spine-1", "spine-2"]);

    assert_eq!(fabric.next_hops("leaf-1", 3), [""; 0]);
    for device in ["swp1", "swp2"] {
        fabric.ip("leaf-3", &format!("link set {device} up"));
    }
    router.start(&mut fabric, "leaf-3");
    fabric.wait_for(&["leaf-3"]);
    hops(&fabric, 3, &["spine-1", "spine-2"]);
    eventually("probes have found the new rack", || fabric.has_best("leaf-1", &[2, 3]));
    eventually("its host is reached", || fabric.pings("host-1", "10.0.3.1"));
    for node in LEAVES.iter().chain(&SPINES) {
        let counters = fabric.status(node).counters;
        let dropped = counters.iter().filter(|(name, _)| name.starts_with("dropped"));
        assert_eq!(dropped.map(|(_, count)| count.packets).sum::<u64>(), 0, "{node}");
    }
}

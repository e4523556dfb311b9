//! packaging/bird, as it is: BIRD on a router and two balancers, the VIPs announced while heddled
//! answers.
//!
//! The lab has the addresses that the examples have; the second balancer's configuration is the
//! first one's with its own.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{PORT, setup, soon};
use heddle_lab::{Connection, Daemons, Lab, Node, Transport, equal, eventually};
use heddle_testing::{Need, require_program, skip_without};

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../packaging/bird");
/// BGP's first attempt comes after 5 s; a busy machine takes longer.
const CONVERGENCE: Duration = Duration::from_secs(120);

/// Programs that end with it.
struct Running(Vec<Child>);

impl Running {
    fn start(&mut self, mut command: std::process::Command, help: &str) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}; {help}"));
        self.0.push(child);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// BIRD on a host, with a configuration. Its control socket.
fn bird(running: &mut Running, node: &Node, directory: &Path, text: &str) -> PathBuf {
    let path = |kind: &str| directory.join(format!("{}.{kind}", node.name()));
    fs::write(path("conf"), text).unwrap();
    let mut command = node.command("bird");
    command.arg("-f").arg("-c").arg(path("conf")).arg("-s").arg(path("ctl"));
    running.start(command, "apt-get install bird2");
    path("ctl")
}

/// The script that announces the VIPs.
fn announce(running: &mut Running, node: &Node, health: &Path, socket: &Path) {
    let mut command = node.command(Path::new(PACKAGING).join("heddle-announce"));
    command.arg(health).env("BIRD_SOCKET", socket);
    running.start(command, "packaging/bird/heddle-announce");
}

fn start_routing(lab: &Lab, daemons: &Daemons, directory: &Path) -> Running {
    let file = |name: &str| fs::read_to_string(Path::new(PACKAGING).join(name)).unwrap();
    let mut running = Running(Vec::new());
    bird(&mut running, lab.router(), directory, &file("router.conf"));
    let first = file("balancer.conf");
    let second = first.replace("10.0.0.11", "10.0.0.12").replace("fd00::11", "fd00::12");
    for (index, (node, text)) in lab.balancers().iter().zip([first, second]).enumerate() {
        let socket = bird(&mut running, node, directory, &text);
        announce(&mut running, node, &daemons.socket(index), &socket);
    }
    running
}

/// The number of next hops that the router has for an address.
fn next_hops(lab: &Lab, vip: IpAddr) -> usize {
    let family = if vip.is_ipv4() { "-4" } else { "-6" };
    let routes = lab.router().run(&format!("ip {family} route show {vip}")).unwrap();
    routes.matches("via ").count()
}

/// Waits until both VIPs have `expected` next hops; `meanwhile` is called all the time.
fn wait_for_next_hops(lab: &Lab, expected: usize, mut meanwhile: impl FnMut()) {
    let probe = || {
        meanwhile();
        equal(&lab.vips().map(|vip| next_hops(lab, vip)), &[expected; 2])
    };
    eventually(CONVERGENCE, probe).unwrap();
}

/// A connection over all of the client's addresses.
fn whole_connection(lab: &Lab, vip: IpAddr) -> Connection {
    let connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
    let subflows = lab.client_addresses(vip).len();
    assert_eq!(connection.wait_for_subflows(subflows, soon()).unwrap(), subflows);
    connection
}

#[test]
fn vips_are_announced_while_heddled_answers_and_connections_outlive_the_change() {
    if skip_without(Need::Root) {
        return;
    }
    for (program, package) in [("bird", "bird2"), ("birdc", "bird2"), ("curl", "curl")] {
        require_program(program, package);
    }
    let vip6 = "2001:db8::10".parse().unwrap();
    let lab = Lab::builder().balancers(2).backends(3).vip4([192, 0, 2, 10].into()).vip6(vip6);
    let lab = lab.build().unwrap();
    lab.route_vip(&[]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let _routing = start_routing(&lab, &daemons, directory.path());
    wait_for_next_hops(&lab, 2, || {});

    let mut connections = lab.vips().map(|vip| whole_connection(&lab, vip));
    let mut ping = || {
        for connection in &mut connections {
            connection.ping().unwrap();
        }
    };
    ping();
    daemons.stop(0);
    wait_for_next_hops(&lab, 1, &mut ping);
    ping();
    for vip in lab.vips() {
        whole_connection(&lab, vip).ping().unwrap();
    }
    daemons.restart(0).unwrap();
    wait_for_next_hops(&lab, 2, &mut ping);
    ping();
    for (connection, seed) in connections.iter_mut().zip(1..) {
        connection.download(1_000_000, seed, |_| {}).unwrap();
        assert_eq!(connection.status().unwrap().established(), 4);
    }
}

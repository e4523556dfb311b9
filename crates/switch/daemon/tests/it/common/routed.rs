//! Three leaves, two spines and a host at each leaf, whose switches have the kernel's routes: the
//! devices, addresses and configurations of packaging/switch.
//!
//! The link of leaf L and spine S is 10.1.LS.0/31, the leaf's end first, at the spine's device
//! swpL and the leaf's swpS; the rack of leaf L is 10.0.L.0/24 at its device `rack`.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Fabric, eventually};

pub const LEAVES: [&str; 3] = ["leaf-1", "leaf-2", "leaf-3"];
pub const SPINES: [&str; 2] = ["spine-1", "spine-2"];

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../packaging/switch");

pub fn packaged(name: &str) -> String {
    std::fs::read_to_string(Path::new(PACKAGING).join(name)).unwrap()
}

/// The devices at the ends of the links between leaves and spines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The links' own.
    Plain,
    /// A VLAN interface on each.
    Vlan,
    /// A bond of two links each.
    Bond,
}

impl Fabric {
    /// The network without switches and routes. The third rack's links are down.
    pub fn routed() -> Fabric {
        Fabric::routed_over(Ends::Plain)
    }

    /// The same with other devices between leaves and spines.
    pub fn routed_over(ends: Ends) -> Fabric {
        let hosts = ["host-1", "host-2", "host-3"];
        let nodes = LEAVES.iter().chain(&SPINES).chain(&hosts).map(|node| (*node).to_owned());
        let fabric = Fabric::unlinked(nodes.collect(), Ipv4Addr::new(10, 0, 2, 1));
        for (l, leaf) in (1..).zip(LEAVES) {
            for (s, spine) in (1..).zip(SPINES) {
                fabric.join((leaf, &format!("swp{s}")), (spine, &format!("swp{l}")), ends);
                fabric.ip(leaf, &format!("address add 10.1.{l}{s}.0/31 dev swp{s}"));
                fabric.ip(spine, &format!("address add 10.1.{l}{s}.1/31 dev swp{l}"));
            }
            let host = format!("host-{l}");
            fabric.link(&host, "eth0", leaf, "rack", 1500);
            fabric.ip(leaf, &format!("address add 10.0.{l}.254/24 dev rack"));
            fabric.ip(&host, &format!("address add 10.0.{l}.1/24 dev eth0"));
            fabric.ip(&host, &format!("route add default via 10.0.{l}.254"));
        }
        for node in LEAVES.iter().chain(&SPINES) {
            fabric.ip(node, "link set lo up");
            fabric.run(node, "sysctl -q -w net.ipv4.ip_forward=1");
        }
        for device in ["swp1", "swp2"] {
            fabric.ip("leaf-3", &format!("link set {device} down"));
        }
        fabric
    }

    /// Joins two nodes, each with its device.
    fn join(&self, near: (&str, &str), far: (&str, &str), ends: Ends) {
        let link = |part: &str| {
            let part = |device: &str| format!("{device}{part}");
            self.link(near.0, &part(near.1), far.0, &part(far.1), 1500);
        };
        match ends {
            Ends::Plain => link(""),
            Ends::Vlan => link("t"),
            Ends::Bond => ["a", "b"].into_iter().for_each(link),
        }
        for (node, device) in [near, far] {
            match ends {
                Ends::Plain => {}
                Ends::Vlan => {
                    self.ip(node, &format!("link add link {device}t name {device} type vlan id 7"));
                }
                Ends::Bond => {
                    self.ip(
                        node,
                        &format!("link add {device} type bond mode balance-xor miimon 50"),
                    );
                    for part in ["a", "b"] {
                        self.ip(node, &format!("link set {device}{part} down"));
                        self.ip(node, &format!("link set {device}{part} master {device}"));
                    }
                }
            }
            self.ip(node, &format!("link set {device} up"));
        }
    }

    /// Starts a switch by its packaged configuration, with `scheme` in place of its own, and of
    /// realms if there is a list of ToRs in it.
    pub fn start_routed(&mut self, node: &'static str, scheme: &str) {
        let (kind, number) = node.split_once('-').unwrap();
        let text = packaged(&format!("{kind}-1.toml"));
        let (keys, rest) = text.split_once("[scheme]").unwrap();
        let ports = &rest[rest.find("[[port]]").unwrap()..];
        let paths = format!(
            "admin = \"{}\"\npin = \"{}\"",
            self.path(&format!("{node}.sock")).display(),
            self.pins().join(node).display()
        );
        let keys = keys
            .replace(&format!("node = \"{kind}-1\""), &format!("node = \"{node}\"\n{paths}"))
            .replace("tor = 1\n", &format!("tor = {number}\n"))
            .replace("metrics = \"127.0.0.1:9642\"\n", "");
        let keys = match scheme.contains("[tors]") {
            true => keys.replace("realms = true\n", ""),
            false => keys,
        };
        let text = format!("{keys}\n{scheme}\n{ports}");
        std::fs::write(self.path(&format!("{node}.toml")), text).unwrap();
        self.start(node);
    }

    /// Starts BIRD on a switch by its packaged configuration.
    pub fn start_bird(&mut self, node: &'static str) {
        let file = self.renumbered("bird", node);
        let mut bird = self.command(node, "bird -f");
        bird.arg("-c").arg(&file).arg("-s").arg(self.path(&format!("{node}.ctl")));
        self.spawn_router("bird", bird);
    }

    /// Starts FRR's daemons on a switch, and gives them its packaged configuration.
    pub fn start_frr(&mut self, node: &'static str) {
        let (file, folder) = (self.renumbered("frr", node), self.path(&format!("{node}.frr")));
        std::fs::create_dir(&folder).unwrap();
        // The daemons leave root for a user of their own.
        self.run(node, &format!("chmod 711 {}", self.path("").display()));
        self.run(node, &format!("chown frr:frr {}", folder.display()));
        for daemon in ["zebra", "bgpd", "bfdd"] {
            let words = format!("/usr/lib/frr/{daemon} -A 127.0.0.1 -P 0 -f /dev/null");
            let mut command = self.command(node, &words);
            command.arg("--vty_socket").arg(&folder).arg("-z").arg(folder.join("zserv.api"));
            command.arg("-i").arg(folder.join(format!("{daemon}.pid")));
            if daemon == "bfdd" {
                command.arg("--bfdctl").arg(folder.join("bfdd.sock"));
            }
            self.spawn_router(daemon, command);
            eventually("the daemon of FRR listens", || {
                folder.join(format!("{daemon}.vty")).exists()
            });
        }
        let mut shell = self.command(node, "vtysh");
        let configured = shell.arg("--vty_socket").arg(&folder).arg("-f").arg(&file).output();
        let output = configured.unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn spawn_router(&mut self, name: &'static str, mut command: Command) {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.daemons.push((name, child));
    }

    /// A file with a routing daemon's packaged configuration of a leaf or spine, for this one.
    fn renumbered(&self, daemon: &str, node: &str) -> PathBuf {
        let (kind, number) = node.split_once('-').unwrap();
        let text = packaged(&format!("{daemon}-{kind}.conf"));
        let text = match kind {
            "leaf" => text
                .replace("10.255.0.1", &format!("10.255.0.{number}"))
                .replace("TOR = 1", &format!("TOR = {number}"))
                .replace("10.0.1.0/24", &format!("10.0.{number}.0/24"))
                .replace("65001", &format!("6500{number}"))
                .replace("10.1.11.1", &format!("10.1.{number}1.1"))
                .replace("10.1.12.1", &format!("10.1.{number}2.1")),
            _ => {
                let text = text.replace("10.255.1.1", &format!("10.255.1.{number}"));
                (1..=3).fold(text, |text, leaf| {
                    text.replace(&format!("10.1.{leaf}1.0"), &format!("10.1.{leaf}{number}.0"))
                })
            }
        };
        let file = self.path(&format!("{node}.{daemon}.conf"));
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Waits until these switches run.
    pub fn wait_for(&self, nodes: &[&str]) {
        eventually("the switches answer", || nodes.iter().all(|node| self.ask(node).is_some()));
    }

    /// The next hops of a switch towards a ToR.
    pub fn next_hops(&self, node: &str, tor: u16) -> Vec<String> {
        let name = format!("ToR {tor}");
        let routes = self.status(node).routes;
        let route = routes.into_iter().find(|route| route.tor == name);
        route.map(|route| route.next_hops).unwrap_or_default()
    }

    /// True if a switch's probes have found a way to each of these ToRs.
    pub fn has_best(&self, node: &str, tors: &[u16]) -> bool {
        let routes = self.status(node).routes;
        let found = |tor: &u16| {
            let name = format!("ToR {tor}");
            routes.iter().any(|route| route.tor == name && !route.best.is_empty())
        };
        tors.iter().all(found)
    }
}

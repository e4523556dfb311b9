//! Four switches and two hosts with the kernel's own TCP and MPTCP, in network namespaces.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{Fabric, eventually, mptcp};
use heddle_testing::{Need, require_program, skip_without};

const ECMP: &str = "scheme = \"ecmp\"";
const HULA: &str = "[scheme]\nkind = \"hula\"\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"\nlocal_detection = true";
/// The same with probes as in the paper.
const HULA_IPV4: &str =
    "probe = \"ipv4\"\n[scheme]\nkind = \"hula\"\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"";
const MP_HULA: &str =
    "[scheme]\nkind = \"mp-hula\"\nbest_k = 2\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"";
const SHUTTLE: &str =
    "[scheme]\nkind = \"shuttle\"\nprobe_period = \"5ms\"\nflowlet_gap = \"2ms\"\ntau = \"2ms\"";

fn skip() -> bool {
    if skip_without(Need::Root) {
        return true;
    }
    for (program, package) in [
        ("ip", "iproute2"),
        ("nsenter", "util-linux"),
        ("ethtool", "ethtool"),
        ("ping", "iputils-ping"),
    ] {
        require_program(program, package);
    }
    false
}

/// Frames that the switches have dropped.
fn dropped(fabric: &Fabric, node: &str) -> u64 {
    let counters = fabric.status(node).counters;
    counters
        .iter()
        .filter(|(name, _)| name.starts_with("dropped"))
        .map(|(_, count)| count.packets)
        .sum()
}

#[test]
fn ecmp_hula_and_cflb_forward_the_kernels_tcp() {
    if skip() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("fabric.key");
    std::fs::write(&key, "000102030405060708090a0b0c0d0e0f\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let key = format!("[cflb]\nkey_file = \"{}\"", key.display());
    let cases = [(ECMP, ""), (HULA, ""), (HULA_IPV4, ""), ("scheme = \"cflb\"", key.as_str())];
    for (scheme, keys) in cases {
        let fabric = Fabric::new(scheme, keys);
        if scheme.contains("hula") {
            eventually("probes have found a spine", || {
                !fabric.status("leaf-1").routes[0].best.is_empty()
            });
        }
        for _ in 0..8 {
            assert!(fabric.transfer(None, 200_000, || false), "{scheme}");
        }
        let forwarded: u64 =
            ["spine-1", "spine-2"].iter().map(|node| fabric.count(node, "forwarded")).sum();
        assert!(forwarded > 8 * 200_000 / 1500, "{scheme}: {forwarded}");
        if !scheme.contains("hula") {
            // Each once; beside them neighbour discovery of the machine's own, but no probes.
            let sent: u64 = ["spine-1", "spine-2"]
                .iter()
                .map(|spine| fabric.sent(spine, "leaf-1") + fabric.sent(spine, "leaf-2"))
                .sum();
            assert!((forwarded..forwarded * 3 / 2).contains(&sent), "{scheme}: {sent}");
        }
        for node in crate::common::SWITCHES {
            assert_eq!(dropped(&fabric, node), 0, "{scheme}, {node}");
        }
        if scheme == ECMP {
            switches_answer_traceroute_from_addresses_of_their_own(&fabric);
        }
    }
}

/// leaf-1 is number 1 of the switches, leaf-2 number 2, the spines 3 and 4.
fn switches_answer_traceroute_from_addresses_of_their_own(fabric: &Fabric) {
    for (ttl, sources) in
        [(1, &["198.18.0.1"][..]), (2, &["198.18.0.3", "198.18.0.4"]), (3, &["198.18.0.2"])]
    {
        let ping = format!("ping -n -c 1 -W 10 -t {ttl} 10.0.0.2");
        let output = fabric.command("host-1", &ping).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let answers = |source: &&str| said.contains(&format!("From {source} "));
        assert!(sources.iter().any(answers), "TTL {ttl}: {said}");
    }
}

#[test]
fn two_subflows_of_an_mptcp_connection_take_different_spines() {
    if skip() {
        return;
    }
    for scheme in [MP_HULA, SHUTTLE] {
        two_subflows_take_different_spines(scheme);
    }
}

fn two_subflows_take_different_spines(scheme: &str) {
    let fabric = Fabric::new(scheme, "");
    fabric.ip("host-1", "mptcp endpoint add 10.0.1.1 dev eth0 subflow");
    let best = |fabric: &Fabric| fabric.status("leaf-1").routes[0].best.len();
    eventually("probes have found both spines", || best(&fabric) == 2);
    let scheme = |node: &str, counter: &str| fabric.status(node).scheme_counters[counter];
    // Probes are among what is sent, and of shims acknowledgements have few, if the receiver gets
    // much at once.
    let enough = |peer: &str| fabric.sent("leaf-1", peer) > 2000;
    let goes_on = || !(enough("spine-1") && enough("spine-2") && scheme("leaf-1", "shims") > 1000);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(300);
    assert!(fabric.transfer(mptcp(), 100_000, || goes_on() && std::time::Instant::now() < end));
    assert!(!goes_on(), "both spines carry a part of one connection");
    assert_eq!((scheme("leaf-1", "connections"), scheme("leaf-1", "joins")), (1, 1));
    assert!(scheme("leaf-2", "shims") > 0, "acknowledgements have them, too");
    let removed = ["leaf-1", "leaf-2"].map(|leaf| fabric.count(leaf, "recirculated"));
    assert!(removed[0] > 0 && removed[1] > 1000, "the other ToR removes them: {removed:?}");
    for node in crate::common::SWITCHES {
        assert_eq!(dropped(&fabric, node), 0, "{node}");
    }
}

#[test]
fn a_sender_learns_the_mtu_that_shims_leave() {
    if skip() {
        return;
    }
    let fabric = Fabric::new(MP_HULA, "");
    for leaf in ["leaf-1", "leaf-2"] {
        for spine in ["spine-1", "spine-2"] {
            fabric.ip(leaf, &format!("link set {spine} mtu 1500"));
            fabric.ip(spine, &format!("link set {leaf} mtu 1500"));
        }
    }
    fabric.ip("host-1", "mptcp endpoint add 10.0.1.1 dev eth0 subflow");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(300);
    let goes_on = || fabric.count("leaf-1", "answered") == 0;
    assert!(fabric.transfer(mptcp(), 100_000, || goes_on() && std::time::Instant::now() < end));
    assert!(!goes_on(), "a packet was too long with its shim");
}

/// The hosts ping each other while each of three switches loses its daemon by `end` and gets
/// another.
fn no_packet_is_lost_without_daemons(end: fn(&mut Fabric, &str)) {
    let mut fabric = Fabric::new(HULA, "");
    let mut ping = fabric.command("host-1", "ping -q -i 0.005 -c 1500 10.0.0.2");
    let ping = ping.stdout(std::process::Stdio::piped()).spawn().unwrap();
    for node in ["leaf-1", "spine-1", "spine-2"] {
        let before = fabric.count(node, "forwarded");
        end(&mut fabric, node);
        assert!(fabric.ask(node).is_none(), "{node} has no daemon");
        assert!(fabric.pings("host-1", "10.0.0.2"), "and forwards");
        fabric.start(node);
        eventually("the next daemon answers", || fabric.ask(node).is_some());
        assert!(
            fabric.count(node, "forwarded") >= before,
            "the tables are those of the daemon before"
        );
    }
    let output = ping.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("1500 received"), "{text}");
    for node in crate::common::SWITCHES {
        assert_eq!(dropped(&fabric, node), 0, "{node}");
    }
}

#[test]
fn a_restart_in_mid_transfer_loses_no_packet() {
    if skip() {
        return;
    }
    no_packet_is_lost_without_daemons(Fabric::stop);
}

#[test]
fn a_daemon_that_is_killed_in_mid_transfer_loses_no_packet() {
    if skip() {
        return;
    }
    no_packet_is_lost_without_daemons(Fabric::kill);
}

/// Two switches change to other schemes, while the hosts ping each other.
#[test]
fn a_change_of_scheme_loses_no_packet() {
    if skip() {
        return;
    }
    const COUNT: u32 = 600;
    const LET_IT_FLOW: &str = "[scheme]\nkind = \"letitflow\"";
    let mut fabric = Fabric::new(ECMP, "");
    let words = format!("ping -q -i 0.005 -c {COUNT} 10.0.0.2");
    let ping = fabric.command("host-1", &words).stdout(std::process::Stdio::piped()).spawn();
    for (from, to, kind) in [(ECMP, HULA, "hula"), (HULA, LET_IT_FLOW, "letitflow")] {
        for node in ["leaf-1", "spine-1"] {
            let before = fabric.count(node, "forwarded");
            fabric.set_scheme(node, from, to);
            fabric.stop(node);
            fabric.start(node);
            eventually("the next daemon answers", || fabric.ask(node).is_some());
            assert_eq!(fabric.status(node).scheme, kind);
            assert!(fabric.count(node, "forwarded") >= before, "counters go on");
        }
    }
    assert!(fabric.pings("host-1", "10.0.0.2"));
    let output = ping.unwrap().wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("{COUNT} received")), "{text}");
    for node in crate::common::SWITCHES {
        assert_eq!(dropped(&fabric, node), 0, "{node}");
    }
}

/// The data's path: TCP goes on while the daemons of both spines are dead, and no byte is missing.
#[test]
fn tcp_goes_on_while_daemons_are_dead() {
    if skip() {
        return;
    }
    for scheme in [ECMP, HULA] {
        let mut fabric = Fabric::new(scheme, "");
        for node in ["spine-1", "spine-2", "leaf-2"] {
            fabric.kill(node);
        }
        let before = fabric.count("leaf-1", "forwarded");
        assert!(fabric.transfer(None, 1_000_000, || false), "{scheme}");
        assert!(fabric.count("leaf-1", "forwarded") > before + 1_000_000 / 1500, "{scheme}");
        for node in ["spine-1", "spine-2", "leaf-2"] {
            fabric.start(node);
            eventually("the next daemon answers", || fabric.ask(node).is_some());
            assert_eq!(dropped(&fabric, node), 0, "{scheme}, {node}");
        }
    }
}

/// Ends a transfer when it is dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_cut_link_moves_traffic() {
    if skip() {
        return;
    }
    for scheme in [ECMP, HULA] {
        let fabric = Fabric::new(scheme, "");
        let ends = AtomicBool::new(false);
        thread::scope(|scope| {
            let transfer =
                scope.spawn(|| fabric.transfer(None, 50_000, || !ends.load(Ordering::Relaxed)));
            let sent = |peer: &str| fabric.sent("leaf-1", peer);
            let before = (sent("spine-1"), sent("spine-2"));
            eventually("data flows", || {
                sent("spine-1") + sent("spine-2") > before.0 + before.1 + 500
            });
            // However this thread ends, the transfer does.
            let _ends = Ends(&ends);
            fabric.ip("leaf-1", "link set spine-1 down");
            // ECMP at the other leaf has it from a control plane, HULA from missing probes.
            if scheme == ECMP {
                fabric.tell_down("leaf-2", ("leaf-1", "spine-1"));
            }
            eventually("the port is known to be down", || !fabric.status("leaf-1").ports[1].up);
            let after = sent("spine-2");
            eventually("all goes by the other spine", || sent("spine-2") > after + 500);
            ends.store(true, Ordering::Relaxed);
            assert!(transfer.join().unwrap(), "{scheme}: every byte arrived");
        });
    }
}

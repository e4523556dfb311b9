//! Frames of other machines, of an interface whose address changes, and packets in fragments: with
//! the kernel's bridge and stacks.

use std::net::{IpAddr, SocketAddr};

use crate::common::{LIMIT, PORT, ask, setup, wait_for_members};
use heddle_lab::{Daemons, Lab, Node, Transport, eventually};
use heddle_testing::{Need, require_program, skip_without};
use heddled::admin::{Reply, Request};

/// The packets with a verdict that `wanted` selects, of both services at all balancers.
fn count(lab: &Lab, daemons: &Daemons<'_>, wanted: impl Fn(&str) -> bool) -> u64 {
    let packets = |index: usize| {
        let Reply::Counters(snapshot) = ask(daemons, index, &Request::Counters) else { panic!() };
        let services = snapshot.services.into_iter().filter(|service| service.name != "none");
        let verdicts = services.flat_map(|service| service.verdicts);
        verdicts.filter(|verdict| wanted(&verdict.name)).map(|verdict| verdict.packets).sum::<u64>()
    };
    (0..lab.balancers().len()).map(packets).sum()
}

/// The configurations without health checks: a backend whose link fails stays up.
fn keep_backends_up(lab: &Lab, daemons: &mut Daemons<'_>) {
    for index in 0..lab.balancers().len() {
        let text = daemons.config(index);
        let lines = text.lines().filter(|line| !line.starts_with("health = "));
        daemons.write_config(index, &lines.collect::<Vec<_>>().join("\n")).unwrap();
        daemons.stop(index);
        daemons.restart(index).unwrap();
    }
}

/// The lab's bridge knows its hosts from the start, and floods nothing. This makes it a switch that
/// learns, and has not learnt `node` yet.
fn let_bridge_learn(lab: &Lab, node: &Node) {
    for line in lab.router().run("bridge link show").unwrap().lines() {
        let name = line.split(['@', ' ']).nth(1).unwrap().trim_end_matches(':');
        lab.router().run(&format!("bridge link set dev {name} flood on learning on")).unwrap();
    }
    let mac = node.mac().to_string();
    for line in lab.router().run("bridge fdb show br lan").unwrap().lines() {
        if let [found, "dev", port, "master", ..] = line.split(' ').collect::<Vec<_>>()[..]
            && found == mac
        {
            lab.router().run(&format!("bridge fdb del {mac} dev {port} master")).unwrap();
        }
    }
}

fn connects(lab: &Lab, vip: IpAddr) -> Result<(), String> {
    let connection = lab.connect(Transport::Tcp, SocketAddr::new(vip, PORT));
    connection.map(drop).map_err(|error| error.to_string())
}

/// A bridge forgets the addresses behind a port that is down, and floods frames for them to all
/// other ports.
#[test]
fn what_a_switch_floods_is_not_forwarded() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).balancers(3).backends(1).build().unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    keep_backends_up(&lab, &mut daemons);
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    let vip = lab.vips()[0];
    let_bridge_learn(&lab, lab.backend(0));
    eventually(LIMIT, || connects(&lab, vip)).unwrap();
    lab.cut(lab.backend(0)).unwrap();
    let (all, strays) = (|_: &str| true, |verdict: &str| verdict == "pass_other_host");
    let before = [count(&lab, &daemons, all), count(&lab, &daemons, strays)];
    // SYNs only: nobody answers. Four of them in ten seconds.
    let open = format!("exec 3<>/dev/tcp/{vip}/{PORT}");
    let status =
        lab.client().command("timeout").args(["10", "bash", "-c", &open]).status().unwrap();
    assert!(!status.success(), "the backend is cut off");
    let after = [count(&lab, &daemons, all), count(&lab, &daemons, strays)];
    assert!(after[0] - before[0] < 100, "{} packets of one request", after[0] - before[0]);
    assert!(after[1] > before[1], "frames were flooded");
}

/// The daemon learns of it from the kernel.
#[test]
fn an_interface_may_change_its_address() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).balancers(1).backends(1).build().unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let vip = lab.vips()[0];
    eventually(LIMIT, || connects(&lab, vip)).unwrap();
    let_bridge_learn(&lab, lab.balancer(0));
    let (balancer, mac) = (lab.balancer(0), "02:00:00:00:0f:0f");
    balancer.run(&format!("ip link set eth0 address {mac}")).unwrap();
    lab.router().run(&format!("ip neigh replace {} lladdr {mac} dev lan", balancer.v4())).unwrap();
    eventually(LIMIT, || connects(&lab, vip)).unwrap();
    let strays = count(&lab, &daemons, |verdict| verdict == "pass_other_host");
    connects(&lab, vip).unwrap();
    assert_eq!(count(&lab, &daemons, |verdict| verdict == "pass_other_host"), strays);
}

/// The balancer's own stack answers; it gets each fragment, as without a balancer.
#[test]
fn echo_requests_in_fragments_are_answered() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("ping", "iputils-ping");
    let lab = Lab::builder().clients(1).balancers(1).backends(1).build().unwrap();
    let _daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    for vip in lab.vips() {
        let length = if vip.is_ipv4() { 32 } else { 128 };
        lab.balancer(0).run(&format!("ip address replace {vip}/{length} dev lo")).unwrap();
        let ping = || lab.client().run(&format!("ping -c 1 -W 2 -s 3000 {vip}"));
        let answer = eventually(LIMIT, || ping().map_err(|error| error.to_string())).unwrap();
        assert!(answer.contains("3008 bytes from"), "{answer}");
    }
}

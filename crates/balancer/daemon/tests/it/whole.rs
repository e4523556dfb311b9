//! The whole balancer: `heddled` in network namespaces, the kernel's own MPTCP at both ends.

use std::net::SocketAddr;

use crate::common::{
    FILE, JOIN_LIMIT, LIMIT, PORT, download_with, kernel_capabilities, setup, soon, untunnel,
    wait_for_backend, wait_for_members,
};
use heddle_lab::{
    Capture, Connection, Daemons, Joins, Lab, NextHop, Transport, captured_connections,
    count_joins, equal, eventually, mptcp_counters,
};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;
use heddled::health::State;

/// R1: hashing 5-tuples brings 1/n of the joins to their backend, learning all of them.
#[test]
fn one_balancer_learns_what_hashing_loses() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let joins = |mode| {
        let _daemons = Daemons::start(&lab, setup(mode, "l2")).unwrap();
        let each =
            lab.vips().map(|vip| count_joins(&lab, SocketAddr::new(vip, PORT), 50, LIMIT).unwrap());
        let sum = |count: fn(&Joins) -> usize| each.iter().map(count).sum::<usize>();
        (sum(|joins| joins.expected), sum(|joins| joins.established))
    };
    // 300 joins at 1/4: a standard deviation is 7.5; beyond four of them once in 16 000 runs.
    let (expected, established) = joins("off");
    assert_eq!(expected, 300);
    assert!((45..=105).contains(&established), "{established} of {expected} joins by 5-tuple");
    assert_eq!(joins("learn"), (300, 300));
    let unknown = lab.backends().iter().map(|b| mptcp_counters(b).unwrap()["MPJoinNoTokenFound"]);
    let lost = (expected - established) as u64;
    assert_eq!(unknown.sum::<u64>(), lost, "each loss is an unknown token");
}

/// With several balancers a join meets another one than its connection did; and with source
/// addresses hashed, what comes from four addresses is spread like anything else.
#[test]
fn several_balancers_lose_no_join() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for forwarding in ["l2", "ipip", "gue"] {
        let _decaps = untunnel(&lab, forwarding);
        let daemons = Daemons::start(&lab, setup("learn", forwarding)).unwrap();
        for vip in lab.vips() {
            let joins = count_joins(&lab, SocketAddr::new(vip, PORT), 50, JOIN_LIMIT).unwrap();
            assert_eq!(
                (joins.expected, joins.established),
                (150, 150),
                "{forwarding} {vip}: {}",
                daemons.log(0)
            );
        }
    }
}

/// A file arrives as it was; tshark finds all subflows in one connection.
#[test]
fn a_file_over_four_subflows_arrives_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(2).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let _daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
        connection.download(FILE, 1, |_| ()).unwrap();
        connection.upload(FILE, 2, |_| ()).unwrap();
        let status = connection.status().unwrap();
        assert!(!status.fallback && status.established() == 4);
        assert!(
            status.subflows.iter().all(|flow| flow.bytes_received + flow.bytes_acked > 100_000),
            "{status:?}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.pcap");
    let capture = Capture::start(lab.client(), &file).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
        connection.download(1_000_000, 3, |_| ()).unwrap();
    }
    capture.finish().unwrap();
    let seen = captured_connections(&file).unwrap();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.iter().all(|connection| connection.subflows.len() == 4), "{seen:?}");
}

/// The balancer of some subflows is gone in mid-transfer; the others know its flows.
#[test]
fn a_balancer_is_killed_in_mid_transfer() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).client_rate(Rate::mbps(100)).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    for dead in 0..2 {
        let service = SocketAddr::new(lab.vips()[dead], PORT);
        let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
        download_with(&mut connection, FILE, || {
            daemons.kill(dead);
            lab.cut(lab.balancer(dead)).unwrap();
            let left: Vec<NextHop> = (0..3).filter(|i| *i > dead).map(NextHop::Balancer).collect();
            lab.route_vip(&left).unwrap();
        });
        assert!(connection.status().unwrap().established() >= 2, "{:?}", connection.status());
        // The rest of the balancers share the tokens, after they have noticed.
        let left: Vec<usize> = (dead + 1..3).collect();
        wait_for_members(&daemons, &left, &left, LIMIT);
        let joins = count_joins(&lab, service, 20, LIMIT).unwrap();
        assert_eq!((joins.expected, joins.established), (60, 60));
    }
}

/// Connections go on when a balancer comes, and can still take subflows.
#[test]
fn a_balancer_is_added() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    daemons.stop(2);
    daemons.remove_program(2);
    lab.route_vip(&[NextHop::Balancer(0), NextHop::Balancer(1)]).unwrap();
    wait_for_members(&daemons, &[0, 1], &[0, 1], LIMIT);
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connections: Vec<_> =
        (0..10).map(|_| lab.connect(Transport::Mptcp, service).unwrap()).collect();
    for connection in &connections {
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    }
    daemons.restart(2).unwrap();
    wait_for_members(&daemons, &[0, 1, 2], &[0, 1, 2], LIMIT);
    lab.route_vip(&[NextHop::Balancer(0), NextHop::Balancer(1), NextHop::Balancer(2)]).unwrap();
    for connection in &mut connections {
        connection.download(1_000_000, 5, |_| ()).unwrap();
        assert_eq!(connection.status().unwrap().established(), 4);
    }
    renew_joins(&lab, &connections);
    for connection in &mut connections {
        connection.ping().unwrap();
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4, "{}", daemons.log(2));
    }
}

/// Ends the further subflows of the client's connections, and opens new ones.
fn renew_joins(lab: &Lab, connections: &[Connection]) {
    let v4 = lab.client_addresses(lab.vips()[0]);
    lab.client().run("ip mptcp endpoint flush").unwrap();
    let established = |connection: &Connection| connection.status().unwrap().established();
    let probe = || connections.iter().try_for_each(|open| equal(&established(open), &1));
    eventually(LIMIT, probe).unwrap();
    for (index, address) in v4.iter().enumerate().skip(1) {
        lab.client()
            .run(&format!("ip mptcp endpoint add {address} dev eth{index} subflow"))
            .unwrap();
    }
}

/// A drained backend keeps what it has, new joins to it included, and gets nothing new.
#[test]
fn a_backend_is_drained_killed_and_added() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(2).backends(4).client_rate(Rate::mbps(200)).build().unwrap();
    let servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let open = || lab.connect(Transport::Mptcp, service).unwrap();
    let mut first = open();
    assert_eq!(first.wait_for_subflows(4, soon()).unwrap(), 4);
    let drained = first.backend().to_string();
    // Out of the file in mid-transfer: the reload breaks nothing.
    download_with(&mut first, FILE / 2, || {
        for balancer in 0..2 {
            let text = daemons.config(balancer);
            let name = format!("name = \"{drained}\"\n");
            daemons
                .write_config(balancer, &text.replace(&name, &format!("{name}state = \"drain\"\n")))
                .unwrap();
            daemons.reload(balancer);
        }
    });
    wait_for_backend(&daemons, 2, &drained, |backend| backend.draining);
    assert_eq!(first.status().unwrap().established(), 4);
    let placed: Vec<String> = (0..20).map(|_| open().backend().to_string()).collect();
    assert!(!placed.contains(&drained), "{placed:?}");
    renew_joins(&lab, std::slice::from_ref(&first));
    first.ping().unwrap();
    assert_eq!(first.wait_for_subflows(4, soon()).unwrap(), 4, "joins reach a drained backend");

    // Another one, which has connections, dies: they are lost, the rest are not.
    let mut rest: Vec<_> = (0..12).map(|_| open()).collect();
    let name = rest[0].backend().to_string();
    let dead = lab.backends().iter().find(|backend| backend.name() == name).unwrap();
    lab.cut(dead).unwrap();
    wait_for_backend(&daemons, 2, &name, |backend| backend.health == State::Down);
    for connection in rest.iter_mut().filter(|connection| connection.backend() != name) {
        connection.ping().unwrap();
    }
    let placed: Vec<String> = (0..20).map(|_| open().backend().to_string()).collect();
    assert!(!placed.contains(&name) && !placed.contains(&drained), "{placed:?}");

    // And comes back, while a transfer goes on.
    download_with(&mut first, FILE / 2, || {
        lab.restore(dead).unwrap();
        (0..2).for_each(|balancer| {
            daemons.write_config(balancer, &daemons.config(balancer)).unwrap();
            daemons.reload(balancer);
        });
    });
    wait_for_backend(&daemons, 2, &name, |backend| backend.health == State::Up);
    wait_for_backend(&daemons, 2, &drained, |backend| !backend.draining);
    // 40 connections over 4 backends: one of the two has none once in 50 000 runs.
    let placed: Vec<String> = (0..40).map(|_| open().backend().to_string()).collect();
    assert!(placed.contains(&name) && placed.contains(&drained), "{placed:?}");
    for connection in rest.iter_mut().filter(|connection| connection.backend() != name) {
        connection.ping().unwrap();
    }
    drop(servers);
}

/// The daemon is stopped, killed and started anew while a file comes; packets do not need it.
#[test]
fn a_daemon_restarts_in_mid_transfer() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(3).client_rate(Rate::mbps(200)).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    assert_eq!(kernel_capabilities(daemons.process(0).unwrap()), 0, "a running daemon needs none");
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    download_with(&mut connection, FILE, || daemons.stop(0));
    download_with(&mut connection, FILE, || daemons.restart(0).unwrap());
    assert!(daemons.log(0).contains("took over"), "{}", daemons.log(0));
    download_with(&mut connection, FILE / 4, || daemons.kill(0));
    download_with(&mut connection, FILE / 4, || daemons.restart(0).unwrap());
    assert_eq!(connection.status().unwrap().established(), 4);
    renew_joins(&lab, std::slice::from_ref(&connection));
    connection.ping().unwrap();
    assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4, "tokens outlive daemons");
}

/// A wrong file changes nothing, and its error is logged.
#[test]
fn a_wrong_file_is_refused_and_nothing_changes() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    daemons.write_config(0, "[balancer]\nnome = 'x'\n").unwrap();
    daemons.reload(0);
    let logged = || daemons.log(0).contains("nome").then_some(()).ok_or_else(|| daemons.log(0));
    eventually(LIMIT, logged).unwrap();
    for vip in lab.vips() {
        lab.connect(Transport::Tcp, SocketAddr::new(vip, PORT)).unwrap().ping().unwrap();
    }
}

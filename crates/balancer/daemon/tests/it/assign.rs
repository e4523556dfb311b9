//! `mptcp = "assign"` with the kernel's MPTCP at both ends: the balancer chooses keys, programs on
//! the backends translate them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::common::{
    FILE, JOIN_LIMIT, LIMIT, PORT, download_with, setup, soon, translate, untunnel,
    wait_for_members,
};
use heddle_balancer_maps::abi::TranslateCounter;
use heddle_balancer_maps::{Attached, Link, Room, Translate, TranslateTables, remove_pins};
use heddle_lab::{
    Capture, Connection, Daemons, Lab, NextHop, Transport, captured_connections, count_joins,
    eventually, mptcp_counters,
};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;

/// Events on all backends together.
fn events(backends: &[Translate], event: TranslateCounter) -> u64 {
    backends.iter().map(|backend| backend.tables.count(event).unwrap().packets).sum()
}

/// A counter of the kernel's MPTCP on all backends together.
fn kernels(lab: &Lab, counter: &str) -> u64 {
    let value = |node| mptcp_counters(node).unwrap().get(counter).copied().unwrap_or(0);
    lab.backends().iter().map(value).sum()
}

/// R1: all joins reach the backend of their connection, as with `learn`, over one balancer and over
/// two.
#[test]
fn every_join_finds_its_backend() {
    if skip_without(Need::Root) {
        return;
    }
    for balancers in [1, 2] {
        let lab = Lab::builder().balancers(balancers).backends(4).build().unwrap();
        let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
        for (mptcp, forwarding) in [("learn", "l2"), ("assign", "l2"), ("assign", "ipip")] {
            let _decaps = untunnel(&lab, forwarding);
            let backends = if mptcp == "assign" { translate(&lab) } else { vec![] };
            let daemons = Daemons::start(&lab, setup(mptcp, forwarding)).unwrap();
            for vip in lab.vips() {
                let joins = count_joins(&lab, SocketAddr::new(vip, PORT), 30, JOIN_LIMIT).unwrap();
                let what = format!("{mptcp} {forwarding} {balancers} {vip}: {}", daemons.log(0));
                assert_eq!((joins.expected, joins.established), (90, 90), "{what}");
                println!("{mptcp} {forwarding}, {balancers} balancers, {vip}: {joins:?}");
            }
            if mptcp == "assign" {
                assert_eq!(events(&backends, TranslateCounter::Opened), 60);
                assert_eq!(events(&backends, TranslateCounter::Joined), 180);
                assert_eq!(events(&backends, TranslateCounter::HmacWrong), 0);
            }
        }
        assert_eq!(kernels(&lab, "MPJoinNoTokenFound"), 0);
    }
}

/// Both directions, IPv4 and IPv6, without the checksums of DSS and with them. The client sees the
/// assigned key, and tshark one connection.
#[test]
fn a_file_over_four_subflows_arrives_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().balancers(2).backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let backends = translate(&lab);
    let _daemons = Daemons::start(&lab, setup("assign", "l2")).unwrap();
    for checksums in [0, 1] {
        for node in lab.backends().iter().chain([lab.client()]) {
            node.run(&format!("sysctl -q -w net.mptcp.checksum_enabled={checksums}")).unwrap();
        }
        for vip in lab.vips() {
            let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
            assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
            connection.download(FILE, 1, |_| ()).unwrap();
            connection.upload(FILE, 2, |_| ()).unwrap();
            let status = connection.status().unwrap();
            assert!(!status.fallback && status.established() == 4, "{status:?}");
        }
    }
    assert_ne!(events(&backends, TranslateCounter::Sent), 0);
    for node in lab.backends().iter().chain([lab.client()]) {
        let counters = mptcp_counters(node).unwrap();
        for failure in ["DataCsumErr", "MPJoinAckHMacFailure", "MPJoinSynAckHMacFailure"] {
            assert_eq!(counters.get(failure).copied().unwrap_or(0), 0, "{failure}: {counters:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.pcap");
    let capture = Capture::start(lab.client(), &file).unwrap();
    let mut connection =
        lab.connect(Transport::Mptcp, SocketAddr::new(lab.vips()[0], PORT)).unwrap();
    assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    connection.download(1_000_000, 3, |_| ()).unwrap();
    capture.finish().unwrap();
    let seen = captured_connections(&file).unwrap();
    assert_eq!((seen.len(), seen[0].subflows.len()), (1, 4), "{seen:?}");
    let token = seen[0].token.unwrap();
    let known = |backend: &Translate| backend.tables.connections.get(&token).unwrap().is_some();
    assert!(backends.iter().any(known), "the token of an assigned key");
}

/// A folder of pinned programs for each backend, removed at the end.
struct Pinned(PathBuf);

impl Pinned {
    fn new() -> Self {
        Self(Path::new("/sys/fs/bpf").join(format!("heddle-translate-test-{}", std::process::id())))
    }

    /// Programs on each backend that outlive this call, in place of those before.
    fn attach(&self, lab: &Lab) -> Vec<Attached> {
        let attach = |node: &heddle_lab::Node| {
            let directory = self.0.join(node.name());
            let load = || Translate::load_pinned(&directory, Link::Ethernet, &Room::default());
            node.enter(|| load().unwrap().attach("eth0").unwrap()).unwrap()
        };
        lab.backends().iter().map(attach).collect()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = remove_pins(&self.0);
    }
}

#[test]
fn the_programs_are_replaced_in_mid_transfer() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().client_rate(Rate::mbps(200)).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let pinned = Pinned::new();
    assert_eq!(pinned.attach(&lab), [Attached::Afresh; 2]);
    let _daemons = Daemons::start(&lab, setup("assign", "l2")).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    for _ in 0..3 {
        download_with(&mut connection, FILE / 2, || {
            assert_eq!(pinned.attach(&lab), [Attached::InPlace; 2]);
        });
    }
    connection.upload(FILE / 4, 2, |_| ()).unwrap();
    assert_eq!(connection.status().unwrap().established(), 4);
    let tables = TranslateTables::open(&pinned.0.join(connection.backend())).unwrap();
    let joined = || tables.count(TranslateCounter::Joined).unwrap().packets;
    assert_eq!(joined(), 3);
    lab.renew_joins().unwrap();
    eventually(LIMIT, || if joined() == 6 { Ok(()) } else { Err(format!("{}", joined())) })
        .unwrap();
    connection.ping().unwrap();
}

/// R3: one of two balancers fails. No connection breaks, in either mode; new connections have all
/// their joins.
#[test]
fn a_balancer_fails_and_no_connection_breaks() {
    if skip_without(Need::Root) {
        return;
    }
    const CONNECTIONS: usize = 20;
    for mptcp in ["learn", "assign"] {
        let lab = Lab::builder().clients(2).balancers(2).backends(4).build().unwrap();
        let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
        let _backends = if mptcp == "assign" { translate(&lab) } else { vec![] };
        let mut daemons = Daemons::start(&lab, setup(mptcp, "l2")).unwrap();
        let service = SocketAddr::new(lab.vips()[0], PORT);
        let mut open: Vec<Connection> =
            (0..CONNECTIONS).map(|_| lab.connect(Transport::Mptcp, service).unwrap()).collect();
        for connection in &open {
            assert_eq!(connection.wait_for_subflows(2, soon()).unwrap(), 2, "{mptcp}");
        }
        daemons.kill(1);
        lab.cut(lab.balancer(1)).unwrap();
        lab.route_vip(&[NextHop::Balancer(0)]).unwrap();
        wait_for_members(&daemons, &[0], &[0], LIMIT);
        for connection in &mut open {
            connection.upload(200_000, 1, |_| ()).unwrap();
            connection.download(200_000, 1, |_| ()).unwrap();
        }
        let established = |connection: &Connection| connection.status().unwrap().established();
        let subflows: usize = open.iter().map(established).sum();
        println!("{mptcp}: {subflows} of {} subflows are left", 2 * CONNECTIONS);
        if mptcp == "learn" {
            assert_eq!(subflows, 2 * CONNECTIONS);
        }
        let joins = count_joins(&lab, service, CONNECTIONS, JOIN_LIMIT).unwrap();
        assert_eq!(joins.established, joins.expected, "{mptcp}: {joins:?}");
    }
}

/// The backend announces an address of its own. Its HMAC is checked by the client, and the join
/// comes there past the balancer.
#[test]
fn an_address_that_the_backend_announces_takes_joins() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).backends(2).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let backends = translate(&lab);
    let _daemons = Daemons::start(&lab, setup("assign", "l2")).unwrap();
    for node in lab.backends() {
        node.run(&format!("ip mptcp endpoint add {} dev eth0 signal", node.v4())).unwrap();
    }
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(2, soon()).unwrap(), 2, "{:?}", connection.status());
    connection.download(1_000_000, 1, |_| ()).unwrap();
    connection.upload(1_000_000, 1, |_| ()).unwrap();
    assert_ne!(events(&backends, TranslateCounter::Addresses), 0);
    assert_ne!(mptcp_counters(lab.client()).unwrap()["AddAddr"], 0);
}

/// The client announces an address with a port, where its kernel listens; the backend's kernel
/// opens a join there, from an address of its own.
#[test]
fn joins_that_the_backend_opens_are_established() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).backends(2).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let vip = lab.vips()[0];
    let announced = lab.client_addresses(vip)[1];
    for (mptcp, port) in [("learn", 9001), ("assign", 9002)] {
        let backends = if mptcp == "assign" { translate(&lab) } else { vec![] };
        let _daemons = Daemons::start(&lab, setup(mptcp, "l2")).unwrap();
        lab.client().run("ip mptcp endpoint flush").unwrap();
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        // Only now: a kernel opens no join on a connection that its server has not accepted yet.
        let announce = format!("ip mptcp endpoint add {announced} port {port} signal");
        lab.client().run(&announce).unwrap();
        let joined = connection.wait_for_subflows(2, soon()).unwrap();
        assert_eq!(joined, 2, "{mptcp}: {:?}", connection.status());
        connection.download(1_000_000, 1, |_| ()).unwrap();
        connection.upload(1_000_000, 1, |_| ()).unwrap();
        assert_eq!(connection.status().unwrap().established(), 2, "{mptcp}");
        assert_eq!(events(&backends, TranslateCounter::ServerJoined), backends.len().min(1) as u64);
        assert_eq!(events(&backends, TranslateCounter::HmacWrong), 0);
    }
    assert_eq!(kernels(&lab, "MPJoinSynAckHMacFailure"), 0);
}

/// A client that gives up with data unread closes the connection at once: the kernel takes
/// MP_FASTCLOSE with its own key only.
#[test]
fn a_client_closes_at_once() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).client_rate(Rate::mbps(50)).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let backends = translate(&lab);
    let _daemons = Daemons::start(&lab, setup("assign", "l2")).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(2, soon()).unwrap(), 2);
    connection.give_up(FILE, 1).unwrap();
    eventually(LIMIT, || match kernels(&lab, "MPFastcloseRx") {
        0 => Err(format!("{:?}", mptcp_counters(lab.client()))),
        _ => Ok(()),
    })
    .unwrap();
    assert_ne!(events(&backends, TranslateCounter::FastCloses), 0);
}

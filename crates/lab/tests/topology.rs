//! The lab by itself: what it makes, what it leaves, and what MPTCP does in it without a balancer.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use heddle_lab::{Capture, Hop, Lab, Transport, count_joins, mptcp_counters, observe};
use heddle_testing::{Need, skip_without};

const PORT: u16 = 8080;
const FILE: u64 = 10_000_000;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3)
}

/// Without a balancer: the router sends all to one backend. IPv4, then IPv6.
#[test]
fn four_subflows_carry_a_file_to_one_backend() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    lab.route_vip(&[Hop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.backend(), "backend-1");
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
        connection.download(FILE, 1, |_| ()).unwrap();
        connection.upload(FILE, 2, |_| ()).unwrap();
        assert!(connection.ping().unwrap() < Duration::from_secs(1));

        let status = connection.status().unwrap();
        assert!(!status.fallback);
        let mut clients: Vec<_> = status.subflows.iter().map(|flow| flow.local.ip()).collect();
        clients.sort();
        assert_eq!(clients, lab.client_addresses(vip));
        let received: u64 = status.subflows.iter().map(|flow| flow.bytes_received).sum();
        assert!(received >= FILE, "{received} bytes by all subflows together");
    }
    let client = mptcp_counters(lab.client()).unwrap();
    let backend = mptcp_counters(lab.backend(1)).unwrap();
    assert_eq!(client["MPJoinSynTx"], 6, "three joins for each of two connections");
    assert_eq!(client["MPJoinSynAckRx"], 6);
    assert_eq!(backend["MPJoinAckRx"], 6);
    assert_eq!(backend["MPCapableACKRX"], 2);
}

/// 5-tuple hashing over n backends brings 1/n of the joins to the backend of their connection.
#[test]
fn plain_ecmp_over_two_backends_loses_half_of_the_joins() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    lab.route_vip(&[Hop::Backend(0), Hop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let [v4, v6] = lab.vips().map(|vip| {
        let service = SocketAddr::new(vip, PORT);
        count_joins(&lab, service, 30, Duration::from_secs(1)).unwrap()
    });
    // 180 joins at 1/2: a standard deviation is 6.7; outside of four of them once in 16 000 runs.
    let (wanted, made) = (v4.wanted + v6.wanted, v4.made + v6.made);
    assert_eq!(wanted, 180);
    assert!((63..=117).contains(&made), "{v4:?} {v6:?}");
    let unknown = |backend| mptcp_counters(backend).unwrap()["MPJoinNoTokenFound"];
    let strangers: u64 = lab.backends().iter().map(unknown).sum();
    assert_eq!(
        strangers,
        (wanted - made) as u64,
        "each loss is a token that a backend does not know"
    );
}

#[test]
fn the_router_sends_to_whom_it_is_told() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let backends = || {
        lab.vips().map(|vip| {
            let connection = lab.connect(Transport::Tcp, SocketAddr::new(vip, PORT));
            connection.map_or("nobody".into(), |connection| connection.backend().to_string())
        })
    };
    lab.route_vip(&[Hop::Backend(0), Hop::Backend(1)]).unwrap();
    lab.route_vip(&[Hop::Backend(0)]).unwrap();
    assert_eq!(backends(), ["backend-0", "backend-0"]);
    lab.route_vip(&[]).unwrap();
    assert_eq!(backends(), ["nobody", "nobody"]);
    lab.route_vip(&[Hop::Backend(1)]).unwrap();
    assert_eq!(backends(), ["backend-1", "backend-1"]);
}

/// Linux gives a socket another hash at a timeout; a router knows nothing of it.
#[test]
fn a_flow_keeps_its_hop_when_it_times_out() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).build().unwrap();
    lab.route_vip(&[Hop::Backend(0), Hop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let services = lab.vips().map(|vip| SocketAddr::new(vip, PORT));
    let open = |service: &SocketAddr| lab.connect(Transport::Tcp, *service).unwrap();
    let mut flows: Vec<_> = services.iter().cycle().take(10).map(open).collect();
    lab.backends().iter().for_each(|backend| lab.cut(backend).unwrap());
    for flow in &mut flows {
        // Linux sends again after 0.2 s.
        flow.set_patience(Duration::from_millis(300));
        flow.ping().unwrap_err();
    }
    lab.backends().iter().for_each(|backend| lab.mend(backend).unwrap());
    for flow in &mut flows {
        flow.set_patience(Duration::from_secs(10));
        flow.ping().unwrap();
    }
}

#[test]
fn the_referee_sees_the_subflows_that_the_kernel_has() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(3).build().unwrap();
    lab.route_vip(&[Hop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.pcap");
    let capture = Capture::start(lab.client(), &file).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.wait_for_subflows(3, soon()).unwrap(), 3);
        connection.download(1_000_000, 3, |_| ()).unwrap();
    }
    capture.finish();

    let seen = observe(&file).unwrap();
    assert_eq!(seen.len(), 2, "{seen:?}");
    for (connection, vip) in seen.iter().zip(lab.vips()) {
        let mut clients: Vec<_> = connection.subflows.iter().map(|flow| flow.client.ip()).collect();
        clients.sort();
        assert_eq!(clients, lab.client_addresses(vip));
        let (first, joins) = connection.subflows.split_first().unwrap();
        assert_eq!(first.join_token, None);
        assert!(connection.token.is_some());
        assert!(joins.iter().all(|join| join.join_token == connection.token), "{connection:?}");
        let bytes: u64 = connection.subflows.iter().map(|flow| flow.bytes).sum();
        assert!(bytes >= 1_000_000, "{bytes}");
    }
}

#[test]
fn a_cut_cable_is_noticed_by_patience_and_mended() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).backends(1).build().unwrap();
    lab.route_vip(&[Hop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Tcp, service).unwrap();
    connection.set_patience(Duration::from_millis(300));
    lab.cut(lab.backend(0)).unwrap();
    assert_eq!(connection.ping().unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    lab.mend(lab.backend(0)).unwrap();
    connection.set_patience(Duration::from_secs(5));
    connection.ping().unwrap();
}

#[test]
fn a_rate_makes_a_transfer_last() {
    if skip_without(Need::Root) {
        return;
    }
    let rate = heddle_units::Rate::mbps(20);
    let lab = Lab::builder().clients(2).backends(1).client_rate(rate).build().unwrap();
    lab.route_vip(&[Hop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(2, soon()).unwrap(), 2);
    // 4 MB over 2 x 20 Mbps: 0.8 s by arithmetic, headers and the start of TCP not counted.
    let took = connection.download(4_000_000, 1, |_| ()).unwrap();
    assert!((0.75..3.0).contains(&took.as_secs_f64()), "{took:?}");
}

#[test]
fn nothing_is_left_of_a_lab_that_went() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let path = lab.balancer(0).path();
    assert!(path.exists());
    let mut sleeper =
        lab.balancer(0).command("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    // Until it has entered the namespace.
    while !is_in(&path, sleeper.id()) {}
    drop(lab);
    assert!(!path.exists());
    assert!(!sleeper.wait().unwrap().success(), "killed");
}

/// As a process that was killed leaves it: no process has that number, Linux's largest is 2^22.
#[test]
fn a_killed_process_s_lab_is_swept() {
    if skip_without(Need::Root) {
        return;
    }
    let name = "heddle-lab-4194305-0-router";
    let status = Command::new("ip").args(["netns", "add", name]).status().unwrap();
    assert!(status.success());
    let path = Path::new("/run/netns").join(name);
    let mut sleeper = Command::new("nsenter")
        .arg(format!("--net={}", path.display()))
        .args(["sleep", "60"])
        .spawn()
        .unwrap();
    while !is_in(&path, sleeper.id()) {}
    heddle_lab::sweep().unwrap();
    assert!(!path.exists());
    assert!(!sleeper.wait().unwrap().success(), "killed");
}

fn is_in(namespace: &Path, process: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &Path| std::fs::metadata(path).map(|data| data.ino()).ok();
    inode(namespace) == inode(Path::new(&format!("/proc/{process}/ns/net")))
}

//! The lab by itself: its links and routes, its removal, and MPTCP in it without a balancer.

use std::io::{BufRead, BufReader, Lines, Read};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use heddle_lab::{
    Capture, Lab, NextHop, Transport, captured_connections, count_joins, equal, eventually,
    mptcp_counters,
};
use heddle_testing::{Need, skip_without};

const PORT: u16 = 8080;
const FILE: u64 = 10_000_000;

/// Limit on waits for an event that must come.
const LIMIT: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LIMIT
}

/// Without a balancer: the router sends all to one backend. IPv4, then IPv6.
#[test]
fn four_subflows_carry_a_file_to_one_backend() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    lab.route_vip(&[NextHop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.backend(), "backend-1");
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
        connection.download(FILE, 1, |_| ()).unwrap();
        connection.upload(FILE, 2, |_| ()).unwrap();
        connection.ping().unwrap();

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
    lab.route_vip(&[NextHop::Backend(0), NextHop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let [v4, v6] = lab.vips().map(|vip| {
        let service = SocketAddr::new(vip, PORT);
        count_joins(&lab, service, 30, LIMIT).unwrap()
    });
    // 180 joins at 1/2: a standard deviation is 6.7; outside of four of them once in 16 000 runs.
    let (expected, established) = (v4.expected + v6.expected, v4.established + v6.established);
    assert_eq!(expected, 180);
    assert!((63..=117).contains(&established), "{v4:?} {v6:?}");
    let unknown = |backend| mptcp_counters(backend).unwrap()["MPJoinNoTokenFound"];
    let unknown: u64 = lab.backends().iter().map(unknown).sum();
    let lost = (expected - established) as u64;
    assert_eq!(unknown, lost, "each loss is a token that a backend does not know");
}

#[test]
fn the_router_sends_to_the_hops_of_the_route() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let backends = || {
        lab.vips().map(|vip| {
            let connection = lab.connect(Transport::Tcp, SocketAddr::new(vip, PORT));
            connection.map_or("none".into(), |connection| connection.backend().to_string())
        })
    };
    lab.route_vip(&[NextHop::Backend(0), NextHop::Backend(1)]).unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    assert_eq!(backends(), ["backend-0", "backend-0"]);
    lab.route_vip(&[]).unwrap();
    assert_eq!(backends(), ["none", "none"]);
    lab.route_vip(&[NextHop::Backend(1)]).unwrap();
    assert_eq!(backends(), ["backend-1", "backend-1"]);
}

/// Linux changes a socket's transmit hash at a timeout; a router's ECMP hash does not depend on it.
#[test]
fn a_flow_keeps_its_hop_when_it_times_out() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0), NextHop::Backend(1)]).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let services = lab.vips().map(|vip| SocketAddr::new(vip, PORT));
    let open = |service: &SocketAddr| lab.connect(Transport::Tcp, *service).unwrap();
    let mut flows: Vec<_> = services.iter().cycle().take(10).map(open).collect();
    lab.backends().iter().for_each(|backend| lab.cut(backend).unwrap());
    for flow in &mut flows {
        flow.set_timeout(Duration::ZERO);
        flow.ping().unwrap_err();
    }
    eventually(LIMIT, || equal(&flows_after_timeouts(&lab), &flows.len())).unwrap();
    lab.backends().iter().for_each(|backend| lab.restore(backend).unwrap());
    for flow in &mut flows {
        flow.set_timeout(LIMIT);
        flow.ping().unwrap();
    }
}

/// The client's TCP connections whose retransmission timer has expired without an answer since
/// (`backoff` of `ss`).
fn flows_after_timeouts(lab: &Lab) -> usize {
    lab.client().run("ss --tcp --info --no-header").unwrap().matches(" backoff:").count()
}

#[test]
fn tshark_finds_the_subflows_that_the_kernel_has() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(3).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.pcap");
    let capture = Capture::start(lab.client(), &file).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.wait_for_subflows(3, soon()).unwrap(), 3);
        connection.download(1_000_000, 3, |_| ()).unwrap();
    }
    capture.finish().unwrap();

    let seen = captured_connections(&file).unwrap();
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
fn a_cut_link_is_noticed_by_a_timeout_and_restored() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).backends(1).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Tcp, service).unwrap();
    connection.set_timeout(Duration::from_millis(300));
    lab.cut(lab.backend(0)).unwrap();
    assert_eq!(connection.ping().unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    lab.restore(lab.backend(0)).unwrap();
    connection.set_timeout(LIMIT);
    connection.ping().unwrap();
}

#[test]
fn a_rate_makes_a_transfer_last() {
    if skip_without(Need::Root) {
        return;
    }
    let rate = heddle_units::Rate::mbps(20);
    let lab = Lab::builder().clients(2).backends(1).client_rate(rate).build().unwrap();
    lab.route_vip(&[NextHop::Backend(0)]).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connection = lab.connect(Transport::Mptcp, service).unwrap();
    assert_eq!(connection.wait_for_subflows(2, soon()).unwrap(), 2);
    // 4 MB over 2 x 20 Mbps: 0.8 s by arithmetic, less two bursts of 64 kB; a busy machine takes
    // longer.
    let took = connection.download(4_000_000, 1, |_| ()).unwrap();
    assert!(took >= Duration::from_millis(750), "{took:?}");
}

#[test]
fn a_dropped_lab_leaves_nothing() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let path = lab.balancer(0).path();
    assert!(path.exists());
    let mut sleeper =
        lab.balancer(0).command("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    wait_until_in(&path, sleeper.id());
    drop(lab);
    assert!(!path.exists());
    assert!(!sleeper.wait().unwrap().success(), "killed");
}

const CHILD: &str = "HEDDLE_LAB_CHILD";

/// A process of its own that makes a lab, writes the path of a namespace, and waits for the end of
/// its input.
struct OtherProcess {
    process: Child,
    // Kept open for what the test harness writes at its end.
    _output: Lines<BufReader<ChildStdout>>,
    namespace: PathBuf,
}

impl OtherProcess {
    fn start(test: &str) -> OtherProcess {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut lines = output.by_ref().map(Result::unwrap);
        let namespace = lines.find(|line| line.starts_with("/run/netns/")).unwrap().into();
        OtherProcess { process, _output: output, namespace }
    }

    /// The body of the process.
    fn run() {
        let lab = Lab::builder().build().unwrap();
        println!("\n{}", lab.router().path().display());
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn the_lab_of_a_killed_process_is_removed_and_those_of_others_stay() {
    const NAME: &str = "topology::the_lab_of_a_killed_process_is_removed_and_those_of_others_stay";
    if skip_without(Need::Root) {
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        return OtherProcess::run();
    }
    let [mut killed, mut other] = [NAME; 2].map(OtherProcess::start);
    let mut sleeper = Command::new("nsenter")
        .arg(format!("--net={}", killed.namespace.display()))
        .args(["sleep", "600"])
        .spawn()
        .unwrap();
    wait_until_in(&killed.namespace, sleeper.id());
    killed.process.kill().unwrap();
    killed.process.wait().unwrap();
    assert!(killed.namespace.exists(), "it could not remove its lab");
    let pins = orphaned_pins();

    let lab = Lab::builder().build().unwrap();
    assert!(!killed.namespace.exists() && !pins.exists());
    assert!(!sleeper.wait().unwrap().success(), "killed");
    assert!(other.namespace.exists() && lab.router().path().exists());
    drop(other.process.stdin.take());
    assert!(other.process.wait().unwrap().success());
    assert!(!other.namespace.exists(), "removed by its own process");
}

/// A folder of pinned objects whose process is gone: Linux's largest process id is 2^22.
fn orphaned_pins() -> PathBuf {
    let pins = PathBuf::from("/sys/fs/bpf/heddle-lab-4194305_1-0");
    std::fs::create_dir_all(pins.join("0")).unwrap();
    pins
}

/// Waits until a process has entered a namespace.
fn wait_until_in(namespace: &Path, process: u32) {
    let inode = |path: &Path| std::fs::metadata(path).map(|data| data.ino()).ok();
    let own_namespace = PathBuf::from(format!("/proc/{process}/ns/net"));
    eventually(LIMIT, || equal(&inode(&own_namespace), &inode(namespace))).unwrap();
}

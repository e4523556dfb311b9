//! The agent with the kernel's MPTCP, between network namespaces: the program as a user runs it.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use heddle_agent::{State, Status, SubflowStatus, admin};
use heddle_lab::{Connection, Lab, NextHop, Transport, eventually};
use heddle_path_encoder::{Family, Key, Network};
use heddle_path_service::{Bound, Options, client, serve, v1};
use heddle_policy::cflb::{Fields, Ports};
use heddle_scenario::{Source, load_fabric};
use heddle_testing::{Need, skip_without};
use heddle_units::Rate;

const PROGRAM: &str = env!("CARGO_BIN_EXE_heddle-agent");
const PORT: u16 = 8080;
/// Limit on waits for an event that must come.
const LIMIT: Duration = Duration::from_secs(60);
const KEY: &str = "000102030405060708090a0b0c0d0e0f";

fn soon() -> Instant {
    Instant::now() + LIMIT
}

/// A client with one address and a server; further subflows are a program's business.
struct Rig {
    lab: Lab,
    folder: tempfile::TempDir,
    _servers: Vec<heddle_lab::Server>,
}

impl Rig {
    fn new() -> Rig {
        // Slow enough that one subflow does not carry everything.
        let lab = Lab::builder().clients(1).client_rate(Rate::mbps(20)).build().unwrap();
        lab.route_vip(&[NextHop::Backend(0)]).unwrap();
        let servers = lab.serve(Transport::Mptcp, PORT).unwrap();
        lab.client().run("sysctl -q -w net.mptcp.pm_type=1").unwrap();
        let rig = Rig { lab, folder: tempfile::tempdir().unwrap(), _servers: servers };
        fs::write(rig.file("fabric.toml"), rig.fabric()).unwrap();
        fs::write(rig.file("fabric.key"), KEY).unwrap();
        fs::set_permissions(rig.file("fabric.key"), fs::Permissions::from_mode(0o600)).unwrap();
        rig
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Seven paths between the client and the service.
    fn fabric(&self) -> String {
        let [v4, v6] = self.lab.vips();
        let client = self.lab.client();
        format!(
            "[fabric]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 7\nhosts_per_leaf = 1\nparallel_links = 1\n\
             [cflb]\nfield = \"source-port\"\ncipher = \"feistel\"\nradix = 7\nkey_file = \"fabric.key\"\n\
             [addresses.hosts]\nhost-1 = [\"{}\", \"{}\"]\nhost-2 = [\"{v4}\", \"{v6}\"]\n",
            client.v4(),
            client.v6(),
        )
    }

    fn network(&self) -> Network {
        let none = |path: &str| Err(std::io::Error::other(path.to_owned()));
        let file = load_fabric(&Source::new("fabric.toml", self.fabric()), &none).unwrap();
        let key = Key::parse(KEY, file.cflb.constants.cipher).unwrap();
        Network::from_file(&file, &key).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.client().command(PROGRAM);
        command.arg("run").args(arguments).arg("--admin").arg(self.file("agent.sock"));
        command.args(["--interval", "200ms"]);
        command
    }

    fn start(&self, arguments: &[&str]) -> Agent {
        let child = self.command(arguments).stderr(Stdio::null()).spawn().unwrap();
        let agent = Agent { child, socket: self.file("agent.sock") };
        agent.until(|_| true);
        agent
    }

    /// Starts the agent with the fabric file.
    fn start_with_file(&self, subflows: &str) -> Agent {
        self.start(&[self.file("fabric.toml").to_str().unwrap(), "--subflows", subflows])
    }

    fn connect(&self, to: SocketAddr) -> Connection {
        let mut connection = self.lab.connect(Transport::Mptcp, to).unwrap();
        // Joins follow the first data.
        connection.ping().unwrap();
        connection
    }

    fn services(&self) -> [SocketAddr; 2] {
        self.lab.vips().map(|vip| SocketAddr::new(vip, PORT))
    }
}

struct Agent {
    child: Child,
    socket: PathBuf,
}

impl Agent {
    /// Waits until the status is so.
    fn until(&self, is_so: impl Fn(&Status) -> bool) -> Status {
        let waited = eventually(LIMIT, || match admin::status(&self.socket) {
            Ok(status) if is_so(&status) => Ok(status),
            other => Err(format!("{other:?}")),
        });
        waited.unwrap()
    }

    fn stop(mut self) -> ExitStatus {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        eventually(LIMIT, || self.child.try_wait().unwrap().ok_or("it runs".to_owned())).unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The spines that a connection's subflows cross by their source ports, as routers decode them.
fn spines(network: &Network, connection: &Connection) -> BTreeSet<String> {
    let spine = |flow: &heddle_lab::Subflow| {
        let family = if flow.local.is_ipv4() { Family::V4 } else { Family::V6 };
        let pair = network.pair("host-1", "host-2", family).unwrap();
        let ports = Some(Ports { source: flow.local.port(), destination: flow.remote.port() });
        let addresses = pair.addresses;
        let fields = Fields { addresses, protocol: 6, ports, flow_label: 0, ttl: 64 };
        let walk = network.walk(pair.from, &fields).unwrap();
        let names = walk.steps.into_iter().map(|step| step.name);
        names.filter(|name| name.starts_with("spine")).collect::<String>()
    };
    connection.status().unwrap().subflows.iter().map(spine).collect()
}

fn established(status: &Status) -> usize {
    let all = status.connections.iter().flat_map(|one| &one.subflows);
    all.filter(|one| one.state == State::Established).count()
}

/// One connection from before the agent's start, one from after it; IPv4 and IPv6.
#[test]
fn every_subflow_leaves_from_the_port_of_a_path_of_its_own() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = Rig::new();
    let network = rig.network();
    for service in rig.services() {
        let mut before = rig.connect(service);
        assert_eq!(before.status().unwrap().subflows.len(), 1, "nobody opens any");
        let agent = rig.start_with_file("7");
        let mut after = rig.connect(service);
        for connection in [&mut before, &mut after] {
            assert_eq!(connection.wait_for_subflows(7, soon()).unwrap(), 7);
            connection.upload(2_000_000, 1, |_| ()).unwrap();
            assert_eq!(spines(&network, connection).len(), 7, "{:?}", connection.status());
        }
        let status = agent.until(|status| established(status) == 12);
        assert_eq!((status.connections.len(), status.counters.opened), (2, 12));
        assert!(status.connections.iter().all(|one| one.lease.is_some() && one.problem.is_none()));
        drop(after);
        agent.until(|status| status.connections.len() == 1);
        assert!(agent.stop().success());
        before.ping().unwrap();
        assert_eq!(before.status().unwrap().established(), 7, "they outlive the agent");
    }
}

#[test]
fn a_subflow_whose_path_fails_is_opened_anew_on_another() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = Rig::new();
    let file = rig.file("fabric.toml");
    // Two timeouts in a row are soon there; on a busy machine another subflow may have them, too.
    let agent = rig.start(&[file.to_str().unwrap(), "--subflows", "3", "--timeouts", "2"]);
    let mut connection = rig.connect(rig.services()[0]);
    let failing = agent.until(|status| established(status) == 2).connections[0].subflows[0].clone();
    let rule = format!("ip rule add pref 1 ipproto tcp sport {} blackhole", failing.source_port);
    rig.lab.router().run(&rule).unwrap();
    let has_failed =
        |one: &SubflowStatus| one.source_port == failing.source_port && one.state == State::Failed;
    let deadline = soon();
    let replaced = loop {
        // Its packets time out only while there is something to send.
        connection.upload(500_000, 1, |_| ()).unwrap();
        let status = admin::status(&agent.socket).unwrap();
        let failed = status.connections[0].subflows.iter().any(has_failed);
        if failed && established(&status) == 2 {
            break status;
        }
        assert!(Instant::now() < deadline, "{status:?}");
    };
    let on_its_path = |one: &&SubflowStatus| one.path == failing.path;
    let on_it: Vec<_> = replaced.connections[0].subflows.iter().filter(on_its_path).collect();
    assert_eq!(on_it.len(), 1, "nothing else takes the path that failed: {replaced:?}");
    assert_eq!((on_it[0].source_port, on_it[0].state), (failing.source_port, State::Failed));
    connection.upload(500_000, 2, |_| ()).unwrap();
}

/// Starts a path service on the client.
fn serve_paths(rig: &Rig) -> SocketAddr {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let network = rig.network();
    let start = move || {
        std::thread::spawn(move || {
            let any = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
            let options = Options { grpc: any, http: None, ..Options::default() };
            let ready = |bound: Bound| ready.send(bound.grpc).unwrap();
            runtime().block_on(serve(network, options, std::future::pending(), ready))
        });
    };
    rig.lab.client().enter(start).unwrap();
    is_ready.recv_timeout(LIMIT).unwrap().unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn leases(rig: &Rig, service: SocketAddr) -> u64 {
    let list = async {
        let mut client = client::connect(service).await.unwrap();
        let listed = client.list_connections(v1::ListConnectionsRequest::default()).await;
        listed.unwrap().into_inner().total
    };
    rig.lab.client().enter(|| runtime().block_on(list)).unwrap()
}

#[test]
fn paths_are_those_of_a_path_service_which_gets_them_back() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = Rig::new();
    let service = serve_paths(&rig);
    let agent = rig.start(&["--service", &service.to_string(), "--subflows", "4"]);
    let connection = rig.connect(rig.services()[0]);
    assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    assert_eq!(spines(&rig.network(), &connection).len(), 4);
    assert_eq!(leases(&rig, service), 1);
    assert!(agent.stop().success());
    assert_eq!(leases(&rig, service), 0, "given back at the agent's end");
}

fn error(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_error_names_the_remedy() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = Rig::new();
    let fabric = rig.file("fabric.toml");
    let fabric = fabric.to_str().unwrap();
    let mut bounded = rig.lab.client().command("setpriv");
    bounded.args(["--bounding-set=-net_admin", "--inh-caps=-net_admin"]);
    let message = error(bounded.args([PROGRAM, "run", fabric]));
    assert!(message.contains("CAP_NET_ADMIN") && message.contains("AmbientCap"), "{message}");
    let message = error(&mut rig.command(&["--service", "127.0.0.1:1"]));
    assert!(message.contains("heddle path serve"), "{message}");
    rig.lab.client().run("sysctl -q -w net.mptcp.pm_type=0").unwrap();
    let message = error(&mut rig.command(&[fabric]));
    assert!(message.contains("sysctl -w net.mptcp.pm_type=1"), "{message}");
    let message = error(Command::new(PROGRAM).args(["status", "--admin", "/nonexistent/a.sock"]));
    assert!(message.contains("heddle agent run"), "{message}");
}

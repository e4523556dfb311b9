//! A fabric of network namespaces: two leaves, two spines, a host at each leaf, and a daemon for
//! each switch; or one with the kernel's routes ([`routed`]).

pub mod routed;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use heddle_switch::admin::{self, Answer, Request};
use heddle_switch::status::Status;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use socket2::{Domain, Protocol, Socket, Type};

pub const SWITCHES: [&str; 4] = ["leaf-1", "leaf-2", "spine-1", "spine-2"];
/// The longest wait of a test for a condition.
const LIMIT: Duration = Duration::from_secs(600);

/// IPPROTO_MPTCP.
pub fn mptcp() -> Option<Protocol> {
    Some(Protocol::from(262))
}

pub struct Fabric {
    prefix: String,
    folder: tempfile::TempDir,
    daemons: Vec<(&'static str, Child)>,
    /// The namespaces.
    nodes: Vec<String>,
    /// The address of host-2.
    receiver: Ipv4Addr,
}

pub fn run(line: &str) {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Waits for a condition.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < end, "{what}: not within {LIMIT:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

impl Fabric {
    /// A fabric whose switches have this `[scheme]`, with this `[cflb]` in the fabric file.
    pub fn new(scheme: &str, cflb: &str) -> Fabric {
        let nodes = SWITCHES.iter().chain(&["host-1", "host-2"]).map(|node| (*node).to_owned());
        let mut fabric = Fabric::unlinked(nodes.collect(), Ipv4Addr::new(10, 0, 0, 2));
        for leaf in ["1", "2"] {
            fabric.link(&format!("host-{leaf}"), "eth0", &format!("leaf-{leaf}"), "host", 1500);
            for spine in ["1", "2"] {
                let (a, b) = (format!("leaf-{leaf}"), format!("spine-{spine}"));
                fabric.link(&a, &b, &b, &a, 1600);
            }
            fabric.host(leaf);
        }
        fabric.files(scheme, cflb);
        for node in SWITCHES {
            fabric.start(node);
        }
        eventually("all switches answer", || {
            SWITCHES.iter().all(|node| fabric.ask(node).is_some())
        });
        // Their frames tell the switches the hosts' addresses.
        for host in ["1", "2"] {
            run(&format!(
                "{} ping -c 1 -W 1 10.0.0.{host}",
                fabric.nsenter(&format!("host-{host}"))
            ));
        }
        eventually("the hosts reach each other", || fabric.pings("host-1", "10.0.0.2"));
        fabric
    }

    /// Namespaces without links.
    fn unlinked(nodes: Vec<String>, receiver: Ipv4Addr) -> Fabric {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let prefix = format!("hsw{}x{number}-", std::process::id());
        let folder = tempfile::tempdir().unwrap();
        let fabric = Fabric { prefix, folder, daemons: Vec::new(), nodes, receiver };
        for node in &fabric.nodes {
            run(&format!("ip netns add {}{node}", fabric.prefix));
        }
        fabric
    }

    fn link(&self, a: &str, device: &str, b: &str, peer: &str, mtu: u32) {
        let (near, far) = (format!("{}{a}", self.prefix), format!("{}{b}", self.prefix));
        run(&format!(
            "ip link add name {device} netns {near} mtu {mtu} type veth peer name {peer} netns {far} mtu {mtu}"
        ));
        for (node, device) in [(a, device), (b, peer)] {
            run(&format!("ip -n {}{node} link set {device} up", self.prefix));
            // Shims need whole packets.
            run(&format!(
                "{} ethtool -K {device} gso off tso off gro off tx off",
                self.nsenter(node)
            ));
        }
    }

    fn host(&self, number: &str) {
        let ip = format!("ip -n {}host-{number}", self.prefix);
        run(&format!("{ip} link set lo up"));
        for net in ["0", "1"] {
            run(&format!("{ip} address add 10.0.{net}.{number}/32 dev eth0"));
        }
        run(&format!("{ip} route add 169.254.1.1 dev eth0"));
        run(&format!(
            "{ip} neighbour add 169.254.1.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent"
        ));
        run(&format!("{ip} route add default via 169.254.1.1"));
        run(&format!(
            "ip -n {}host-{number} mptcp limits set subflow 4 add_addr_accepted 4",
            self.prefix
        ));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn files(&self, scheme: &str, cflb: &str) {
        let fabric = format!(
            "[fabric]\nkind = \"leaf-spine\"\nparallel_links = 1\nhosts_per_leaf = 1\n{cflb}\n\
             [addresses.hosts]\nhost-1 = [\"10.0.0.1\", \"10.0.1.1\"]\nhost-2 = [\"10.0.0.2\", \"10.0.1.2\"]\n"
        );
        std::fs::write(self.path("fabric.toml"), fabric).unwrap();
        for node in SWITCHES {
            let peers = match node.split_once('-').unwrap() {
                ("leaf", n) => vec![
                    ("host".to_owned(), format!("host-{n}")),
                    ("spine-1".into(), "spine-1".into()),
                    ("spine-2".into(), "spine-2".into()),
                ],
                _ => vec![("leaf-1".into(), "leaf-1".into()), ("leaf-2".into(), "leaf-2".into())],
            };
            let ports: String = peers
                .iter()
                .map(|(device, peer)| {
                    format!("[[port]]\ndevice = \"{device}\"\npeer = \"{peer}\"\n")
                })
                .collect();
            let text = format!(
                "node = \"{node}\"\nfabric = \"fabric.toml\"\nadmin = \"{}\"\npin = \"{}\"\n{scheme}\n{ports}",
                self.path(&format!("{node}.sock")).display(),
                self.pins().join(node).display()
            );
            std::fs::write(self.path(&format!("{node}.toml")), text).unwrap();
        }
    }

    fn pins(&self) -> PathBuf {
        PathBuf::from("/sys/fs/bpf").join(&self.prefix)
    }

    fn nsenter(&self, node: &str) -> String {
        format!("nsenter --net=/run/netns/{}{node}", self.prefix)
    }

    /// Gives a switch another scheme, from its next start on.
    pub fn set_scheme(&self, node: &str, from: &str, to: &str) {
        let path = self.path(&format!("{node}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    pub fn start(&mut self, node: &'static str) {
        let log = File::create(self.path(&format!("{node}.log"))).unwrap();
        let child = Command::new("nsenter")
            .arg(format!("--net=/run/netns/{}{node}", self.prefix))
            .args([env!("CARGO_BIN_EXE_heddle-switch"), "run"])
            .arg(self.path(&format!("{node}.toml")))
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        self.daemons.push((node, child));
    }

    /// SIGTERM, and its end.
    pub fn stop(&mut self, node: &str) {
        let at = self.daemons.iter().position(|(name, _)| *name == node).unwrap();
        let (_, mut child) = self.daemons.remove(at);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// SIGKILL: the daemon has no time for anything.
    pub fn kill(&mut self, node: &str) {
        let at = self.daemons.iter().position(|(name, _)| *name == node).unwrap();
        let (_, mut child) = self.daemons.remove(at);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn ask(&self, node: &str) -> Option<Status> {
        match admin::call(&self.path(&format!("{node}.sock")), &Request::Status) {
            Ok(Answer::Status(status)) => Some(*status),
            _ => None,
        }
    }

    /// Tells a switch that the links between two nodes are down.
    pub fn tell_down(&self, node: &str, (a, b): (&str, &str)) {
        let request = Request::Link { ends: (a.into(), b.into()), up: false };
        admin::call(&self.path(&format!("{node}.sock")), &request).unwrap();
    }

    pub fn status(&self, node: &str) -> Status {
        self.ask(node).unwrap_or_else(|| {
            panic!(
                "{node}: {}",
                std::fs::read_to_string(self.path(&format!("{node}.log"))).unwrap()
            )
        })
    }

    /// Packets that a switch has sent to a neighbour.
    pub fn sent(&self, node: &str, peer: &str) -> u64 {
        let status = self.status(node);
        status.ports.iter().find(|port| port.peer == peer).unwrap().sent.packets
    }

    pub fn count(&self, node: &str, counter: &str) -> u64 {
        self.status(node).counters[counter].packets
    }

    /// `ip` in a node's namespace.
    pub fn ip(&self, node: &str, words: &str) {
        run(&format!("ip -n {}{node} {words}", self.prefix));
    }

    /// A program in a node's namespace.
    pub fn run(&self, node: &str, words: &str) {
        run(&format!("{} {words}", self.nsenter(node)));
    }

    pub fn command(&self, node: &str, words: &str) -> Command {
        let line = format!("{} {words}", self.nsenter(node));
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command
    }

    pub fn pings(&self, node: &str, address: &str) -> bool {
        self.command(node, &format!("ping -c 1 -W 1 {address}")).output().unwrap().status.success()
    }

    /// Calls `action` in a node's namespace.
    pub fn enter<T: Send>(&self, node: &str, action: impl FnOnce() -> T + Send) -> T {
        let file = File::open(format!("/run/netns/{}{node}", self.prefix)).unwrap();
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                        .unwrap();
                    action()
                })
                .join()
                .unwrap()
        })
    }

    /// Sends `bytes` from host-1 to host-2 over each of `connections` in turn pieces until
    /// `goes_on` is false, at least once; true if all arrived.
    pub fn transfer(
        &self,
        protocol: Option<Protocol>,
        bytes: usize,
        goes_on: impl Fn() -> bool + Sync,
    ) -> bool {
        let listener: TcpListener = self.enter("host-2", || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, protocol).unwrap();
            // Any port: a program that another test starts at this moment may hold the last one for
            // as long as it takes to start.
            socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into()).unwrap();
            socket.listen(8).unwrap();
            socket.into()
        });
        let port = listener.local_addr().unwrap().port();
        let mut stream: TcpStream = self.enter("host-1", || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, protocol).unwrap();
            socket.connect_timeout(&SocketAddr::from((self.receiver, port)).into(), LIMIT).unwrap();
            socket.set_write_timeout(Some(LIMIT)).unwrap();
            socket.into()
        });
        thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let (mut from, _) = listener.accept().unwrap();
                from.set_read_timeout(Some(LIMIT)).unwrap();
                let (mut sum, mut count, mut buffer) = (0_u64, 0_u64, vec![0; 1 << 16]);
                loop {
                    match from.read(&mut buffer).unwrap() {
                        0 => return (count, sum),
                        n => {
                            sum += buffer[..n].iter().map(|&byte| u64::from(byte)).sum::<u64>();
                            count += n as u64;
                        }
                    }
                }
            });
            let piece: Vec<u8> = (0..bytes).map(|n| (n * 31 % 251) as u8).collect();
            let mut pieces = 0;
            while pieces == 0 || goes_on() {
                stream.write_all(&piece).unwrap();
                pieces += 1;
            }
            stream.shutdown(Shutdown::Write).unwrap();
            let sum: u64 = piece.iter().map(|&byte| u64::from(byte)).sum();
            receiver.join().unwrap() == (pieces * bytes as u64, pieces * sum)
        })
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        for (_, child) in &mut self.daemons {
            let _ = child.kill();
            let _ = child.wait();
        }
        for node in &self.nodes {
            let _ = Command::new("ip")
                .args(["netns", "del", &format!("{}{node}", self.prefix)])
                .status();
        }
        let _ = std::fs::remove_dir_all(self.pins());
    }
}

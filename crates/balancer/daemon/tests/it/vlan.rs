//! VLAN interfaces and bonds, with the kernel's own 802.1Q and bonding drivers and real sockets.
//!
//! Without these drivers in the kernel the tests are skipped, with a line each on standard error;
//! results/vlan records a run with them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use heddle_balancer_maps::{Decap, Mode, Sources, interface_index};
use heddle_lab::{enter, eventually};
use heddle_testing::{Driver, Need, skip_because, skip_without};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(120);
const VIP: &str = "192.0.2.10";
const PORT: u16 = 8080;
const GUE: u16 = 6080;
/// Bytes there and back.
const BYTES: usize = 300_000;

fn run(line: &str) {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// True if the calling test has to end: it may not be root, or the kernel lacks a driver.
#[track_caller]
fn is_skipped() -> bool {
    let missing = || [Driver::Vlan, Driver::Bond].into_iter().find_map(Driver::missing);
    skip_without(Need::Root) || skip_because(missing().as_deref())
}

/// The interface of the balancer that carries the VLANs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trunk {
    /// `eth0`.
    Device,
    /// `bond0`, of `eth0` and `eth1`.
    Bond,
}

/// Client, balancer and backend at a switch that forwards frames with their tags. VLAN 100: all of
/// them; VLAN 200: balancer and backend.
struct Net {
    prefix: String,
}

impl Net {
    fn new(trunk: Trunk) -> Net {
        static NETS: AtomicU32 = AtomicU32::new(0);
        let number = NETS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("vlan{}-{number}", std::process::id());
        let net = Net { prefix };
        for node in ["switch", "client", "balancer", "backend"] {
            run(&format!("ip netns add {}", net.name(node)));
            net.on(node, "ip link set lo up");
        }
        net.on("switch", "ip link add lan type bridge");
        net.on("switch", "ip link set lan up");
        net.cable("client", "eth0", "lan");
        net.cable("backend", "eth0", "lan");
        match trunk {
            Trunk::Device => net.cable("balancer", "eth0", "lan"),
            Trunk::Bond => {
                for node in ["switch", "balancer"] {
                    net.on(node, "ip link add bond0 type bond mode balance-xor miimon 100");
                }
                net.cable("balancer", "eth0", "bond0");
                net.cable("balancer", "eth1", "bond0");
                net.on("balancer", "ip link set eth0 master bond0");
                net.on("balancer", "ip link set eth1 master bond0");
                net.on("switch", "ip link set bond0 master lan");
                net.on("switch", "ip link set bond0 up");
                net.on("balancer", "ip link set bond0 up");
            }
        }
        net.address("client", "eth0", 100, "10.1.0.1");
        net.address("backend", "eth0", 100, "10.1.0.3");
        net.address("backend", "eth0", 200, "10.2.0.3");
        let carrier = if trunk == Trunk::Bond { "bond0" } else { "eth0" };
        net.address("balancer", carrier, 100, "10.1.0.2");
        net.address("balancer", carrier, 200, "10.2.0.2");
        net.on("client", &format!("ip route add {VIP} via 10.1.0.2"));
        net.on("backend", &format!("ip address add {VIP}/32 dev lo"));
        for of in ["all", "default", "eth0", "eth0/100", "eth0/200"] {
            net.on("backend", &format!("sysctl -qw net.ipv4.conf.{of}.rp_filter=0"));
        }
        net
    }

    fn name(&self, node: &str) -> String {
        format!("{}-{node}", self.prefix)
    }

    fn path(&self, node: &str) -> PathBuf {
        PathBuf::from("/run/netns").join(self.name(node))
    }

    fn on(&self, node: &str, line: &str) {
        run(&format!("ip netns exec {} {line}", self.name(node)));
    }

    /// A veth pair between a node and the switch. Tags are in the frames in both directions, and
    /// checksums are computed by who sends.
    fn cable(&self, node: &str, device: &str, master: &str) {
        let port = format!("{node}-{device}");
        let (switch, node_name) = (self.name("switch"), self.name(node));
        run(&format!(
            "ip -n {switch} link add {port} type veth peer name {device} netns {node_name}"
        ));
        self.on("switch", &format!("ethtool -K {port} tx off txvlan off"));
        self.on(node, &format!("ethtool -K {device} tx off rxvlan off"));
        self.on("switch", &format!("ip link set {port} master {master}"));
        self.on("switch", &format!("ip link set {port} up"));
        if master == "lan" {
            self.on(node, &format!("ip link set {device} up"));
        }
    }

    fn address(&self, node: &str, device: &str, vlan: u16, address: &str) {
        self.on(
            node,
            &format!("ip link add link {device} name {device}.{vlan} type vlan id {vlan}"),
        );
        self.on(node, &format!("ip link set {device}.{vlan} up"));
        self.on(node, &format!("ip address add {address}/24 dev {device}.{vlan}"));
    }

    /// Programs at the far ends of the balancer's devices, which take frames from XDP.
    fn pass_at(&self, devices: &[&str]) -> Vec<heddle_balancer_maps::Program> {
        let attach = |device: &&str| {
            let mut program = heddle_balancer_maps::pass().unwrap();
            program.attach(interface_index(device).unwrap(), Mode::Native).unwrap();
            program
        };
        enter(&self.path("switch"), || devices.iter().map(attach).collect()).unwrap()
    }

    fn decap(&self) -> Decap {
        let attach = || {
            let mut decap = Decap::load(GUE, Sources::Any).unwrap();
            decap.own.insert(&IpAddr::from([10, 2, 0, 3]).into(), &1).unwrap();
            decap.program.attach(interface_index("eth0").unwrap(), Mode::Native).unwrap();
            decap
        };
        enter(&self.path("backend"), attach).unwrap()
    }

    /// Echoes what it gets, at the service's address.
    fn serve(&self) -> JoinHandle<()> {
        let bind = || TcpListener::bind((VIP, PORT)).unwrap();
        let listener = enter(&self.path("backend"), bind).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
            }
        })
    }

    /// Sends bytes through the balancer and gets them back.
    fn fetch(&self) -> Result<(), String> {
        let to: SocketAddr = format!("{VIP}:{PORT}").parse().unwrap();
        let connect = || TcpStream::connect_timeout(&to, Duration::from_secs(10));
        let mut stream =
            enter(&self.path("client"), connect).unwrap().map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let sent: Vec<u8> = (0..BYTES).map(|at| (at * 31 % 251) as u8).collect();
        let (mut writer, all) = (stream.try_clone().unwrap(), sent.clone());
        let write = std::thread::spawn(move || {
            writer.write_all(&all).and_then(|()| writer.shutdown(Shutdown::Write))
        });
        let mut got = Vec::new();
        stream.read_to_end(&mut got).map_err(|error| error.to_string())?;
        write.join().unwrap().map_err(|error| error.to_string())?;
        if got == sent { Ok(()) } else { Err(format!("{} bytes came back", got.len())) }
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for node in ["client", "balancer", "backend", "switch"] {
            let _ = Command::new("ip").args(["netns", "del", &self.name(node)]).output();
        }
    }
}

/// heddled in the balancer's namespace, until it is dropped.
struct Heddled {
    child: Child,
    folder: TempDir,
    pin: PathBuf,
}

impl Heddled {
    fn start(net: &Net, interfaces: &str, forwarding: &str, arguments: &[&str]) -> Heddled {
        let folder = tempfile::tempdir().unwrap();
        let pin = PathBuf::from(format!("/sys/fs/bpf/{}", net.prefix));
        let path = |name: &str| folder.path().join(name).display().to_string();
        let text = format!(
            "[balancer]\nname = \"lb\"\ninterfaces = [{interfaces}]\naddresses = [\"10.2.0.2\"]\nadmin = \"{}\"\npin = \"{}\"\nstate_dir = \"{}\"\n\
             [tables]\nflows = 4096\ntokens = 4096\n[[service]]\nname = \"web\"\naddress = \"{VIP}\"\nport = {PORT}\nforwarding = \"{forwarding}\"\n\
             [[service.backend]]\nname = \"be\"\naddress = \"10.2.0.3\"\n",
            path("admin"),
            pin.display(),
            path("state"),
        );
        fs::write(path("lb.toml"), text).unwrap();
        let log = fs::File::create(path("log")).unwrap();
        let child = Command::new("nsenter")
            .arg(format!("--net={}", net.path("balancer").display()))
            .arg(env!("CARGO_BIN_EXE_heddled"))
            .args(["--config", &path("lb.toml")])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Heddled { child, folder, pin }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The log of a daemon that ends by itself.
    fn refusal(mut self) -> String {
        assert!(!self.child.wait().unwrap().success());
        self.log()
    }
}

impl Drop for Heddled {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.pin);
    }
}

fn serves(net: &Net, interfaces: &str, forwarding: &str, arguments: &[&str]) {
    let heddled = Heddled::start(net, interfaces, forwarding, arguments);
    eventually(LIMIT, || net.fetch().map_err(|error| format!("{error}\n{}", heddled.log())))
        .unwrap();
}

/// From VLAN 100 to VLAN 200, at the device below: the frame's tag becomes that of the backend's
/// VLAN.
#[test]
fn vlan_interfaces_are_served_at_the_device_below() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Device);
    let _pass = net.pass_at(&["balancer-eth0"]);
    let (_decap, _server) = (net.decap(), net.serve());
    for forwarding in ["l2", "ipip", "gue"] {
        serves(&net, "\"eth0.100\", \"eth0.200\"", forwarding, &[]);
    }
}

/// The device itself, which takes frames with any tag.
#[test]
fn the_device_below_serves_all_its_vlans() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Device);
    let _pass = net.pass_at(&["balancer-eth0"]);
    let _server = net.serve();
    serves(&net, "\"eth0\"", "l2", &[]);
}

/// At the VLAN interface itself, where frames have no tag; and none of the other VLAN's.
#[test]
fn vlan_interfaces_are_served_themselves_in_generic_mode() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Device);
    let (_decap, _server) = (net.decap(), net.serve());
    for forwarding in ["l2", "gue"] {
        serves(&net, "\"eth0.100\"", forwarding, &["--attach", "generic"]);
    }
}

/// Frames of a VLAN that the configuration does not name are not touched.
#[test]
fn other_vlans_are_not_served() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Device);
    let _pass = net.pass_at(&["balancer-eth0"]);
    let _server = net.serve();
    let heddled = Heddled::start(&net, "\"eth0.200\"", "l2", &[]);
    eventually(LIMIT, || heddled.log().contains("ready").then_some(()).ok_or(heddled.log()))
        .unwrap();
    net.on("balancer", "sysctl -qw net.ipv4.ip_forward=0");
    assert!(net.fetch().is_err(), "the client is in VLAN 100");
}

/// Frames come by each port of the bond, and leave by the one that its mode chooses.
#[test]
fn bonds_and_vlans_on_bonds_are_served() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Bond);
    let _pass = net.pass_at(&["bond0"]);
    let (_decap, _server) = (net.decap(), net.serve());
    for interfaces in ["\"bond0\"", "\"bond0.100\""] {
        for forwarding in ["l2", "gue"] {
            serves(&net, interfaces, forwarding, &[]);
        }
    }
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    if is_skipped() {
        return;
    }
    let net = Net::new(Trunk::Bond);
    net.on("balancer", "ip link add link bond0.100 name inner type vlan id 7");
    net.on("balancer", "ip link add link bond0 name service type vlan id 8 protocol 802.1ad");
    let refusal =
        |interface: &str| Heddled::start(&net, &format!("\"{interface}\""), "l2", &[]).refusal();
    let log = refusal("inner");
    assert!(log.contains("inner cannot be served in native mode: it is a VLAN on a VLAN"), "{log}");
    let log = refusal("service");
    assert!(log.contains("802.1ad") && log.contains("--attach generic"), "{log}");
    net.on("balancer", "ethtool -K eth1 rxvlan on");
    let log = refusal("bond0.100");
    assert!(log.contains("run: ethtool -K eth1 rxvlan off"), "{log}");
}

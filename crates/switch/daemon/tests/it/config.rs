//! The packaged example, which is complete, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use heddle_switch::admin::{self, Answer, Request};
use heddle_switch::config;
use heddle_switch::status::Status;
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::SwitchRole;
use heddle_testing::{Need, require_program, skip_without};

const PROGRAM: &str = env!("CARGO_BIN_EXE_heddle-switch");

/// The longest wait for a switch that starts.
const LIMIT: Duration = Duration::from_secs(120);

/// The folder of the example.
fn packaged() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging/switch")
}

/// A copy of the example in a folder of its own.
struct Example(tempfile::TempDir);

impl Example {
    /// The example with these replacements in the switch's own file.
    fn with(replacements: &[(&str, &str)]) -> Example {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(packaged().join("fabric.toml"), folder.path().join("fabric.toml")).unwrap();
        let mut text = fs::read_to_string(packaged().join("tor-1.toml")).unwrap();
        for (from, to) in replacements {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        fs::write(folder.path().join("tor-1.toml"), text).unwrap();
        Example(folder)
    }

    /// Replaces a text of the switch's own file.
    fn change(&self, from: &str, to: &str) {
        let file = self.0.path().join("tor-1.toml");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
    }

    fn check(&self) -> Output {
        Command::new(PROGRAM)
            .current_dir(self.0.path())
            .args(["check", "tor-1.toml"])
            .output()
            .unwrap()
    }

    /// Output of `heddle-switch check` for a wrong file.
    fn refusal(&self) -> String {
        let output = self.check();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn the_packaged_example_is_complete() {
    let config = config::read(&packaged().join("tor-1.toml")).unwrap();
    assert_eq!((config.node.as_str(), config.tor), ("tor-1", Some(0)));
    assert_eq!(config.scheme.scheme, Scheme::Hula);
    assert_eq!(config.scheme.mp_hula.hula.probe_period, 1_000_000);
    let ports = config.fabric().unwrap().ports().len();
    assert_eq!((config.ports.len(), ports), (4, 4), "a device for each port");
    assert!(Example::with(&[]).check().status.success());
}

#[test]
fn a_wrong_configuration_is_refused_with_file_line_key_and_fix() {
    let refused = |from: &str, to: &str, words: &[&str]| {
        let refusal = Example::with(&[(from, to)]).refusal();
        for word in words {
            assert!(refusal.contains(word), "{to}: {word} is not in {refusal}");
        }
    };
    let fabric = "fabric = \"fabric.toml\"";
    refused(fabric, "", &["tor-1.toml", "fabric: this key is missing", "help:"]);
    refused(fabric, "fabric = \"fabric.toml\"\ntor = 1", &["tor-1.toml:6", "tor:", "kernel"]);
    refused(fabric, "fabric = \"none.toml\"", &["tor-1.toml:5", "fabric:", "none.toml", "help:"]);
    refused(fabric, "scenario = \"a.toml\"", &["tor-1.toml:5", "scenario", "help:"]);
    refused("\"tor-1\"", "\"tor-9\"", &["tor-1.toml:4", "node:", "help: did you mean"]);
    refused("\"hula\"", "\"huls\"", &["tor-1.toml", "scheme.kind", "help: did you mean"]);
    refused("\"1ms\"", "\"1\"", &["tor-1.toml:19", "scheme.probe_period", "as in"]);
    refused("\"1ms\"", "\"1ms\"\nutil_bits = 16", &["tor-1.toml:20", "scheme.util_bits", "help:"]);
    let slots = "\"1ms\"\nflowlet_slots = 131072";
    refused("\"1ms\"", slots, &["tor-1.toml:20", "scheme.flowlet_slots", "65536"]);
    refused("\"agg-2\"", "\"agg-3\"", &["tor-1.toml:36", "port.3.peer", "help:"]);
    refused("\"agg-2\"", "\"agg-1\"", &["port.3.peer: one link leads to agg-1", "help:"]);
    refused("\"eth3\"", "\"\"", &["port.2.device", "cannot be the name", "help:"]);
    let no_rate = &["port.3.rate: 0bps is not a link's rate", "help:"];
    refused("\"agg-2\"", "\"agg-2\"\nrate = \"0bps\"", no_rate);
    let metrics = "metrics = \"127.0.0.1:9642\"";
    let no_ipv4 = &["tor-1.toml:6", "probe_protocol", "help:"];
    refused(metrics, "probe_protocol = 200", no_ipv4);
    refused(metrics, "probe_protocol = 6\nprobe = \"ipv4\"", no_ipv4);
    refused(metrics, "icmp_source = [\"10.0.0.1\"]", &["tor-1.toml:6", "10.0.0.1 is a host's"]);
    let no_single = &["port.3.mac", "no single interface's", "help:"];
    refused("\"agg-2\"", "\"agg-2\"\nmac = \"01:00:5e:00:00:01\"", no_single);
    refused("\"agg-2\"", "\"agg-2\"\nmac = \"00:00:00:00:00:00\"", no_single);
    let no_sample = &["tor-1.toml:7", "postcards.one_in", "from 1 to"];
    refused(metrics, "[postcards]\none_in = 0\nfile = \"a.csv\"", no_sample);
    let hula = "kind = \"hula\"\nprobe_period = \"1ms\"\nlocal_detection = true";
    let to = |scheme: &str| scheme.to_owned();
    refused(hula, &to("kind = \"drill\""), &["tor-1.toml:18", "does not run drill", "help:"]);
    refused(hula, &to("kind = \"cflb\"\nradix = 4"), &["tor-1.toml:19", "scheme.radix", "[cflb]"]);
    refused(hula, &to("kind = \"cflb\""), &["fabric.toml", "key_file = \"fabric.key\""]);
}

#[test]
fn each_switch_has_icmp_sources_of_its_own_by_default() {
    let sources = |replacements: &[(&str, &str)]| {
        let example = Example::with(replacements);
        config::read(&example.0.path().join("tor-1.toml")).unwrap().icmp_source
    };
    let derived = |n| {
        let v6 = std::net::Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, n);
        (Some([198, 18, 0, n as u8].into()), Some(v6))
    };
    assert_eq!(sources(&[]), derived(1));
    let tor_2 =
        [("node = \"tor-1\"", "node = \"tor-2\""), ("host-1", "host-3"), ("host-2", "host-4")];
    assert_eq!(sources(&tor_2), derived(2));
    let given =
        [("#   icmp_source = [\"198.18.0.1\", \"2001:2::1\"]", "icmp_source = [\"192.0.2.9\"]")];
    assert_eq!(sources(&given), (Some([192, 0, 2, 9].into()), None));
    let example = Example::with(&[]);
    let file = example.0.path().join("fabric.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("192.0.2.7", "198.18.0.1")).unwrap();
    let refusal = example.refusal();
    assert!(refusal.contains("198.18.0.1 is a host's address"), "{refusal}");
}

/// The list in a refusal and in the lab is that of the programs.
#[test]
fn the_listed_schemes_are_those_of_the_programs() {
    let mut listed = heddle_scenario::Scheme::IN_EBPF;
    let mut programs: Vec<&str> = Scheme::ALL.iter().map(|scheme| scheme.kind()).collect();
    listed.sort_unstable();
    programs.sort_unstable();
    assert_eq!(programs, listed);
}

#[test]
fn a_wrong_fabric_file_is_refused_by_its_own_name_and_line() {
    let example = Example::with(&[]);
    let file = example.0.path().join("fabric.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("hosts_per_tor", "hosts_per_tors")).unwrap();
    let refusal = example.refusal();
    for word in ["fabric.toml:5", "fabric.hosts_per_tors", "help:"] {
        assert!(refusal.contains(word), "{word} is not in {refusal}");
    }
}

/// Configurations with the kernel's routes name no other file.
#[test]
fn switches_with_the_kernels_routes_are_checked() {
    let leaf = config::read(&packaged().join("leaf-1.toml")).unwrap();
    assert_eq!(
        (leaf.tor, leaf.fabric().is_none(), leaf.icmp_source),
        (Some(1), true, (None, None))
    );
    let hula = leaf.scheme.mp_hula.hula;
    assert_eq!((hula.is_tor, hula.tor, hula.tors), (1, 1, 1024));
    let up = |port: &config::Port| (port.role == SwitchRole::Up).then(|| port.peer.clone());
    assert_eq!(leaf.ports.iter().filter_map(up).collect::<Vec<_>>(), ["spine-1", "spine-2"]);
    let spine = config::read(&packaged().join("spine-1.toml")).unwrap();
    assert_eq!((spine.tor, spine.scheme.mp_hula.hula.is_tor, spine.ports.len()), (None, 0, 3));
    assert_ne!(leaf.salt, spine.salt);

    let list = "realms = true\n[tors]\n2 = [\"10.0.2.0/24\", \"2001:db8:2::/64\"]";
    let listed = read_leaf("realms = true", list).unwrap();
    let config::Routes::Kernel(routes) = &listed.routes else { panic!("{listed:?}") };
    assert_eq!(routes.tors.values().collect::<Vec<_>>(), [&2, &2]);
    let refused = |from: &str, to: &str, words: &[&str]| {
        let refusal = read_leaf(from, to).unwrap_err();
        for word in words {
            assert!(refusal.contains(word), "{to}: {word} is not in {refusal}");
        }
    };
    refused("realms = true", "", &["tors", "help:"]);
    refused("realms = true", "[tors]\n2 = [\"10.0.2.1/24\"]", &["tors.2.0", "10.0.2.0/24"]);
    refused("realms = true", "[tors]\n2000 = []", &["tors.2000", "1023"]);
    let twice = "[tors]\n1 = [\"10.0.2.0/24\"]\n2 = [\"10.0.2.0/24\"]";
    refused("realms = true", twice, &["tors.2.0", "another ToR"]);
    refused("realms = true", "realms = true\ntable = 9\nvrf = \"a\"", &["table", "vrf"]);
    refused("realms = true", "realms = true\ntable = 0", &["table", "number 0", "help:"]);
    refused(
        "realms = true",
        "realms = true\nvrf = \"\"",
        &["vrf", "name of an interface", "help:"],
    );
    for node in ["", "..", "a/b"] {
        let key = format!("node = \"{node}\"");
        refused("node = \"leaf-1\"", &key, &["node", "name of a switch", "help:"]);
    }
    let text = fs::read_to_string(packaged().join("leaf-1.toml")).unwrap();
    refused(&text[text.find("[[port]]").unwrap()..], "", &["port", "no ports", "help:"]);
    refused("\ntor = 1\n", "\ntor = 1024\n", &["tor:", "1023"]);
    refused("\ntor = 1\n", "\nfabric = \"fabric.toml\"\n", &["fabric:", "help:"]);
    refused(
        "\"hula\"\nprobe_period = \"1ms\"\nlocal_detection = true",
        "\"cflb\"",
        &["scheme.kind"],
    );
    refused("role = \"host\"", "", &["port.0.role", "help:"]);
    refused("rate = \"10Gbps\"\n\n", "\n", &["port.1.rate", "help:"]);
}

#[test]
fn likely_mistakes_are_said_and_not_refused() {
    let warnings = |config: config::Config| config.warnings().join("\n");
    assert_eq!(warnings(read_leaf("tor = 1", "tor = 1").unwrap()), "");
    let no_tor = warnings(read_leaf("\ntor = 1\n", "\n").unwrap());
    assert!(no_tor.contains("role = \"host\"") && no_tor.contains("`tor`"), "{no_tor}");
    let example = Example::with(&[("[scheme]\n", "hook = \"xdp\"\n[scheme]\n")]);
    let checked = example.check();
    assert!(checked.status.success());
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(said.contains("\nwarning: under XDP a ToR sends no probes"), "{said}");
}

/// The packaged leaf with its first `from` replaced; what is wrong with it as text.
fn read_leaf(from: &str, to: &str) -> Result<config::Config, String> {
    let text = fs::read_to_string(packaged().join("leaf-1.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leaf-1.toml");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let output = Command::new(PROGRAM).arg("check").arg(&path).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let read = config::read(&path).map_err(|_| said);
    assert_eq!(output.status.success(), read.is_ok());
    read
}

/// The packaged example in a namespace with its devices, and its switch.
struct Started {
    example: Example,
    namespace: String,
    pins: PathBuf,
    switch: Child,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.switch.kill();
        let _ = self.switch.wait();
        let _ = Command::new("ip").args(["netns", "del", &self.namespace]).status();
        let _ = fs::remove_dir_all(&self.pins);
    }
}

impl Started {
    fn new(namespace: String) -> Started {
        let pins = PathBuf::from("/sys/fs/bpf").join(&namespace);
        let example = Example::with(&[]);
        let node = "node = \"tor-1\"";
        let (pin, admin) = (pins.join("tor-1"), example.0.path().join("switch.sock"));
        let paths = format!("{node}\npin = \"{}\"\nadmin = \"{}\"", pin.display(), admin.display());
        example.change(node, &paths);
        ip(&format!("netns add {namespace}"));
        ip(&format!("-n {namespace} link set lo up"));
        for number in 1..=4 {
            let (device, peer) = (format!("eth{number}"), format!("far{number}"));
            ip(&format!("-n {namespace} link add {device} type veth peer name {peer}"));
            ip(&format!("-n {namespace} link set {device} up"));
            ip(&format!("-n {namespace} link set {peer} up"));
        }
        let switch = run(&namespace, &example);
        Started { example, namespace, pins, switch }
    }

    fn socket(&self) -> PathBuf {
        self.example.0.path().join("switch.sock")
    }

    /// Waits for the socket, at which no capability is left, and asks for the state.
    fn status(&mut self) -> Box<Status> {
        let end = Instant::now() + LIMIT;
        let socket = self.socket();
        let ended = |switch: &mut Child| switch.try_wait().unwrap().is_some();
        while !socket.exists() && !ended(&mut self.switch) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        let held = fs::read_to_string(format!("/proc/{}/status", self.switch.id())).unwrap();
        assert!(held.contains("CapEff:\t0000000000000000"), "with its socket: {held}");
        loop {
            if let Ok(Answer::Status(status)) = admin::call(&socket, &Request::Status) {
                return status;
            }
            assert!(!ended(&mut self.switch), "it ended: {}", self.log());
            assert!(Instant::now() < end, "no answer within {LIMIT:?}: {}", self.log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.example.0.path().join("log")).unwrap()
    }

    /// Ends the daemon and starts the next one, by the file as it is now.
    fn again(&mut self) {
        let process = self.switch.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        assert!(self.switch.wait().unwrap().success(), "{}", self.log());
        self.switch = run(&self.namespace, &self.example);
    }

    /// The pinned links, by hook and with the interface's number.
    fn links(&self) -> Vec<(String, String)> {
        let names = fs::read_dir(self.pins.join("tor-1")).unwrap();
        let names = names.map(|pin| pin.unwrap().file_name().into_string().unwrap());
        let mut links: Vec<(String, String)> = names
            .filter_map(|name| {
                let parts: Vec<&str> = name.strip_prefix("link-")?.split('-').collect();
                Some((parts[0].to_owned(), parts[2].to_owned()))
            })
            .collect();
        links.sort();
        links
    }
}

fn run(namespace: &str, example: &Example) -> Child {
    let folder = example.0.path();
    Command::new("nsenter")
        .arg(format!("--net=/run/netns/{namespace}"))
        .args([PROGRAM, "run"])
        .arg(folder.join("tor-1.toml"))
        .stderr(fs::File::create(folder.join("log")).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn ip(words: &str) {
    let output = Command::new("ip").args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The second configuration has another hook and no port at eth2, the third one another mode of XDP.
#[test]
fn the_packaged_example_starts_and_the_next_daemon_lets_go_of_what_it_has_not() {
    if skip_without(Need::Root) {
        return;
    }
    require_program("ip", "iproute2");
    require_program("nsenter", "util-linux");
    let mut started = Started::new(format!("hswx{}", std::process::id()));
    assert_eq!(started.status().ports.len(), 4);
    let by_hook = |links: &[(String, String)], hook| {
        links
            .iter()
            .filter(|(own, _)| own == hook)
            .map(|(_, port)| port.clone())
            .collect::<Vec<_>>()
    };
    let before = started.links();
    let [ingress, egress] = ["ingress", "egress"].map(|hook| by_hook(&before, hook));
    assert_eq!((ingress.len(), &ingress, before.len()), (4, &egress, 8));

    started.example.change("[[port]]\ndevice = \"eth2\"\npeer = \"host-2\"\n", "");
    started.example.change("[scheme]\n", "hook = \"xdp-generic\"\n[scheme]\n");
    started.again();
    assert_eq!(started.status().ports.len(), 3);
    let (after, log) = (started.links(), started.log());
    let xdp = by_hook(&after, "xdpgeneric");
    assert_eq!((xdp.len(), after.len()), (3, 3), "{after:?}");
    let gone: Vec<&String> = ingress.iter().filter(|port| !xdp.contains(port)).collect();
    assert_eq!(gone, [&ingress[1]], "eth2's");
    assert_eq!(log.matches("detached: no longer in the configuration").count(), 8, "{log}");
    assert!(log.contains("under XDP a ToR sends no probes, without which hula"), "{log}");

    started.example.change("hook = \"xdp-generic\"\n", "hook = \"xdp\"\n");
    started.again();
    assert_eq!(started.status().ports.len(), 3);
    let native = started.links();
    assert_eq!((by_hook(&native, "xdp"), native.len()), (xdp, 3), "{native:?}");
}

/// A daemon with a socket of its own would write to the same maps, and send probes as well.
#[test]
fn a_second_daemon_with_the_same_pins_is_refused_and_a_port_without_a_device_keeps_its_role() {
    if skip_without(Need::Root) {
        return;
    }
    let mut started = Started::new(format!("hswy{}", std::process::id()));
    started.status();
    let folder = started.example.0.path();
    let text = fs::read_to_string(folder.join("tor-1.toml")).unwrap();
    let text = text.replace("switch.sock", "other.sock").replace("metrics = ", "# metrics = ");
    fs::write(folder.join("other.toml"), text).unwrap();
    let mut second = Command::new("nsenter");
    second.arg(format!("--net=/run/netns/{}", started.namespace)).args([PROGRAM, "run"]);
    let refused = second.arg(folder.join("other.toml")).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("another daemon uses"), "{said}");

    ip(&format!("-n {} link del eth3", started.namespace));
    let end = Instant::now() + LIMIT;
    while started.status().ports[2].up {
        assert!(Instant::now() < end, "{}", started.log());
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(started.status().ports[2].role, "up");
}

//! A valid file as an operator writes it, and the errors of invalid ones: place, key, suggested
//! fix.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::health::Probe;
use crate::service::MptcpMode;

const SOUND: &str = r#"
[balancer]
name = "lb1"
interfaces = ["eth0"]

[[balancers]]
name = "lb1"
address = "10.0.0.1"
[[balancers]]
name = "lb2"
address = "10.0.0.2"

[steering]
secret_file = "/etc/heddle/secret"

[[service]]
name = "web"
address = "192.0.2.10"
port = 443
health = { kind = "http", path = "/health", expect = 204 }
[[service.backend]]
name = "be1"
address = "10.0.1.1"
weight = 2
[[service.backend]]
name = "be2"
address = "10.0.1.2"
state = "drain"
"#;

/// The error of the valid file with one text replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    load("lb.toml", &SOUND.replacen(from, to, 1)).expect_err(to).to_string()
}

/// The default is at most the interval: no file has to say both.
#[test]
fn the_timeout_of_a_health_check_follows_its_interval() {
    for (interval, timeout) in [("500ms", 500), ("1s", 1000), ("10s", 1000)] {
        let file = SOUND.replacen("expect = 204", &format!("interval = \"{interval}\""), 1);
        let config = load("lb.toml", &file).unwrap();
        let (check, _) = config.services[0].health.as_ref().unwrap();
        assert_eq!(check.timeout, Duration::from_millis(timeout), "{interval}");
    }
}

#[test]
fn a_sound_file_is_filled_in() {
    let config = load("lb.toml", SOUND).unwrap();
    assert_eq!(config.balancer.ipv4, Some([10, 0, 0, 1].into()));
    assert_eq!(config.balancer.admin, PathBuf::from("/run/heddle/heddled.sock"));
    assert_eq!(config.members().len(), 2);
    assert_eq!(config.steering.as_ref().unwrap().port, 7077);
    assert_eq!(config.timeouts.established, Duration::from_secs(3600));
    assert_eq!(config.sizes.flows, 1 << 20);
    let web = &config.services[0];
    assert_eq!((web.mptcp, web.forwarding), (MptcpMode::Learn, Forwarding::L2));
    let (check, port) = web.health.as_ref().unwrap();
    let host = "192.0.2.10".to_owned();
    assert_eq!(check.probe, Probe::Http { path: "/health".into(), host, expect: 204..=204 });
    assert_eq!((*port, check.interval, check.fall.get()), (443, Duration::from_secs(2), 3));
    let drained: Vec<bool> = web.backends.iter().map(|backend| backend.drained).collect();
    assert_eq!(drained, [false, true]);
    assert_eq!(web.slow_start, Duration::ZERO);
    assert!(web.backends.iter().all(|backend| !backend.sorry && !backend.in_maintenance));
}

#[test]
fn the_older_names_of_limits_still_count() {
    let limits =
        |keys: &str| load("lb.toml", &format!("{SOUND}\n[limits]\n{keys}")).unwrap().limits;
    assert_eq!(limits("midstream_keys = 7\nqueries = 8"), limits("learn = 7\nask = 8"));
    assert_eq!(limits("queries = 8").queries, 8);
    let both = load("lb.toml", &format!("{SOUND}\n[limits]\nqueries = 7\nask = 8"));
    assert!(both.unwrap_err().to_string().contains("queries"));
}

#[test]
fn the_least_file_is_one_balancer_without_services() {
    let config = load("a", "balancer = { name = 'a', interfaces = ['eth0'] }").unwrap();
    assert!(config.services.is_empty() && config.members().is_empty() && config.steering.is_none());
}

#[test]
fn unknown_words_are_refused_with_what_was_meant() {
    assert_eq!(
        refusal("weight = 2", "wieght = 2"),
        "lb.toml:24: service.0.backend.0.wieght: this key is not known here\nhelp: did you mean `weight`?"
    );
    assert_eq!(
        refusal("\"http\", path", "\"htpp\", path"),
        "lb.toml:20: service.0.health.kind: \"htpp\" is not one of \"tcp\" or \"http\"\nhelp: did you mean `http`?"
    );
    let misspelt = refusal("[steering]", "[steerin]");
    assert!(misspelt.starts_with("lb.toml:13: steerin: this key is not known here"), "{misspelt}");
}

#[test]
fn wrong_types_are_refused_where_they_stand() {
    let wrong = refusal("port = 443", "port = 70000");
    assert!(
        wrong.starts_with(
            "lb.toml:19: service.0.port: a whole number from 0 to 65535 is expected, not 70000"
        ),
        "{wrong}"
    );
    let wrong = refusal("[steering]", "[timeouts]\nsyn = 10\n[steering]");
    assert!(wrong.starts_with("lb.toml:14: timeouts.syn: a duration in quotes with its unit, as in \"10s\" is expected"), "{wrong}");
    let wrong = refusal("[steering]", "[timeouts]\nsyn = \"10\"\n[steering]");
    assert!(
        wrong.contains("timeouts.syn: a duration needs a unit (d, h, m, s, ms, us, ns, ps)"),
        "{wrong}"
    );
    let wrong = refusal("name = \"web\"\n", "");
    assert!(wrong.starts_with("lb.toml:16: service.0.name: this key is missing"), "{wrong}");
    let wrong = refusal("name = \"web\"", "name = ");
    assert!(wrong.starts_with("lb.toml:17: "), "{wrong}");
}

/// Each line: the text that is replaced, its replacement, and a part of the error.
const REFUSED: [(&str, &str, &str); 66] = [
    (
        "port = 443",
        "port = 443\nquic = { server_id_length = 2 }",
        "service.0.quic: QUIC runs over UDP\nhelp: protocol = \"udp\"",
    ),
    ("weight = 2", "server_id = \"01\"", "backend.0.server_id: only a service with `quic` uses it"),
    (
        "port = 443",
        "port = 443\nprotocol = \"udp\"\nquic = { server_id_length = 2, nonce_length = 4 }",
        "service.0.quic.nonce_length: this key is not known here",
    ),
    ("name = \"lb1\"", "name = \"lb3\"", "lb.toml:3: balancer.name: `lb3` is not among"),
    ("[\"eth0\"]", "[]", "balancer.interfaces: at least one"),
    ("[\"eth0\"]", "[\"eth0\", \"eth0\"]", "balancer.interfaces.1: `eth0` is given twice"),
    ("[\"eth0\"]", "[\"eth0\"]\naddresses = [\"10.0.0.9\"]", "`[[balancers]]` has 10.0.0.1"),
    (
        "address = \"10.0.0.2\"",
        "address = \"10.0.0.1\"",
        "lb.toml:11: balancers.1.address: 10.0.0.1 is given twice",
    ),
    ("address = \"10.0.0.2\"", "address = \"10.0.0.2\"\nid = 0", "balancers.1.id: 0 is not an id"),
    ("[steering]\nsecret_file = \"/etc/heddle/secret\"", "", "several balancers need `[steering]`"),
    ("secret_file", "port = 0\nsecret_file", "steering.port: 0 is not a port number"),
    ("[steering]", "[membership.etcd]\nendpoints = []\n[steering]", "keep one of both"),
    (
        "[steering]",
        "[tables]\nflows = 5\n[steering]",
        "tables.flows: 5 is out of range\nhelp: 1024 to",
    ),
    (
        "[steering]",
        "[tables]\ntargets = 3\n[steering]",
        "tables.targets: 4 backends and balancers, room for 3",
    ),
    ("[steering]", "[timeouts]\nudp = \"0s\"\n[steering]", "timeouts.udp: out of range"),
    ("[steering]", "[drain]\nudp = \"31d\"\n[steering]", "drain.udp: out of range"),
    (
        "[steering]",
        "[timeouts]\nrefresh = \"5m\"\n[steering]",
        "timeouts.refresh: a token would expire",
    ),
    ("192.0.2.10", "10.0.0.1", "service.0.address: 10.0.0.1 is this balancer's own"),
    ("192.0.2.10", "127.0.0.1", "service.0.address: 127.0.0.1 is a loopback address"),
    ("port = 443", "port = 0", "service.0.port: 0 is not a port number"),
    (
        "port = 443",
        "port = 443\nprotocol = \"udp\"\nmptcp = \"learn\"",
        "service.0.mptcp: UDP has no MPTCP subflows",
    ),
    (
        "port = 443",
        "port = 443\nprotocol = \"udp\"",
        "service.0.health: health checks go over TCP, and this service is UDP",
    ),
    (
        "port = 443",
        "port = 443\nmptcp = \"c-flag\"",
        "service.0.backend.0: `join_address` is missing",
    ),
    (
        "port = 443",
        "port = 443\ngue_port = 6080",
        "service.0.gue_port: only GUE forwarding has a port",
    ),
    ("weight = 2", "weight = 2000", "service.0.backend.0.weight: 2000 is above the maximum"),
    (
        "weight = 2",
        "join_address = \"192.0.2.21\"",
        "join_address: only `mptcp = \"c-flag\"` uses it",
    ),
    ("name = \"be2\"", "name = \"be1\"", "service.0.backend.1.name: `be1` is given twice"),
    ("10.0.1.2", "10.0.1.1", "service.0.backend.1.address: 10.0.1.1 is given twice"),
    ("10.0.1.2", "192.0.2.10", "192.0.2.10 is the service's address, not a backend's own"),
    (
        "10.0.1.2",
        "2001:db8::2",
        "of another address family than the service's 192.0.2.10\nhelp: forwarding = \"ipip\" or",
    ),
    ("kind = \"http\"", "kind = \"tcp\"", "service.0.health.path: only HTTP checks have this key"),
    (
        "path = \"/health\"",
        "path = \"health\"",
        "service.0.health.path: `health` is not an HTTP path",
    ),
    ("expect = 204", "expect = 99", "service.0.health.expect: 99 is not an HTTP status code"),
    (
        "expect = 204",
        "timeout = \"3s\"",
        "service.0.health.timeout: the timeout must be longer than 0s and at most `interval`\nhelp: at most 2s",
    ),
    (
        "expect = 204",
        "interval = \"500ms\", timeout = \"1s\"",
        "service.0.health.timeout: the timeout must be longer than 0s and at most `interval`\nhelp: at most 500ms",
    ),
    (
        "port = 443\nhealth = { kind = \"http\", path = \"/health\", expect = 204 }",
        "port = 443\nprotocol = \"udp\"\nhealth = { kind = \"tcp\", port = 80, through = \"forwarding\" }",
        "service.0.health.through: the probe is a TCP connection, and this service is UDP\nhelp: through",
    ),
    (
        "address = \"192.0.2.10\"\nport = 443\nhealth = { kind = \"http\",",
        "address = \"2001:db8::10\"\nport = 443\nforwarding = \"ipip\"\nhealth = { kind = \"http\", through = \"forwarding\",",
        "service.0.health.through: this balancer has no address to probe 2001:db8::10 from\nhelp: add one",
    ),
    (
        "\"be1\"",
        "\"be\\u001b[31m1\"",
        "service.0.backend.0.name: `be\\u{1b}[31m1` has a character that cannot be printed",
    ),
    (
        "\"lb2\"",
        "\"lb\\u0000\"",
        "balancers.1.name: `lb\\0` has a character that cannot be printed",
    ),
    ("expect = 204", "rise = 0", "service.0.health.rise: must be at least 1"),
    ("state = \"drain\"", "id = 0", "service.0.backend.1.id: 0 is not an id"),
    (
        "10.0.1.2",
        "::ffff:10.0.1.2",
        "service.0.backend.1.address: ::ffff:10.0.1.2 is an IPv4-mapped",
    ),
    ("10.0.1.2", "224.0.0.1", "service.0.backend.1.address: 224.0.0.1 is not a unicast address"),
    ("10.0.1.2", "10.0.0.2", "service.0.backend.1.address: 10.0.0.2 is balancer `lb2`'s address"),
    (
        "[\"eth0\"]",
        "[\"eth0\"]\naccept_macs = [\"02:00:00:00:00\"]",
        "balancer.accept_macs.0: an Ethernet address has six bytes",
    ),
    (
        "[\"eth0\"]",
        "[\"eth0\"]\naccept_macs = [\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
        "balancer.accept_macs: too many Ethernet addresses",
    ),
    (
        "port = 443",
        "port = 443\nunparsable = \"dropp\"",
        "service.0.unparsable: \"dropp\" is not one of \"pass\" or \"drop\"",
    ),
    ("port = 443\n", "", "service.0: `port` is missing\nhelp: port = 443; or several: ports"),
    (
        "port = 443",
        "port = 443\nports = \"all\"",
        "service.0.ports: the service has a `port` already",
    ),
    ("port = 443", "ports = \"443\"", "service.0.ports: `443` is no range of ports\nhelp: as in"),
    ("port = 443", "ports = \"99-1\"", "service.0.ports: `99-1` is no range of ports"),
    (
        "port = 443",
        "ports = \"80-99\"",
        "service.0.health: a health check probes one port, and this service has several\nhelp: port =",
    ),
    (
        "port = 443\nhealth = { kind = \"http\"",
        "ports = \"1-2000\"\nhealth = { port = 80, kind = \"http\"",
        "tables.ports: services with several ports have 2000, room for 1024\nhelp: ports = 2000, or more",
    ),
    (
        "port = 443",
        "ports = \"80-99\"\nmptcp = \"c-flag\"",
        "service.0.ports: `mptcp = \"c-flag\"` has one port for each service",
    ),
    (
        "port = 443",
        "port = 443\nclosed_ports = \"reject\"",
        "service.0.closed_ports: \"reject\" is not one of \"pass\", \"drop\" or \"refuse\"",
    ),
    (
        "port = 443",
        "port = 443\necho = \"reply\"",
        "service.0.echo: \"reply\" is not one of \"pass\", \"drop\" or \"answer\"",
    ),
    (
        "port = 443",
        "port = 443\naccess = { allow = [\"198.18.0.0/33\"] }",
        "service.0.access.allow.0: `198.18.0.0/33` is no prefix\nhelp: an address and a number of",
    ),
    (
        "port = 443",
        "port = 443\naccess = { allow = [\"2001:db8::/32\"] }",
        "service.0.access.allow.0: 2001:db8::/32 is of another address family",
    ),
    (
        "port = 443",
        "port = 443\naccess = { deny = [\"198.18.1.0/16\"] }",
        "service.0.access.deny.0: 198.18.1.0/16 has bits behind its first 16\nhelp: 198.18.0.0/16",
    ),
    (
        "port = 443",
        "port = 443\naccess = { allow = [\"198.18.1.1\"], deny = [\"198.18.1.1/32\"] }",
        "service.0.access.deny.0: 198.18.1.1/32 is in `allow`, too",
    ),
    (
        "port = 443",
        "port = 443\naccess = { new_connections = 0 }",
        "service.0.access.new_connections: 0 lets nobody in\nhelp: 1 or more",
    ),
    (
        "port = 443",
        "port = 443\naccess = { ipv4_bits = 33 }",
        "service.0.access.ipv4_bits: 33 is no length of a prefix\nhelp: 1 to 32",
    ),
    (
        "port = 443",
        "port = 443\nslow_start = \"61m\"",
        "service.0.slow_start: out of range\nhelp: at most 1h",
    ),
    (
        "port = 443",
        "port = 443\ntranslated = true",
        "service.0.translated: only `mptcp = \"assign\"` uses it\nhelp: remove it",
    ),
    (
        "state = \"drain\"",
        "state = \"away\"",
        "service.0.backend.1.state: \"away\" is not one of \"up\", \"drain\" or \"maintenance\"",
    ),
    ("10.0.0.2", "2001:db8::2", "balancers.1.address: this balancer has no address to send to"),
];

#[test]
fn contradictions_are_refused() {
    for (from, to, said) in REFUSED {
        let refusal = refusal(from, to);
        assert!(refusal.contains(said), "{to}: {refusal}");
    }
}

#[test]
fn services_are_told_apart() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let twice = |web: &str| load("a", &format!("{SOUND}{web}")).map_err(|error| error.to_string());
    assert!(twice(web).unwrap_err().contains("service.1.name: `web` is given twice"));
    let renamed = web.replace("\"web\"", "\"web2\"");
    assert!(twice(&renamed).unwrap_err().contains("service.1.address: `web` has this address"));
    let config = twice(&renamed.replace("443", "80")).unwrap();
    let ids =
        config.services.iter().flat_map(|service| &service.backends).map(|backend| backend.id);
    let distinct: std::collections::BTreeSet<_> = ids.collect();
    assert_eq!(distinct.len(), 4, "one machine, two services: two ids");
}

/// A group's services have the same hosts behind them, by name.
#[test]
fn groups_are_of_the_same_backends() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let grouped = |text: &str| text.replacen("name = \"web\"", "name = \"web\"\ngroup = \"g\"", 1);
    let second = grouped(web).replacen("\"web\"", "\"web2\"", 1).replace("443", "80");
    let load = |second: &str| {
        load("a", &format!("{}{second}", grouped(SOUND))).map_err(|error| error.to_string())
    };
    assert_eq!(load(&second).unwrap().services[1].group.as_deref(), Some("g"));
    let other = load(&second.replace("be2", "be3")).unwrap_err();
    assert!(other.contains("service.1.group: backend `be2` of `web` is none of `web2`"), "{other}");
    let off = load(&second.replace("port = 80", "port = 80\nmptcp = \"off\"")).unwrap_err();
    assert!(off.contains("service.1.group: `mptcp = \"off\"` stores no tokens"), "{off}");
}

#[test]
fn services_of_one_address_do_not_share_ports() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let second =
        web.replacen("\"web\"", "\"web2\"", 1).replace("health = { ", "health = { port = 80, ");
    let load = |ports: &str| {
        let second = second.replace("port = 443", &format!("ports = \"{ports}\""));
        let room = format!("tables = {{ ports = 65535 }}\n{SOUND}{second}");
        load("a", &room).map_err(|error| error.to_string())
    };
    assert_eq!(load("444-500").unwrap().services[1].endpoint(), "192.0.2.10:444-500");
    assert_eq!(load("all").unwrap().services[1].ports, Ports::All);
    let problem = load("400-443").unwrap_err();
    assert!(
        problem.contains("service.1.address: `web` has this address, port and protocol already")
    );
}

/// Packets that are for no service have no other owner than the address.
#[test]
fn services_of_one_address_agree_on_closed_ports_and_echo() {
    let web = &SOUND[SOUND.find("[[service]]").unwrap()..];
    let choosing = |text: &str, choice: &str| {
        text.replacen("name = \"web\"", &format!("name = \"web\"\n{choice}"), 1)
    };
    let load = |first: &str, second: &str| {
        let other = choosing(web, second).replacen("\"web\"", "\"web2\"", 1).replace("443", "80");
        load("a", &format!("{}{other}", choosing(SOUND, first))).map_err(|error| error.to_string())
    };
    let config = load("closed_ports = \"refuse\"", "echo = \"answer\"").unwrap();
    assert_eq!(config.services[0].closed_ports, Some(ClosedPorts::Refuse));
    assert_eq!(config.services[1].echo, Some(Echo::Answer));
    load("echo = \"drop\"", "echo = \"drop\"").unwrap();
    let problem = load("closed_ports = \"drop\"", "closed_ports = \"pass\"").unwrap_err();
    assert!(problem.contains("service.1.closed_ports: `web`, at the same address, has another"));
    assert!(problem.contains("leave `closed_ports` out of one of them"), "{problem}");
    let problem = load("echo = \"answer\"", "echo = \"drop\"").unwrap_err();
    assert!(problem.contains("service.1.echo: `web`, at the same address"), "{problem}");
}

/// The file with QUIC in its service, and these lines in its two backends.
fn quic(keys: &str, first: &str, second: &str) -> Result<Config, String> {
    let quic = format!("port = 443\nprotocol = \"udp\"\nquic = {{ {keys} }}\n");
    let text = SOUND
        .replace("port = 443\n", &quic)
        .replace("\"http\",", "\"http\", port = 80,")
        .replace("weight = 2", first)
        .replace("state = \"drain\"", second);
    load("a", &text).map_err(|error| error.to_string())
}

#[test]
fn connection_ids_name_backends() {
    let config = quic("server_id_length = 2", "server_id = \"00a1\"", "server_id = \"00A2\"");
    let web = &config.unwrap().services[0];
    assert_eq!(web.quic, heddle_wire::quic::ServerIds::new(0, 2));
    let ids: Vec<_> = web.backends.iter().map(|backend| backend.server_id.clone()).collect();
    assert_eq!(ids, [Some(vec![0, 0xa1]), Some(vec![0, 0xa2])]);
    let rotation = "config_rotation = 6, server_id_length = 1";
    let config = quic(rotation, "server_id = \"01\"", "server_id = \"02\"").unwrap();
    assert_eq!(config.services[0].quic, heddle_wire::quic::ServerIds::new(6, 1));
}

/// Each with what is said of it.
#[test]
fn connection_ids_that_name_no_backend_or_two_are_refused() {
    let (one, two) = ("server_id = \"00a1\"", "server_id = \"00a2\"");
    for (keys, first, second, said) in [
        ("config_rotation = 7, server_id_length = 2", one, two, "quic.config_rotation: 7 names no"),
        ("server_id_length = 0", one, two, "quic.server_id_length: 0 is no length"),
        ("server_id_length = 16", one, two, "help: 1 to 15 bytes"),
        ("config_rotation = 1", one, two, "quic.server_id_length: this key is missing"),
        ("server_id_length = 2", "", two, "service.0.backend.0: `server_id` is missing"),
        ("server_id_length = 3", one, two, "`00a1` is no server id of 3 bytes\nhelp: 6 hexa"),
        ("server_id_length = 2", "server_id = \"0xa1\"", two, "`0xa1` is no server id of 2 bytes"),
        (
            "server_id_length = 2",
            one,
            "server_id = \"00A1\"",
            "is backend `be1`'s server id already",
        ),
    ] {
        let refusal = quic(keys, first, second).unwrap_err();
        assert!(refusal.contains(said), "{keys} {first} {second}: {refusal}");
    }
}

#[test]
fn ids_that_collide_are_refused_with_a_fix() {
    let both = SOUND.replace("weight = 2", "id = 7").replace("state = \"drain\"", "id = 7");
    assert_eq!(
        load("a", &both).unwrap_err().to_string(),
        "a:28: service.0.backend.1.id: id 0x00000007 is backend `be1` of `web`'s too\nhelp: id = another number, the same on all balancers"
    );
}

#[test]
fn other_families_go_by_encapsulation_from_an_address_of_that_family() {
    let v6 = SOUND.replace("10.0.1.2", "2001:db8::2").replace("443", "443\nforwarding = \"ipip\"");
    let refused = load("a", &v6).unwrap_err().to_string();
    assert!(refused.contains("no IPv6 address to send to 2001:db8::2 from"), "{refused}");
    let both = v6.replace("[\"eth0\"]", "[\"eth0\"]\naddresses = [\"10.0.0.1\", \"2001:db8::1\"]");
    assert!(load("a", &both).is_ok());
}

#[test]
fn join_addresses_come_with_commands() {
    let text = SOUND
        .replace("port = 443", "port = 443\nmptcp = \"c-flag\"")
        .replace("weight = 2", "join_address = \"192.0.2.21\"")
        .replace("state = \"drain\"", "join_address = \"192.0.2.22\"");
    let config = load("a", &text).unwrap();
    let web = &config.services[0];
    let said = commands(web, &web.backends[0]);
    assert!(
        said.contains(&"ip mptcp endpoint add 192.0.2.21 dev lo signal".to_owned()),
        "{said:?}"
    );
    assert!(said.contains(&"ip address replace 192.0.2.10/32 dev lo".to_owned()), "{said:?}");
    let shared = load("a", &text.replace("192.0.2.22", "192.0.2.21")).unwrap_err().to_string();
    assert!(
        shared.contains("join_address: 192.0.2.21 is backend `be1` of `web`'s too"),
        "{shared}"
    );
}

#[test]
fn etcd_takes_the_place_of_a_list() {
    let text = "balancer = { name = 'a', interfaces = ['eth0'], addresses = ['10.0.0.1'] }
        steering = { secret_file = 's' }
        membership.etcd = { endpoints = ['http://10.0.0.5:2379'] }";
    let config = load("a", text).unwrap();
    let Membership::Etcd(etcd) = &config.membership else { panic!("{config:?}") };
    assert_eq!((etcd.prefix.as_str(), etcd.lease), ("/heddle/balancers", Duration::from_secs(5)));
    let refused = load("a", &text.replace("http:", "ftp:")).unwrap_err().to_string();
    assert!(refused.starts_with("a:3: membership.etcd.endpoints.0: "), "{refused}");
}

/// The keys of `[membership.etcd]` for TLS and authentication, and the refusal of each half of
/// them.
#[test]
fn etcd_by_tls_needs_all_that_goes_together() {
    let load_with = |keys: &str| {
        let text = format!(
            "balancer = {{ name = 'a', interfaces = ['eth0'], addresses = ['10.0.0.1'] }}
            steering = {{ secret_file = 's' }}
            membership.etcd = {{ {keys} }}"
        );
        load("a", &text)
    };
    let tls = "endpoints = ['https://10.0.0.5:2379'], ca_file = 'ca'";
    let all =
        format!("{tls}, certificate_file = 'c', key_file = 'k', user = 'lb', password_file = 'p'");
    let config = load_with(&all).unwrap();
    let Membership::Etcd(etcd) = &config.membership else { panic!("{config:?}") };
    let files = etcd.credentials.certificate.as_ref().unwrap();
    assert_eq!((&*files.certificate, &*files.key), ("c".as_ref(), "k".as_ref()));
    assert_eq!(etcd.credentials.user.as_ref().unwrap().name, "lb");
    for (keys, why) in [
        ("endpoints = ['https://10.0.0.5:2379']".into(), "`https` needs `ca_file`"),
        ("endpoints = ['http://10.0.0.5:2379'], ca_file = 'ca'".into(), "this is not `https`"),
        (format!("{tls}, certificate_file = 'c'"), "`key_file` is missing"),
        (format!("{tls}, key_file = 'k'"), "`certificate_file` is missing"),
        (format!("{tls}, user = 'lb'"), "`password_file` is missing"),
        (format!("{tls}, password_file = 'p'"), "`user` is missing"),
        (
            "endpoints = ['http://10.0.0.5:2379'], user = 'lb', password_file = 'p'".into(),
            "this needs TLS",
        ),
    ] {
        let refused = load_with(&keys).unwrap_err().to_string();
        assert!(refused.starts_with("a:3: membership.etcd.") && refused.contains(why), "{refused}");
    }
}

/// Fractions and small units are the simulator's too: all files have one grammar of durations.
#[test]
fn durations_may_be_fractions() {
    let timeouts = "[timeouts]\nsyn = \"1.5s\"\nudp = \"2 m\"\nclosing = \"250us\"\n[steering]";
    let config = load("a", &SOUND.replace("[steering]", timeouts)).unwrap();
    assert_eq!(config.timeouts.syn, Duration::from_millis(1500));
    assert_eq!(config.timeouts.udp, Duration::from_secs(120));
    assert_eq!(config.timeouts.closing, Duration::from_micros(250));
}

mod schema {
    use super::*;

    #[test]
    fn every_key_is_described_and_its_default_is_as_described() {
        assert!(heddle_config::documented_defaults(&schema()).unwrap() > 20);
    }

    #[test]
    fn toml_has_no_null() {
        assert!(!schema().to_string().contains("null"));
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any damage to a sound file is refused or understood, and told on a line that is there.
        #[test]
        fn no_text_makes_it_panic(at in 0..SOUND.len(), cut in 0..40usize, new in "[ -~\n]{0,12}") {
            let end = (at + cut).min(SOUND.len());
            let text = format!("{}{new}{}", &SOUND[..at], &SOUND[end..]);
            if let Err(error) = load("a", &text) {
                prop_assert!(error.line().is_none_or(|line| line <= text.lines().count() + 1));
                prop_assert!(!error.message().is_empty());
            }
        }
    }
}

const SHARED: &str = "
    balancer = { name = 'lb1', interfaces = ['eth0'] }
    tables = { services = 4, own_backends = 1, targets = 2 }
    [[service]]
    name = 'b'
    address = '192.0.2.11'
    port = 443
    backends_of = 'a'
    [[service]]
    name = 'a'
    address = '192.0.2.10'
    port = 443
    health = { kind = 'tcp' }
    backend = [{ name = 'be1', address = '10.0.1.1' }, { name = 'be2', address = '10.0.1.2', weight = 3 }]
";

#[test]
fn a_service_has_the_backends_of_another() {
    let config = load("lb.toml", SHARED).unwrap();
    assert_eq!(config.services[0].backends, config.services[1].backends);
    assert_eq!((config.services[0].owner(), config.sizes.maglev_tables), ("a", 2));
    // What is changed there is changed here.
    let without = config.without_backend(Some("a"), "be1").unwrap();
    assert_eq!(without.services[0].backends, without.services[1].backends);
    let refused = config.without_backend(Some("b"), "be1").unwrap_err();
    assert_eq!(refused.message(), "b has the backends of a");
}

#[test]
fn backends_of_another_service_fit_or_are_refused() {
    for (from, to, wanted) in [
        ("backends_of = 'a'", "backends_of = 'c'", "no service is called `c`"),
        ("backends_of = 'a'", "backends_of = 'b'", "`b` has no backends of its own"),
        ("backends_of = 'a'", "backends_of = 'a'\nmptcp = 'off'", "has another `mptcp`"),
        (
            "backends_of = 'a'",
            "backends_of = 'a'\nhealth = { kind = 'tcp' }",
            "it has the backends of `a`",
        ),
        (
            "backends_of = 'a'",
            "backends_of = 'a'\nprotocol = 'udp'\nquic = { server_id_length = 2 }",
            "it has the backends of `a`",
        ),
        ("192.0.2.11", "2001:db8::1", "an address of the other family"),
        ("192.0.2.11", "10.0.1.1", "has this service's address"),
        ("backends_of = 'a'", "", "2 services with backends of their own, room for 1"),
    ] {
        let error = load("lb.toml", &SHARED.replacen(from, to, 1)).unwrap_err();
        assert!(error.message().contains(wanted), "{wanted}: {}", error.message());
    }
}

#[test]
fn a_service_of_tcp_has_the_backends_of_one_with_quic_and_one_of_udp_has_not() {
    let owner = "port = 443\n    protocol = 'udp'\n    quic = { server_id_length = 1 }\n    health = { kind = 'tcp', port = 443 }";
    let text = SHARED
        .replace("backends_of", "mptcp = 'off'\n    backends_of")
        .replace("port = 443\n    health = { kind = 'tcp' }", owner)
        .replace("'be1'", "'be1', server_id = '01'")
        .replace("'be2'", "'be2', server_id = '02'");
    let config = load("lb.toml", &text).unwrap();
    assert!(config.services[0].backends.iter().all(|backend| backend.server_id.is_none()));
    assert!(config.services[1].backends.iter().all(|backend| backend.server_id.is_some()));
    let udp = text.replacen("mptcp = 'off'", "protocol = 'udp'", 1);
    let error = load("lb.toml", &udp).unwrap_err();
    assert!(error.message().contains("`a` has `quic`"), "{}", error.message());
}

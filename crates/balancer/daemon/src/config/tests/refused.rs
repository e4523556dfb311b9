//! Contradictions, and the fix that each error names.

use std::net::Ipv4Addr;

use super::*;

/// Each line: the text that is replaced, its replacement, and a part of the error.
const REFUSED: [(&str, &str, &str); 89] = [
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
        "address = \"192.0.2.10\"\nport = 443\nhealth = { kind = \"http\",",
        "address = \"2001:db8::10\"\nport = 443\nforwarding = \"ipip\"\nhealth = { kind = \"http\", through = \"forwarding\",",
        "service.0.health.through: this balancer has no address to probe 2001:db8::10 from\nhelp: add one",
    ),
    (
        "\"be1\"",
        "\"be\\u001b[31m1\"",
        "service.0.backend.0.name: `be\\u{1b}[31m1` has the character U+001B, which cannot be printed\nhelp: name = \"be[31m1\", without it",
    ),
    (
        "\"lb2\"",
        "\"lb\\u0000\"",
        "balancers.1.name: `lb\\0` has the character U+0000, which cannot be printed",
    ),
    ("expect = 204", "rise = 0", "service.0.health.rise: must be at least 1"),
    ("state = \"drain\"", "id = 0", "service.0.backend.1.id: 0 is not an id"),
    (
        "10.0.1.2",
        "::ffff:10.0.1.2",
        "service.0.backend.1.address: ::ffff:10.0.1.2 is an IPv4-mapped",
    ),
    ("10.0.1.2", "224.0.0.1", "service.0.backend.1.address: 224.0.0.1 is not a unicast address"),
    ("10.0.1.2", "127.0.0.1", "service.0.backend.1.address: 127.0.0.1 is a loopback address"),
    (
        "10.0.1.2",
        "255.255.255.255",
        "service.0.backend.1.address: 255.255.255.255 is not a unicast address",
    ),
    (
        "192.0.2.10",
        "255.255.255.255",
        "service.0.address: 255.255.255.255 is not a unicast address",
    ),
    ("\"web\"", "\"none\"", "service.0.name: `none` stands for packets of no service in metrics"),
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
    (
        "port = 443\n",
        "",
        "service.0.port: this key is missing\nhelp: port = 443; or several: ports",
    ),
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
        "port = 443\naccess = { ipv4_bits = 24 }",
        "service.0.access.ipv4_bits: only `source_new_connections` uses it\nhelp: source_new",
    ),
    (
        "port = 443",
        "port = 443\naccess = { new_connections = 9, ipv6_bits = 48 }",
        "service.0.access.ipv6_bits: only `source_new_connections` uses it\nhelp: source_new",
    ),
    (
        "port = 443",
        "port = 443\naccess = { allow = [] }",
        "service.0.access: it restricts nothing: there is neither a prefix nor a limit\nhelp: `allow`, `deny`",
    ),
    (
        "port = 443",
        "port = 443\nforwarding = \"L2\"",
        "\"ipip\" or \"gue\"\nhelp: did you mean `l2`?",
    ),
    ("port = 443", "port = 443\nprotocol = \"TCP\"", "help: did you mean `tcp`?"),
    ("port = 443", "port = 443\nmptcp = \"LEARN\"", "help: did you mean `learn`?"),
    ("state = \"drain\"", "state = \"Up\"", "help: did you mean `up`?"),
    (
        "10.0.1.2",
        "fe80::1",
        "service.0.backend.1.address: fe80::1 is a link-local address, which names no machine without an interface\nhelp: a global or unique local",
    ),
    ("192.0.2.10", "fe80::1", "service.0.address: fe80::1 is a link-local address"),
    ("10.0.1.2", "0.0.0.0", "service.0.backend.1.address: 0.0.0.0 is not a unicast address"),
    ("10.0.1.2", "0.1.2.3", "service.0.backend.1.address: 0.1.2.3 is not a unicast address"),
    ("10.0.1.2", "::1", "service.0.backend.1.address: ::1 is a loopback address"),
    ("10.0.1.2", "ff02::1", "service.0.backend.1.address: ff02::1 is not a unicast address"),
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
        "port = 443",
        "port = 443\nmptcp = \"assign\"",
        "service.0.mptcp: stock kernels choose keys of their own and refuse the balancer's, so that MPTCP connections fail\nhelp: mptcp = \"learn\"; or translated = true",
    ),
    (
        "state = \"drain\"",
        "state = \"away\"",
        "service.0.backend.1.state: \"away\" is not one of \"up\", \"drain\" or \"maintenance\"",
    ),
    (
        "expect = 204",
        "interval = \"1ns\"",
        "service.0.health.interval: out of range\nhelp: 10ms to 1d",
    ),
    (
        "expect = 204",
        "interval = \"0s\"",
        "service.0.health.interval: out of range\nhelp: 10ms to 1d",
    ),
    (
        "path = \"/health\"",
        "path = \"/a\\nb\"",
        "service.0.health.path: `/a\\nb` is not an HTTP path\nhelp: path = \"/health\"",
    ),
    (
        "[\"eth0\"]",
        "[\"eth0\"]\nadmin = \"/run/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.sock\"",
        "balancer.admin: a socket's path has 107 bytes at most, not 108\nhelp: /run/heddle",
    ),
    ("\"web\"", "\"\"", "service.0.name: it is empty\nhelp: a name of letters and digits"),
    (
        "[\"eth0\"]",
        "[\"eth0\", \"eth0\"]",
        "balancer.interfaces.1: `eth0` is given twice\nhelp: leave one out",
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

/// Half of the map: a reload needs the other half.
#[test]
fn prefixes_of_all_services_have_room_for_a_reload() {
    let prefixes = |count: u32| {
        let each = (0..count).map(|number| format!("\"{}\"", Ipv4Addr::from(0x0b00_0000 + number)));
        format!("port = 443\naccess = {{ allow = [{}] }}", each.collect::<Vec<_>>().join(", "))
    };
    let refusal = refusal("port = 443", &prefixes(8192));
    let told = "service.0.access: 8193 prefixes with those of the services before, room for 8192\nhelp: fewer";
    assert!(refusal.contains(told), "{refusal}");
    assert!(load("lb.toml", &SOUND.replacen("port = 443", &prefixes(8191), 1)).is_ok());
}

//! Services with the backends of another.

use super::*;

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

//! Connection ids of QUIC that name backends.

use super::*;

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

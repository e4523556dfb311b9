//! A valid file as an operator writes it, and the errors of invalid ones: place, key, suggested
//! fix.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::health::Probe;
use crate::service::MptcpMode;

mod etcd;
mod quic;
mod refused;
mod services;
mod shared;

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

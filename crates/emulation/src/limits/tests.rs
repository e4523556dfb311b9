use heddle_scenario::{Scheme, Source, load};

use super::*;
use crate::plane::Kind;

const PLAIN: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 2
    hosts_per_leaf = 2
    link_delay = "0us"
    [workload]
    kind = "flows"
    sizes = "fixed:100KB"
    load = 0.5
    [measure]
    flows = 10
"#;

fn checked(changes: &[(&str, &str)]) -> Result<Possible, ConfigError> {
    let source = changes
        .iter()
        .fold(Source::new("lab.toml", PLAIN), |source, (key, value)| source.with(*key, *value));
    let no_files = |_: &str| Err(std::io::Error::other("none"));
    let scenario = load(&source, &no_files).expect("a scenario");
    check(&source, &scenario, Kind::Kernel)
}

#[test]
fn keys_that_a_kernel_cannot_honour_are_refused_by_name_with_the_fix() {
    let mptcp = |rest: &str| format!("{{ kind = \"mptcp\", {rest} }}");
    let tcp = |rest: &str| format!("{{ kind = \"tcp\", {rest} }}");
    for (value, key, fix) in [
        (mptcp("coupling = \"lia\""), "transport.coupling", "coupling = \"uncoupled\""),
        (mptcp("scheduler = \"redundant\""), "transport.scheduler", "scheduler = \"lowest-rtt\""),
        (mptcp("join = \"at-once\""), "transport.join", "join = \"after-data\""),
        (mptcp("full_window = \"penalise\""), "transport.full_window", "full_window = \"wait\""),
        (mptcp("subflow_window = \"30KB\""), "transport.subflow_window", "leave it out"),
        (mptcp("version = 0"), "transport.version", "version = 1"),
        (mptcp("subflows = 9"), "transport.subflows", "subflows = 8"),
        (tcp("delayed_ack = \"1ms\""), "transport.delayed_ack", "leave it out"),
        (tcp("initial_rto = \"20ms\""), "transport.initial_rto", "initial_rto = \"1s\""),
        (tcp("control = \"dctcp\""), "transport.control", "newreno"),
        (tcp("pacing = true"), "transport.pacing", "pacing = false"),
        (
            tcp("loss_detection = \"rack\", reordering_window = \"srtt\""),
            "transport.reordering_window",
            "adaptive",
        ),
    ] {
        let refused = checked(&[("transport", &value)]);
        let Err(error) = refused else { panic!("{value} is not refused") };
        let named = key == error.key();
        assert!(named && error.help().is_some_and(|help| help.contains(fix)), "{value}: {error}");
    }
}

/// As `heddle run` takes them: a key of a short table, and of one that the file leaves out.
#[test]
fn keys_of_short_and_missing_tables_can_be_set() {
    let subflows =
        [("transport", "mptcp"), ("transport.coupling", "uncoupled"), ("transport.subflows", "2")];
    assert!(checked(&subflows).is_ok());
    let alone = checked(&[("transport.initial_rto", "20ms")]).unwrap_err();
    assert_eq!(alone.key(), "transport.initial_rto");
}

#[test]
fn buffers_and_marks_that_shapers_do_not_have_are_refused() {
    let red = ("fabric.red", r#"{ min = "30KB", max = "90KB" }"#);
    let shared = ("fabric.shared_buffer", r#"{ bytes = "1MB" }"#);
    let priority = ("fabric.priority_bytes", r#""100KB""#);
    for (key, value) in [red, shared, priority] {
        assert_eq!(checked(&[(key, value)]).unwrap_err().key(), key);
    }
}

#[test]
fn the_kernels_routes_know_ecmp_alone() {
    let error = checked(&[("scheme", "letitflow")]).unwrap_err();
    assert_eq!(error.key(), "scheme");
    assert!(error.help().unwrap().contains("scheme=ecmp"), "{error}");
}

#[test]
fn ebpf_and_bmv2_switches_know_their_schemes_and_no_others() {
    check_schemes(Kind::Ebpf, &Scheme::IN_EBPF);
    check_schemes(Kind::Bmv2, &Scheme::IN_P4);
}

fn check_schemes(plane: Kind, known: &[&str]) {
    let source = |scheme: &str| Source::new("lab.toml", PLAIN).with("scheme", scheme);
    let none = |_: &str| Err(std::io::Error::other("none"));
    let check =
        |scheme: &str| check(&source(scheme), &load(&source(scheme), &none).unwrap(), plane);
    let without_keys = Scheme::IN_EBPF.into_iter().filter(|&scheme| scheme != "cflb");
    for scheme in without_keys.chain(["drill"]) {
        let checked = check(scheme).map_err(|error| error.key().to_owned());
        assert_eq!(checked.is_ok(), known.contains(&scheme), "{scheme}: {checked:?}");
        assert!(checked.is_ok() || checked.unwrap_err() == "scheme");
    }
    let cflb = |rest: &str| format!("{{ kind = \"cflb\", {rest} }}");
    assert!(check(&cflb("field = \"source-port\", elephants = \"0B\"")).is_ok());
    assert_eq!(check(&cflb("field = \"ports\"")).unwrap_err().key(), "scheme.field");
    let error = check(&cflb("field = \"source-port\", elephants = \"1MB\"")).unwrap_err();
    assert_eq!(error.key(), "scheme.elephants");
}

#[test]
fn defaults_that_a_kernel_has_otherwise_are_replaced_and_said() {
    let possible = checked(&[("transport", "{ kind = \"mptcp\" }")]).unwrap();
    let Transport::Mptcp(mptcp) = possible.scenario.transport else { panic!("MPTCP is meant") };
    assert_eq!(mptcp.coupling, Coupling::Uncoupled);
    assert_eq!(mptcp.tcp.initial_rto, Some(Time::secs(1)));
    assert!(possible.notes.iter().any(|note| note.starts_with("transport.coupling")));
}

#[test]
fn a_delay_of_links_is_refused_and_a_default_one_left_out_and_said() {
    let error = checked(&[("fabric.link_delay", "5us")]).unwrap_err();
    assert_eq!(error.key(), "fabric.link_delay");
    assert!(error.help().unwrap().contains("--set fabric.link_delay=0us"), "{error}");
    let source = Source::new("lab.toml", PLAIN.replace("link_delay = \"0us\"", ""));
    let scenario = load(&source, &|_: &str| Err(std::io::Error::other("none"))).unwrap();
    assert!(scenario.fabric.graph.links.iter().any(|link| link.delay > Time::ZERO));
    let possible = check(&source, &scenario, Kind::Kernel).unwrap();
    assert!(possible.scenario.fabric.graph.links.iter().all(|link| link.delay == Time::ZERO));
    assert!(possible.notes.iter().any(|note| note.starts_with("fabric.link_delay")));
}

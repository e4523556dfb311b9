//! MPTCP and MP-HULA: defaults, what is shown, and what is refused.

use std::io;

use heddle_policy::{
    HulaConfig, LongFlows, MpHulaConfig, MpHulaRules, MptcpTablesConfig, ShuttleChoice,
    ShuttleConfig, ShuttleRules, ShuttleSubflows,
};
use heddle_scenario::{Scenario, ScenarioError, Scheme, Source, Transport, load};
use heddle_transport::mptcp::{Coupling, FullWindow, JoinTime, MptcpConfig, Scheduler};
use heddle_transport::{Control, MeasuredWindow, ReorderingWindow};
use heddle_units::{Bytes, Time};
use heddle_wire::Version;

/// Line numbers below are these.
const BASE: &str = r#"[fabric]
kind = "two-pod"
[transport]
kind = "mptcp"
[scheme]
kind = "mp-hula"
[workload]
kind = "flows"
sizes = "websearch"
load = 0.6
[measure]
flows = 100
"#;

fn scenario(overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let with = |source: Source, &(key, value): &(&str, &str)| source.with(key, value);
    let source = overrides.iter().fold(Source::new("s.toml", BASE), with);
    load(&source, &|path: &str| Err(io::Error::other(path.to_owned())))
}

fn mptcp(overrides: &[(&str, &str)]) -> MptcpConfig {
    match scenario(overrides).expect("it is sound").transport {
        Transport::Mptcp(mptcp) => mptcp,
        other => panic!("{other:?}"),
    }
}

fn mp_hula(overrides: &[(&str, &str)]) -> MpHulaConfig {
    match scenario(overrides).expect("it is sound").scheme {
        Scheme::MpHula(mp_hula) => mp_hula,
        other => panic!("{}", other.name()),
    }
}

#[test]
fn mptcp_by_default_is_two_subflows_with_linked_increases() {
    let tcp = scenario(&[("transport.kind", "tcp")]).unwrap().transport.tcp();
    let expected = MptcpConfig {
        tcp,
        version: Version::V1,
        subflows: 2,
        coupling: Coupling::Lia,
        scheduler: Scheduler::LowestRtt,
        join: JoinTime::AfterData,
        full_window: FullWindow::Wait,
        subflow_window: None,
    };
    assert_eq!(mptcp(&[]), expected);
    let penalising = mptcp(&[("transport.full_window", "penalise")]);
    assert_eq!(penalising, MptcpConfig { full_window: FullWindow::Penalise, ..expected });
    let windows = mptcp(&[("transport.subflow_window", "30KB")]);
    assert_eq!(windows, MptcpConfig { subflow_window: Some(Bytes::kb(30)), ..expected });
}

#[test]
fn mptcp_has_keys_of_its_own_and_those_of_tcp() {
    let overrides = [
        ("transport.subflows", "16"),
        ("transport.coupling", "uncoupled"),
        ("transport.control", "dctcp"),
        ("transport.scheduler", "redundant"),
        ("transport.join", "at-once"),
        ("transport.version", "0"),
        ("transport.receive_window", "64KB"),
    ];
    let mptcp = mptcp(&overrides);
    assert_eq!((mptcp.subflows, mptcp.version), (16, Version::V0));
    assert_eq!((mptcp.coupling, mptcp.tcp.control), (Coupling::Uncoupled, Control::Dctcp));
    assert_eq!((mptcp.scheduler, mptcp.join), (Scheduler::Redundant, JoinTime::AtOnce));
    assert_eq!(mptcp.tcp.receive_window, Bytes::kb(64));
    let marks = scenario(&overrides).unwrap().fabric.port.mark_above;
    assert_eq!(marks, Some(Bytes(97_500)), "links mark for DCTCP's subflows as for DCTCP");
}

#[test]
fn shuttle_by_default_is_mp_hula_with_a_faster_estimator() {
    let shuttle = |overrides: &[(&str, &str)]| match scenario(overrides).unwrap().scheme {
        Scheme::Shuttle(shuttle) => shuttle,
        other => panic!("{}", other.name()),
    };
    let MpHulaConfig { hula, tables, .. } = mp_hula(&[("scheme", "mp-hula")]);
    let expected = ShuttleConfig {
        hula: HulaConfig { tau: Some(Time::micros(100)), ..hula },
        tables,
        rules: ShuttleRules {
            full_queue: Bytes(65_536),
            range: 2,
            draws: 1,
            choice: ShuttleChoice::Weighted,
            subflows: ShuttleSubflows::Apart,
        },
    };
    assert_eq!(shuttle(&[("scheme", "shuttle")]), expected);
    let changed = [
        ("scheme", "shuttle"),
        ("scheme.tau", "300us"),
        ("scheme.draws", "2"),
        ("scheme.choice", "least"),
        ("scheme.subflows", "first-free"),
        ("scheme.full_queue", "30KB"),
        ("scheme.range", "4"),
    ];
    let changed = shuttle(&changed);
    assert_eq!((changed.tau(), changed.rules.draws), (Time::micros(300), 2));
    let changed = changed.rules;
    assert_eq!((changed.choice, changed.full_queue), (ShuttleChoice::Least, Bytes::kb(30)));
    assert_eq!((changed.subflows, changed.range), (ShuttleSubflows::FirstFree, 4));
}

#[test]
fn mp_hula_by_default_is_hula_with_two_best_hops() {
    let Scheme::Hula(hula) = scenario(&[("scheme", "hula")]).unwrap().scheme else {
        panic!("HULA")
    };
    let expected = MpHulaConfig {
        hula,
        tables: MptcpTablesConfig {
            best_k: 2,
            association_slots: 65_536,
            association_idle: Time::secs(1),
            mapping_rows: 65_536,
        },
        rules: MpHulaRules { long_flows: LongFlows::Alike },
    };
    assert_eq!(mp_hula(&[]), expected);
    assert_eq!(mp_hula(&[("scheme", "mp-hula")]), expected);
    assert_eq!(scenario(&[]).unwrap().scheme.name(), "mp-hula");
    let yielding = mp_hula(&[("scheme.long_flows", "yield-best"), ("scheme.probe_period", "1ms")]);
    assert_eq!(yielding.rules.long_flows, LongFlows::YieldBest);
    assert_eq!(
        (yielding.hula.probe_period, yielding.hula.tau()),
        (Time::millis(1), Time::millis(2))
    );
}

/// The table that is shown has the keys of the file, so that it can be put into one.
#[test]
fn racks_window_is_a_round_trip_where_packets_of_a_flow_take_several_paths() {
    let window = |more: &[(&str, &str)]| {
        let rack = ("transport.loss_detection", "rack");
        mptcp(&[&[rack], more].concat()).tcp.reordering_window
    };
    let srtt = Some(ReorderingWindow::Measured(MeasuredWindow::Srtt));
    for scheme in ["ecmp", "mp-hula", "letitflow", "flowcut"] {
        assert_eq!(window(&[("scheme", scheme)]), None, "{scheme}");
    }
    for scheme in ["spray", "drill"] {
        assert_eq!(window(&[("scheme", scheme)]), srtt, "{scheme}");
    }
    let reps = [("scheme", "ecmp"), ("entropy", "reps"), ("fabric.mark_above", "97.5KB")];
    assert_eq!(window(&reps), srtt);
    let given = [("scheme", "spray"), ("transport.reordering_window", "20us")];
    assert_eq!(window(&given), Some(ReorderingWindow::Fixed(Time::micros(20))));
    let counting = mptcp(&[("scheme", "spray")]);
    assert_eq!(counting.tcp.reordering_window, None, "duplicate acknowledgements have none");
}

#[test]
fn the_transport_that_is_shown_is_one_that_can_be_read() {
    for overrides in [
        &[("transport.kind", "tcp")][..],
        &[("transport.coupling", "olia"), ("transport.delayed_ack", "100us")],
        &[("transport.version", "0"), ("transport.scheduler", "round-robin")],
        &[("transport.full_window", "retransmit")],
    ] {
        let scenario = scenario(overrides).unwrap();
        let shown = toml::to_string(&scenario.transport).unwrap();
        let text = BASE.replace("kind = \"mptcp\"\n", &shown);
        let again = load(&Source::new("s.toml", text), &|_: &str| Ok(String::new())).unwrap();
        assert_eq!(again.transport, scenario.transport, "{shown}");
    }
}

#[test]
fn the_whole_scenario_can_be_shown() {
    let shown = toml::to_string(&scenario(&[]).unwrap()).unwrap();
    for line in
        ["kind = \"mptcp\"", "version = 1", "coupling = \"lia\"", "[scheme.mp-hula]", "best_k = 2"]
    {
        assert!(shown.lines().any(|shown| shown == line), "{line} in {shown}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_mend() {
    for (key, value, expected) in [
        (
            "transport.subflows",
            "0",
            "a connection has at least its first subflow\nhelp: from 1 to 16",
        ),
        (
            "transport.subflows",
            "17",
            "17 subflows cannot be told apart by the 4-bit subflow number of MP-HULA's shim\nhelp: from 1 to 16",
        ),
        ("transport.subflows", "1000", "a whole number from 0 to 255 is expected, not 1000"),
        (
            "transport.control",
            "cubic",
            "a coupling has its own controller\nhelp: `control` is for `coupling = \"uncoupled\"`",
        ),
        (
            "transport.full_window",
            "penalize",
            "\"penalize\" is not one of \"wait\", \"retransmit\" or \"penalise\"\nhelp: did you mean `penalise`?",
        ),
        (
            "transport.subflow_window",
            "1KB",
            "1KB is not a window\nhelp: from 14600B (the initial window) to 1073741824B (RFC 7323)",
        ),
        ("transport.version", "2", "MPTCP has no version 2\nhelp: 0 (RFC 6824) or 1 (RFC 8684)"),
        (
            "transport.coupling",
            "balai",
            "\"balai\" is not one of \"uncoupled\", \"lia\", \"olia\" or \"balia\"\nhelp: did you mean `balia`?",
        ),
        ("transport.subflow", "2", "this key is not known here\nhelp: did you mean `subflows`?"),
        (
            "transport.inital_window",
            "1000",
            "this key is not known here\nhelp: did you mean `initial_window`?",
        ),
        ("scheme.best_k", "0", "must be at least 1\nhelp: 1 is HULA"),
        (
            "scheme.best_k",
            "3",
            "3 is more than the ports that any switch of this fabric can choose from, 2\nhelp: at most 2",
        ),
        (
            "scheme.association_slots",
            "0",
            "an association table cannot have 0 slots\nhelp: from 1 to 16777216",
        ),
        (
            "scheme.mapping_rows",
            "0",
            "a mapping table cannot have 0 rows\nhelp: from 1 to 16777216",
        ),
        ("scheme.association_idle", "0s", "must be longer than 0s"),
        (
            "scheme.fail_after",
            "100us",
            "100us is less than a probe period, 200us: every entry would be stale\nhelp: leave it out for 3 probe periods",
        ),
        (
            "fabric.port_buffer",
            "1518B",
            "1.518KB does not hold one full packet of 1530B\nhelp: a larger buffer, or a smaller `transport.mss`",
        ),
        ("scheme.bestk", "2", "this key is not known here\nhelp: did you mean `best_k`?"),
    ] {
        let error = scenario(&[(key, value)]).unwrap_err().to_string();
        assert_eq!(error, format!("s.toml: {key} (from --set): {expected}"));
    }
}

#[test]
fn the_redundant_scheduler_has_nothing_to_do_at_a_full_window() {
    let overrides = [("transport.scheduler", "redundant"), ("transport.full_window", "retransmit")];
    let expected = "s.toml: transport.full_window (from --set): the redundant scheduler sends everything on every subflow already\n\
         help: `scheduler = \"lowest-rtt\"`, or `full_window = \"wait\"`";
    assert_eq!(scenario(&overrides).unwrap_err().to_string(), expected);
}

/// One path through the fabric: HULA's table is all there is to have.
#[test]
fn best_k_is_bounded_by_the_fabric() {
    let spine = [("fabric", "{ kind = \"leaf-spine\", spines = 1, parallel_links = 1 }")];
    let error = scenario(&spine).unwrap_err();
    assert_eq!((error.key(), error.help()), ("scheme.best_k", Some("at most 1")));
    assert!(scenario(&[spine[0], ("scheme.best_k", "1")]).is_ok());
    let fat_tree = [("fabric", "{ kind = \"fat-tree\", k = 8 }")];
    assert!(scenario(&[fat_tree[0], ("scheme.best_k", "4")]).is_ok());
    assert!(scenario(&[fat_tree[0], ("scheme.best_k", "5")]).is_err());
}

/// Lines are found in the table's layers too.
#[test]
fn an_error_names_its_line() {
    let text = BASE.replace("kind = \"mptcp\"\n", "kind = \"mptcp\"\nmss = 1460\nsubflows = 20\n");
    let error = load(&Source::new("s.toml", text), &|_: &str| Ok(String::new())).unwrap_err();
    assert_eq!((error.line(), error.key()), (Some(6), "transport.subflows"));
}

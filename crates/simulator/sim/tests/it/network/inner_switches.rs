//! GPUs with an NVSwitch in their server, as SimAI's topologies have them, against arithmetic: two
//! servers of two, a rail for the GPUs of each place.

use heddle_scenario::{Scenario, Source};
use heddle_sim::Outcome;
use heddle_units::Time;

use crate::network::support::run;

const SIMAI: &str = "9 2 2 3 10 H100\n4 5 6 7 8\n\
    0 4 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n\
    1 4 2880Gbps 0.000025ms 0\n1 7 400Gbps 0.0005ms 0\n\
    2 5 2880Gbps 0.000025ms 0\n2 6 400Gbps 0.0005ms 0\n\
    3 5 2880Gbps 0.000025ms 0\n3 7 400Gbps 0.0005ms 0\n\
    6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";

/// The scenario of flows in lines of time, sender, receiver and size.
fn scenario(scheme: &str, flows: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
        scheme = "{scheme}"
        fabric = {{ kind = "file", path = "simai.txt", format = "hpcc", convergence = "1ms" }}
        workload = {{ kind = "replay", file = "flows.csv" }}
        measure = {{ warm_up = "0s" }}
        {more}
        "#
    );
    let list = format!("at,from,to,size\n{flows}");
    let files = |path: &str| Ok(if path == "simai.txt" { SIMAI.to_owned() } else { list.clone() });
    let source = Source::new("test.toml", text);
    heddle_scenario::load(&source, &files).unwrap_or_else(|error| panic!("{error}"))
}

fn fcts(outcome: &Outcome) -> Vec<Time> {
    let mut flows = outcome.flows.clone();
    flows.sort_by_key(|flow| flow.id);
    flows.iter().map(|flow| flow.fct - flow.ideal_fct).collect()
}

/// A flow of one packet each, apart in time: within a server over two links of 2880 Gbps, by rail
/// over two and across rails over four of 400 Gbps; a frame has 1058 bytes, a SYN and its answer 64.
#[test]
fn packets_stay_in_their_server_and_others_leave_it() {
    let flows = "0s,host-0,host-1,1000B\n1ms,host-0,host-2,1000B\n2ms,host-0,host-3,1000B\n";
    for scheme in ["ecmp", "hula", "letitflow"] {
        let outcome = run(&scenario(scheme, flows, ""), 1);
        let mut records = outcome.flows.clone();
        records.sort_by_key(|flow| flow.id);
        let ideal: Vec<Time> = records.iter().map(|flow| flow.ideal_fct).collect();
        let crossing = |links: u64, gbps: u64, delay: Time| {
            let bits = (1058 + 2 * 64) * 8 * links;
            Time(bits * 1000 / gbps) + delay * (3 * links)
        };
        let expected = [
            crossing(2, 2880, Time::nanos(25)),
            crossing(2, 400, Time::nanos(500)),
            crossing(4, 400, Time::nanos(500)),
        ];
        for (found, expected) in ideal.iter().zip(expected) {
            assert!(found.0.abs_diff(expected.0) < 100, "{scheme}: {found} {expected}");
        }
        let extra = fcts(&outcome);
        assert!(extra.iter().all(|extra| *extra < Time::nanos(30)), "{scheme}: {extra:?}");
    }
}

/// Without its NVLink a GPU sends by its rail and the spine to the other of its server.
#[test]
fn a_failed_link_in_a_server_is_passed_outside() {
    let flows = "0s,host-0,host-1,1000B\n5ms,host-0,host-1,1000B\n5.5ms,host-0,host-2,1000B\n";
    let event = "[[event]]\nat = \"2ms\"\nfail = [\"host-0 nvswitch-4\"]\n";
    let mut records = run(&scenario("ecmp", flows, event), 1).flows;
    records.sort_by_key(|flow| flow.id);
    let fct: Vec<Time> = records.iter().map(|flow| flow.fct).collect();
    assert!(fct[0] < Time::nanos(200), "{fct:?}");
    // Four links, three ways with the handshake.
    assert!(fct[1] > Time::nanos(12 * 500) && fct[1] < Time::nanos(12 * 500 + 200), "{fct:?}");
    assert!(fct[2] > Time::nanos(6 * 500) && fct[2] < Time::nanos(6 * 500 + 200), "{fct:?}");
}

/// All at half load of the NICs: 800 of 1600 Gbps. One of three receivers is in the server.
#[test]
fn a_load_is_that_of_the_links_between_servers() {
    let text = r#"
        scheme = "ecmp"
        fabric = { kind = "file", path = "simai.txt", format = "hpcc" }
        workload = { kind = "flows", sizes = "fixed:1KB", load = 0.5 }
        measure = { flows = 1 }
        "#;
    let files = |_: &str| Ok(SIMAI.to_owned());
    let scenario = heddle_scenario::load(&Source::new("test.toml", text), &files).expect("sound");
    let heddle_scenario::Workload::Flows(flows) = &scenario.workload else { panic!("flows") };
    assert_eq!(flows.capacity, heddle_units::Rate::gbps(1600));
    let fabric = heddle_fabric::Fabric::new(&scenario.fabric.graph).expect("sound");
    let routes = fabric.routes(|_| true).expect("sound");
    let loads = heddle_fabric::offered_load(&fabric, &routes, &[(flows, 1.0)]);
    let share = |from: &str, to: &str| {
        loads.iter().find(|load| load.from == from && load.to == to).expect("a link").share
    };
    let expected = [
        ("host-0", "nvswitch-4", 200.0 / 3.0 / 2880.0),
        ("nvswitch-5", "host-3", 200.0 / 3.0 / 2880.0),
        ("host-0", "switch-6", 200.0 * 2.0 / 3.0 / 400.0),
        ("switch-7", "host-1", 200.0 * 2.0 / 3.0 / 400.0),
        ("switch-6", "switch-8", 2.0 * 200.0 / 3.0 / 400.0),
    ];
    for (from, to, expected) in expected {
        let found = share(from, to);
        assert!((found - expected).abs() < 1e-9, "{from} {to}: {found} {expected}");
    }
}

/// The big switch leaves servers as they are.
#[test]
fn an_ideal_fabric_keeps_the_switches_of_servers() {
    let graph = scenario("ideal", "0s,host-0,host-1,1KB\n", "").fabric.graph;
    let big = heddle_fabric::one_big_switch(&graph);
    let names: Vec<&str> = big.nodes[4..].iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["switch-1", "nvswitch-4", "nvswitch-5"]);
    assert_eq!(big.inner_switches()[4..], [false, true, true]);
    assert_eq!((big.links[0].ends, big.links[1].ends), ((0, 5), (0, 4)));
}

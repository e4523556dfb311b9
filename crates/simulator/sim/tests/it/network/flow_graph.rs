//! Flows of a file that wait for each other.

use heddle_scenario::{Scenario, Source};
use heddle_sim::FlowRecord;
use heddle_units::Time;

use crate::network::support::run;

fn graph(csv: &'static str) -> Scenario {
    let text = r#"
        scheme = "ecmp"
        fabric = { kind = "leaf-spine", hosts_per_leaf = 2, spines = 1, parallel_links = 1 }
        workload = { kind = "flow-graph", file = "job.csv" }
    "#;
    let files = |_: &str| Ok(csv.to_owned());
    heddle_scenario::load(&Source::new("test.toml", text), &files).expect("sound")
}

fn end(flow: &FlowRecord) -> Time {
    flow.start + flow.fct
}

/// A diamond: a before b and c, both before d, which starts 50 us after the later one; e is alone
/// and late.
#[test]
fn a_flow_starts_when_the_last_of_those_before_it_has_arrived() {
    let scenario = graph(
        "id,after,from,to,size,delay\n\
         a,,host-1,host-2,1MB,\n\
         b,a,host-2,host-3,2MB,\n\
         c,a,host-2,host-4,10KB,3us\n\
         d,b c,host-3,host-1,1KB,50us\n\
         e,,host-4,host-1,1KB,7us\n",
    );
    let mut flows = run(&scenario, 1).flows;
    flows.sort_by_key(|flow| flow.index);
    let [a, b, c, d, e] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!(a.start, scenario.measure.probe_warm_up);
    assert_eq!((b.start, c.start), (end(a), end(a) + Time::micros(3)));
    assert!(end(b) > end(c));
    assert_eq!(d.start, end(b) + Time::micros(50));
    assert_eq!(e.start, a.start + Time::micros(7));
    assert_eq!((a.id, e.id), (1, 2), "numbered by their starts");
}

/// Computations of 5 us before a flow and 2 us between two, and one of no time that both wait for.
#[test]
fn computations_delay_what_waits_for_them() {
    let scenario = graph(
        "id,after,from,to,size,delay\n\
         forward,,host-1,,,5us\n\
         a,forward,host-1,host-2,1MB,\n\
         backward,a,host-2,,,2us\n\
         both,forward backward,host-2,,,\n\
         b,both,host-2,host-3,1KB,\n\
         last,b,host-3,,,9us\n",
    );
    let mut flows = run(&scenario, 1).flows;
    flows.sort_by_key(|flow| flow.index);
    let [a, b] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!((a.index, b.index), (1, 4));
    assert_eq!(a.start, scenario.measure.probe_warm_up + Time::micros(5));
    assert_eq!(b.start, end(a) + Time::micros(2));
}

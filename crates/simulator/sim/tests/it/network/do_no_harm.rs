//! TCP and MPTCP hosts in one network: the second goal of coupled congestion control (RFC 6356
//! section 2).

use heddle_sim::Outcome;

use crate::network::support::{run, scenario};

const SCENARIO: &str = include_str!("../../../../../../scenarios/mptcp-beside-tcp.toml");

fn shares(coupling: &str) -> f64 {
    let overrides = [
        ("workload.0.transport.coupling", coupling),
        ("measure.warm_up", "500ms"),
        ("measure.duration", "4s"),
    ];
    let outcome = run(&scenario(SCENARIO, &overrides), 1);
    mean(&outcome, 0) / mean(&outcome, 1)
}

/// Mean goodput of the flows without end of a workload.
fn mean(outcome: &Outcome, workload: u16) -> f64 {
    let flows = outcome.long_flows.iter().filter(|flow| flow.workload == workload);
    let rates: Vec<f64> = flows.map(|flow| flow.goodput().0 as f64).collect();
    assert_eq!(rates.len(), 4);
    rates.iter().sum::<f64>() / 4.0
}

/// "A multipath flow should not take up more capacity from any of the resources shared by its
/// different paths than if it were a single flow using only one of these paths."
#[test]
fn a_coupled_connection_takes_no_more_than_tcp_and_an_uncoupled_one_nearly_twice_as_much() {
    for coupling in ["lia", "olia", "balia"] {
        let share = shares(coupling);
        assert!((0.7..1.25).contains(&share), "{coupling}: {share}");
    }
    let share = shares("uncoupled");
    assert!((1.6..2.4).contains(&share), "uncoupled: {share}");
}

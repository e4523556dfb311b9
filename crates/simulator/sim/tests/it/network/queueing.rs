//! Poisson arrivals of equal packets at one port: the M/D/1 queue (Pollaczek-Khinchine).

use heddle_scenario::{Pattern, Scenario, Workload};
use heddle_sim::FlowRecord;
use heddle_units::{Bytes, Rate};

use crate::network::support::{run, scenario};

/// 32 hosts with links too fast to queue send flows of one packet to host 1, at 10 Gbps.
const STAR: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 1
    spines = 1
    hosts_per_leaf = 33
    host_rate = "400Gbps"
    link = [{ between = "host-1 leaf-1", rate = "10Gbps" }]
    port_buffer = "10MB"
    [workload]
    kind = "flows"
    sizes = "fixed:1460B"
    load = 0.5
    capacity = "10Gbps"
    [measure]
    warm_up = "20ms"
    flows = 200000
"#;

/// Bytes of a packet on the wire.
const FRAME: f64 = 1518.0;

fn star(utilisation: f64) -> Scenario {
    let load = format!("{}", utilisation * 1460.0 / FRAME);
    let mut scenario = scenario(STAR, &[("workload.load", &load)]);
    let Workload::Flows(flows) = &mut scenario.workload else { panic!("flows") };
    flows.pattern = Pattern::Sets { clients: (1..33).collect(), servers: vec![0] };
    scenario
}

/// Waiting time in the queue, in seconds. Packets queue on their own links too, but those are 40
/// times as fast.
fn wait(flow: &FlowRecord) -> f64 {
    (flow.fct - flow.ideal_fct).as_secs_f64()
}

#[test]
fn packets_wait_as_long_as_in_an_m_d_1_queue() {
    let service = Rate::gbps(10).time_for(Bytes(FRAME as u64)).as_secs_f64();
    for utilisation in [0.3, 0.5, 0.8] {
        let outcome = run(&star(utilisation), 1);
        assert_eq!(outcome.totals.dropped + outcome.totals.retransmitted, 0);
        let count = outcome.flows.len() as f64;
        let mean = outcome.flows.iter().map(wait).sum::<f64>() / count;
        let theory = service * utilisation / (2.0 * (1.0 - utilisation));
        assert!((mean / theory - 1.0).abs() < 0.03, "{utilisation}: {mean} s, not {theory} s");
        // Poisson arrivals see time averages: as many find the port free as it is free of the time.
        let free = outcome.flows.iter().filter(|f| f.fct == f.ideal_fct).count() as f64 / count;
        assert!((free + utilisation - 1.0).abs() < 0.01, "{utilisation}: {free}");
    }
}

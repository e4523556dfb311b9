//! Small flows beside a large one: load-aware schemes avoid its path, with local and with remote
//! congestion.

use heddle_scenario::Scenario;
use heddle_sim::{FlowRecord, Outcome};
use heddle_units::Time;

use crate::network::support::{replay, run};

/// Hosts 1 to 8 on leaf 1, 9 to 16 on leaf 2, 17 to 24 on leaf 3; two paths between leaves.
const LEAF_SPINE: &str = r#"
    [fabric]
    kind = "leaf-spine"
    leaves = 3
    hosts_per_leaf = 8
    parallel_links = 1
    spine_rate = "10Gbps"
    [measure]
    probe_warm_up = "2ms"
"#;

/// One flow of 25 MB, which fills a link of 10 Gbps for 20 ms, and a small one every 10 us from
/// leaf 1 to leaf 2.
fn one_elephant(from: &str, scheme: &str) -> Scenario {
    let mouse = |i: u32| format!("{}us,host-{},host-{},1000B", 10 * i, i % 6 + 2, i % 7 + 10);
    let mice = (0..1900).map(mouse).collect::<Vec<_>>().join("\n");
    replay(LEAF_SPINE, &[("scheme", scheme)], &format!("0s,{from},host-9,25MB\n{mice}"))
}

/// Mean delay of small flows beyond their ideal completion time, in seconds, after paths have been
/// measured.
fn delay_of_mice(outcome: &Outcome) -> f64 {
    let is_mouse = |flow: &&FlowRecord| flow.size.0 == 1000 && flow.start > Time::millis(4);
    let mice = outcome.flows.iter().filter(is_mouse);
    let delays: Vec<f64> = mice.map(|flow| (flow.fct - flow.ideal_fct).as_secs_f64()).collect();
    delays.iter().sum::<f64>() / delays.len() as f64
}

/// From host 1 the elephant fills an uplink of the mice's own leaf; from host 17, a link that only
/// a spine sees.
#[test]
fn small_flows_keep_off_a_loaded_path() {
    for from in ["host-1", "host-17"] {
        for seed in 1..=4 {
            let delay = |scheme| delay_of_mice(&run(&one_elephant(from, scheme), seed));
            let (ecmp, conga, hula) = (delay("ecmp"), delay("conga"), delay("hula"));
            assert!(ecmp > 50e-6, "{from}, seed {seed}: by hash, half wait: {ecmp}");
            assert!(hula < 1e-6, "{from}, seed {seed}: by HULA none waits: {hula}");
            // CONGA looks again when what it knows of the loaded path is 10 ms old.
            assert!(conga < 10e-6, "{from}, seed {seed}: by CONGA few do: {conga}");
        }
    }
}

//! Links whose directions have rates of their own.

use heddle_sim::Outcome;
use heddle_units::{Bytes, Rate, Time};

use crate::network::support::{replay, run, scenario};

/// Host 1 sends at 10 Gbps and receives at 1 Gbps.
const ACCESS: &str = r#"
    scheme = "ecmp"
    [fabric]
    kind = "leaf-spine"
    leaves = 1
    spines = 1
    hosts_per_leaf = 3
    link = [{ between = "host-1 leaf-1", rate = "10Gbps", reverse_rate = "1Gbps" }]
"#;

/// Completion times of a flow up, from host 1, and of a later one down, and their ideals.
fn up_and_down(size: &str) -> [(Time, Time); 2] {
    let flows = format!("0s,host-1,host-2,{size}\n1s,host-3,host-1,{size}\n");
    let outcome = run(&replay(ACCESS, &[], &flows), 1);
    let times_from = |from: u32| {
        let flow = outcome.flows.iter().find(|flow| flow.from == from).expect("it finished");
        (flow.fct, flow.ideal_fct)
    };
    [times_from(0), times_from(2)]
}

/// A handshake of 64 bytes there and back, and a packet of 1460 that takes 1518, over two links of
/// 1 us.
#[test]
fn a_packet_up_and_a_packet_down_take_the_time_of_their_own_rate() {
    let frame = |gbps, bytes| Rate::gbps(gbps).time_for(Bytes(bytes));
    let handshake = frame(10, 64) * 3 + frame(1, 64) + Time::micros(4);
    let data = [frame(10, 1518) * 2, frame(10, 1518) + frame(1, 1518)];
    let expected = data.map(|data| handshake + data + Time::micros(2));
    assert_eq!(up_and_down("1460B"), expected.map(|time| (time, time)));
}

#[test]
fn a_flow_up_and_a_flow_down_finish_at_their_own_rates() {
    let seconds = |gbps: f64| 10e6 * 1518.0 / 1460.0 * 8.0 / (gbps * 1e9);
    for ((fct, ideal), gbps) in up_and_down("10MB").into_iter().zip([10.0, 1.0]) {
        let share = fct.as_secs_f64() / seconds(gbps);
        assert!((1.0..1.03).contains(&share), "{gbps}: {share}");
        let share = ideal.as_secs_f64() / seconds(gbps);
        assert!((1.0..1.01).contains(&share), "{gbps}: {share}");
    }
}

/// Two flows across two leaves, one in each direction of a link that an event changes at once.
fn across(event: &str) -> [f64; 2] {
    let text = r#"
        scheme = "ecmp"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 1
        hosts_per_leaf = 2
        parallel_links = 1
        [workload]
        kind = "long"
        pairs = ["host-1 host-3", "host-4 host-2"]
        [measure]
        warm_up = "50ms"
        duration = "100ms"
    "#;
    let outcome: Outcome = run(&scenario(text, &[("event", event)]), 1);
    let goodput = |from: u32| {
        let flow = outcome.long_flows.iter().find(|flow| flow.from == from).expect("it is long");
        flow.goodput().0 as f64 * 1518.0 / 1460.0 / 1e9
    };
    [goodput(0), goodput(3)]
}

#[test]
fn an_event_degrades_and_repairs_one_direction() {
    // Acknowledgements of 64 bytes take their part of the direction against their flow.
    let near = |[up, down]: [f64; 2], expected: [f64; 2]| {
        // Where both queue, acknowledgements arrive in bunches, and queues run empty between them
        // (Zhang et al., SIGCOMM 1991).
        let least = if expected == [5.0; 2] { 0.8 } else { 0.97 };
        let found = [up + down * 64.0 / 1518.0, down + up * 64.0 / 1518.0];
        let is_near = |(found, expected): (&f64, &f64)| {
            let most = if *expected == 10.0 { 1.05 } else { 1.01 };
            (least..most).contains(&(found / expected))
        };
        assert!(found.iter().zip(&expected).all(is_near), "{found:?}, not {expected:?}");
    };
    let slow = r#"degrade = ["leaf-1 spine-1"], rate = "5Gbps", direction = "forward""#;
    near(across(&format!("[{{ at = \"0s\", {slow} }}]")), [5.0, 10.0]);
    let opposite = slow.replace("leaf-1 spine-1", "spine-1 leaf-1");
    near(across(&format!("[{{ at = \"0s\", {opposite} }}]")), [10.0, 5.0]);
    let both = slow.replace("forward", "both");
    near(across(&format!("[{{ at = \"0s\", {both} }}]")), [5.0, 5.0]);
    let repair = r#"{ at = "1ms", repair = ["leaf-1 spine-1"], direction = "forward" }"#;
    near(across(&format!("[{{ at = \"0s\", {both} }}, {repair}]")), [10.0, 5.0]);
}

//! Shuttle's inputs that others have not: the queue of a port, and random bits.

use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption, Tcp};
use heddle_switch::rig::{Rig, UPLINKS};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::SwitchPort;
use heddle_testing::{Need, skip_without};

use crate::frames::rigs::{GAP, packet, rig, run};

/// Lets links carry `full` bytes in tau: 2^20 ns.
fn set_full(rig: &mut Rig, full: u64) {
    for number in 1..=u32::from(UPLINKS) {
        let port: SwitchPort = rig.switch.maps.ports.get(&number, 0).unwrap();
        rig.switch.maps.ports.set(number, SwitchPort { full, ..port }, 0).unwrap();
    }
}

/// Queues of the uplinks that have one.
fn queues(rig: &Rig) -> Vec<u32> {
    let meter = |number: u32| rig.switch.maps.meters.get(&number, 0).unwrap().queue;
    (1..=u32::from(UPLINKS)).map(meter).filter(|&queue| queue > 0).collect()
}

#[test]
fn a_queue_grows_by_what_is_sent_up_to_the_range_and_drains_at_the_links_rate() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::Shuttle);
    let frame = packet(false, MptcpOption::None).frame();
    let bytes = frame.len() as u32;
    set_full(&mut rig, 0);
    for _ in 0..3 {
        assert_eq!(run(&rig, &frame).0, Action::Redirect);
    }
    assert_eq!(queues(&rig), [3 * bytes], "nothing leaves, and all is one flowlet");
    for _ in 0..2 * 65_536 / bytes {
        run(&rig, &frame);
    }
    assert_eq!(queues(&rig), [2 * 65_536], "two full links");
    set_full(&mut rig, 1 << 36);
    run(&rig, &frame);
    assert_eq!(queues(&rig), [bytes], "65 kB leave within a nanosecond");
}

#[test]
fn other_schemes_measure_no_queues() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    set_full(&mut rig, 0);
    run(&rig, &packet(false, MptcpOption::None).frame());
    assert!(queues(&rig).is_empty());
}

/// Two hops that weigh the same: 64 flows on one of them have a probability of 2^-63.
#[test]
fn flowlets_take_hops_at_random_and_stay_there() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::Shuttle);
    for uplink in [2, 5] {
        rig.from_fabric(uplink).unwrap();
        run(&rig, &frames::probe(1, 40));
    }
    rig.from_host().unwrap();
    let start = std::time::Instant::now();
    let taken: Vec<u8> = (0..64)
        .map(|flow| {
            let frame = Tcp { ports: (flow, 80), ..packet(false, MptcpOption::None) }.frame();
            let first = run(&rig, &frame).1[5];
            let again = run(&rig, &frame).1[5];
            assert!(again == first || start.elapsed() > GAP, "a running flowlet");
            first
        })
        .collect();
    assert!(taken.contains(&102) && taken.contains(&105), "{taken:?}");
    assert!(taken.iter().all(|port| [102, 105].contains(port)), "{taken:?}");
}

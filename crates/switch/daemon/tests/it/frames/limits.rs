//! Tables that overflow and storms of probes: bounded and counted, and every data packet is
//! forwarded.

use std::time::Instant;

use heddle_switch::frames::{self, MptcpOption, Tcp};
use heddle_switch::rig::Rig;
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::{HulaConfig, MpHulaConfig, SwitchCounter};
use heddle_testing::{Need, skip_without};

use crate::frames::rigs::{hula, judged, mp_hula, packet, rig, run};

#[test]
fn more_flows_than_flowlet_slots_share_them() {
    if skip_without(Need::Root) {
        return;
    }
    for scheme in [Scheme::Hula, Scheme::MpHula, Scheme::Shuttle] {
        let rig = rig(scheme);
        let flows = 3 * hula().flowlet_slots as u16;
        for port in 0..flows {
            run(&rig, &Tcp { ports: (port, 80), ..packet(false, MptcpOption::None) }.frame());
        }
        assert_eq!(rig.forwarded().unwrap(), u64::from(flows), "{scheme}");
        let flowlets = rig.switch.tables.as_ref().unwrap().flowlets().unwrap();
        let has_port = |slot: usize| flowlets.get(slot).unwrap().port().is_some();
        let slots = hula().flowlet_slots as usize;
        let used = (0..slots).filter(|&slot| has_port(slot)).count();
        // 3 flows a slot on average: a slot is empty with a probability of e^-3.
        assert!(used > slots * 9 / 10, "{scheme}: {used}");
        assert!(
            (slots..2 * slots).all(|slot| !has_port(slot)),
            "{scheme}: none beyond the configured"
        );
        let counts = rig.switch.maps.scheme_counters().unwrap();
        assert!(counts.flowlets >= used as u64 && counts.flowlets <= u64::from(flows));
    }
}

#[test]
fn more_connections_than_the_association_table_has_are_counted_and_forwarded() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::MpHula);
    let connections = 4 * mp_hula().association_slots as u16;
    for n in 0..connections {
        let key = |end: u8| [end, 0, 0, 0, 0, 0, (n >> 8) as u8, n as u8];
        let option = MptcpOption::Keys(key(1), key(2));
        run(&rig, &Tcp { ports: (n, 80), ..packet(false, option) }.frame());
    }
    assert_eq!(rig.forwarded().unwrap(), u64::from(connections));
    let counts = rig.switch.maps.scheme_counters().unwrap();
    let refused = counts.association.table_collisions + counts.association.token_collisions;
    assert_eq!(
        counts.association.connections + refused,
        u64::from(connections),
        "each is known or counted"
    );
    let slots = u64::from(mp_hula().association_slots);
    assert!(
        counts.association.connections <= slots && counts.association.connections > slots / 2,
        "{}",
        counts.association.connections
    );
    let table = rig.switch.tables.as_ref().unwrap().subflows().unwrap();
    let used = (0..2 * slots as usize).filter(|&slot| table.get(slot).unwrap().number != 0).count();
    assert_eq!(used as u64, counts.association.connections);
}

#[test]
fn joins_beyond_sixteen_or_of_unknown_tokens_are_counted_and_forwarded() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::MpHula);
    let (handshakes, _) = frames::connection(("10.0.0.1", 4000), 40);
    for frame in &handshakes {
        judged(&rig, frame, "handshake");
    }
    let counts = rig.switch.maps.scheme_counters().unwrap();
    assert_eq!((counts.association.connections, counts.association.joins), (1, 39));
    // Numbers 2 to 16 for the first 15; then they restart with the 16th and the 31st.
    assert_eq!(counts.association.wraps, 2);
    for token in 0..50 {
        let join = Tcp { ports: (token as u16, 1), ..packet(false, MptcpOption::Join(token)) };
        judged(&rig, &join.frame(), "unknown token");
    }
    let counts = rig.switch.maps.scheme_counters().unwrap();
    assert_eq!((counts.association.joins, counts.association.unknown_tokens), (39, 50));
    assert_eq!(rig.forwarded().unwrap(), 40 + 50);
}

#[test]
fn a_storm_of_probes_is_replicated_once_in_a_period() {
    if skip_without(Need::Root) {
        return;
    }
    const PROBES: u64 = 20_000;
    const PERIOD: u64 = 20_000_000;
    for scheme in [Scheme::Hula, Scheme::MpHula, Scheme::Shuttle] {
        // A switch of a middle tier: a ToR replicates nothing.
        let hula = HulaConfig { is_tor: 0, probe_period: PERIOD, ..hula() };
        let mut rig = Rig::new(scheme, MpHulaConfig { hula, ..mp_hula() }, None).unwrap();
        rig.from_fabric(3).unwrap();
        let (frame, start) = (frames::probe(1, 9), Instant::now());
        for _ in 0..PROBES {
            rig.switch.xdp().unwrap().run(&frame, 1).unwrap();
        }
        let passed = start.elapsed().as_nanos() as u64;
        let replicated = rig.count(SwitchCounter::ProbeForwarded).unwrap();
        // Suppressed for 7/8 of a period after each.
        let most = 1 + passed / (PERIOD - PERIOD / 8);
        assert!((1..=most).contains(&replicated), "{scheme}: {replicated}, at most {most}");
        assert_eq!(replicated + rig.count(SwitchCounter::ProbeTaken).unwrap(), PROBES, "{scheme}");
        assert_eq!(rig.switch.maps.scheme_counters().unwrap().probes, PROBES, "{scheme}");
    }
}

#[test]
fn probes_of_every_number_of_a_tor_are_taken_or_counted_as_bad() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    rig.from_fabric(1).unwrap();
    for tor in 0..2000 {
        judged(&rig, &frames::probe(tor, 0), "probe");
    }
    let mut highest = frames::probe(0, 0);
    highest[14..17].fill(0xff);
    judged(&rig, &highest, "ToR 2^24 - 1");
    assert_eq!(rig.count(SwitchCounter::ProbeTaken).unwrap(), 2);
    assert_eq!(rig.count(SwitchCounter::DroppedBadProbe).unwrap(), 1999);
}

//! The XDP programs on single frames: verdicts, what frames become, and what is refused and
//! counted.

use crate::frames::rigs::{
    GAP, HOOKS, hula, judged, mp_hula, rig, rig_at, run, tagged, without_shim,
};
use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption};
use heddle_switch::rig::{PORTS, Rig};
use heddle_switch_maps::Scheme;
use heddle_switch_maps::abi::{Count, HulaConfig, MpHulaConfig, PortCounter, SwitchCounter};
use heddle_testing::{Need, skip_without};

fn packet(option: MptcpOption) -> Vec<u8> {
    frames::data("10.0.0.1", "10.0.1.1", (4000, 5000), option)
}

#[test]
fn every_scheme_forwards_with_the_ttl_decremented_and_checksums_right() {
    if skip_without(Need::Root) {
        return;
    }
    for &scheme in Scheme::ALL {
        let rig = rig(scheme);
        let (action, frame) = run(&rig, &packet(MptcpOption::None));
        assert_eq!(action, Action::Redirect, "{scheme}");
        let frame = without_shim(scheme, frame);
        assert_eq!(frame[14 + 8], 63, "{scheme}: the TTL was 64");
        assert!(frames::header_is_right(&frame[14..]), "{scheme}");
        assert_eq!(&frame[..1], [2], "{scheme}: to the neighbour's MAC address");
        assert!((101..=108).contains(&frame[5]), "{scheme}: of an uplink");
        assert_eq!(rig.forwarded().unwrap(), 1);
    }
}

#[test]
fn a_forwarded_packet_is_counted_and_measured_at_its_port() {
    if skip_without(Need::Root) {
        return;
    }
    for hook in HOOKS {
        let rig = rig_at(hook, Scheme::Hula);
        let frame = packet(MptcpOption::None);
        assert_eq!(run(&rig, &frame).0, Action::Redirect);
        let maps = &rig.switch.maps;
        let sent: Vec<(Count, u64)> = (0..PORTS as u32)
            .map(|port| {
                let counter = port * PortCounter::PORT_COUNTERS as u32 + PortCounter::Sent as u32;
                (maps.port_counts.sum(counter).unwrap(), maps.meters.get(&port, 0).unwrap().bytes)
            })
            .filter(|(sent, bytes)| sent.packets > 0 || *bytes > 0)
            .collect();
        let bytes = frame.len() as u64;
        assert_eq!(sent, [(Count { packets: 1, bytes }, bytes)], "{hook:?}");
    }
}

#[test]
fn the_verifier_takes_every_scheme_with_less_than_half_of_its_limit() {
    if skip_without(Need::Root) {
        return;
    }
    for &scheme in Scheme::ALL {
        let size = rig(scheme).switch.xdp().unwrap().size().unwrap();
        // Linux's BPF_COMPLEXITY_LIMIT_INSNS is a million; other versions follow other branches.
        assert!(size.verified < 500_000, "{scheme}: {size:?}");
    }
}

/// A probe as another implementation of HULA's paper would send it: Ethernet, IPv4 with a protocol
/// number of its own (section 5.2), dst_tor in 24 bits and path_util in 8 (figure 3a); 64 bytes with
/// the check sequence (section 4.2).
fn probe_of_the_paper(tor: u8, path_util: u8) -> [u8; 60] {
    let mut frame = [0; 60];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 7, 0, 0, 64, 253]);
    frame[26..34].copy_from_slice(&[10, 255, 0, tor, 10, 255, 255, 255]);
    frame[34..38].copy_from_slice(&[0, 0, tor, path_util]);
    frame
}

#[test]
fn a_probe_made_from_the_paper_is_taken_and_one_of_a_host_is_not() {
    if skip_without(Need::Root) {
        return;
    }
    let with_probes = Scheme::ALL.iter().filter(|scheme| scheme.has_probes());
    for (hook, &scheme) in with_probes.flat_map(|scheme| HOOKS.map(|hook| (hook, scheme))) {
        let mut rig = rig_at(hook, scheme);
        let probe = probe_of_the_paper(1, 40);
        assert_eq!(judged(&rig, &probe, "of the host").0, Action::Drop);
        rig.from_fabric(3).unwrap();
        assert_eq!(judged(&rig, &probe, "of a switch").0, Action::Drop);
        let mut fragment = probe;
        fragment[20] = 0x20;
        let mut other_protocol = probe;
        other_protocol[23] = 252;
        for frame in [fragment, other_protocol] {
            assert_eq!(judged(&rig, &frame, "no probe").0, Action::Drop);
        }
        let counts = [
            (SwitchCounter::DroppedHostProbe, 1),
            (SwitchCounter::ProbeTaken, 1),
            (SwitchCounter::DroppedNoRoute, 2),
        ];
        for (counter, frames) in counts {
            assert_eq!(rig.count(counter).unwrap(), frames, "{hook:?}, {scheme}, {counter:?}");
        }
        assert_eq!(rig.switch.maps.scheme_counters().unwrap().probes, 1, "{hook:?}, {scheme}");
        rig.from_host().unwrap();
        let (_, frame) = run(&rig, &packet(MptcpOption::None));
        assert_eq!(frame[5], 103, "{hook:?}, {scheme}: by the port that the probe came from");
    }
}

#[test]
fn a_tagged_packet_keeps_its_tag() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::Ecmp);
    let plain = packet(MptcpOption::None);
    let (action, frame) = run(&rig, &tagged(&plain));
    assert_eq!((action, &frame[12..18]), (Action::Redirect, &[0x81, 0, 0, 42, 8, 0][..]));
    assert_eq!(frame[18 + 8], 63);
}

#[test]
fn what_is_bad_is_dropped_and_counted() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::MpHula);
    let good = packet(MptcpOption::None);
    let changed = |at: usize, to: u8| {
        let mut frame = good.clone();
        frame[at] = to;
        frame
    };
    let shim =
        [&good[..12], &[0x88, 0xb5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 8, 0], &good[14..]].concat();
    let cases = [
        ("header length 4", changed(14, 0x44), SwitchCounter::DroppedMalformed),
        ("version 5", changed(14, 0x55), SwitchCounter::DroppedMalformed),
        ("longer than the frame", changed(14 + 2, 0xff), SwitchCounter::DroppedMalformed),
        ("a TCP header of 8 bytes", changed(34 + 12, 0x20), SwitchCounter::DroppedMalformed),
        ("cut in the IP header", good[..24].to_vec(), SwitchCounter::DroppedMalformed),
        ("cut in the TCP header", good[..44].to_vec(), SwitchCounter::DroppedMalformed),
        ("no host's address", changed(14 + 19, 99), SwitchCounter::DroppedNoRoute),
        ("a probe from a host", frames::probe(1, 0), SwitchCounter::DroppedHostProbe),
        ("a shim from a host", shim, SwitchCounter::DroppedHostShim),
    ];
    for (name, frame, counter) in cases {
        let before = rig.count(counter).unwrap();
        assert_eq!(run(&rig, &frame).0, Action::Drop, "{name}");
        assert_eq!(rig.count(counter).unwrap(), before + 1, "{name}");
    }
    assert_eq!(rig.forwarded().unwrap(), 0);
}

#[test]
fn frames_for_the_machines_own_stack_are_passed() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::Ecmp);
    let mut arp = packet(MptcpOption::None);
    arp[13] = 6;
    let multicast = frames::data("10.0.0.1", "224.0.0.5", (1, 1), MptcpOption::None);
    let link_local = frames::data("10.0.0.1", "169.254.1.1", (1, 1), MptcpOption::None);
    for frame in [arp, multicast, link_local] {
        assert_eq!(run(&rig, &frame).0, Action::Pass);
    }
    assert_eq!(rig.count(SwitchCounter::Passed).unwrap(), 3);
}

#[test]
fn a_flowlet_takes_the_best_hop_that_probes_have_found() {
    if skip_without(Need::Root) {
        return;
    }
    for scheme in [Scheme::Hula, Scheme::MpHula] {
        let mut rig = rig(scheme);
        for (uplink, util) in [(2, 90), (5, 10), (7, 50)] {
            rig.from_fabric(uplink).unwrap();
            assert_eq!(run(&rig, &frames::probe(1, util)).0, Action::Drop, "a ToR ends a probe");
        }
        rig.from_host().unwrap();
        let (_, frame) = run(&rig, &packet(MptcpOption::None));
        assert_eq!(frame[5], 105, "{scheme}: port 5 has the least utilisation");
        assert_eq!(rig.count(SwitchCounter::ProbeTaken).unwrap(), 3);
    }
}

#[test]
fn a_probe_of_no_tor_or_cut_short_is_dropped_and_a_utilisation_beyond_the_field_is_cut() {
    if skip_without(Need::Root) {
        return;
    }
    let hula = HulaConfig { util_bits: 4, ..hula() };
    let config = MpHulaConfig { hula, ..mp_hula() };
    let mut rig = Rig::new(Scheme::Hula, config, None).unwrap();
    rig.from_fabric(3).unwrap();
    for frame in [frames::probe(2, 0), frames::probe(1, 0)[..17].to_vec()] {
        assert_eq!(run(&rig, &frame).0, Action::Drop);
    }
    let bad = rig.count(SwitchCounter::DroppedBadProbe).unwrap();
    let malformed = rig.count(SwitchCounter::DroppedMalformed).unwrap();
    assert_eq!(bad + malformed, 2);
    run(&rig, &frames::probe(1, 200));
    assert_eq!(rig.count(SwitchCounter::UtilClamped).unwrap(), 1);
    let best = rig.switch.tables.as_ref().unwrap().best_hop().unwrap().get(1).unwrap();
    assert_eq!((best.next_port, best.util), (4, 15), "port 3; 4 bits have 15 at most");
}

#[test]
fn subflows_get_shims_and_take_different_hops() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    for (uplink, util) in [(2, 90), (5, 10), (7, 50)] {
        rig.from_fabric(uplink).unwrap();
        run(&rig, &frames::probe(1, util));
    }
    rig.from_host().unwrap();
    let (handshakes, data) = frames::connection(("10.0.0.1", 4000), 2);
    for frame in &handshakes {
        assert_eq!(run(&rig, frame).0, Action::Redirect);
    }
    assert_eq!(rig.count(SwitchCounter::Handshakes).unwrap(), 2);
    // The flowlets of the handshakes end: the first began before there was a second subflow.
    std::thread::sleep(GAP + GAP / 10);
    let sent: Vec<Vec<u8>> = data.iter().map(|frame| run(&rig, frame).1).collect();
    for (subflow, (frame, before)) in (0..).zip(sent.iter().zip(&data)) {
        assert_eq!(frame.len(), before.len() + 12);
        assert_eq!(frame[12..14], [0x88, 0xb5]);
        assert_eq!(frame[22..26], [subflow << 4, 0, 8, 0], "subflow {subflow}, then IPv4");
        assert_eq!(frame[26 + 8], 63);
        assert!(frames::header_is_right(&frame[26..]));
        assert_eq!(frame[46..], before[34..], "TCP as it was");
    }
    assert_eq!(sent[0][14..22], sent[1][14..22], "one connection");
    assert_ne!(sent[0][5], sent[1][5], "on different uplinks");
}

#[test]
fn the_destination_tor_removes_the_shim() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    rig.from_fabric(4).unwrap();
    let inner = frames::data("10.0.1.1", "10.0.0.1", (5000, 4000), MptcpOption::Dss);
    let shim = [0x88, 0xb5, 0, 0, 0, 1, 0, 0, 0, 2, 0x10, 0, 8, 0];
    let (action, frame) = run(&rig, &[&inner[..12], &shim, &inner[14..]].concat());
    assert_eq!((action, frame.len()), (Action::Redirect, inner.len()));
    assert_eq!(frame[12..14], [8, 0]);
    assert_eq!(frame[14 + 8], 63);
    assert_eq!(frame[34..], inner[34..]);
    assert_eq!(rig.count(SwitchCounter::Delivered).unwrap(), 1);
    let cut = [&inner[..12], &shim[..8]].concat();
    assert_eq!(run(&rig, &cut).0, Action::Drop);
    assert_eq!(rig.count(SwitchCounter::DroppedBadShim).unwrap(), 1);
}

#[test]
fn a_packet_that_the_shim_makes_too_long_is_answered() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::MpHula);
    let (handshakes, data) = frames::connection(("10.0.0.1", 4000), 2);
    for frame in &handshakes {
        run(&rig, frame);
    }
    let longer = |bytes: usize| {
        let mut frame = data[0].clone();
        frame.resize(14 + bytes, 0);
        frame[16..18].copy_from_slice(&(bytes as u16).to_be_bytes());
        frame
    };
    assert_eq!(run(&rig, &longer(1488)).0, Action::Redirect, "1500 with the shim");
    let (action, answer) = run(&rig, &longer(1489));
    assert_eq!((action, answer.len()), (Action::Tx, 14 + 576));
    assert_eq!(answer[..6], data[0][6..12], "back to its sender");
    assert!(frames::header_is_right(&answer[14..]));
    assert_eq!(answer[14 + 9], 1, "ICMP");
    assert_eq!(answer[34..36], [3, 4], "fragmentation needed");
    assert_eq!(answer[40..42], 1488_u16.to_be_bytes(), "what fits");
    assert_eq!(rig.count(SwitchCounter::Answered).unwrap(), 1);
}

//! Malformed, truncated and forged frames at the programs of every scheme, at both hooks: each has
//! one verdict, and none is forwarded.

use crate::frames::rigs::{HOOKS, judged, packet, rig, rig_at, shimmed, tagged};
use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption, Tcp};
use heddle_switch_maps::abi::SwitchCounter;
use heddle_switch_maps::{Hook, Scheme};
use heddle_testing::{Need, skip_without};

/// The least bytes of a frame with which the kernel runs a program: under tc an IP frame has its IP
/// header, and other frames have a payload.
fn shortest(hook: Hook, frame: &[u8]) -> usize {
    match (hook, &frame[12..14]) {
        (Hook::Tc, [0x08, 0x00]) => 34,
        (Hook::Tc, [0x86, 0xdd]) => 54,
        _ => 15,
    }
}

#[test]
fn a_packet_cut_at_any_byte_has_one_verdict_and_is_not_forwarded() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, scheme) in
        HOOKS.into_iter().flat_map(|hook| Scheme::ALL.iter().map(move |&s| (hook, s)))
    {
        let mut rig = rig_at(hook, scheme);
        let whole = [
            packet(false, MptcpOption::Keys(*b"client's", *b"server's")).frame(),
            packet(true, MptcpOption::Join(7)).frame(),
            tagged(&packet(false, MptcpOption::Dss).frame()),
            shimmed(&packet(false, MptcpOption::Dss).frame(), 1),
        ];
        for (number, frame) in whole.iter().enumerate() {
            if number == 3 {
                rig.from_fabric(1).unwrap();
            }
            for bytes in shortest(hook, frame)..frame.len() {
                let name = format!("{hook:?}, {scheme}, frame {number} cut to {bytes} bytes");
                let (action, _) = judged(&rig, &frame[..bytes], &name);
                assert_eq!(action, Action::Drop, "{name}");
            }
        }
        let sent = [SwitchCounter::Forwarded, SwitchCounter::Delivered];
        assert!(sent.iter().all(|&counter| rig.count(counter).unwrap() == 0));
        assert!(rig.count(SwitchCounter::DroppedMalformed).unwrap() > 100);
    }
}

/// Option areas that TCP's rules forbid, or that a parser could fall over.
fn odd_options() -> Vec<(&'static str, Vec<u8>)> {
    let pad = |mut bytes: Vec<u8>| {
        bytes.resize(bytes.len().next_multiple_of(4), 1);
        bytes
    };
    let join = [30, 12, 0x10, 2, 1, 2, 3, 4, 5, 6, 7, 8];
    vec![
        ("length 0", pad(vec![30, 0])),
        ("length 1", pad(vec![30, 1])),
        ("length 2", pad(vec![30, 2])),
        ("past the end", pad(vec![30, 12, 0x10, 2])),
        ("far past the end", pad(vec![30, 255, 0x10, 2])),
        ("kind without length at the end", vec![1, 1, 1, 30]),
        ("an unknown option of length 0 in front", [&[99, 0][..], &join, &[1, 1]].concat()),
        ("a join in the body of another option", [&[99, 16, 0, 0][..], &join].concat()),
        (
            "two joins, the second inside of the first",
            [&[30, 12, 0x10, 2, 30, 12, 0x10, 2][..], &[0; 8]].concat(),
        ),
        (
            "two joins of different tokens",
            [&join[..], &[30, 12, 0x10, 2, 9, 9, 9, 9, 0, 0, 0, 0]].concat(),
        ),
        ("a join of 13 bytes", pad(vec![30, 13, 0x10, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9])),
        (
            "an MP_CAPABLE that says 20 bytes in 12",
            vec![30, 20, 0x01, 0x81, 1, 2, 3, 4, 5, 6, 7, 8],
        ),
        ("an MP_CAPABLE of version 15", vec![30, 12, 0x0f, 0x81, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("nothing but no-operations", vec![1; 40]),
        ("an end, and garbage behind it", [&[0][..], &[30; 39]].concat()),
        ("40 bytes of 30", vec![30; 40]),
    ]
}

#[test]
fn odd_tcp_options_pass_the_switch_and_teach_it_nothing_wrong() {
    if skip_without(Need::Root) {
        return;
    }
    for hook in HOOKS {
        let rig = rig_at(hook, Scheme::MpHula);
        for (name, options) in odd_options() {
            for flags in [0x02, 0x10, 0x12, 0x14, 0x3f] {
                for v6 in [false, true] {
                    let frame =
                        Tcp { flags, options: options.clone(), ..packet(v6, MptcpOption::None) };
                    let (action, _) = judged(&rig, &frame.frame(), name);
                    assert_eq!(action, Action::Redirect, "{name}: IP and TCP are whole");
                }
            }
        }
        let learnt = rig.switch.maps.scheme_counters().unwrap();
        assert_eq!(
            (learnt.association.connections, learnt.association.joins),
            (0, 0),
            "no connection was opened"
        );
        assert_eq!(learnt.shims, 0);
    }
}

#[test]
fn a_header_length_past_the_packet_is_malformed() {
    if skip_without(Need::Root) {
        return;
    }
    let rig = rig(Scheme::MpHula);
    let good = packet(false, MptcpOption::None).frame();
    let v6 = packet(true, MptcpOption::None).frame();
    let with = |frame: &[u8], at: usize, to: &[u8]| {
        let mut frame = frame.to_vec();
        frame[at..at + to.len()].copy_from_slice(to);
        frame
    };
    let cases = [
        ("IPv4: a total length of 19", with(&good, 16, &[0, 19])),
        ("IPv4: a total length that ends in the TCP header", with(&good, 16, &[0, 39])),
        (
            "IPv4: 60 bytes of header in a packet of 40",
            with(&with(&good, 14, &[0x4f]), 16, &[0, 40]),
        ),
        ("IPv4: version 6", with(&good, 14, &[0x65])),
        ("TCP: 16 bytes of header", with(&good, 46, &[0x40])),
        ("TCP: options behind the packet's end", with(&with(&good, 16, &[0, 40]), 46, &[0xf0])),
        ("IPv6: a payload longer than the frame", with(&v6, 18, &[0x10, 0])),
        ("IPv6: a payload of 4 bytes", with(&v6, 18, &[0, 4])),
        ("IPv6: version 4", with(&v6, 14, &[0x40])),
        ("IPv6: an IPv4-mapped source", with(&v6, 22, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])),
        (
            "IPv6: an extension header that ends behind the packet",
            with(&with(&v6, 20, &[0]), 54, &[6, 255]),
        ),
    ];
    for (name, frame) in cases {
        let before = rig.count(SwitchCounter::DroppedMalformed).unwrap();
        assert_eq!(judged(&rig, &frame, name).0, Action::Drop, "{name}");
        assert_eq!(rig.count(SwitchCounter::DroppedMalformed).unwrap(), before + 1, "{name}");
    }
}

#[test]
fn shims_and_probes_from_a_host_are_dropped_by_every_scheme() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, scheme) in
        HOOKS.into_iter().flat_map(|hook| Scheme::ALL.iter().map(move |&s| (hook, s)))
    {
        let rig = rig_at(hook, scheme);
        let inner = packet(false, MptcpOption::Dss).frame();
        for (frame, host, elsewhere) in [
            (shimmed(&inner, 3), SwitchCounter::DroppedHostShim, SwitchCounter::DroppedBadShim),
            (
                tagged(&shimmed(&inner, 3)),
                SwitchCounter::DroppedHostShim,
                SwitchCounter::DroppedBadShim,
            ),
            (frames::probe(1, 0), SwitchCounter::DroppedHostProbe, SwitchCounter::DroppedHostProbe),
        ] {
            let counter = if scheme.has_shims() { host } else { elsewhere };
            let before = rig.count(counter).unwrap();
            assert_eq!(judged(&rig, &frame, scheme.kind()).0, Action::Drop, "{hook:?}, {scheme}");
            assert_eq!(rig.count(counter).unwrap(), before + 1, "{hook:?}, {scheme}");
        }
        assert_eq!(rig.switch.maps.scheme_counters().unwrap().probes, 0);
    }
}

#[test]
fn a_host_sends_from_its_own_addresses_alone_where_sources_are_checked() {
    if skip_without(Need::Root) {
        return;
    }
    let from = |source: &str, destination: &str| {
        let address = |text: &str| text.parse().unwrap();
        Tcp::new(address(source), address(destination), (4000, 5000)).frame()
    };
    let genuine = [from("10.0.0.1", "10.0.1.1"), from("fd00::1", "fd00::2")];
    let forged =
        [from("10.0.0.9", "10.0.1.1"), from("10.0.1.1", "10.0.1.1"), from("fd00::2", "fd00::2")];
    // The check is before the scheme: one without state, and the one with most.
    let schemes = [Scheme::Ecmp, Scheme::MpHula];
    for (hook, scheme) in HOOKS.into_iter().flat_map(|hook| schemes.map(|scheme| (hook, scheme))) {
        let mut rig = rig_at(hook, scheme);
        let action = |rig: &_, frame: &[u8]| judged(rig, frame, scheme.kind()).0;
        for frame in genuine.iter().chain(&forged) {
            assert_eq!(action(&rig, frame), Action::Redirect, "not checked: {hook:?}, {scheme}");
        }
        rig.check_sources().unwrap();
        for frame in &genuine {
            assert_eq!(action(&rig, frame), Action::Redirect, "{hook:?}, {scheme}");
        }
        for frame in &forged {
            assert_eq!(action(&rig, frame), Action::Drop, "{hook:?}, {scheme}");
        }
        assert_eq!(rig.count(SwitchCounter::DroppedSource).unwrap(), 3, "{hook:?}, {scheme}");
        assert_eq!(action(&rig, &from("10.0.0.9", "224.0.0.1")), Action::Pass, "to the machine");
        rig.from_fabric(1).unwrap();
        assert_ne!(action(&rig, &from("10.0.1.9", "10.0.1.1")), Action::Pass);
        assert_eq!(rig.count(SwitchCounter::DroppedSource).unwrap(), 3, "hosts' ports alone");
    }
}

#[test]
fn a_shim_from_the_fabric_around_what_is_no_ip_is_dropped() {
    if skip_without(Need::Root) {
        return;
    }
    let mut rig = rig(Scheme::MpHula);
    rig.from_fabric(2).unwrap();
    let inner = packet(false, MptcpOption::Dss).frame();
    let shim = shimmed(&inner, 1);
    let next = |kind: [u8; 2]| {
        let mut frame = shim.clone();
        frame[24..26].copy_from_slice(&kind);
        frame
    };
    for kind in [[0x08, 0x06], [0x88, 0xb5], [0x88, 0xb6], [0x81, 0x00], [0, 0]] {
        assert_eq!(judged(&rig, &next(kind), "next").0, Action::Drop, "{kind:?}");
    }
    assert_eq!(rig.count(SwitchCounter::DroppedBadShim).unwrap(), 5);
}

/// A few thousand frames of bytes changed at random: whatever they say, each has one verdict, and
/// the programs go on.
#[test]
fn frames_with_random_changes_have_one_verdict_each() {
    if skip_without(Need::Root) {
        return;
    }
    let mut random = 0x5eed_u64;
    let mut next = move |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for (hook, scheme) in
        HOOKS.into_iter().flat_map(|hook| Scheme::ALL.iter().map(move |&s| (hook, s)))
    {
        let mut rig = rig_at(hook, scheme);
        for round in 0..1000 {
            let (v6, option) = (next(2) == 0, [MptcpOption::Dss, MptcpOption::Join(7)][next(2)]);
            let mut frame = packet(v6, option).frame();
            if next(3) == 0 {
                frame = shimmed(&frame, next(16) as u8);
            }
            // Under tc a replica of a probe would be sent on lo.
            for _ in 0..=next(6) {
                let at = next(frame.len().min(80));
                frame[at] = next(256) as u8;
            }
            if frame[12..14] == [0x88, 0xb6] {
                continue;
            }
            match next(2) {
                0 => rig.from_host().unwrap(),
                _ => rig.from_fabric(1).unwrap(),
            }
            judged(&rig, &frame, &format!("{hook:?}, {scheme}, round {round}: {frame:02x?}"));
        }
    }
}

//! Packets whose TTL or hop limit ends: ICMP tells the sender, at a limited rate, and never about
//! an error.

use std::time::Instant;

use heddle_bpf_loader::Action;
use heddle_switch::frames::{self, MptcpOption, Tcp};
use heddle_switch::rig::OWN;
use heddle_switch_maps::abi::SwitchCounter;
use heddle_switch_maps::{Hook, Scheme};
use heddle_testing::{Need, skip_without};

use crate::frames::rigs::{HOOKS, judged, packet, rig_at, shimmed};

fn expiring(v6: bool, ttl: u8) -> Vec<u8> {
    Tcp { ttl, ..packet(v6, MptcpOption::None) }.frame()
}

/// The same as ICMP, with this type.
fn icmp(v6: bool, kind: u8) -> Vec<u8> {
    let mut frame = expiring(v6, 1);
    let (protocol, at) = if v6 { (58, 54) } else { (1, 34) };
    frame[if v6 { 20 } else { 23 }] = protocol;
    frame[at] = kind;
    frame
}

/// The action by which a frame goes back out of its port.
fn back(hook: Hook) -> Action {
    if hook == Hook::Tc { Action::Redirect } else { Action::Tx }
}

#[test]
fn the_sender_is_told_from_the_switchs_own_address() {
    if skip_without(Need::Root) {
        return;
    }
    for (hook, scheme) in
        HOOKS.into_iter().flat_map(|hook| Scheme::ALL.iter().map(move |&s| (hook, s)))
    {
        let rig = rig_at(hook, scheme);
        for ttl in [0, 1] {
            let v4 = expiring(false, ttl);
            let (action, answer) = judged(&rig, &v4, "IPv4");
            assert_eq!(action, back(hook), "{hook:?}, {scheme}");
            assert_eq!(
                (&answer[..6], &answer[6..12]),
                (&v4[6..12], &v4[..6]),
                "back to its sender"
            );
            let (ip, message) = answer[14..].split_at(20);
            assert!(frames::header_is_right(ip) && frames::icmp_is_right(message, None));
            assert_eq!(
                (ip[9], &message[..8]),
                (1, [11, 0, message[2], message[3], 0, 0, 0, 0].as_slice())
            );
            let std::net::IpAddr::V4(own) = OWN.0 else { panic!("IPv4") };
            assert_eq!((&ip[12..16], &ip[16..]), (&own.octets()[..], &v4[26..30]));
            assert_eq!(message[8..], v4[14..14 + 68], "the packet's first bytes, as they came");
            let v6 = expiring(true, ttl);
            let (action, answer) = judged(&rig, &v6, "IPv6");
            assert_eq!(action, back(hook));
            let (ip, message) = answer[14..].split_at(40);
            let std::net::IpAddr::V6(own) = OWN.1 else { panic!("IPv6") };
            assert_eq!((&ip[8..24], &ip[24..]), (&own.octets()[..], &v6[22..38]));
            assert_eq!((ip[6], message[0], message[1]), (58, 3, 0));
            assert!(frames::icmp_is_right(message, Some(&ip[8..])));
            assert_eq!(message[8..], v6[14..14 + 48]);
        }
        assert_eq!(rig.count(SwitchCounter::TimeExceeded).unwrap(), 4);
        assert_eq!(rig.forwarded().unwrap(), 0);
    }
}

#[test]
fn echo_requests_are_answered_and_other_icmp_is_not() {
    if skip_without(Need::Root) {
        return;
    }
    for hook in HOOKS {
        let rig = rig_at(hook, Scheme::Ecmp);
        for frame in [icmp(false, 8), icmp(true, 128)] {
            assert_eq!(judged(&rig, &frame, "echo request").0, back(hook));
        }
        // Echo replies, unreachable, time exceeded.
        for frame in [
            icmp(false, 0),
            icmp(false, 3),
            icmp(false, 11),
            icmp(true, 129),
            icmp(true, 1),
            icmp(true, 3),
        ] {
            assert_eq!(judged(&rig, &frame, "other ICMP").0, Action::Drop);
        }
        assert_eq!(rig.count(SwitchCounter::DroppedTtl).unwrap(), 6);
    }
}

#[test]
fn no_answer_without_an_own_address_nor_about_shims_and_later_fragments() {
    if skip_without(Need::Root) {
        return;
    }
    for hook in HOOKS {
        let mut rig = rig_at(hook, Scheme::MpHula);
        let mut fragment = expiring(false, 1);
        fragment[21] = 9;
        let mut multicast = expiring(false, 1);
        multicast[26] = 224;
        for frame in [fragment, multicast] {
            assert_eq!(judged(&rig, &frame, "no answer").0, Action::Drop);
        }
        rig.from_fabric(1).unwrap();
        assert_eq!(judged(&rig, &shimmed(&expiring(false, 1), 1), "shim").0, Action::Drop);
        rig.from_host().unwrap();
        let mut config = rig.switch.maps.config.get(&0, 0).unwrap();
        (config.answers_v4, config.answers_v6) = Default::default();
        rig.switch.maps.config.set(0, config, 0).unwrap();
        for v6 in [false, true] {
            assert_eq!(judged(&rig, &expiring(v6, 1), "no address").0, Action::Drop);
        }
        assert_eq!(rig.count(SwitchCounter::DroppedTtl).unwrap(), 5);
    }
}

#[test]
fn answers_are_limited_to_a_burst_and_one_in_a_millisecond() {
    if skip_without(Need::Root) {
        return;
    }
    const BURST: u64 = 32;
    let rig = rig_at(Hook::Xdp, Scheme::Ecmp);
    let (frame, start) = (expiring(false, 1), Instant::now());
    let program = rig.switch.xdp().unwrap();
    for _ in 0..2000 {
        program.run(&frame, 1).unwrap();
    }
    let answered = rig.count(SwitchCounter::TimeExceeded).unwrap();
    let processors = std::thread::available_parallelism().unwrap().get() as u64;
    let most = processors * (BURST + start.elapsed().as_millis() as u64 + 1);
    assert!((BURST..=most).contains(&answered), "{answered} of 2000, at most {most}");
    assert_eq!(answered + rig.count(SwitchCounter::DroppedTtl).unwrap(), 2000);
}

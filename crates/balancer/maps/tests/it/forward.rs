//! Packets on their way to backends and to other balancers, byte by byte.

use crate::frames::{FAMILIES, Family, Ip, LINKS, Link, datagram, from_client};
use crate::sending::{
    CAME_BY, FAILED, FLOW_HASH, GUE_PORT, PASS, REDIRECT, STEERING_PORT, Sending, TOO_BIG, TX,
    ourselves, outward, settings, target, target_address,
};
use etherparse::IpNumber;
use heddle_balancer_maps::abi::{Forwarding, Settings, Target};
use heddle_testing::{Need, skip_without};

/// Of targets: none, that of the client's frames, and another.
const VLANS: [u16; 3] = [0, 100, 4094];
const KINDS: [Forwarding; 3] = [Forwarding::L2, Forwarding::Ipip, Forwarding::Gue];

/// Dynamic ports (RFC 6335), by the flow's hash.
const SOURCE_PORT: u16 = 49152 | (FLOW_HASH & 0x3fff) as u16;

/// `struct steering`: version, kind, query, reserved, token, backend, tag.
const MESSAGE: [u8; 20] = *b"\x02\x03\x02\x00TOKNBACKTHE TAG.";

fn pairs<A: Copy, B: Copy>(left: &[A], right: &[B]) -> Vec<(A, B)> {
    left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b))).collect()
}

/// From this balancer to the target.
fn outer(family: Family, protocol: IpNumber, class: u8) -> Ip {
    let (source, destination) = (ourselves(family), target_address(family));
    Ip { source, destination, protocol, class, label: FLOW_HASH & 0xfffff }
}

/// The expected encapsulation of a client's packet.
fn wrapped(kind: Forwarding, family: Family, inner: Family, class: u8, packet: &[u8]) -> Vec<u8> {
    match kind {
        Forwarding::Ipip => {
            let protocol = if inner == Family::V6 { IpNumber::IPV6 } else { IpNumber::IPV4 };
            outer(family, protocol, class).packet(packet)
        }
        Forwarding::Gue => {
            outer(family, IpNumber::UDP, class).packet(&datagram(SOURCE_PORT, GUE_PORT, packet))
        }
        _ => packet.to_vec(),
    }
}

fn steered(family: Family, class: u8, rest: &[u8]) -> Vec<u8> {
    outer(family, IpNumber::UDP, class).packet(&datagram(SOURCE_PORT, STEERING_PORT, rest))
}

#[test]
fn frames_reach_targets_in_all_families() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for ((kind, vlan), (family, inner)) in
        pairs(&pairs(&KINDS, &VLANS), &pairs(&FAMILIES, &FAMILIES))
    {
        sending.set("target", Target { vlan, ..target(family, kind) });
        // Not-ECT, ECT(1), ECT(0), CE; EF and CS1.
        for (link, (length, class)) in
            pairs(&LINKS, &pairs(&[0, 1, 33, 1300], &[0, 1, 2, 3, 0xb8, 0x23]))
        {
            let packet = from_client(inner, class, length);
            let expected = outward(link, vlan).frame(&wrapped(kind, family, inner, class, &packet));
            assert_eq!(
                sending.run("sends", &link.frame(&packet)),
                (REDIRECT, expected),
                "{kind:?} {vlan} {family:?} {inner:?} {link:?} {length} {class}"
            );
        }
    }
}

#[test]
fn a_frame_leaves_by_the_interface_that_it_came_by_if_the_target_is_there() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for kind in KINDS {
        sending.set("target", Target { ifindex: CAME_BY, ..target(Family::V4, kind) });
        let frame = LINKS[0].frame(&from_client(Family::V4, 0, 10));
        assert_eq!(sending.run("sends", &frame).0, TX);
    }
}

/// 20 bytes of IPv4 or 40 of IPv6, 8 of UDP, 20 of the steering header.
#[test]
fn what_is_longer_than_the_mtu_stays_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let frame = LINKS[1].frame(&from_client(Family::V6, 0, 100));
    let length = 40 + 20 + 100;
    for (program, kind, family, added) in [
        ("sends", Forwarding::L2, Family::V4, 0),
        ("sends", Forwarding::Ipip, Family::V4, 20),
        ("sends", Forwarding::Ipip, Family::V6, 40),
        ("sends", Forwarding::Gue, Family::V4, 28),
        ("sends", Forwarding::Gue, Family::V6, 48),
        ("steers", Forwarding::L2, Family::V4, 48),
        ("steers", Forwarding::L2, Family::V6, 68),
    ] {
        let mut with = |mtu| {
            sending.set("target", Target { mtu, ..target(family, kind) });
            sending.run(program, &frame)
        };
        assert_eq!(with(length + added).0, REDIRECT, "{program} {kind:?} {family:?}");
        assert_eq!(with(length + added - 1), (TOO_BIG, frame.clone()));
        assert_eq!(with(0).0, REDIRECT);
    }
}

/// The kernel leaves 256 bytes in front, of which it keeps 40 to itself: room for four times 48.
#[test]
fn without_room_in_front_the_frame_stays_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    sending.set("target", target(Family::V6, Forwarding::Gue));
    let frame = LINKS[0].frame(&from_client(Family::V4, 0, 10));
    let (result, after) = sending.run("sends_often", &frame);
    assert_eq!((result, after.len()), (FAILED, frame.len() + 4 * 48));
}

#[test]
fn nothing_is_sent_from_an_address_that_there_is_not() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let frame = LINKS[0].frame(&from_client(Family::V4, 0, 10));
    let only_v6 = Settings { own4: Default::default(), ..settings() };
    let only_v4 = Settings { own6: Default::default(), ..settings() };
    for (settings, there, missing) in
        [(only_v6, Family::V6, Family::V4), (only_v4, Family::V4, Family::V6)]
    {
        sending.set("settings", settings);
        sending.set("target", target(missing, Forwarding::Ipip));
        assert_eq!(sending.run("sends", &frame), (FAILED, frame.clone()));
        sending.set("target", target(there, Forwarding::Ipip));
        assert_eq!(sending.run("sends", &frame).0, REDIRECT);
        sending.set("target", target(missing, Forwarding::L2));
        assert_eq!(sending.run("sends", &frame).0, REDIRECT);
    }
}

#[test]
fn a_steered_packet_comes_out_as_it_went_in() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for (((family, inner), vlan), (link, length)) in
        pairs(&pairs(&pairs(&FAMILIES, &FAMILIES), &VLANS), &pairs(&LINKS, &[0, 1, 1300]))
    {
        sending.set("target", Target { vlan, ..target(family, Forwarding::L2) });
        sending.set("message", MESSAGE);
        let packet = from_client(inner, 0xb9, length);
        let steered = steered(family, 0xb9, &[&MESSAGE[..], &packet].concat());
        let link_out: Link = outward(link, vlan);
        let (sent, frame) = sending.run("steers", &link.frame(&packet));
        assert_eq!((sent, &frame), (REDIRECT, &link_out.frame(&steered)));
        sending.set("message", [0_u8; 20]);
        assert_eq!(sending.run("unsteers", &frame), (PASS, link_out.frame(&packet)));
        assert_eq!(sending.get::<[u8; 20]>("message"), MESSAGE);
    }
}

#[test]
fn what_is_no_steered_packet_stays_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    let packet = from_client(Family::V4, 0, 10);
    let whole = [&MESSAGE[..], &packet].concat();
    let other_version = [&[1], &whole[1..]].concat();
    let no_ip = [&MESSAGE[..], &[0x55], &packet[1..]].concat();
    let cut_inside = &whole[..20 + 19];
    for (family, rest) in
        pairs(&FAMILIES, &[&other_version[..], &no_ip, cut_inside, &whole[..20], &whole[..3], &[]])
    {
        let frame = LINKS[0].frame(&steered(family, 0, rest));
        assert_eq!(
            sending.run("unsteers", &frame),
            (crate::sending::DROP, frame.clone()),
            "{rest:?}"
        );
    }
}

//! Answers to packets that are too long for the way to the backend, byte by byte.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::frames::{Family, Ip, LINKS, between, client, from_client, service};
use crate::sending::{DROP, Sending, TX, target};
use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Header, Icmpv4Type, Icmpv6Header, Icmpv6Type, IpNumber, Ipv4Header};
use heddle_balancer_maps::abi::{Forwarding, Target};
use heddle_testing::{Need, skip_without};

/// Precedence of errors: internetwork control (RFC 1812, 4.3.2.5).
const CLASS: u8 = 0xc0;

fn answer(family: Family, protocol: IpNumber, message: &[u8]) -> Vec<u8> {
    let (source, destination) = (service(family), client(family));
    Ip { source, destination, protocol, class: CLASS, label: 0 }.packet(message)
}

/// RFC 1191: type 3, code 4, the next hop's MTU.
fn fragmentation_needed(mtu: u16, quote: &[u8]) -> Vec<u8> {
    let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu };
    let header = Icmpv4Header::with_checksum(Icmpv4Type::DestinationUnreachable(needed), quote);
    answer(Family::V4, IpNumber::ICMP, &[header.to_bytes().to_vec(), quote.to_vec()].concat())
}

/// RFC 4443, 3.2.
fn packet_too_big(mtu: u32, quote: &[u8]) -> Vec<u8> {
    let (IpAddr::V6(source), IpAddr::V6(destination)) = (service(Family::V6), client(Family::V6))
    else {
        unreachable!()
    };
    let kind = Icmpv6Type::PacketTooBig { mtu };
    let header =
        Icmpv6Header::with_checksum(kind, source.octets(), destination.octets(), quote).unwrap();
    answer(Family::V6, IpNumber::IPV6_ICMP, &[header.to_bytes().to_vec(), quote.to_vec()].concat())
}

/// The answer to `packet` of a balancer whose way to a backend takes `mtu` bytes, 20 of them for
/// itself.
fn asked(sending: &mut Sending, mtu: u16, packet: &[u8]) -> (i32, Vec<u8>) {
    sending.set("target", Target { mtu, ..target(Family::V4, Forwarding::Ipip) });
    sending.run("answers", &LINKS[0].frame(packet))
}

fn answers_with(sending: &mut Sending, mtu: u16, packet: &[u8], answer: &[u8]) {
    let frame = LINKS[0].back().frame(answer);
    assert_eq!(asked(sending, mtu, packet), (TX, frame));
}

/// RFC 1812, 4.3.2.3: as much as fits in 576 bytes.
#[test]
fn ipv4_is_answered_with_576_bytes() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for length in [600, 1441, 1460] {
        let packet = from_client(Family::V4, 0xb8, length);
        let answer = fragmentation_needed(1480, &packet[..548]);
        assert_eq!(answer.len(), 576);
        answers_with(&mut sending, 1500, &packet, &answer);
    }
}

/// RFC 4443, 2.4 c: as much as fits in 1280 bytes.
#[test]
fn ipv6_is_answered_with_1280_bytes() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for length in [1221, 1421, 1440] {
        let packet = from_client(Family::V6, 0xb8, length);
        let answer = packet_too_big(1480, &packet[..1232]);
        assert_eq!(answer.len(), 1280);
        answers_with(&mut sending, 1500, &packet, &answer);
    }
}

/// RFC 792: the header and 8 bytes; 68 have room for the longest.
#[test]
fn of_short_packets_68_bytes_are_quoted() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    for (length, quoted) in [(68, 68), (69, 68), (547, 68), (548, 548)] {
        let packet = from_client(Family::V4, 0, length - 40);
        let answer = fragmentation_needed(68, &packet[..quoted]);
        answers_with(&mut sending, 88, &packet, &answer);
    }
}

/// RFC 8201, 4: no sender goes below 1280.
#[test]
fn ipv6_is_not_told_less_than_1280() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let packet = from_client(Family::V6, 0, 1221);
    answers_with(&mut sending, 1290, &packet, &packet_too_big(1280, &packet[..1232]));
    let least = from_client(Family::V6, 0, 1220);
    assert_eq!(asked(&mut sending, 1290, &least).0, DROP);
}

#[test]
fn the_mtu_told_leaves_room_for_what_is_added() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let packet = from_client(Family::V4, 0, 1460);
    for (family, kind, told) in [
        (Family::V4, Forwarding::L2, 1400),
        (Family::V4, Forwarding::Ipip, 1380),
        (Family::V6, Forwarding::Ipip, 1360),
        (Family::V4, Forwarding::Gue, 1372),
        (Family::V6, Forwarding::Gue, 1352),
    ] {
        sending.set("target", Target { mtu: 1400, ..target(family, kind) });
        let (verdict, after) = sending.run("answers", &LINKS[0].frame(&packet));
        let answer = fragmentation_needed(told, &packet[..548]);
        assert_eq!((verdict, after), (TX, LINKS[0].back().frame(&answer)));
    }
}

#[test]
fn answers_keep_the_tag_and_lose_the_padding() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    sending.set("target", Target { mtu: 1500, ..target(Family::V4, Forwarding::Ipip) });
    let packet = from_client(Family::V4, 0, 1460);
    let frame = [LINKS[1].frame(&packet), vec![0xff; 7]].concat();
    let answer = fragmentation_needed(1480, &packet[..548]);
    assert_eq!(sending.run("answers", &frame), (TX, LINKS[1].back().frame(&answer)));
}

/// RFC 1122, 3.2.2; RFC 4443, 2.4 e: nor about errors, nor to what is no host.
#[test]
fn some_packets_are_not_answered() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let v4 = |a, b, c, d| IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    let senders = [v4(0, 0, 0, 0), v4(127, 0, 0, 1), v4(224, 0, 0, 1), v4(255, 255, 255, 255)];
    for sender in senders {
        let packet = between(sender, service(Family::V4), 0, 1460);
        assert_eq!(asked(&mut sending, 1500, &packet).0, DROP, "{sender}");
    }
    for sender in [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST, "ff02::1".parse().unwrap()] {
        let packet = between(sender.into(), service(Family::V6), 0, 1460);
        assert_eq!(asked(&mut sending, 1500, &packet).0, DROP, "{sender}");
    }
    let (source, destination) = (client(Family::V4), service(Family::V4));
    let icmp = Ip { source, destination, protocol: IpNumber::ICMP, class: 0, label: 0 };
    assert_eq!(asked(&mut sending, 1500, &icmp.packet(&[3; 1480])).0, DROP);
}

/// Only the first fragment of a packet is, and what may be fragmented is too.
#[test]
fn later_fragments_are_not_answered() {
    if skip_without(Need::Root) {
        return;
    }
    let mut sending = Sending::load();
    let whole = from_client(Family::V4, 0, 1460);
    let (header, payload) = Ipv4Header::from_slice(&whole).unwrap();
    let mut answered = |header: Ipv4Header| {
        let bytes = [header.to_bytes().to_vec(), payload.to_vec()].concat();
        asked(&mut sending, 1500, &bytes).0
    };
    let unbound = Ipv4Header { dont_fragment: false, ..header };
    assert_eq!(answered(unbound.clone()), TX);
    assert_eq!(answered(Ipv4Header { more_fragments: true, ..unbound.clone() }), TX);
    let later = Ipv4Header { fragment_offset: 185.try_into().unwrap(), ..unbound };
    assert_eq!(answered(later), DROP);
}

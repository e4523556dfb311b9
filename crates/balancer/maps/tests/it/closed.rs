//! Refusals of packets for closed ports, and echo replies, byte by byte.

use std::net::{IpAddr, Ipv4Addr};

use crate::frames::{FAMILIES, Family, Ip, LINKS, client, datagram, service};
use crate::sending::{DROP, PASS, Sending, TX};
use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::icmpv6::DestUnreachableCode;
use etherparse::{
    IcmpEchoHeader, Icmpv4Header, Icmpv4Type, Icmpv6Header, Icmpv6Type, IpNumber, Ipv4Header,
    TcpHeader,
};
use heddle_testing::{Need, skip_without};

const CLIENTS_PORT: u16 = 40000;
const PORT: u16 = 444;
/// Precedence of errors: internetwork control (RFC 1812, 4.3.2.5).
const CONTROL: u8 = 0xc0;
/// Bytes of an IPv4 header without options and of ICMP's or UDP's.
const V4: usize = 20;
const EIGHT: usize = 8;

/// From the client to the service.
fn to_service(family: Family, protocol: IpNumber, class: u8, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = (client(family), service(family));
    Ip { source, destination, protocol, class, label: 0 }.packet(payload)
}

/// And back.
fn to_client(family: Family, protocol: IpNumber, class: u8, payload: &[u8]) -> Vec<u8> {
    let (source, destination) = (service(family), client(family));
    Ip { source, destination, protocol, class, label: 0 }.packet(payload)
}

/// A segment with its checksum.
fn segment(source: IpAddr, destination: IpAddr, mut tcp: TcpHeader, data: &[u8]) -> Vec<u8> {
    tcp.checksum = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            tcp.calc_checksum_ipv4_raw(source.octets(), destination.octets(), data).unwrap()
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            tcp.calc_checksum_ipv6_raw(source.octets(), destination.octets(), data).unwrap()
        }
        _ => panic!("one family"),
    };
    [tcp.to_bytes().to_vec(), data.to_vec()].concat()
}

fn asked(family: Family, tcp: TcpHeader, data: &[u8]) -> Vec<u8> {
    let bytes = segment(client(family), service(family), tcp, data);
    to_service(family, IpNumber::TCP, 0, &bytes)
}

fn reset(family: Family, sequence: u32, acknowledged: Option<u32>) -> Vec<u8> {
    let mut tcp = TcpHeader::new(PORT, CLIENTS_PORT, sequence, 0);
    tcp.rst = true;
    tcp.ack = acknowledged.is_some();
    tcp.acknowledgment_number = acknowledged.unwrap_or(0);
    let bytes = segment(service(family), client(family), tcp, &[]);
    to_client(family, IpNumber::TCP, 0, &bytes)
}

/// RFC 9293, 3.10.7.1: "SEG.ACK" is the reset's sequence number if there is one; else it is 0, and
/// all that the segment took is acknowledged.
#[test]
fn tcp_is_refused_by_a_reset() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    let sequence = 0xffff_fff0;
    for family in FAMILIES {
        for link in LINKS {
            let refused = |tcp: TcpHeader, data: &[u8], answer: Vec<u8>| {
                let frame = [link.frame(&asked(family, tcp, data)), vec![0xff; 7]].concat();
                let answer = link.back().frame(&answer);
                assert_eq!(sending.run("refuses", &frame), (TX, answer), "{family:?}");
            };
            let mut syn = TcpHeader::new(CLIENTS_PORT, PORT, sequence, 1000);
            syn.syn = true;
            refused(syn.clone(), &[], reset(family, 0, Some(sequence + 1)));
            syn.set_options_raw(&[2, 4, 5, 180]).unwrap();
            refused(syn, &[9; 40], reset(family, 0, Some(sequence.wrapping_add(41))));
            let mut fin = TcpHeader::new(CLIENTS_PORT, PORT, 5, 1000);
            fin.fin = true;
            refused(fin, &[], reset(family, 0, Some(6)));
            let mut ack = TcpHeader::new(CLIENTS_PORT, PORT, 5, 1000);
            ack.ack = true;
            ack.acknowledgment_number = 0x1234_5678;
            refused(ack, &[1; 1400], reset(family, 0x1234_5678, None));
        }
    }
}

/// RFC 1122, 4.1.3.1; RFC 4443, 3.1, code 4.
#[test]
fn udp_is_refused_by_port_unreachable() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    for (length, quoted) in [(0, 28), (39, 28), (40, 68), (1400, 68)] {
        let payload = datagram(CLIENTS_PORT, PORT, &vec![7; length]);
        let packet = to_service(Family::V4, IpNumber::UDP, 0, &payload);
        let quote = &packet[..quoted];
        let kind = Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Port);
        let icmp = [&Icmpv4Header::with_checksum(kind, quote).to_bytes()[..], quote].concat();
        let answer = to_client(Family::V4, IpNumber::ICMP, CONTROL, &icmp);
        let run = sending.run("refuses", &LINKS[0].frame(&packet));
        assert_eq!(run, (TX, LINKS[0].back().frame(&answer)), "{length}");
    }
    for (length, quoted) in [(0, 48), (1183, 48), (1184, 1232), (1400, 1232)] {
        let payload = datagram(CLIENTS_PORT, PORT, &vec![7; length]);
        let packet = to_service(Family::V6, IpNumber::UDP, 0, &payload);
        let quote = &packet[..quoted];
        let kind = Icmpv6Type::DestinationUnreachable(DestUnreachableCode::Port);
        let (IpAddr::V6(from), IpAddr::V6(to)) = (service(Family::V6), client(Family::V6)) else {
            unreachable!()
        };
        let header = Icmpv6Header::with_checksum(kind, from.octets(), to.octets(), quote).unwrap();
        let icmp = [&header.to_bytes()[..], quote].concat();
        let answer = to_client(Family::V6, IpNumber::IPV6_ICMP, CONTROL, &icmp);
        let run = sending.run("refuses", &LINKS[1].frame(&packet));
        assert_eq!(run, (TX, LINKS[1].back().frame(&answer)), "{length}");
    }
}

/// RFC 9293, 3.10.7.1: a reset is never answered. RFC 1122, 3.2.2: nor is a source that is no
/// single host, or a later fragment.
#[test]
fn some_packets_are_refused_in_silence() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    let refused = |packet: &[u8]| sending.run("refuses", &LINKS[0].frame(packet)).0;
    for family in FAMILIES {
        let mut rst = TcpHeader::new(CLIENTS_PORT, PORT, 5, 0);
        rst.rst = true;
        assert_eq!(refused(&asked(family, rst, &[])), DROP);
    }
    let bytes = datagram(CLIENTS_PORT, PORT, &[]);
    for source in [[0, 0, 0, 0], [127, 0, 0, 1], [224, 0, 0, 1], [255, 255, 255, 255]] {
        let source = IpAddr::V4(Ipv4Addr::from(source));
        let destination = service(Family::V4);
        let ip = Ip { source, destination, protocol: IpNumber::UDP, class: 0, label: 0 };
        assert_eq!(refused(&ip.packet(&bytes)), DROP, "{source}");
    }
    let whole = to_service(Family::V4, IpNumber::UDP, 0, &bytes);
    let (header, payload) = Ipv4Header::from_slice(&whole).unwrap();
    let mut later = Ipv4Header { fragment_offset: 185.try_into().unwrap(), ..header };
    later.dont_fragment = false;
    assert_eq!(refused(&[later.to_bytes().to_vec(), payload.to_vec()].concat()), DROP);
}

/// RFC 792: the addresses are reversed, the type is changed to 0, the checksum recomputed. The same
/// data comes back (RFC 1122, 3.2.2.6).
#[test]
fn an_echo_request_becomes_its_reply() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    let echo = IcmpEchoHeader { id: 0x1234, seq: 7 };
    for length in [0, 1, 56, 1400] {
        let data: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        for link in LINKS {
            let icmp =
                |kind| [&Icmpv4Header::with_checksum(kind, &data).to_bytes()[..], &data].concat();
            let (request, reply) = (Icmpv4Type::EchoRequest(echo), Icmpv4Type::EchoReply(echo));
            let mut far = to_service(Family::V4, IpNumber::ICMP, 0x20, &icmp(request));
            // One hop is left of the request's, and the reply has them all.
            let (mut header, _) = Ipv4Header::from_slice(&far).unwrap();
            header.time_to_live = 1;
            header.header_checksum = header.calc_header_checksum();
            far[..V4].copy_from_slice(&header.to_bytes());
            let near = to_client(Family::V4, IpNumber::ICMP, 0x20, &icmp(reply));
            let run = sending.run("echoes", &link.frame(&far));
            assert_eq!(run, (TX, link.back().frame(&near)), "{length}");

            let icmp = |kind: Icmpv6Type, from, to| {
                let (IpAddr::V6(from), IpAddr::V6(to)) = (from, to) else { unreachable!() };
                let header = Icmpv6Header::with_checksum(kind, from.octets(), to.octets(), &data);
                [&header.unwrap().to_bytes()[..], &data].concat()
            };
            let (there, here) = (client(Family::V6), service(Family::V6));
            let request = icmp(Icmpv6Type::EchoRequest(echo), there, here);
            let mut far = to_service(Family::V6, IpNumber::IPV6_ICMP, 0, &request);
            far[7] = 1;
            let reply = icmp(Icmpv6Type::EchoReply(echo), here, there);
            let near = to_client(Family::V6, IpNumber::IPV6_ICMP, 0, &reply);
            let run = sending.run("echoes", &link.frame(&far));
            assert_eq!(run, (TX, link.back().frame(&near)), "{length}");
        }
    }
}

#[test]
fn what_is_no_echo_request_is_not_answered() {
    if skip_without(Need::Root) {
        return;
    }
    let sending = Sending::load();
    let echoes = |packet: &[u8]| sending.run("echoes", &LINKS[0].frame(packet));
    let icmp = Icmpv4Header::with_checksum(
        Icmpv4Type::EchoRequest(IcmpEchoHeader { id: 1, seq: 1 }),
        &[5; 48],
    );
    let request = [&icmp.to_bytes()[..], &[5; 48]].concat();
    let whole = to_service(Family::V4, IpNumber::ICMP, 0, &request);
    assert_eq!(echoes(&whole).0, TX);
    for kind in [0, 3, 11, 13] {
        let mut other = whole.clone();
        other[V4] = kind;
        let frame = LINKS[0].frame(&other);
        assert_eq!(sending.run("echoes", &frame), (PASS, frame), "type {kind}");
    }
    for protocol in [IpNumber::UDP, IpNumber::IPV6_ICMP] {
        assert_eq!(echoes(&to_service(Family::V4, protocol, 0, &request)).0, PASS);
    }
    assert_eq!(echoes(&to_service(Family::V4, IpNumber::ICMP, 0, &request[..EIGHT - 1])).0, PASS);
}

//! The program's trace -> the explanation.

use std::net::IpAddr;
use std::time::Duration;

use heddle_balancer_maps::abi::{FLOW_KEYS_SECOND, RING_SHIFT};
use heddle_wire::{TcpFrame, mptcp};

use super::*;
use crate::admin::QuicPacket;
use crate::daemon::testing::{World, backend, token_of};
use crate::health::State;
use crate::service::Protocol;

const CLIENT: &str = "198.51.100.7:4000";
const SERVICE: &str = "192.0.2.10:443";
const SYN: u8 = 2;
const ACK: u8 = 16;

fn packet(to: &str, flags: u8, mptcp: Option<MptcpOption>) -> Packet {
    Packet {
        source: CLIENT.parse().unwrap(),
        destination: to.parse().unwrap(),
        protocol: Protocol::Tcp,
        flags,
        mptcp,
        quic: None,
        payload: 0,
    }
}

fn bits(counters: &[Counter]) -> [u64; 2] {
    let mut bits = [0; 2];
    for &counter in counters {
        bits[counter as usize / 64] |= 1 << (counter as usize % 64);
    }
    bits
}

/// The explanation of a packet with this trace.
fn explain(world: &World, packet: &Packet, trace: Trace, named: Option<WireId>) -> Explained {
    let backends = Vec::new();
    Facts { packet, trace, named, backends, names: world.names() }.explained()
}

#[test]
fn a_syn_is_hashed() {
    let world = World::start();
    let trace = Trace {
        counters: bits(&[Counter::SentSyn, Counter::FlowAdded]),
        vip: 1,
        target: world.index("be2"),
        ..Trace::default()
    };
    let told = explain(&world, &packet(SERVICE, SYN, None), trace, None);
    assert_eq!((told.verdict.as_str(), told.events), ("sent_syn", vec!["flow_added".to_owned()]));
    assert_eq!((told.service.as_deref(), told.backend.as_deref()), (Some("web"), Some("be2")));
    assert_eq!(
        told.reasons,
        [
            "It is a SYN, without an MPTCP option.",
            "192.0.2.10:443 is service web (mptcp = \"learn\").",
            "The flow table has no entry for its addresses and ports.",
            "A new connection: hashing gives it to backend be2.",
            "Its flow would be remembered.",
        ]
    );
}

#[test]
fn a_join_for_another_balancers_token_is_asked_about() {
    let world = World::start();
    let token = token_of(&world, "lb2");
    let trace = Trace {
        counters: bits(&[Counter::QueriedJoin]),
        vip: 1,
        target: world.index("lb2"),
        owner: world.index("lb2"),
        ..Trace::default()
    };
    let option = Some(MptcpOption::Join { token });
    let told = explain(&world, &packet(SERVICE, SYN, option), trace, None);
    assert_eq!((told.owner.as_deref(), told.backend, told.token), (Some("lb2"), None, Some(token)));
    assert_eq!(
        told.reasons[0],
        format!("It is a SYN with MP_JOIN: it joins the connection whose token is {token:#010x}.")
    );
    assert_eq!(told.reasons[3], "That part of the token space is balancer lb2's.");
    assert!(told.reasons[4].starts_with("Balancer lb2 would be asked who has the token."));
}

/// `echo -n` of eight zero bytes has the SHA-256 af5570f5...
#[test]
fn keys_mean_a_token_and_go_by_its_owner() {
    let world = World::start();
    let keys = MptcpOption::Keys { sender: 1, receiver: 0 };
    let trace = Trace {
        counters: bits(&[Counter::SteeredKeys]),
        vip: 1,
        target: world.index("lb2"),
        owner: world.index("lb2"),
        flow_state: FlowState::Learning as u8 | FLOW_KEYS_SECOND as u8,
        ..Trace::default()
    };
    let named = Some(backend(&world, "be1").id);
    let told = explain(&world, &packet(SERVICE, ACK, Some(keys)), trace, named);
    assert_eq!((told.token, told.flow_state.as_deref()), (Some(0xaf55_70f5), Some("learning")));
    assert_eq!((told.owner.as_deref(), told.backend.as_deref()), (Some("lb2"), Some("be1")));
    assert_eq!(told.reasons[2], "Its flow is known: its keys were seen.");
    assert_eq!(told.reasons[3], "The receiver's key makes the token 0xaf5570f5.");
}

#[test]
fn a_wrong_port_is_told_the_right_one() {
    let world = World::start();
    let trace = Trace { counters: bits(&[Counter::PassNoVip]), ..Trace::default() };
    let told = explain(&world, &packet("192.0.2.10:80", SYN, None), trace, None);
    assert_eq!((told.verdict.as_str(), told.service), ("pass_no_vip", None));
    assert_eq!(
        told.reasons[1..],
        [
            "No service has 192.0.2.10:80 over TCP: at that address there is web (192.0.2.10:443 over TCP).",
            "It is passed to this machine's own stack.",
        ]
    );
    let elsewhere = explain(&world, &packet("192.0.2.99:443", SYN, None), trace, None);
    assert!(elsewhere.reasons[1].contains(": there is web (192.0.2.10:443 over TCP)."));
}

/// The program has dropped it before its service counted.
#[test]
fn a_packet_that_its_service_does_not_get_is_not_told_of_other_services() {
    let world = World::start();
    for (counter, why) in [
        (Counter::DropDenied, "(access)"),
        (Counter::DropSource, "invalid"),
        (Counter::DropFlags, "invalid"),
    ] {
        let trace = Trace { counters: bits(&[counter]), ..Trace::default() };
        let told = explain(&world, &packet(SERVICE, SYN, None), trace, None);
        let [_, service, verdict] = &told.reasons[..] else { panic!("{:?}", told.reasons) };
        assert_eq!(service, "192.0.2.10:443 is service web (mptcp = \"learn\").");
        assert!(verdict.contains("dropped") && verdict.contains(why), "{verdict}");
    }
}

#[test]
fn without_a_backend_each_is_told_why() {
    let world = World::start();
    let trace = Trace { counters: bits(&[Counter::DropNoBackend]), vip: 1, ..Trace::default() };
    let status = |name: &str, health, draining| BackendStatus {
        service: "web".into(),
        name: name.into(),
        address: IpAddr::from([10, 0, 1, 1]),
        weight: 1,
        health,
        since: Duration::ZERO,
        reason: None,
        draining,
        sorry: false,
        unreachable: None,
        flows: 0,
        packets: 0,
        bytes: 0,
    };
    let backends = vec![
        status("be1", State::Down, false),
        status("be2", State::Up, true),
        BackendStatus {
            reason: Some("in maintenance".into()),
            ..status("be3", State::Down, false)
        },
    ];
    let packet = packet(SERVICE, SYN, None);
    let told =
        Facts { packet: &packet, trace, named: None, backends, names: world.names() }.explained();
    let last = &told.reasons[told.reasons.len() - 4..];
    assert_eq!(
        last,
        [
            "No backend takes new flows: dropped.",
            "Backend be1 fails its health check.",
            "Backend be2 is drained.",
            "Backend be3 is down: in maintenance."
        ]
    );
}

fn quic(packet: QuicPacket) -> Packet {
    Packet { protocol: Protocol::Udp, quic: Some(packet), ..self::packet(SERVICE, 0, None) }
}

fn short(connection_id: &str) -> Packet {
    quic(QuicPacket::Short { connection_id: connection_id.into() })
}

#[test]
fn a_connection_id_is_told_with_the_backend_that_it_names() {
    let world = World::with_quic();
    let trace = Trace {
        counters: bits(&[Counter::SentQuic, Counter::FlowAdded]),
        vip: 1,
        target: world.index("be2"),
        ..Trace::default()
    };
    let told = explain(&world, &short("0700a20102030405"), trace, None);
    assert_eq!((told.verdict.as_str(), told.backend.as_deref()), ("sent_quic", Some("be2")));
    assert_eq!(
        told.reasons,
        [
            "It is a QUIC packet with a short header, to connection id 0700a20102030405.",
            "192.0.2.10:443 is service web (quic, config rotation 0, server ids of 2 bytes).",
            "The flow table has no entry for its addresses and ports.",
            "Its connection id names server 00a2, which is backend be2.",
            "It goes to backend be2, from whatever address the client sends.",
            "Its flow would be remembered.",
        ]
    );
}

#[test]
fn a_connection_id_that_names_no_backend_is_told_why() {
    let world = World::with_quic();
    let trace = Trace {
        counters: bits(&[Counter::SentUdp]),
        vip: 1,
        target: world.index("be1"),
        ..Trace::default()
    };
    let initial = |id: &str| quic(QuicPacket::Initial { connection_id: id.into() });
    for (packet, why) in [
        (initial("e700a20102030405"), "names a backend: its config rotation is 7."),
        (initial("0700a201"), "names a backend: the connection id has fewer than 7 bytes."),
        (short("0700a90102030405"), "names server 00a9, which no backend is."),
        (short("0700a20102030405"), "names server 00a2, which is backend be2: that one is down."),
        (
            Packet { payload: 20, ..short("0700a20102030405") },
            "names a backend: the datagram has fewer than 23 bytes.",
        ),
    ] {
        let told = explain(&world, &packet, trace, None);
        assert!(told.reasons[3].ends_with(why), "{why}: {:?}", told.reasons);
    }
    let world = World::start();
    let told = explain(&world, &short("0700a20102030405"), trace, None);
    assert!(told.reasons[3].contains("connection ids of QUIC are not looked at"));
}

/// RFC 9000, section 17: the connection id behind one byte, or behind five and its length; an
/// Initial has 1200 bytes.
#[test]
fn frames_of_quic_have_their_connection_id_in_its_place() {
    let frame = frame::of(&short("0700a2")).unwrap();
    assert_eq!(frame[14 + 28..][..5], [0x40, 7, 0, 0xa2, 0]);
    assert_eq!(frame.len(), 14 + 28 + 50);
    let initial = quic(QuicPacket::Initial { connection_id: "0700a2".into() });
    let frame = frame::of(&initial).unwrap();
    assert_eq!(frame[14 + 28..][..9], [0xc0, 0, 0, 0, 1, 3, 7, 0, 0xa2]);
    assert_eq!(frame.len(), 14 + 28 + 1200);
}

/// No verdict or event is left without its sentence.
#[test]
fn every_counter_has_a_sentence() {
    let world = World::start();
    for counter in Counter::ALL.iter().copied() {
        let trace = Trace { counters: bits(&[counter]), vip: 1, ..Trace::default() };
        let told = explain(&world, &packet(SERVICE, SYN, None), trace, None);
        let last = told.reasons.last().unwrap();
        assert!(last.ends_with('.') && last != counter.name(), "{}: {last}", counter.name());
    }
}

#[test]
fn frames_are_what_was_described() {
    let option = MptcpOption::Join { token: 0x1c2d_3e4f };
    let frame = frame::of(&packet(SERVICE, SYN, Some(option))).unwrap();
    let read = TcpFrame::parse(&frame).unwrap();
    assert_eq!((read.tcp.source_port, read.tcp.destination_port), (4000, 443));
    assert_eq!((read.tcp.flags.0, read.ip.destination.to_string().as_str()), (SYN, "192.0.2.10"));
    let Some(heddle_wire::MptcpOption::Join(mptcp::MpJoin::Syn { token, .. })) =
        mptcp::find(read.tcp.options)
    else {
        panic!("{:?}", read.tcp)
    };
    assert_eq!(token.0, 0x1c2d_3e4f);
}

/// RFC 8684, section 3.1: 20 bytes alone, 22 with data, whose length the option tells.
#[test]
fn keys_come_with_the_length_of_their_data() {
    let keys = MptcpOption::Keys { sender: 1, receiver: 2 };
    for (payload, bytes) in [(0, 20), (1400, 22)] {
        let packet = Packet { payload, ..packet(SERVICE, ACK, Some(keys)) };
        let frame = frame::of(&packet).unwrap();
        let read = TcpFrame::parse(&frame).unwrap();
        assert_eq!(read.tcp.payload.len(), usize::from(payload));
        assert_eq!(heddle_wire::tcp::options(read.tcp.options).next().unwrap().bytes.len(), bytes);
    }
}

#[test]
fn a_description_of_no_packet_is_refused() {
    let mixed = packet("[2001:db8::1]:443", SYN, None);
    let udp = Packet { protocol: Protocol::Udp, ..packet(SERVICE, 0, Some(MptcpOption::Capable)) };
    let long = Packet { payload: 3001, ..packet(SERVICE, ACK, None) };
    let tcp = Packet { protocol: Protocol::Tcp, ..short("07") };
    for (packet, why) in [
        (mixed, "one version of IP"),
        (udp, "UDP has no"),
        (long, "3000"),
        (tcp, "QUIC runs over UDP"),
        (short("0"), "`0` is no connection id"),
        (short(&"00".repeat(21)), "up to 40 hexadecimal digits"),
    ] {
        let said = frame::of(&packet).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

/// abi.h: version, kind, asked, reserved, token, and then the backend.
#[test]
fn the_backend_is_read_from_a_steering_header() {
    for (version, ip) in [(0x45, 20), (0x60, 40)] {
        let mut frame = vec![0; 14 + ip + 8 + 20];
        frame[14] = version;
        frame[14 + ip + 8 + 8..][..4].copy_from_slice(&[0, 0, 1, 2]);
        assert_eq!(steered::backend(&frame).map(WireId::get), Some(258));
        frame.truncate(14 + ip + 8 + 11);
        assert_eq!(steered::backend(&frame), None);
    }
}

#[test]
fn a_token_belongs_to_one_balancer() {
    let world = World::start();
    let token = token_of(&world, "lb2");
    assert_eq!(world.names().owner(token), world.index("lb2"));
    assert_eq!(world.names().owner(token | ((1 << RING_SHIFT) - 1)), world.index("lb2"));
}

//! The backends' program in the real kernel: what goes in, what comes out, and why.

use std::net::IpAddr;

use crate::frames::{
    FAMILIES, Family, Ip, LINKS, Link, address, client, datagram, from_client, service,
};
use etherparse::{IpNumber, Ipv4Header};
use heddle_balancer_maps::abi::{Address, Count, DecapCounter};
use heddle_balancer_maps::{Action, Decap, Sources};
use heddle_testing::{Need, skip_without};

const GUE_PORT: u16 = 6080;

const BACKEND: u8 = 7;
const BALANCER: u8 = 1;
const STRANGER: u8 = 99;

/// The program of a backend that knows its balancer.
struct Backend {
    decap: Decap,
}

impl Backend {
    fn load() -> Self {
        Self::load_with(GUE_PORT, Sources::Listed)
    }

    fn load_with(gue_port: u16, sources: Sources) -> Self {
        let mut decap = Decap::load(gue_port, sources).unwrap();
        for family in FAMILIES {
            decap.own.insert(&Address::from(address(family, BACKEND)), &1).unwrap();
            decap.allowed.insert(&Address::from(address(family, BALANCER)), &1).unwrap();
        }
        Self { decap }
    }

    fn counts(&self) -> Vec<Count> {
        DecapCounter::ALL.iter().map(|&outcome| self.decap.count(outcome).unwrap()).collect()
    }

    /// Verdict, frame, and the one counter that moved.
    fn run(&self, frame: &[u8]) -> (Action, Vec<u8>, DecapCounter) {
        let before = self.counts();
        let run = self.decap.program.run(frame, 1).unwrap();
        let after = self.counts();
        let moved: Vec<usize> = (0..after.len()).filter(|&i| after[i] != before[i]).collect();
        let &[moved] = &moved[..] else { panic!("{moved:?} moved") };
        assert_eq!(after[moved].packets, before[moved].packets + 1);
        assert_eq!(after[moved].bytes, before[moved].bytes + frame.len() as u64);
        (run.action, run.data, DecapCounter::ALL[moved])
    }

    fn leaves_alone(&self, frame: &[u8], why: DecapCounter) {
        assert_eq!(self.run(frame), (Action::Pass, frame.to_vec(), why));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tunnel {
    Ip,
    Gue,
}

fn outer(source: IpAddr, destination: IpAddr, protocol: IpNumber) -> Ip {
    Ip { source, destination, protocol, class: 0, label: 7 }
}

fn between_ends(family: Family, protocol: IpNumber) -> Ip {
    outer(address(family, BALANCER), address(family, BACKEND), protocol)
}

const fn number(inner: Family) -> IpNumber {
    match inner {
        Family::V4 => IpNumber::IPV4,
        Family::V6 => IpNumber::IPV6,
    }
}

/// `packet` as a balancer encapsulates it.
fn wrap(tunnel: Tunnel, family: Family, inner: Family, class: u8, packet: &[u8]) -> Vec<u8> {
    match tunnel {
        Tunnel::Ip => Ip { class, ..between_ends(family, number(inner)) }.packet(packet),
        Tunnel::Gue => Ip { class, ..between_ends(family, IpNumber::UDP) }
            .packet(&datagram(50000, GUE_PORT, packet)),
    }
}

fn ipip(packet: &[u8]) -> Vec<u8> {
    wrap(Tunnel::Ip, Family::V4, Family::V4, 0, packet)
}

const PLAIN: Link = LINKS[0];

#[test]
fn outer_headers_come_off_in_all_families() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load();
    for tunnel in [Tunnel::Ip, Tunnel::Gue] {
        for (outer, inner) in FAMILIES.map(|outer| FAMILIES.map(|inner| (outer, inner))).concat() {
            for (link, length) in LINKS.map(|link| [0, 1, 33, 1300].map(|n| (link, n))).concat() {
                let packet = from_client(inner, 0xb8, length);
                let frame = link.frame(&wrap(tunnel, outer, inner, 0, &packet));
                let stripped = (Action::Pass, link.frame(&packet), DecapCounter::Decapsulated);
                assert_eq!(decap.run(&frame), stripped, "{tunnel:?} {outer:?} {inner:?} {link:?}");
            }
        }
    }
}

/// Figure 4 of RFC 6040: for each inner codepoint the outgoing ones by outer Not-ECT, ECT(0),
/// ECT(1), CE.
#[test]
fn congestion_marks_go_on_as_rfc_6040_says() {
    if skip_without(Need::Root) {
        return;
    }
    const NOT: u8 = 0b00;
    const ECT0: u8 = 0b10;
    const ECT1: u8 = 0b01;
    const CE: u8 = 0b11;
    let table = [
        (NOT, [Some(NOT), Some(NOT), Some(NOT), None]),
        (ECT0, [Some(ECT0), Some(ECT0), Some(ECT1), Some(CE)]),
        (ECT1, [Some(ECT1), Some(ECT1), Some(ECT1), Some(CE)]),
        (CE, [Some(CE); 4]),
    ];
    let decap = Backend::load();
    for (outer, inner) in FAMILIES.map(|outer| FAMILIES.map(|inner| (outer, inner))).concat() {
        for (arriving, leaving) in table {
            for (mark, leaving) in [NOT, ECT0, ECT1, CE].into_iter().zip(leaving) {
                let packet = from_client(inner, 0xb8 | arriving, 10);
                let frame = PLAIN.frame(&wrap(Tunnel::Ip, outer, inner, mark, &packet));
                let (action, after, outcome) = decap.run(&frame);
                match leaving {
                    None => {
                        assert_eq!((action, outcome), (Action::Drop, DecapCounter::EcnDropped));
                    }
                    Some(leaving) => {
                        let marked = PLAIN.frame(&from_client(inner, 0xb8 | leaving, 10));
                        assert_eq!((action, after), (Action::Pass, marked));
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_tunnel_is_left_alone() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load();
    for family in FAMILIES {
        decap.leaves_alone(&PLAIN.frame(&from_client(family, 0, 10)), DecapCounter::Other);
        let elsewhere = between_ends(family, IpNumber::UDP).packet(&datagram(
            50000,
            GUE_PORT + 1,
            &from_client(family, 0, 10),
        ));
        decap.leaves_alone(&PLAIN.frame(&elsewhere), DecapCounter::Other);
    }
    decap.leaves_alone(&[0xff; 60], DecapCounter::Other);
    decap.leaves_alone(&[0; 14], DecapCounter::Other);
}

#[test]
fn strangers_and_other_machines_tunnels_are_left_alone() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load();
    for family in FAMILIES {
        let packet = from_client(family, 0, 10);
        let [balancer, backend, stranger] =
            [BALANCER, BACKEND, STRANGER].map(|last| address(family, last));
        let frame = |from, to| PLAIN.frame(&outer(from, to, number(family)).packet(&packet));
        decap.leaves_alone(&frame(stranger, backend), DecapCounter::NotAllowed);
        decap.leaves_alone(&frame(balancer, stranger), DecapCounter::NotOwn);
        decap.leaves_alone(&frame(client(family), service(family)), DecapCounter::NotOwn);
    }
}

#[test]
fn anyone_is_no_stranger_where_the_loader_says_so() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load_with(GUE_PORT, Sources::Any);
    let packet = from_client(Family::V4, 0, 10);
    let [stranger, backend] = [STRANGER, BACKEND].map(|last| address(Family::V4, last));
    let frame = PLAIN.frame(&outer(stranger, backend, IpNumber::IPV4).packet(&packet));
    assert_eq!(decap.run(&frame).2, DecapCounter::Decapsulated);
}

#[test]
fn the_port_is_the_loaders_choice() {
    if skip_without(Need::Root) {
        return;
    }
    let packet = from_client(Family::V4, 0, 10);
    let frame = PLAIN.frame(&wrap(Tunnel::Gue, Family::V4, Family::V4, 0, &packet));
    for (port, outcome) in [
        (GUE_PORT, DecapCounter::Decapsulated),
        (5555, DecapCounter::Other),
        (0, DecapCounter::Other),
    ] {
        let decap = Backend::load_with(port, Sources::Listed);
        assert_eq!(decap.run(&frame).2, outcome);
    }
}

/// A whole outer packet with an inner one that makes no sense is the stack's to refuse.
#[test]
fn malformed_tunnels_are_left_alone() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load();
    let v4 = from_client(Family::V4, 0, 10);
    let v6 = from_client(Family::V6, 0, 10);
    let as_v6 = |packet| wrap(Tunnel::Ip, Family::V4, Family::V6, 0, packet);
    let mut no_ip = v4.clone();
    no_ip[0] = 0x05;
    let longer_than_the_outer = ipip(&v4[..v4.len() - 1]);
    let cut = PLAIN.frame(&ipip(&v4));
    let mut wrong_sum = PLAIN.frame(&ipip(&v4));
    wrong_sum[14 + 8] -= 1;
    for packet in
        [as_v6(&v4), ipip(&v6), longer_than_the_outer, as_v6(&v6[..30]), ipip(&v4[..19]), ipip(&[])]
    {
        decap.leaves_alone(&PLAIN.frame(&packet), DecapCounter::Malformed);
    }
    let gue = wrap(Tunnel::Gue, Family::V4, Family::V4, 0, &no_ip);
    decap.leaves_alone(&PLAIN.frame(&gue), DecapCounter::Malformed);
    decap.leaves_alone(&cut[..14 + 20 + 19], DecapCounter::Malformed);
    decap.leaves_alone(&wrong_sum, DecapCounter::Malformed);
}

#[test]
fn outer_fragments_and_options_are_left_alone() {
    if skip_without(Need::Root) {
        return;
    }
    let decap = Backend::load();
    let inner = from_client(Family::V4, 0, 10);
    let (IpAddr::V4(from), IpAddr::V4(to)) =
        (address(Family::V4, BALANCER), address(Family::V4, BACKEND))
    else {
        unreachable!()
    };
    let header = between_ends(Family::V4, IpNumber::IPV4).v4(from, to, inner.len());
    let frame = |mut header: Ipv4Header| {
        header.header_checksum = header.calc_header_checksum();
        PLAIN.frame(&[header.to_bytes().to_vec(), inner.clone()].concat())
    };
    let first = Ipv4Header { more_fragments: true, dont_fragment: false, ..header.clone() };
    let later = Ipv4Header { fragment_offset: 5.try_into().unwrap(), ..header.clone() };
    decap.leaves_alone(&frame(first), DecapCounter::Fragment);
    decap.leaves_alone(&frame(later), DecapCounter::Fragment);
    let mut options = header;
    options.total_len += 4;
    options.options = [1, 1, 1, 0].into();
    decap.leaves_alone(&frame(options), DecapCounter::Other);
}

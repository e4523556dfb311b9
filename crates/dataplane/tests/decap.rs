//! The backends' program in the real kernel: what goes in, what comes out, and why.
#![allow(clippy::unwrap_used, reason = "tests")]

mod frames;
mod kernel;

use std::net::IpAddr;

use aya::maps::{HashMap, PerCpuArray};
use aya::programs::{TestRun, TestRunOptions, Xdp};
use aya::{Ebpf, EbpfLoader, include_bytes_aligned};
use etherparse::{IpNumber, Ipv4Header};
use frames::{FAMILIES, Family, Ip, LINKS, Link, address, client, datagram, from_client, service};
use heddle_dataplane::Action;
use heddle_dataplane::abi::{Address, Count};

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/decap.o"));

const GUE_PORT: u16 = 6080;

/// The order of bpf/include/decap_abi.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Other,
    Stripped,
    NotOwn,
    Stranger,
    Fragment,
    Malformed,
    Congested,
}

const OUTCOMES: [Outcome; 7] = [
    Outcome::Other,
    Outcome::Stripped,
    Outcome::NotOwn,
    Outcome::Stranger,
    Outcome::Fragment,
    Outcome::Malformed,
    Outcome::Congested,
];

const BACKEND: u8 = 7;
const BALANCER: u8 = 1;
const STRANGER: u8 = 99;

struct Decap {
    object: Ebpf,
}

impl Decap {
    fn load() -> Self {
        Self::load_with(&mut EbpfLoader::new())
    }

    fn load_with(loader: &mut EbpfLoader<'_>) -> Self {
        let mut object = loader.load(OBJECT).unwrap();
        xdp(&mut object).load().unwrap();
        for (map, last) in [("own", BACKEND), ("allowed", BALANCER)] {
            let mut map: HashMap<_, Address, u8> = object.map_mut(map).unwrap().try_into().unwrap();
            for family in FAMILIES {
                map.insert(Address::from(address(family, last)), 1, 0).unwrap();
            }
        }
        Self { object }
    }

    fn counts(&self) -> Vec<(u64, u64)> {
        let map = self.object.map("decap_counts").unwrap();
        let map: PerCpuArray<_, Count> = map.try_into().unwrap();
        let sum = |index| {
            let values = map.get(&index, 0).unwrap();
            values.iter().fold((0, 0), |(packets, bytes), count| {
                (packets + count.packets, bytes + count.bytes)
            })
        };
        (0..OUTCOMES.len() as u32).map(sum).collect()
    }

    /// Verdict, frame, and the one counter that moved.
    fn run(&mut self, frame: &[u8]) -> (Action, Vec<u8>, Outcome) {
        let before = self.counts();
        let (action, after) = run(xdp(&mut self.object), frame);
        let moved: Vec<usize> =
            (0..OUTCOMES.len()).filter(|&i| self.counts()[i] != before[i]).collect();
        let &[moved] = &moved[..] else { panic!("{moved:?} moved") };
        let (packets, bytes) = before[moved];
        assert_eq!(self.counts()[moved], (packets + 1, bytes + frame.len() as u64));
        (action, after, OUTCOMES[moved])
    }

    fn leaves_alone(&mut self, frame: &[u8], why: Outcome) {
        assert_eq!(self.run(frame), (Action::Pass, frame.to_vec(), why));
    }
}

fn xdp(object: &mut Ebpf) -> &mut Xdp {
    object.program_mut("heddle_decap").unwrap().try_into().unwrap()
}

fn run(program: &Xdp, frame: &[u8]) -> (Action, Vec<u8>) {
    let mut after = vec![0; frame.len()];
    let mut options = TestRunOptions::new();
    options.data_in = Some(frame);
    options.data_out = Some(&mut after);
    let result = program.test_run(options).unwrap();
    after.truncate(result.data_size_out as usize);
    (result.return_value.into(), after)
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

/// What a balancer makes of `packet`.
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
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load();
    for tunnel in [Tunnel::Ip, Tunnel::Gue] {
        for (outer, inner) in FAMILIES.map(|outer| FAMILIES.map(|inner| (outer, inner))).concat() {
            for (link, length) in LINKS.map(|link| [0, 1, 33, 1300].map(|n| (link, n))).concat() {
                let packet = from_client(inner, 0xb8, length);
                let frame = link.frame(&wrap(tunnel, outer, inner, 0, &packet));
                let stripped = (Action::Pass, link.frame(&packet), Outcome::Stripped);
                assert_eq!(decap.run(&frame), stripped, "{tunnel:?} {outer:?} {inner:?} {link:?}");
            }
        }
    }
}

/// Figure 4 of RFC 6040: for each inner codepoint the outgoing ones by outer Not-ECT, ECT(0), ECT(1), CE.
#[test]
fn congestion_marks_go_on_as_rfc_6040_says() {
    if !kernel::is_ours() {
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
    let mut decap = Decap::load();
    for (outer, inner) in FAMILIES.map(|outer| FAMILIES.map(|inner| (outer, inner))).concat() {
        for (arriving, leaving) in table {
            for (mark, leaving) in [NOT, ECT0, ECT1, CE].into_iter().zip(leaving) {
                let packet = from_client(inner, 0xb8 | arriving, 10);
                let frame = PLAIN.frame(&wrap(Tunnel::Ip, outer, inner, mark, &packet));
                let (action, after, outcome) = decap.run(&frame);
                match leaving {
                    None => {
                        assert_eq!((action, outcome), (Action::Drop, Outcome::Congested));
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
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load();
    for family in FAMILIES {
        decap.leaves_alone(&PLAIN.frame(&from_client(family, 0, 10)), Outcome::Other);
        let elsewhere = between_ends(family, IpNumber::UDP).packet(&datagram(
            50000,
            GUE_PORT + 1,
            &from_client(family, 0, 10),
        ));
        decap.leaves_alone(&PLAIN.frame(&elsewhere), Outcome::Other);
    }
    decap.leaves_alone(&[0xff; 60], Outcome::Other);
    decap.leaves_alone(&[0; 14], Outcome::Other);
}

#[test]
fn strangers_and_other_machines_tunnels_are_left_alone() {
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load();
    for family in FAMILIES {
        let packet = from_client(family, 0, 10);
        let [balancer, backend, stranger] =
            [BALANCER, BACKEND, STRANGER].map(|last| address(family, last));
        let frame = |from, to| PLAIN.frame(&outer(from, to, number(family)).packet(&packet));
        decap.leaves_alone(&frame(stranger, backend), Outcome::Stranger);
        decap.leaves_alone(&frame(balancer, stranger), Outcome::NotOwn);
        decap.leaves_alone(&frame(client(family), service(family)), Outcome::NotOwn);
    }
}

#[test]
fn anyone_is_no_stranger_where_the_loader_says_so() {
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load_with(EbpfLoader::new().override_global("ANY_SOURCE", &1_u8, true));
    let packet = from_client(Family::V4, 0, 10);
    let [stranger, backend] = [STRANGER, BACKEND].map(|last| address(Family::V4, last));
    let frame = PLAIN.frame(&outer(stranger, backend, IpNumber::IPV4).packet(&packet));
    assert_eq!(decap.run(&frame).2, Outcome::Stripped);
}

#[test]
fn the_port_is_the_loaders_choice() {
    if !kernel::is_ours() {
        return;
    }
    let packet = from_client(Family::V4, 0, 10);
    let frame = PLAIN.frame(&wrap(Tunnel::Gue, Family::V4, Family::V4, 0, &packet));
    for (port, outcome) in
        [(GUE_PORT, Outcome::Stripped), (5555, Outcome::Other), (0, Outcome::Other)]
    {
        let port = port.to_be();
        let mut decap =
            Decap::load_with(EbpfLoader::new().override_global("GUE_PORT", &port, true));
        assert_eq!(decap.run(&frame).2, outcome);
    }
}

/// A whole outer packet with an inner one that makes no sense is the stack's to refuse.
#[test]
fn malformed_tunnels_are_left_alone() {
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load();
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
        decap.leaves_alone(&PLAIN.frame(&packet), Outcome::Malformed);
    }
    let gue = wrap(Tunnel::Gue, Family::V4, Family::V4, 0, &no_ip);
    decap.leaves_alone(&PLAIN.frame(&gue), Outcome::Malformed);
    decap.leaves_alone(&cut[..14 + 20 + 19], Outcome::Malformed);
    decap.leaves_alone(&wrong_sum, Outcome::Malformed);
}

#[test]
fn outer_fragments_and_options_are_left_alone() {
    if !kernel::is_ours() {
        return;
    }
    let mut decap = Decap::load();
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
    decap.leaves_alone(&frame(first), Outcome::Fragment);
    decap.leaves_alone(&frame(later), Outcome::Fragment);
    let mut options = header;
    options.total_len += 4;
    options.options = [1, 1, 1, 0].into();
    decap.leaves_alone(&frame(options), Outcome::Other);
}

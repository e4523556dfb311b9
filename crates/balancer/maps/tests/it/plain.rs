//! Packets that take the program's shortest ways (bpf/balancer/plain.h, plain_syn.h), and packets
//! that just miss them: all go as the rest of the program says, which alone is what explains them.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use heddle_balancer_maps::abi::{
    Counter, Forwarding, MAGLEV_SIZE, MAGLEV_STRIDE, Settings, Target, TargetState, Vip, VipKey,
    VipKind,
};
use heddle_balancer_maps::{Action, Balancer, Clock, Explainer, Sizes};
use heddle_testing::{Need, skip_without};

const PORT: u16 = 443;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Bytes of the longest headers here, without options.
const HEADERS: u32 = 14 + 40 + 20;

/// One family's addresses.
#[derive(Clone, Copy)]
struct Family {
    client: IpAddr,
    service: IpAddr,
    backend: IpAddr,
    own: IpAddr,
}

fn families() -> [Family; 2] {
    let family = |[client, service, backend, own]: [&str; 4]| {
        let [client, service, backend, own] =
            [client, service, backend, own].map(|text| text.parse().unwrap());
        Family { client, service, backend, own }
    };
    [
        family(["198.51.100.7", "192.0.2.1", "10.0.0.2", "10.0.0.1"]),
        family(["2001:db8:1::7", "2001:db8::1", "fd00::2", "fd00::1"]),
    ]
}

#[derive(Clone, Copy, PartialEq)]
enum Segment {
    Syn,
    Data,
    Datagram,
}

fn frame(family: Family, port: u16, segment: Segment) -> Vec<u8> {
    let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let ip = match (family.client, family.service) {
        (IpAddr::V4(from), IpAddr::V4(to)) => link.ipv4(from.octets(), to.octets(), 64),
        (IpAddr::V6(from), IpAddr::V6(to)) => link.ipv6(from.octets(), to.octets(), 64),
        _ => panic!("one family"),
    };
    let mut frame = Vec::new();
    match segment {
        Segment::Syn => ip.tcp(port, PORT, 1, 1000).syn().write(&mut frame, &[]).unwrap(),
        Segment::Data => ip.tcp(port, PORT, 2, 1000).ack(1).write(&mut frame, &[0; 40]).unwrap(),
        Segment::Datagram => ip.udp(port, PORT).write(&mut frame, &[0; 40]).unwrap(),
    }
    frame
}

fn key(address: IpAddr, port: u16, protocol: u8) -> VipKey {
    VipKey { address: address.into(), port: port.to_be(), protocol, ..VipKey::default() }
}

/// Services of both families and protocols; each backend is of the next kind.
fn balancer(forwarding: Forwarding, crossed: bool, vlan: u16) -> Balancer {
    let mut balancer = Balancer::load(&Sizes::small(), Clock::Settings).unwrap();
    let [v4, v6] = families();
    let maps = &mut balancer.maps;
    maps.settings
        .set(&Settings {
            seed: [1, 2],
            own4: v4.own.into(),
            own6: v6.own.into(),
            gue_port: 6080_u16.to_be(),
            syn_timeout: 1000,
            flow_timeout: 1000,
            closing_timeout: 1000,
            udp_timeout: 1000,
            now: 1000,
            ..Settings::default()
        })
        .unwrap();
    for (number, family) in (0_u16..).zip([v4, v6]) {
        let other = if crossed { [v6, v4][usize::from(number)] } else { family };
        let target = Target {
            address: other.backend.into(),
            id: 1 + u32::from(number),
            ifindex: 1,
            mac: [2, 0, 0, 0, 0, 2],
            source_mac: [2, 0, 0, 0, 0, 1],
            mtu: 1500,
            state: TargetState::Up as u8,
            forwarding: forwarding as u8,
            vlan,
            ..Target::default()
        };
        maps.targets.set(1 + u32::from(number), &target).unwrap();
        let table = vec![1 + u32::from(number); MAGLEV_SIZE as usize];
        maps.maglev.write(usize::from(number) * MAGLEV_STRIDE as usize, &table).unwrap();
        let service = Vip {
            id: 1 + number,
            kind: VipKind::Service as u8,
            table: u32::from(number) * MAGLEV_STRIDE,
            ..Vip::default()
        };
        let alone = Vip { id: 1 + number, kind: VipKind::Address as u8, ..Vip::default() };
        for protocol in [TCP, UDP] {
            maps.vips.insert(&key(family.service, PORT, protocol), &service).unwrap();
        }
        maps.vips.insert(&key(family.service, 0, 0), &alone).unwrap();
    }
    balancer
}

/// A linear congruential generator (Knuth's MMIX): its upper bits.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (((self.0 >> 32) * u64::from(end)) >> 32) as u32
    }
}

/// As many as the packet counted for any service.
fn counted(balancer: &Balancer, counter: Counter) -> u64 {
    let packets = |service| balancer.maps.counters.get(service, counter).unwrap().packets;
    (0..=2).map(packets).sum()
}

/// Changes a bit or two of the headers; one of three is cut short.
fn change(packet: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(2) {
        let at = random.below(HEADERS.min(packet.len() as u32)) as usize;
        packet[at] ^= 1 << random.below(8);
    }
    packet.truncate(packet.len() - random.below(3) as usize / 2 * 30);
}

/// The explanation of a frame, and that the program does the same with it. True: it was sent as
/// one of a known flow.
fn goes_as_explained(balancer: &Balancer, explainer: &mut Explainer, frame: &[u8]) -> bool {
    let explained = explainer.explain(frame).unwrap();
    let trace = explained.trace.unwrap();
    let watched = [Counter::SentFlow, Counter::SentSyn, Counter::PassNoVip];
    let before = watched.map(|counter| counted(balancer, counter));
    let run = balancer.program.run(frame, 1).unwrap();
    assert_eq!((run.action, run.data), (explained.run.action, explained.run.data), "{frame:x?}");
    for (counter, before) in watched.into_iter().zip(before) {
        let more = u64::from(trace.counted(counter));
        assert_eq!(counted(balancer, counter), before + more, "{counter:?} of {frame:x?}");
    }
    trace.counted(Counter::SentFlow)
}

#[test]
fn plain_packets_and_their_neighbours_go_as_the_whole_program_says() {
    if skip_without(Need::Root) {
        return;
    }
    let mut random = Random(36);
    let kinds = [
        (Forwarding::Ipip, false, 0),
        (Forwarding::Ipip, true, 0),
        (Forwarding::Gue, false, 0),
        (Forwarding::Gue, true, 0),
        (Forwarding::L2, false, 0),
        (Forwarding::Ipip, false, 7),
    ];
    for (forwarding, crossed, vlan) in kinds {
        let balancer = balancer(forwarding, crossed, vlan);
        let mut explainer = balancer.explainer().unwrap();
        let mut sent = 0;
        for round in 0..400 {
            let family = families()[round % 2];
            let (first, next) = match round / 2 % 2 {
                0 => (Segment::Syn, Segment::Data),
                _ => (Segment::Datagram, Segment::Datagram),
            };
            let port = 10_000 + round as u16;
            for segment in [first, next, next] {
                goes_as_explained(&balancer, &mut explainer, &frame(family, port, segment));
            }
            let mut packet = frame(family, port, next);
            assert!(goes_as_explained(&balancer, &mut explainer, &packet), "a known flow");
            change(&mut packet, &mut random);
            sent += u32::from(goes_as_explained(&balancer, &mut explainer, &packet));
        }
        assert!((20..380).contains(&sent), "{sent} of 400 changed packets were plain");
    }
}

/// A SYN of a new flow, the same again, and what follows it.
#[test]
fn plain_syns_and_their_neighbours_go_as_the_whole_program_says() {
    if skip_without(Need::Root) {
        return;
    }
    let mut random = Random(61);
    for (forwarding, vlan) in [(Forwarding::Ipip, 0), (Forwarding::L2, 0), (Forwarding::Gue, 7)] {
        let balancer = balancer(forwarding, false, vlan);
        let mut explainer = balancer.explainer().unwrap();
        let before = counted(&balancer, Counter::SentSyn);
        for round in 0..400 {
            let family = families()[round % 2];
            let port = 10_000 + round as u16;
            let mut syn = frame(family, port, Segment::Syn);
            if random.below(2) == 0 {
                change(&mut syn, &mut random);
            }
            goes_as_explained(&balancer, &mut explainer, &syn);
            goes_as_explained(&balancer, &mut explainer, &syn);
            goes_as_explained(&balancer, &mut explainer, &frame(family, port, Segment::Syn));
            goes_as_explained(&balancer, &mut explainer, &frame(family, port, Segment::Data));
        }
        assert!(counted(&balancer, Counter::SentSyn) >= before + 800, "most are whole SYNs");
        assert!((390..=800).contains(&counted(&balancer, Counter::FlowAdded)), "once a flow");
    }
}

/// The program keeps what it has read of services.
#[test]
fn a_change_of_services_counts_from_the_next_packet_on() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(Forwarding::Ipip, false, 0);
    let [family, _] = families();
    let name = key(family.service, PORT, TCP);
    let data = frame(family, 4000, Segment::Data);
    let sends =
        |balancer: &Balancer| balancer.program.run(&data, 1).unwrap().action != Action::Pass;
    for segment in [Segment::Syn, Segment::Data, Segment::Data] {
        balancer.program.run(&frame(family, 4000, segment), 1).unwrap();
    }
    let vip = balancer.maps.vips.get(&name).unwrap().unwrap();
    for _ in 0..3 {
        assert!(sends(&balancer));
        balancer.maps.vips.remove(&name).unwrap();
        assert!(!sends(&balancer), "the service is gone");
        balancer.maps.vips.insert(&name, &vip).unwrap();
    }
    let before = counted(&balancer, Counter::SentFlow);
    balancer.maps.vips.insert(&name, &Vip { id: 2, ..vip }).unwrap();
    assert!(sends(&balancer));
    assert_eq!(counted(&balancer, Counter::SentFlow), before, "service 2 does not know the flow");
}

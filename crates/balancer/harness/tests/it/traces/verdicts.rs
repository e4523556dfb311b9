//! Each packet has one verdict: also those that cannot be read, and those of other machines'
//! frames.

use heddle_balancer_maps::abi::{Counter, DROPS_UNPARSABLE, MAC_RECEIVED, MAC_SENT, Settings};
use heddle_harness::{Cluster, Flow, Outcome, Random, Setup, balancer_address, fragments, steered};
use heddle_harness::{Connection, tagged};

use std::net::IpAddr;

use crate::traces::world::{Traced, connection, flow, flow_v6, from, open, with_port};

/// Bytes of Ethernet, IPv4 and IPv6.
const ETHERNET: usize = 14;
const V4: usize = ETHERNET + 20;
const V6: usize = ETHERNET + 40;

/// The frame with other bytes from `at` on.
fn with(frame: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[at..at + bytes.len()].copy_from_slice(bytes);
    frame
}

/// An IPv6 frame with `headers` extension headers (destination options) of eight bytes in front of
/// TCP.
fn extended(frame: &[u8], headers: usize) -> Vec<u8> {
    let (ip, tcp) = frame.split_at(V6);
    let mut chain = ip.to_vec();
    chain[ETHERNET + 6] = 60;
    let length = (tcp.len() + 8 * headers) as u16;
    chain[ETHERNET + 4..][..2].copy_from_slice(&length.to_be_bytes());
    for header in 1..=headers {
        chain.extend([if header == headers { 6 } else { 60 }, 0, 1, 4, 0, 0, 0, 0]);
    }
    [&chain, tcp].concat()
}

/// The frame with an IPv4 address mapped into IPv6 as source (`at` 8) or destination (`at` 24).
fn mapped(frame: &[u8], at: usize, address: [u8; 4]) -> Vec<u8> {
    with(frame, ETHERNET + at, &[&[0; 10][..], &[0xff, 0xff], &address].concat())
}

/// Frames that no balancer can read, with the verdict on each.
fn unreadable() -> Vec<(Vec<u8>, Counter)> {
    use Counter::{PassExtensions, PassMalformed, PassNotIp, PassProtocol, PassTags};
    let (syn, syn6) = (flow(1).syn(&[]), flow_v6(1).syn(&[]));
    let (datagram, datagram6) = (flow(1).datagram(20), flow_v6(1).datagram(20));
    let mut frames = Vec::new();
    for (segment, tcp) in [(&syn, V4), (&syn6, V6)] {
        let offsets = (0..5_u8).chain([11, 15]);
        frames.extend(offsets.map(|words| (with(segment, tcp + 12, &[words << 4]), PassMalformed)));
    }
    for frame in [&syn, &syn6, &datagram, &datagram6, &tagged(&syn, 7)] {
        let cuts = (ETHERNET..frame.len()).step_by(3);
        frames.extend(cuts.map(|length| (frame[..length].to_vec(), PassMalformed)));
    }
    frames.extend([
        (with(&syn, ETHERNET, &[0x44]), PassMalformed),
        (with(&syn, ETHERNET, &[0x65]), PassMalformed),
        (with(&syn6, ETHERNET, &[0x45]), PassMalformed),
        (with(&syn, ETHERNET, &[0x4f]), PassMalformed),
        (with(&syn, ETHERNET + 2, &[0, 19]), PassMalformed),
        (with(&syn, ETHERNET + 2, &[0xff, 0xff]), PassMalformed),
        (with(&syn6, ETHERNET + 4, &[0xff, 0xff]), PassMalformed),
        (with(&datagram, ETHERNET + 2, &[0, 27]), PassMalformed),
        (fragments(&syn, 16, 9)[0].clone(), PassMalformed),
        (mapped(&syn6, 8, [198, 18, 0, 1]), PassMalformed),
        (mapped(&syn6, 24, [192, 0, 2, 80]), PassMalformed),
        (tagged(&tagged(&syn, 7), 8), PassTags),
        (with(&tagged(&syn, 7), 12, &[0x88, 0xa8]), PassTags),
        (with(&tagged(&syn, 7), 16, &[0x88, 0xa8]), PassTags),
        (extended(&syn6, 5), PassExtensions),
        (extended(&syn6, 9), PassExtensions),
        (with(&syn, 12, &[0x08, 0x06]), PassNotIp),
        (with(&syn, 12, &[0x00, 0x2a]), PassNotIp),
        (with(&syn, ETHERNET + 9, &[47]), PassProtocol),
        (with(&syn6, ETHERNET + 6, &[50]), PassProtocol),
        (with(&fragments(&datagram, 16, 9)[1], ETHERNET + 9, &[132]), PassProtocol),
    ]);
    frames
}

fn is_verdict(counter: Counter) -> bool {
    (counter as usize) < Counter::VERDICTS
}

/// The verdicts on one run of the program.
fn verdicts(cluster: &mut Cluster, frame: &[u8]) -> Vec<Counter> {
    let run = |cluster: &mut Cluster| cluster.balancer(0).unwrap().program.run(frame, 1);
    let (_, seen) = cluster.watch(run).unwrap();
    seen.at(0).into_iter().filter(|counter| is_verdict(*counter)).collect()
}

#[test]
fn what_cannot_be_read_is_the_stacks_and_counted_by_its_reason() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let corpus = unreadable();
    assert!(corpus.len() > 130, "{}", corpus.len());
    for (frame, verdict) in &corpus {
        let (sent, seen) = cluster.seen(0, frame);
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![*verdict]), "{frame:x?}");
        assert_eq!((seen.count(*verdict), &sent.frame), (1, frame));
    }
    let (_, seen) = cluster.seen(0, &extended(&flow_v6(1).syn(&[]), 4));
    assert_eq!(seen.at(0), [Counter::SentSyn, Counter::FlowAdded], "four headers are read");
}

/// A service that passes nothing on drops what has its address. The rest has none, or another.
#[test]
fn a_service_may_drop_what_cannot_be_read() {
    let Some(mut cluster) = open(Setup { choices: DROPS_UNPARSABLE, ..Setup::default() }) else {
        return;
    };
    let (mut dropped, elsewhere) = (0, with(&flow(1).syn(&[]), V4 - 4, &[203, 0, 113, 7]));
    for (frame, verdict) in unreadable() {
        let (sent, seen) = cluster.seen(0, &frame);
        let tag = if frame[12] == 0x81 { 4 } else { 0 };
        let addressed = frame.len() >= tag + if frame[12] == 0x86 { V6 } else { V4 };
        match verdict {
            Counter::PassNotIp | Counter::PassTags => assert_eq!(sent.outcome, Outcome::Passed),
            _ if addressed => assert_eq!(seen.at(0), [Counter::DropUnparsable], "{frame:x?}"),
            _ => assert_eq!(seen.at(0), [verdict]),
        }
        dropped += seen.count(Counter::DropUnparsable);
    }
    assert!(dropped > 80, "{dropped}");
    let (sent, seen) = cluster.seen(0, &with(&elsewhere, V4 + 12, &[0]));
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassMalformed]));
}

/// In the maps an IPv4-mapped address is an IPv4 packet's. No flow may be another's, no stranger a
/// balancer.
#[test]
fn a_mapped_address_is_no_ipv4_address() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let (client, service) = ([198, 18, 0, 1], [192, 0, 2, 80]);
    cluster.plain(0, &flow(1));
    let whole = mapped(&mapped(&flow_v6(1).rst(), 8, client), 24, service);
    let (sent, seen) = cluster.seen(0, &whole);
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassMalformed]));
    let mut message = steered(balancer_address(1), balancer_address(0), &[0; 20], &whole);
    assert_eq!(verdicts(&mut cluster, &message), [Counter::DropUnauthenticated], "{message:x?}");
    // The same between mapped addresses: from a balancer, to this one's own.
    let udp = message.split_off(V4);
    let header = [&flow_v6(1).datagram(0)[..V6]].concat();
    let header = with(&header, ETHERNET + 4, &(udp.len() as u16).to_be_bytes());
    let outer = mapped(&mapped(&header, 8, [10, 0, 0, 2]), 24, [10, 0, 0, 1]);
    assert_eq!(verdicts(&mut cluster, &[outer, udp].concat()), [Counter::PassMalformed]);
}

/// Frames of all kinds as they are, and with bytes changed at random: the program has one verdict
/// on each.
#[test]
fn the_verdicts_add_up_to_the_packets() {
    let Some(mut cluster) = open(Setup { balancers: 2, mtu: 1500, ..Setup::default() }) else {
        return;
    };
    let mut frames: Vec<Vec<u8>> = unreadable().into_iter().map(|(frame, _)| frame).collect();
    for client in 1..9 {
        let (connection, stray) = (connection(client), flow_v6(client));
        frames.extend(life(&connection, &with_port(connection.primary, 9)));
        frames.extend([stray.syn(&[]), stray.ack(&[], 0), stray.fin(), stray.too_big(1400)]);
        frames.extend(fragments(&stray.datagram(3000), 1440, client));
        let (from, to) = (balancer_address(1), balancer_address(0));
        frames.push(steered(from, to, &[1, client as u8, 0, 0], &connection.syn()));
    }
    let (mut random, mut packets) = (Random::new(7), 0);
    let run = |cluster: &mut Cluster| {
        for round in 0..60 {
            for frame in &frames {
                let mut frame = frame.clone();
                for _ in 0..round % 4 {
                    let at = random.below(frame.len() as u32) as usize;
                    frame[at] ^= 1 << random.below(8);
                }
                cluster.balancer(0).unwrap().program.run(&frame, 1)?;
                packets += 1;
            }
        }
        Ok(())
    };
    let ((), seen) = cluster.watch(run).unwrap();
    let all = Counter::ALL.iter().filter(|counter| is_verdict(**counter));
    assert_eq!(all.map(|counter| seen.count(*counter)).sum::<u64>(), packets);
    assert!(packets > 10_000);
}

/// The packets of a connection and of a subflow that joins.
fn life(connection: &Connection, subflow: &Flow) -> Vec<Vec<u8>> {
    vec![
        connection.syn(),
        connection.third_ack(),
        connection.first_data(100),
        connection.data(1450),
        connection.join(subflow),
        subflow.joined_ack(),
        subflow.data(1200),
        subflow.fin(),
        subflow.rst(),
    ]
}

const OURS: [u8; 6] = [2, 0, 0, 0, 0, 0xb];
const CLIENTS: [u8; 6] = [2, 0, 0, 0, 0, 0xc];
const BACKENDS: [u8; 6] = [2, 0, 0, 1, 0, 1];

fn bits(mac: [u8; 6]) -> u64 {
    mac.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Ours, and a virtual router's, from which another router may send.
#[test]
fn frames_for_others_and_our_own_are_not_forwarded() {
    let virtual_router = [0, 0, 0x5e, 0, 1, 1];
    let mut settings = Setup::default().settings;
    settings.macs[0] = bits(OURS) | MAC_RECEIVED | MAC_SENT;
    settings.macs[1] = bits(virtual_router) | MAC_RECEIVED;
    let Some(mut cluster) = open(Setup { settings, ..Setup::default() }) else { return };
    let syn = flow(1).syn(&[]);
    let cases = [
        (OURS, CLIENTS, Counter::SentSyn),
        (virtual_router, CLIENTS, Counter::SentSyn),
        (OURS, virtual_router, Counter::SentSyn),
        (BACKENDS, CLIENTS, Counter::PassOtherHost),
        ([0xff; 6], CLIENTS, Counter::PassOtherHost),
        (BACKENDS, OURS, Counter::DropLoop),
        (OURS, OURS, Counter::DropLoop),
    ];
    for (to, from, verdict) in cases {
        for frame in [&syn, &tagged(&syn, 7)] {
            let frame = with(frame, 0, &[to, from].concat());
            assert_eq!(verdicts(&mut cluster, &frame), [verdict], "{to:x?} from {from:x?}");
        }
    }
    let mut elsewhere = flow(1);
    elsewhere.service.set_port(80);
    let frame = with(&elsewhere.syn(&[]), 0, &BACKENDS);
    assert_eq!(verdicts(&mut cluster, &frame), [Counter::PassNoVip], "no service's");
    let none = Settings { macs: Default::default(), ..settings };
    assert_eq!(none, Setup::default().settings, "all other traces compare nothing");
}

/// Frames that no host sends, with the verdict on each.
fn invalid() -> Vec<(Vec<u8>, Counter)> {
    use Counter::{DropChecksum, DropFlags, DropHops, DropRoute, DropSource};
    let (syn, syn6, datagram) = (flow(1).syn(&[]), flow_v6(1).syn(&[]), flow(1).datagram(20));
    let mut frames = vec![
        (with(&syn, ETHERNET + 8, &[0]), DropHops),
        (with(&tagged(&syn, 7), ETHERNET + 4 + 8, &[0]), DropHops),
        (with(&syn6, ETHERNET + 7, &[0]), DropHops),
        (with(&datagram, ETHERNET + 10, &[0x12, 0x34]), DropChecksum),
        (with(&syn, ETHERNET + 1, &[1]), DropChecksum),
        (with(&with_options(&syn, [1; 4]), ETHERNET + 10, &[0x12, 0x34]), DropChecksum),
        (with_options(&syn, [1, 131, 3, 4]), DropRoute),
        (with_options(&syn, [137, 3, 4, 0]), DropRoute),
        (routed(&syn6, 0, 1), DropRoute),
    ];
    for (frame, tcp) in [(&syn, V4), (&syn6, V6)] {
        for flags in [0_u8, 0x03, 0x06, 0x07, 0x3f, 0xc0] {
            frames.push((with(frame, tcp + 13, &[flags]), DropFlags));
        }
    }
    let services = [heddle_harness::service([198, 18, 0, 1].into()), flow_v6(1).service];
    let sources: [IpAddr; 9] = [
        [0, 0, 0, 0].into(),
        [127, 0, 0, 1].into(),
        [224, 0, 0, 1].into(),
        [255; 4].into(),
        services[0].ip(),
        [0_u16; 8].into(),
        [0, 0, 0, 0, 0, 0, 0, 1].into(),
        [0xff02, 0, 0, 0, 0, 0, 0, 1].into(),
        services[1].ip(),
    ];
    for source in sources {
        let flow = from(source, 40_000);
        frames.extend([(flow.syn(&[]), DropSource), (flow.datagram(9), DropSource)]);
        frames.push((flow.ack(&[], 9), DropSource));
    }
    frames
}

/// A frame of IPv4 with four bytes of options.
fn with_options(frame: &[u8], options: [u8; 4]) -> Vec<u8> {
    let mut longer = [&frame[..V4], &options, &frame[V4..]].concat();
    longer[ETHERNET] = 0x46;
    longer[ETHERNET + 3] += 4;
    longer[ETHERNET + 10..][..2].fill(0);
    let words = longer[ETHERNET..V4 + 4].chunks(2);
    let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    with(&longer, ETHERNET + 10, &sum.to_be_bytes())
}

/// A frame of IPv6 with a routing header of this type and so many segments left.
fn routed(frame: &[u8], kind: u8, left: u8) -> Vec<u8> {
    let mut frame = extended(frame, 1);
    frame[ETHERNET + 6] = 43;
    with(&frame, V6 + 1, &[0, kind, left, 0])
}

#[test]
fn what_no_host_sends_is_dropped_by_reason() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    for (frame, counter) in invalid() {
        let (sent, seen) = cluster.seen(0, &frame);
        assert_eq!((sent.outcome, seen.at(0)), (Outcome::Dropped, vec![counter]), "{frame:02x?}");
    }
    let known = with(&flow.ack(&[], 10), ETHERNET + 8, &[0]);
    assert_eq!(cluster.seen(0, &known).1.at(0), [Counter::DropHops], "of a known flow, too");
    let valid = [
        with_options(&flow.ack(&[], 9), [1; 4]),
        routed(&flow_v6(9).syn(&[]), 0, 0),
        routed(&flow_v6(8).syn(&[]), 2, 1),
        flow.ack(&[], 9),
    ];
    for frame in valid {
        let (sent, _) = cluster.seen(0, &frame);
        assert!(matches!(sent.outcome, Outcome::Backend(_)), "{frame:02x?}");
    }
    assert_eq!(cluster.to(0, &flow.ack(&[], 10)), home);
}

/// An answer to a heartbeat is believed by its own header, too.
#[test]
fn messages_of_balancers_have_valid_headers() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let [one, other] = [0, 1].map(balancer_address);
    let beat = heddle_harness::heartbeat(other, one, heddle_harness::KEY, 1, 2);
    let (_, seen) = cluster.seen(0, &with(&beat, ETHERNET + 8, &[0]));
    assert_eq!(seen.at(0), [Counter::DropHops]);
    let (_, seen) = cluster.seen(0, &beat);
    assert_eq!(seen.at(0)[0], Counter::HeartbeatAnswered);
}

#[test]
fn what_no_host_sends_is_forwarded_by_choice() {
    let settings = Settings { forwards_invalid: 1, ..Setup::default().settings };
    let Some(mut cluster) = open(Setup { settings, ..Setup::default() }) else { return };
    for (frame, counter) in invalid() {
        let (_, seen) = cluster.seen(0, &frame);
        assert!(!seen.at(0).contains(&counter), "{frame:02x?}");
    }
}

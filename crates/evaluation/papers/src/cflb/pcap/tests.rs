//! Small captures, byte by byte, and garbage.

use heddle_policy::cflb::{Addresses, Fields, Ports};
use proptest::prelude::*;

use super::*;

/// 10.0.0.1 to 10.0.0.2, TTL 64, with a fragment field; then ports 4660 and 80.
fn ipv4(protocol: u8, fragment: u16) -> Vec<u8> {
    let [high, low] = fragment.to_be_bytes();
    let header = [0x45, 0, 0, 28, 0, 1, high, low, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], &[0x12, 0x34, 0, 80, 0, 8, 0, 0]].concat()
}

/// 2001:db8::1 to 2001:db8::2, flow label 0x12345, hop limit 60, UDP, ports 4660 and 80.
fn ipv6() -> Vec<u8> {
    let mut packet = vec![0x60, 1, 0x23, 0x45, 0, 8, 17, 60];
    for host in [1, 2] {
        packet.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    packet.extend([0x12, 0x34, 0, 80, 0, 8, 0, 0]);
    packet
}

/// With these EtherTypes and tags before it.
fn ethernet(before: &[u8], packet: &[u8]) -> Vec<u8> {
    [&[2; 12], before, packet].concat()
}

fn pcap(link: u32, frames: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, link].map(u32::to_le_bytes).concat();
    for (seconds, micros, frame) in frames {
        let length = frame.len() as u32;
        file.extend([*seconds, *micros, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let mut block = [kind, padded as u32 + 12].map(u32::to_le_bytes).concat();
    block.extend(body);
    block.resize(padded + 8, 0);
    block.extend((padded as u32 + 12).to_le_bytes());
    block
}

/// One interface of raw IP, whose clock ticks in nanoseconds.
fn pcapng(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let section = [&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    let mut file = [block(0x0a0d_0d0a, &section), block(1, &interface)].concat();
    for (nanos, frame) in frames {
        let length = frame.len() as u32;
        let head = [0, (nanos >> 32) as u32, *nanos as u32, length, length];
        file.extend(block(6, &[&head.map(u32::to_le_bytes).concat()[..], frame].concat()));
    }
    file
}

fn read(file: &[u8]) -> (Vec<Packet>, Option<CaptureError>, Tally) {
    let mut capture = match Capture::new(file) {
        Ok(capture) => capture,
        Err(error) => return (Vec::new(), Some(error), Tally::default()),
    };
    let (mut packets, mut error) = (Vec::new(), None);
    for step in capture.by_ref() {
        match step {
            Ok(packet) => packets.push(packet),
            Err(found) => error = Some(found),
        }
    }
    (packets, error, capture.tally())
}

fn v4_fields(protocol: u8) -> Fields {
    let [source, destination] = ["10.0.0.1", "10.0.0.2"].map(|a| a.parse().unwrap());
    let ports = Some(Ports { source: 0x1234, destination: 80 });
    let addresses = Addresses::V4(source, destination);
    Fields { addresses, protocol, ports, flow_label: 0, ttl: 64 }
}

fn v6_fields() -> Fields {
    let [source, destination] = ["2001:db8::1", "2001:db8::2"].map(|a| a.parse().unwrap());
    let addresses = Addresses::V6(source, destination);
    Fields { addresses, protocol: 17, flow_label: 0x12345, ttl: 60, ..v4_fields(17) }
}

/// TCP at 100.5 s; the same behind a VLAN tag 250 ms later; IPv6 behind two; ARP; ICMP; a fragment;
/// a header cut off.
#[test]
fn a_capture_of_ethernet() {
    let frames = [
        (100, 500_000, ethernet(&[8, 0], &ipv4(6, 0))),
        (100, 750_000, ethernet(&[0x81, 0, 0, 7, 8, 0], &ipv4(6, 0))),
        (101, 500_000, ethernet(&[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 0x86, 0xdd], &ipv6())),
        (102, 0, ethernet(&[8, 6], &[0, 1, 8, 0, 6, 4, 0, 1])),
        (102, 0, ethernet(&[8, 0], &ipv4(1, 0))),
        (102, 0, ethernet(&[8, 0], &ipv4(17, 0x2000))),
        (103, 0, ethernet(&[8, 0], &ipv4(6, 0)[..12])),
    ];
    let (packets, error, tally) = read(&pcap(1, &frames));
    assert_eq!(error, None);
    let expected = [
        (Time(0), 0, v4_fields(6)),
        (Time::millis(250), 0, v4_fields(6)),
        (Time::secs(1), 1, v6_fields()),
        (Time::millis(1500), 2, Fields { ports: None, ..v4_fields(1) }),
        (Time::millis(1500), 3, Fields { ports: None, ..v4_fields(17) }),
    ];
    assert_eq!(packets, expected.map(|(at, flow, fields)| Packet { at, flow, fields }));
    assert_eq!((tally.frames, tally.packets, tally.fragments, tally.portless), (7, 5, 1, 1));
    assert_eq!((tally.not_ip + tally.broken, tally.untimed), (2, 0));
}

#[test]
fn other_links() {
    let cooked = [&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0][..], &ipv4(6, 0)].concat();
    let cooked2 = [&[8, 0][..], &[0; 18], &ipv4(6, 0)].concat();
    let loopback = [&[2, 0, 0, 0][..], &ipv4(6, 0)].concat();
    for (link, frame) in [(113, cooked), (276, cooked2), (0, loopback), (101, ipv4(6, 0))] {
        let (packets, error, _) = read(&pcap(link, &[(1, 0, frame)]));
        assert_eq!(error, None);
        assert_eq!(packets, [Packet { at: Time(0), flow: 0, fields: v4_fields(6) }], "{link}");
    }
    assert_eq!(read(&pcap(105, &[])).1, Some(CaptureError::Link(105)));
}

/// 2^32 + 5 ns, and 1500 ns later.
#[test]
fn a_pcapng_of_raw_ip() {
    let first = (1 << 32) + 5;
    let (packets, error, _) = read(&pcapng(&[(first, ipv4(6, 0)), (first + 1500, ipv6())]));
    assert_eq!(error, None);
    let expected = [(Time(0), 0, v4_fields(6)), (Time::nanos(1500), 1, v6_fields())];
    assert_eq!(packets, expected.map(|(at, flow, fields)| Packet { at, flow, fields }));
}

#[test]
fn errors_say_what_is_wrong() {
    assert_eq!(read(b"").1, Some(CaptureError::NotACapture));
    assert_eq!(read(b"time,source,destination\n1,2,3\n").1, Some(CaptureError::NotACapture));
    let whole = pcap(101, &[(1, 0, ipv4(6, 0)), (2, 0, ipv4(6, 0))]);
    let (packets, error, _) = read(&whole[..whole.len() - 3]);
    assert_eq!((packets.len(), error), (1, Some(CaptureError::Truncated { frames: 1 })));
    let mut damaged = pcapng(&[(1, ipv4(6, 0)), (2, ipv4(6, 0))]);
    let end = damaged.len();
    damaged[end - 4..].fill(0xee);
    assert_eq!(read(&damaged).1, Some(CaptureError::Damaged { frames: 1 }));
}

/// More frames than the buffer holds at once.
#[test]
fn a_capture_larger_than_the_buffer() {
    let frames: Vec<_> = (0..40_000).map(|i| (i, 0, ipv4(6, 0))).collect();
    let (packets, error, tally) = read(&pcap(101, &frames));
    assert_eq!((packets.len(), error, tally.frames), (40_000, None, 40_000));
    assert_eq!(packets[39_999].at, Time::secs(39_999));
}

proptest! {
    #[test]
    fn garbage_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }

    #[test]
    fn garbage_in_frames_is_counted(
        link in prop::sample::select(vec![0u32, 1, 101, 113, 276]),
        frames in prop::collection::vec((any::<u32>(), any::<u32>(), prop::collection::vec(any::<u8>(), 0..80)), 0..20),
    ) {
        let (packets, error, tally) = read(&pcap(link, &frames));
        prop_assert_eq!(error, None);
        prop_assert_eq!(tally.frames, frames.len() as u64);
        prop_assert_eq!(tally.packets, packets.len() as u64);
        prop_assert_eq!(tally.frames, tally.packets + tally.not_ip + tally.broken + tally.untimed);
    }

    #[test]
    fn a_flipped_byte_does_no_harm(at in any::<prop::sample::Index>(), to: u8, is_ng: bool) {
        let mut file = match is_ng {
            true => pcapng(&[(1, ipv4(6, 0)), (2, ipv6())]),
            false => pcap(1, &[(1, 0, ethernet(&[8, 0], &ipv4(6, 0))), (2, 0, ipv4(6, 0))]),
        };
        let at = at.index(file.len());
        file[at] = to;
        read(&file);
    }
}

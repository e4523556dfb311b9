//! Keys that the balancer puts into SYNs, byte by byte (RomanRoads, section III-B).

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::assigned::{Flags, Segment, balancer, capable, capable_with, count, run, segment, syn};
use crate::frames::{Family, LINKS, OUR_MAC};
use heddle_balancer_maps::abi::{AssignedKey, Counter};
use heddle_balancer_maps::{Action, Balancer};
use heddle_testing::{Need, require_program, skip_without};
use heddle_wire::{Key, Version};

/// MSS, SACK permitted, timestamps, window scale: what every SYN of Linux has.
const USUAL: [u8; 20] = [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
const MSS: [u8; 4] = [2, 4, 5, 180];
/// RFC 7413.
const COOKIE: [u8; 10] = [34, 10, 1, 2, 3, 4, 5, 6, 7, 8];

/// The options before MP_CAPABLE and behind it, and data.
type Layout = (&'static [u8], Vec<u8>, &'static [u8]);

fn layouts() -> Vec<Layout> {
    let behind = |parts: &[&[u8]]| parts.concat();
    vec![
        (&USUAL, vec![], &[]),
        (&[], vec![], &[]),
        (&[1], vec![1, 1, 1], &[]),
        (&[1, 2, 4, 5, 180], vec![0, 0, 0], &[]),
        (&MSS, behind(&[&COOKIE, &[1, 1]]), b"GET / HTTP/1.1\r\n"),
        (&[1, 1, 1], behind(&[&COOKIE, &[1, 1, 1]]), b"odd"),
    ]
}

fn with_option(layout: &Layout, option: &[u8]) -> Vec<u8> {
    [layout.0, option, &layout.1].concat()
}

/// The only difference to a SYN that had both keys from the start is nothing.
#[test]
fn a_syn_gets_a_key_in_all_families_and_places() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    let mut port = 1000;
    for layout in layouts() {
        for (family, extension) in [(Family::V4, false), (Family::V6, false), (Family::V6, true)] {
            for link in LINKS {
                port += 1;
                let (plain, flags) = (with_option(&layout, &capable()), Flags::Syn);
                let segment =
                    Segment { family, port, flags, options: &plain, payload: layout.2, extension };
                let run = balancer.program.run(&link.frame(&segment.packet()), 1).unwrap();
                let ip = if family == Family::V4 { 20 } else { 40 + 8 * usize::from(extension) };
                let start = if link.in_vlan(0).tag.is_some() { 18 } else { 14 };
                let at = start + ip + 20 + layout.0.len() + 12;
                let key = run.data[at..at + 8].try_into().unwrap();
                let both = with_option(&layout, &capable_with(key));
                let expected = Segment { options: &both, ..segment }.packet();
                assert_eq!(run.action, Action::Redirect);
                let sent = link.in_vlan(0).frame(&expected);
                assert_eq!(run.data[12..], sent[12..], "{family:?} {layout:x?}");
                assert_eq!(run.data[6..12], OUR_MAC);
            }
        }
    }
    assert_eq!(count(&balancer, Counter::KeyGenerated), 54);
    assert_eq!(count(&balancer, Counter::SentCapable), 54);
}

fn is_as_it_was(balancer: &Balancer, packet: &[u8]) {
    let run = run(balancer, packet);
    assert_eq!((run.action, &run.data[14..]), (Action::Redirect, packet));
}

/// A TCP header ends at 60 bytes: data offsets of 13, 14 and 15 words.
#[test]
fn without_room_a_syn_stays_as_it_was() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    for (padding, room) in [(20, true), (24, false), (28, false)] {
        let options = [vec![1; padding], capable()].concat();
        let packet = segment(padding as u16, Flags::Syn, &options);
        match room {
            true => assert_eq!(run(&balancer, &packet).data.len(), 14 + packet.len() + 8),
            false => is_as_it_was(&balancer, &packet),
        }
    }
    assert_eq!(count(&balancer, Counter::KeyNoRoom), 2);
    assert_eq!(balancer.maps.tokens.iter().count(), 1);
}

/// Else the client would be told of an MTU that its SYN does not exceed.
#[test]
fn no_key_makes_a_syn_too_long_for_the_way() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    let packet = |length: usize, port| {
        let (family, options) = (Family::V4, &capable()[..]);
        let payload = &vec![0; length - 20 - 20 - 12];
        Segment { family, port, flags: Flags::Syn, options, payload, extension: false }.packet()
    };
    assert_eq!(run(&balancer, &packet(1492, 1)).data.len(), 14 + 1500);
    is_as_it_was(&balancer, &packet(1493, 2));
    assert_eq!(count(&balancer, Counter::KeyNoRoom), 1);
}

/// RFC 8684: the SYN of version 1 has no key. The balancer's makes the option one of the SYN/ACK's
/// length, and its token is of SHA-256.
#[test]
fn a_syn_of_version_1_gets_a_key_in_all_places() {
    if skip_without(Need::Root) {
        return;
    }
    let mut balancer = balancer(0, 1);
    let ready = Key(*b"made now");
    let token = Version::V1.token(ready).0;
    balancer.maps.ready_keys_v1.push(&AssignedKey { key: ready.0, token, seen: 0 }).unwrap();
    for (port, layout) in (1..).zip(layouts()) {
        for family in [Family::V4, Family::V6] {
            let port = 2 * port + u16::from(family == Family::V6);
            let packet_with = |option: &[u8]| {
                let (options, flags) = (with_option(&layout, option), Flags::Syn);
                let (options, payload) = (&options[..], layout.2);
                Segment { family, port, flags, options, payload, extension: false }.packet()
            };
            let sent = run(&balancer, &packet_with(&[30, 4, 0x01, 0x81]));
            let ip = if family == Family::V4 { 20 } else { 40 };
            let at = 14 + ip + 20 + layout.0.len() + 4;
            let key = Key(sent.data[at..at + 8].try_into().unwrap());
            assert_eq!(sent.data[14..], packet_with(&[&[30, 12, 0x01, 0x81], &key.0[..]].concat()));
            let token = Version::V1.token(key).0;
            assert!(balancer.maps.tokens.iter().any(|entry| entry.token == token), "{layout:?}");
            let again = run(&balancer, &packet_with(&[30, 4, 0x01, 0x81]));
            assert_eq!(again.data, sent.data);
        }
    }
    assert_eq!(count(&balancer, Counter::KeyReady), 1);
    assert_eq!(count(&balancer, Counter::KeyRepeated), 12);
}

/// A client that tries another version gets another key: the first one has another token there.
#[test]
fn a_key_is_repeated_for_its_version_alone() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    run(&balancer, &syn(1));
    let other = run(&balancer, &segment(1, Flags::Syn, &[30, 4, 0x01, 0x81])).data;
    let key = Key(other[14 + 20 + 20 + 4..][..8].try_into().unwrap());
    let token = Version::V1.token(key).0;
    assert!(balancer.maps.tokens.iter().any(|entry| entry.token == token));
    assert_eq!(count(&balancer, Counter::KeyRepeated), 0);
}

/// A capture file (draft-ietf-opsawg-pcap) of frames of Ethernet.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 0xffff, 1] {
        file.extend(u32::to_ne_bytes(word));
    }
    for frame in frames {
        let length = frame.len() as u32;
        file.extend([0, 0, length, length].map(u32::to_ne_bytes).concat());
        file.extend(frame);
    }
    file
}

/// A line for each frame, of these fields. Checksums are looked at: 1 is "good".
fn tshark(frames: &[Vec<u8>], fields: &[&str]) -> Vec<String> {
    require_program("tshark", "tshark");
    let mut command = Command::new("tshark");
    command.args(["-n", "-r", "-", "-T", "fields", "-E", "separator=,"]);
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = pipes.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&capture(frames)).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn tshark_finds_the_key_and_no_fault() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 1);
    let frames: Vec<_> = (1..=50).map(|port| run(&balancer, &syn(port)).data).collect();
    let fields = ["ip.checksum.status", "tcp.checksum.status", "tcp.options.mptcp.recvkey"];
    let seen = tshark(&frames, &fields);
    assert_eq!(seen.len(), frames.len());
    for (line, frame) in seen.iter().zip(&frames) {
        let key = u64::from_be_bytes(frame[14 + 20 + 20 + 12..][..8].try_into().unwrap());
        assert_eq!(*line, format!("1,1,{key}"));
    }
}

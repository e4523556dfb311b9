//! Every frame through the balancer's parsers, compiled for this machine, through the wire crate's,
//! and as tshark read it.

use heddle_conformance::balancer::{Kind, comparison, native, options};
use heddle_wire::{TcpFlags, TcpFrame};

use crate::corpus::cases::{Block, cases, states};

#[test]
fn the_parsers_agree() {
    let cases = cases();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    let frames = cases.iter().flat_map(|case| [case.bytes("frame"), case.bytes("out")]);
    let setups = states();
    let steps = setups.iter().flat_map(Block::steps).filter(|(word, _)| *word == "frame");
    for frame in frames.chain(steps.map(|(_, hex)| crate::corpus::cases::from_hex(hex))) {
        comparison::compare(&frame).unwrap();
        if let Ok(TcpFrame { tcp, .. }) = TcpFrame::parse(&frame) {
            let found = native::find(tcp.options, tcp.flags);
            assert_eq!(found, options::expected(tcp.options, tcp.flags), "{frame:x?}");
        }
    }
}

/// Each frame of the corpus with bits changed and bytes cut off, as a seed says: what both read, or
/// the reason not to.
#[test]
fn the_parsers_agree_on_damaged_frames() {
    let mut state = 7_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % end
    };
    for frame in cases().iter().map(|case| case.bytes("frame")) {
        for _ in 0..500 {
            let mut damaged = frame.clone();
            for _ in 0..=below(3) {
                let at = below(damaged.len().min(80));
                damaged[at] ^= 1 << below(8);
            }
            damaged.truncate(damaged.len() - below(4) * below(damaged.len()) / 4);
            comparison::compare(&damaged).unwrap_or_else(|why| panic!("{damaged:x?}\n{why}"));
        }
    }
}

/// tshark tells ports, flags, keys and tokens; where it has several options, the balancer's is one
/// of them.
#[test]
fn tshark_reads_what_the_balancer_does() {
    let mut refereed = 0;
    for case in cases() {
        let frame = case.bytes("frame");
        let Some(read) = comparison::compare(&frame).unwrap() else { continue };
        if read.protocol != 6 || read.fragment || case.get("tshark.tcp.flags").is_empty() {
            continue;
        }
        let flags = u8::from_str_radix(&case.get("tshark.tcp.flags")[4..], 16).unwrap();
        let ports = [read.source_port, read.destination_port].map(|port| port.to_string());
        let tshark = ["tshark.tcp.srcport", "tshark.tcp.dstport"].map(|field| case.get(field));
        assert_eq!((flags, tshark), (read.tcp_flags, ports.each_ref().map(String::as_str)));
        check_options(&case, &frame[read.l4 + 20..][..read.options], TcpFlags(flags));
        refereed += 1;
    }
    assert!(refereed >= 120, "{refereed} of TCP");
}

fn check_options(case: &Block, area: &[u8], flags: TcpFlags) {
    let found = native::find(area, flags);
    let says = |field: &str, value: u64| {
        let name = format!("tshark.tcp.options.mptcp.{field}");
        let listed = case.get(&name).split(',').any(|one| one.parse() == Ok(value));
        assert!(listed, "{}: {field} is {value}, tshark: {}", case.name, case.get(&name));
    };
    match found.kind {
        Kind::CapableSyn | Kind::CapableKeys => says("version", found.version.into()),
        Kind::JoinSyn => says("recvtok", found.token.0.into()),
        Kind::JoinAck => says("subtype", 1),
        Kind::Dss => says("subtype", 2),
        Kind::None | Kind::Other | Kind::Malformed => {}
    }
    // Behind ADD_ADDR, tshark 4.0 shows the sender's key only.
    if found.kind == Kind::CapableKeys
        && !case.get("tshark.tcp.options.mptcp.subtype").contains(',')
    {
        says("recvkey", u64::from_be_bytes(found.key.0));
    }
}

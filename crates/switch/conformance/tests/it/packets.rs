//! The programs on frames of any bytes, and on frames that begin well.

use heddle_switch_conformance::packets::{Switch, check, names};
use heddle_wire::probe::TorId;
use heddle_wire::{EtherType, Probe};
use proptest::collection::vec;
use proptest::prelude::*;

/// `enum switch_counter`, verdicts of probes: at the end of their way, and replicated
/// (bpf/switch/switch_abi.h).
const PROBE_TAKEN: u32 = 4;
const PROBE_FORWARDED: u32 = 5;

/// TCP from 10.0.0.1 to 10.0.1.1 without a checksum.
const FRAME: [u8; 54] = [
    2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0,
    1, 10, 0, 1, 1, 15, 160, 19, 136, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 16, 255, 255, 0, 0, 0, 0,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..600)) {
        check(&bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn changes_of_a_good_frame(
        scheme in 0..names().count() as u8,
        tier in any::<u8>(),
        changes in vec((0..9_u8, any::<u8>(), 0..FRAME.len() as u8, any::<u8>()), 0..40),
    ) {
        let mut bytes = vec![scheme, tier];
        for (port, passed, at, to) in changes {
            let mut frame = FRAME;
            frame[usize::from(at)] = to;
            bytes.extend([port, passed, 0, FRAME.len() as u8]);
            bytes.extend(frame);
        }
        check(&bytes).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn a_good_frame_is_forwarded_by_every_scheme() {
    for (scheme, _) in (0..).zip(names()) {
        let outcome = Switch::new(scheme, true, 0).run(1, 0, &FRAME);
        assert_eq!((outcome.verdict, outcome.action), (Some(0), 4));
        // Behind a shim, if the scheme adds one.
        let added = outcome.frame.len() - FRAME.len();
        assert_eq!(outcome.frame[22 + added], 63);
    }
}

/// The Internet checksum of an IPv4 header whose own field is zero (RFC 1071).
fn checksum(header: &[u8]) -> [u8; 2] {
    let words = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let folded = |sum: u32| (sum & 0xffff) + (sum >> 16);
    (!folded(folded(words.sum())) as u16).to_be_bytes()
}

/// All checksums that a header can have, which are all but 0xffff, by its identification.
#[test]
fn the_checksum_of_a_forwarded_header_is_that_computed_anew() {
    let ecmp = names().position(|name| name == "ecmp").unwrap();
    let mut switch = Switch::new(ecmp as u8, true, 0);
    for identification in 0..=u16::MAX {
        let mut frame = FRAME;
        frame[18..20].copy_from_slice(&identification.to_be_bytes());
        let mut routed = frame;
        routed[22] = 63;
        for header in [&mut frame[14..34], &mut routed[14..34]] {
            let computed = checksum(header);
            header[10..12].copy_from_slice(&computed);
        }
        let outcome = switch.run(1, 0, &frame);
        assert_eq!(outcome.frame[14..34], routed[14..34], "{identification:#06x}");
    }
}

/// A probe of ToR 1: Ethernet, then what `heddle_wire` writes.
fn probe(path_util: u8) -> [u8; 60] {
    let mut frame = [0; 60];
    frame[..12].copy_from_slice(&FRAME[..12]);
    frame[12..14].copy_from_slice(&EtherType::PROBE.0.to_be_bytes());
    Probe { tor: TorId::new(1).unwrap(), path_util }.emit(&mut frame[14..]).unwrap();
    frame
}

/// A probe as HULA's paper has it, behind IPv4 (section 5.2), at a switch that is no ToR.
#[test]
fn a_probe_behind_ipv4_is_replicated_as_it_came() {
    for (scheme, name) in (0..).zip(names()) {
        if !matches!(name, "hula" | "mp_hula" | "shuttle") {
            continue;
        }
        let mut frame = [0; 60];
        frame[..12].copy_from_slice(&FRAME[..12]);
        frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 7, 0, 0, 64, 253]);
        frame[24..34].copy_from_slice(&[1, 2, 10, 255, 0, 1, 10, 255, 255, 255]);
        frame[34..38].copy_from_slice(&[0, 0, 1, 50]);
        let mut switch = Switch::new(scheme, false, 0);
        let first = switch.run(1_000_000_000, 1, &frame);
        assert_eq!((first.verdict, &first.frame[12..]), (Some(PROBE_FORWARDED), &frame[12..]));
        frame[37] = 40;
        let suppressed = switch.run(1_000_000_001, 2, &frame);
        assert_eq!(suppressed.verdict, Some(PROBE_TAKEN), "{name}");
        frame[37] = 30;
        let lower = switch.run(3_000_000_000, 3, &frame);
        assert_eq!((lower.verdict, &lower.frame[12..]), (Some(PROBE_FORWARDED), &frame[12..]));
    }
}

/// A second after boot, then a second, an hour and all of time back and forth: no packet is
/// dropped, and behind each jump a probe of a better path counts: an entry from the future is held
/// for a fresh one.
#[test]
fn clocks_that_jump_drop_nothing_and_probes_count_again() {
    const SECOND: u64 = 1_000_000_000;
    let jumps =
        [10 * SECOND, 9 * SECOND, 3_600 * SECOND, SECOND, u64::MAX, 0, u64::MAX / 2, 1, 2 * SECOND];
    for (scheme, name) in (0..).zip(names()) {
        let mut switch = Switch::new(scheme, true, 0);
        for (round, now) in (0..).zip(jumps) {
            let (uplink, util) = (1 + round % 8, 60 - 6 * round as u8);
            if matches!(name, "hula" | "mp_hula" | "shuttle") {
                let outcome = switch.run(now, uplink, &probe(util));
                assert_eq!(outcome.verdict, Some(PROBE_TAKEN), "{name} at {now}");
            }
            // Another flow, so that no flowlet says where it goes.
            let mut frame = FRAME;
            frame[35] = round as u8;
            for later in [0, 1, 1000] {
                let outcome = switch.run(now.saturating_add(later), 0, &frame);
                assert_eq!((outcome.verdict, outcome.action), (Some(0), 4), "{name} at {now}");
                if name == "hula" {
                    assert_eq!(outcome.to, uplink, "at {now} the hop of the latest probe");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn options_of_any_bytes(bytes in vec(any::<u8>(), 0..=40)) {
        heddle_switch_conformance::options::compare(&bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn options_that_begin_as_mptcps(length in 0..30_u8, subtype in any::<u8>(), rest in vec(any::<u8>(), 0..=37)) {
        let bytes = [&[30, length, subtype][..], &rest].concat();
        heddle_switch_conformance::options::compare(&bytes).map_err(TestCaseError::fail)?;
    }
}

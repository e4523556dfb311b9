//! The programs on frames of any bytes, and on frames that begin well.
#![allow(clippy::unwrap_used, reason = "tests")]

use heddle_switch_conformance::packets::{Switch, check};
use proptest::collection::vec;
use proptest::prelude::*;

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
        scheme in 0..4_u8,
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
    for scheme in 0..4 {
        let outcome = Switch::new(scheme, true, 0).run(1, 0, &FRAME);
        assert_eq!((outcome.verdict, outcome.action), (Some(0), 4));
        assert_eq!(outcome.frame[22], 63);
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

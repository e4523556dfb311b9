//! The C and the Rust on random steps.
#![allow(clippy::unwrap_used, reason = "tests")]

use heddle_switch_conformance::compare::compare;
use heddle_vectors::random::Kind;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ecmp_and_estimator(bytes in vec(any::<u8>(), 0..2_000)) {
        compare(Kind::Ecmp, &bytes).map_err(TestCaseError::fail)?;
        compare(Kind::Dre, &bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn hula(bytes in vec(any::<u8>(), 0..4_000)) {
        compare(Kind::Hula, &bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn mp_hula(bytes in vec(any::<u8>(), 0..4_000)) {
        compare(Kind::MpHula, &bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn cflb(bytes in vec(any::<u8>(), 0..2_000)) {
        compare(Kind::Cflb, &bytes).map_err(TestCaseError::fail)?;
    }
}

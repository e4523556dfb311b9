//! The C and the Rust on random steps.

use heddle_policy::LongFlows;
use heddle_switch_conformance::compare::{compare, compare_with};
use heddle_vectors::{Config, Kind};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_scheme(bytes in vec(any::<u8>(), 0..4_000)) {
        for kind in Kind::ALL {
            compare(kind, &bytes).map_err(TestCaseError::fail)?;
        }
    }

    /// A rule that the files of traces do not have.
    #[test]
    fn mp_hula_with_subflows_apart(bytes in vec(any::<u8>(), 0..4_000)) {
        let apart = |config: &mut Config| {
            if let Config::MpHula(mp_hula) = config {
                mp_hula.rules.long_flows = LongFlows::Apart;
            }
        };
        compare_with(Kind::named("mp-hula").unwrap(), &bytes, apart).map_err(TestCaseError::fail)?;
    }
}

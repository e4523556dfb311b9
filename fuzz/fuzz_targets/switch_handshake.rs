//! The options of a TCP header: the switch's C finds in them what the wire crate finds.
#![no_main]

use heddle_switch_conformance::options::compare;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|options: &[u8]| {
    if let Err(difference) = compare(options) {
        panic!("{difference}");
    }
});

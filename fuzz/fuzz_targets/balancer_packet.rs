//! A frame: the balancer's C reads in it what the wire crate reads, and no byte beyond it.
#![no_main]

use heddle_conformance::balancer::comparison;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    if let Err(difference) = comparison::compare(frame) {
        panic!("{difference}");
    }
});

//! A frame: the balancer's C reads in it what the wire crate reads, and no byte beyond it.
#![no_main]

use heddle_conformance::balancer::packet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    if let Err(difference) = packet::compare(frame) {
        panic!("{difference}");
    }
});

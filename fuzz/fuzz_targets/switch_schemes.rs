//! A scheme, a switch and its steps: the C decides as the Rust does, and both have the same state after each step.
#![no_main]

use heddle_switch_conformance::compare::{KINDS, compare};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let kind = KINDS[usize::from(input.0) % KINDS.len()];
    if let Err(difference) = compare(kind, input.1) {
        panic!("{difference}");
    }
});

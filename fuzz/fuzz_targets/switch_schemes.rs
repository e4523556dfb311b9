//! A scheme, a switch and its steps: the C decides as the Rust does, and both have the same state
//! after each step.
#![no_main]

use heddle_switch_conformance::compare::compare;
use heddle_vectors::Kind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let kind = Kind::ALL[usize::from(input.0) % Kind::ALL.len()];
    if let Err(difference) = compare(kind, input.1) {
        panic!("{difference}");
    }
});

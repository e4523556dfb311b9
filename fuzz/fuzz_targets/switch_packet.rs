//! A scheme and frames: the switch's whole XDP program, compiled natively, gives each frame one
//! verdict and changes no more than that allows.
#![no_main]

use heddle_switch_conformance::packets::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(why) = check(bytes) {
        panic!("{why}");
    }
});

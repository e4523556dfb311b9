//! HULA's probe: what is read is written again.
#![no_main]

use heddle_wire::Probe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(probe) = Probe::parse(bytes) else { return };
    let mut out = [0; Probe::BYTES];
    assert_eq!(probe.emit(&mut out), Ok(Probe::BYTES));
    assert_eq!(out, bytes[..Probe::BYTES]);
});

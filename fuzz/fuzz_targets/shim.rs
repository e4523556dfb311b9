//! MP-HULA's shim: what is read is written again, but for reserved bits.
#![no_main]

use heddle_wire::Shim;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = Shim::parse(bytes) else { return };
    let mut out = [0; Shim::BYTES];
    assert_eq!(frame.shim.emit(frame.ether_type, &mut out), Ok(Shim::BYTES));
    assert_eq!(out[..8], bytes[..8]);
    assert_eq!(out[8], bytes[8] & 0xf0);
    assert_eq!(out[10..], bytes[10..12]);
    assert_eq!(frame.payload.len(), bytes.len() - Shim::BYTES);
});

//! An MPTCP option: what is read is written again, but for reserved bits, and reads the same.
#![no_main]

use heddle_wire::MptcpOption;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(option) = MptcpOption::parse(bytes) else { return };
    let mut out = [0; 255];
    let len = option.emit(&mut out).expect("what was read can be written");
    assert_eq!((len, len), (bytes.len(), option.len()));
    assert_eq!(out[..2], bytes[..2]);
    assert_eq!(MptcpOption::parse(&out[..len]), Ok(option));
    assert!(option.emit(&mut out[..len - 1]).is_err());
});

//! The walk over TCP options: what it gives lies in the bytes, in order, and is what its length
//! says.
#![no_main]

use heddle_wire::{mptcp, tcp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut end = bytes.as_ptr_range().start;
    for option in tcp::options(bytes) {
        assert!(option.kind > 1 && option.kind == option.bytes[0]);
        assert_eq!(usize::from(option.bytes[1]), option.bytes.len());
        let range = option.bytes.as_ptr_range();
        assert!(end <= range.start && range.end <= bytes.as_ptr_range().end);
        end = range.end;
    }
    mptcp::find(bytes);
});

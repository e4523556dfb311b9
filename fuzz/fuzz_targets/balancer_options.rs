//! A TCP header's flags and options: the balancer's C finds the MPTCP option that the wire crate
//! finds, and reads no byte beyond.
#![no_main]

use heddle_conformance::balancer::{native, options};
use heddle_wire::TcpFlags;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (flags, area) = (TcpFlags(input.0), input.1);
    assert_eq!(native::find(area, flags), options::expected(area, flags));
});

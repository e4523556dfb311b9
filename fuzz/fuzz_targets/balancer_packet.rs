//! A frame: the balancer's C reads in it what the wire crate reads, and no byte beyond it; the
//! server id of QUIC, too.
#![no_main]

use heddle_conformance::balancer::{comparison, quic};
use heddle_wire::quic::ServerIds;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    if let Err(difference) = comparison::compare(frame) {
        panic!("{difference}");
    }
    let form = frame.last().and_then(|last| ServerIds::new(last >> 4, last & 15));
    if let Some(Err(difference)) = form.map(|ids| quic::compare(frame, ids)) {
        panic!("{difference}");
    }
});

//! Frames that the kernel makes and sends.

use std::time::{Duration, Instant};

use crate::network::{ip, veth};
use heddle_balancer_maps::abi::DecapCounter;
use heddle_balancer_maps::{Decap, Mode, Sources, interface_index};
use heddle_bpf_loader::{Clients, Generator};
use heddle_testing::{Need, skip_without};

/// The backends' program counts what comes out at the far end.
#[test]
fn what_is_generated_arrives() {
    if skip_without(Need::Root) {
        return;
    }
    let near = veth();
    ip("link set near up");
    ip("link set far up");
    let mut decap = Decap::load(0, Sources::Listed).unwrap();
    decap.program.attach(interface_index("far").unwrap(), Mode::Native).unwrap();
    let mut frame = vec![0; 60];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    let before = decap.count(DecapCounter::Other).unwrap().packets;
    for clients in [Clients::AsWritten, Clients::Many(1000)] {
        Generator::new(near).unwrap().send(&frame, clients, 6400).unwrap();
    }
    // The far end takes frames in softirq context, after the sender has returned.
    let arrived = || decap.count(DecapCounter::Other).unwrap().packets - before;
    let deadline = Instant::now() + Duration::from_secs(300);
    while arrived() < 12_800 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The link itself sends a few frames when it comes up (IPv6).
    let arrived = arrived();
    assert!((12_800..12_900).contains(&arrived), "{arrived}");
}

//! Frames that the kernel makes and sends.
#![allow(clippy::unwrap_used, reason = "tests")]
mod network;

use heddle_balancer_maps::abi::DecapCounter;
use heddle_balancer_maps::{
    Clients, Decap, Error, Generator, Mode, Sources, interface_index, pass,
};
use heddle_testing::{Need, skip_without};
use network::{ip, veth};

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
    std::thread::sleep(std::time::Duration::from_millis(100));
    // The link itself sends a few frames when it comes up (IPv6).
    let arrived = decap.count(DecapCounter::Other).unwrap().packets - before;
    assert!((12_800..12_900).contains(&arrived), "{arrived}");
}

#[test]
fn only_ip_has_clients() {
    if skip_without(Need::Root) {
        return;
    }
    let mut generator = Generator::new(1).unwrap();
    let refused = generator.send(&[0; 60], Clients::Many(2), 1);
    assert!(matches!(refused, Err(Error::Bench(_))), "{refused:?}");
}

#[test]
fn the_kernel_limits_batches() {
    if skip_without(Need::Root) {
        return;
    }
    let pass = pass().unwrap();
    pass.run_live(&[0; 60], 1000, 64).unwrap();
    assert!(pass.run_live(&[0; 60], 1000, 1000).is_err());
}

//! Network interfaces of a test's own.

use std::process::Command;

use heddle_balancer_maps::interface_index;
use heddle_bpf_loader::own_network;

/// Runs `ip` in this thread's network namespace: what it said.
pub fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A network namespace for this thread, with a veth pair in it: the one end's index.
pub fn veth() -> u32 {
    own_network().unwrap();
    ip("link add near type veth peer name far");
    interface_index("near").unwrap()
}

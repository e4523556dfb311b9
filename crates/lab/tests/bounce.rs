//! `XDP_TX` from a balancer reaches a backend through the router's bridge, with checksums that hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use heddle_lab::{Lab, Mac, Transport, skipped};

const PORT: u16 = 8080;
const FILE: u64 = 10_000_000;

/// Compiles `bounce.bpf.c` into `folder`, for one backend.
fn compile(backend: Mac, folder: &Path) -> PathBuf {
    let object = folder.join("bounce.o");
    let bytes = backend.0.map(|byte| byte.to_string()).join(",");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bounce.bpf.c");
    let status = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"])
        // Where Debian keeps asm/types.h.
        .args(["-idirafter", "/usr/include/x86_64-linux-gnu"])
        .args(["-idirafter", "/usr/include/aarch64-linux-gnu"])
        .arg(format!("-DBACKEND_MAC={{{bytes}}}"))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status()
        .expect("clang is needed: apt-get install clang");
    assert!(status.success(), "clang failed");
    object
}

#[test]
fn frames_sent_back_by_native_xdp_reach_the_backend() {
    if skipped("frames_sent_back_by_native_xdp_reach_the_backend") {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let object = compile(lab.backend(1).mac(), folder.path());
    lab.balancer(0)
        .run(&format!("ip link set dev eth0 xdpdrv obj {} sec xdp", object.display()))
        .unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.backend(), "backend-1");
        let deadline = Instant::now() + Duration::from_secs(3);
        assert_eq!(connection.wait_for_subflows(4, deadline).unwrap(), 4);
        connection.upload(FILE, 1, |_| ()).unwrap();
        connection.download(FILE, 2, |_| ()).unwrap();
    }
}

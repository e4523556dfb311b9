//! `XDP_TX` from a balancer reaches a backend through the router's bridge, with checksums that
//! hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heddle_lab::{Lab, Mac, NextHop, Transport};
use heddle_testing::{Need, require_program, skip_without};
use heddle_units::Rate;

const PORT: u16 = 8080;
const FILE: u64 = 10_000_000;

/// Compiles `bounce.bpf.c` into `folder`, for one backend.
fn compile(backend: Mac, folder: &Path) -> PathBuf {
    require_program("clang", "clang");
    let object = folder.join("bounce.o");
    let bytes = backend.0.map(|byte| byte.to_string()).join(",");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bounce.bpf.c");
    let backend = format!("-DBACKEND_MAC={{{bytes}}}");
    heddle_bpf_build::compile(&source, &object, &[&backend]).expect("clang is needed");
    object
}

/// Makes every balancer of the lab send all to one backend.
fn bounce_to(lab: &Lab, backend: usize) {
    let folder = tempfile::tempdir().expect("a folder for the object");
    let object = compile(lab.backend(backend).mac(), folder.path());
    let line = format!("ip link set dev eth0 xdpdrv obj {} sec xdp", object.display());
    for balancer in lab.balancers() {
        balancer.run(&line).expect("the kernel takes the program");
    }
}

#[test]
fn frames_sent_back_by_native_xdp_reach_the_backend() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    bounce_to(&lab, 1);
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert_eq!(connection.backend(), "backend-1");
        let deadline = Instant::now() + Duration::from_secs(30);
        assert_eq!(connection.wait_for_subflows(4, deadline).unwrap(), 4);
        connection.upload(FILE, 1, |_| ()).unwrap();
        connection.download(FILE, 2, |_| ()).unwrap();
    }
}

/// Balancers without state: a failure here is the lab's.
#[test]
fn a_balancer_cut_in_mid_transfer_is_routed_around() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).balancers(3).client_rate(Rate::mbps(40)).build().unwrap();
    bounce_to(&lab, 0);
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        lab.restore(lab.balancer(0)).unwrap();
        lab.route_vip(&[NextHop::Balancer(0)]).unwrap();
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        let mut cut = false;
        let transfer = connection.upload(FILE, 1, |so_far| {
            if so_far > FILE / 4 && !cut {
                cut = true;
                lab.cut(lab.balancer(0)).unwrap();
                lab.route_vip(&[NextHop::Balancer(1), NextHop::Balancer(2)]).unwrap();
            }
        });
        transfer.unwrap();
        assert!(cut);
    }
}

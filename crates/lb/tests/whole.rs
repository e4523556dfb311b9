//! The whole balancer: `heddled` in network namespaces, the kernel's own MPTCP at both ends.
#![allow(missing_docs)]

use std::net::SocketAddr;
use std::time::Duration;

use heddle_lab::{Daemons, Lab, Setup, Transport, count_joins, skipped};

const PORT: u16 = 8080;
const PATIENCE: Duration = Duration::from_secs(2);

fn setup(mptcp: &'static str, forwarding: &'static str) -> Setup {
    Setup {
        program: env!("CARGO_BIN_EXE_heddled").into(),
        mptcp,
        forwarding,
        port: PORT,
        more: String::new(),
    }
}

/// R1: hashing 5-tuples brings 1/n of the joins home, learning all of them.
#[test]
fn one_balancer_learns_what_hashing_loses() {
    if skipped("one_balancer_learns_what_hashing_loses") {
        return;
    }
    let lab = Lab::builder().backends(4).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let joins = |mode| {
        let daemons = Daemons::start(&lab, setup(mode, "l2")).unwrap();
        let each = lab
            .vips()
            .map(|vip| count_joins(&lab, SocketAddr::new(vip, PORT), 50, PATIENCE).unwrap());
        eprintln!("{}", daemons.log(0));
        (each[0].wanted + each[1].wanted, each[0].made + each[1].made)
    };
    // 300 joins at 1/4: a standard deviation is 7.5; beyond four of them once in 16 000 runs.
    let (wanted, made) = joins("off");
    assert_eq!(wanted, 300);
    assert!((45..=105).contains(&made), "{made} of {wanted} joins by 5-tuple");
    assert_eq!(joins("learn"), (300, 300));
}

//! `mptcp = "assign"` with the kernel's MPTCP at both ends: the balancer chooses keys, programs on the backends translate them.
#![allow(missing_docs, clippy::unwrap_used)] // Errors fail the test, in its helpers too.

mod common;

use std::net::SocketAddr;

use common::{FILE, JOIN_LIMIT, PORT, setup, soon, translate, untunnel};
use heddle_balancer_maps::Translate;
use heddle_balancer_maps::abi::TranslateCounter;
use heddle_lab::{Daemons, Lab, Transport, count_joins, mptcp_counters};
use heddle_testing::{Need, skip_without};

/// Events on all backends together.
fn events(backends: &[Translate], event: TranslateCounter) -> u64 {
    backends.iter().map(|backend| backend.tables.count(event).unwrap().packets).sum()
}

#[test]
fn a_connection_has_the_assigned_key() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).build().unwrap();
    let backends = translate(&lab);
    let _daemons = Daemons::start(&lab, setup("assign", "l2")).unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for vip in lab.vips() {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        connection.download(1_000_000, 1, |_| ()).unwrap();
        connection.upload(1_000_000, 2, |_| ()).unwrap();
        assert!(!connection.status().unwrap().fallback);
    }
    for event in TranslateCounter::ALL {
        println!("{event:?} {}", events(&backends, *event));
    }
    assert_eq!(events(&backends, TranslateCounter::Opened), 2);
}

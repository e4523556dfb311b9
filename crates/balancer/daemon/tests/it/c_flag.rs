//! `mptcp = "c-flag"`: each backend announces an address of its own for joins to its clients (RFC
//! 8684, section 3.1).

use std::net::SocketAddr;

use crate::common::{PORT, setup, soon};
use heddle_lab::{Daemons, Lab, Transport, join_address, mptcp_counters};
use heddle_testing::{Need, skip_without};
use heddled::config;

/// The commands that `heddle lb check` prints are run on the backends, and nothing else.
#[test]
fn joins_come_to_each_backends_own_address() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(2).backends(3).build().unwrap();
    let daemons = Daemons::start(&lab, setup("c-flag", "l2")).unwrap();
    let config = config::load("lab", &daemons.config(0)).unwrap();
    let vip = lab.vips()[0];
    let service = config.services.iter().find(|service| service.address == vip).unwrap();
    for (index, backend) in service.backends.iter().enumerate() {
        for command in config::commands(service, backend) {
            lab.backend(index).run(&command).unwrap();
        }
        let join = join_address(index, vip);
        lab.router().run(&format!("ip route add {join} via {}", lab.balancer(0).v4())).unwrap();
    }
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    for _ in 0..20 {
        let mut connection = lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT)).unwrap();
        assert!(connection.wait_for_subflows(2, soon()).unwrap() >= 2, "{:?}", connection.status());
        connection.download(100_000, 1, |_| ()).unwrap();
        let backend: usize = connection.backend().trim_start_matches("backend-").parse().unwrap();
        let joins = connection.status().unwrap().subflows;
        let remote =
            joins.iter().map(|flow| flow.remote.ip().to_canonical()).filter(|ip| *ip != vip);
        assert!(remote.clone().count() >= 1);
        assert!(remote.clone().all(|ip| ip == join_address(backend, vip)), "{joins:?}");
    }
    let unknown =
        lab.backends().iter().map(|node| mptcp_counters(node).unwrap()["MPJoinNoTokenFound"]);
    assert_eq!(unknown.sum::<u64>(), 0);
}

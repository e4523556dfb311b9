//! A service with several ports, between kernels.

use std::net::SocketAddr;

use crate::common::{PORT, ask, setup, soon, wait_for_backend};
use heddle_lab::{Connection, Daemons, Lab, Server, Transport};
use heddle_testing::{Need, skip_without};
use heddled::admin::{Reply, Request};
use heddled::health::State;

const PORTS: u16 = 3;

/// The configuration with PORTS ports in each service, the first of which is probed.
fn several(text: &str) -> String {
    let last = PORT + PORTS - 1;
    text.replace(&format!("port = {PORT}\n"), &format!("ports = \"{PORT}-{last}\"\n"))
        .replace("health = {", &format!("health = {{ port = {PORT},"))
}

/// MPTCP connections to each port of both addresses, four subflows each, after a reload; then the
/// daemon starts again, and they go on.
#[test]
fn connections_to_each_port_live_through_a_restart() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(3).build().unwrap();
    let servers = (0..PORTS).map(|port| lab.serve(Transport::Mptcp, PORT + port).unwrap());
    let _servers: Vec<Vec<Server>> = servers.collect();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    daemons.write_config(0, &several(&daemons.config(0))).unwrap();
    assert!(matches!(ask(&daemons, 0, &Request::Reload), Reply::Reloaded(_)));
    wait_for_backend(&daemons, 1, "backend-0", |backend| backend.health == State::Up);
    let open = |index: u16| {
        let vip = lab.vips()[usize::from(index % 2)];
        lab.connect(Transport::Mptcp, SocketAddr::new(vip, PORT + index / 2)).unwrap()
    };
    let mut connections: Vec<Connection> = (0..2 * PORTS).map(open).collect();
    for connection in &connections {
        assert_eq!(connection.wait_for_subflows(4, soon()).unwrap(), 4);
    }
    daemons.stop(0);
    daemons.restart(0).unwrap();
    for connection in &mut connections {
        connection.download(1_000_000, 3, |_| ()).unwrap();
        assert_eq!(connection.status().unwrap().established(), 4);
    }
    assert_eq!(open(2 * PORTS - 1).wait_for_subflows(4, soon()).unwrap(), 4);
}

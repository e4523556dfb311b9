//! Services of one group: connections of the kernel's own MPTCP are joined through another service
//! of the same backends.

use std::net::{IpAddr, SocketAddr};

use crate::common::{LIMIT, PORT, setup};
use heddle_lab::{Connection, Daemons, Lab, Transport, eventually};
use heddle_testing::{Need, skip_without};

const OTHER_PORT: u16 = 8081;

/// The configuration with all services in one group, and one service more: the IPv4 address with
/// another port.
fn grouped(lab: &Lab, text: &str) -> String {
    let mut text = text.to_owned();
    for name in ["web4", "web6"] {
        let line = format!("name = \"{name}\"\n");
        text = text.replace(&line, &format!("{line}group = \"web\"\n"));
    }
    text += &format!(
        "[[service]]\nname = \"other\"\ngroup = \"web\"\naddress = \"{}\"\nport = {OTHER_PORT}\nmptcp = \"learn\"\nforwarding = \"l2\"\n",
        lab.vips()[0]
    );
    for backend in lab.backends() {
        let (name, address) = (backend.name(), backend.v4());
        text += &format!("[[service.backend]]\nname = \"{name}\"\naddress = \"{address}\"\n");
    }
    text
}

fn with_group(lab: &Lab) -> Daemons<'_> {
    let mut daemons = Daemons::start(lab, setup("learn", "l2")).unwrap();
    for balancer in 0..lab.balancers().len() {
        daemons.stop(balancer);
        let config = grouped(lab, &daemons.config(balancer));
        daemons.write_config(balancer, &config).unwrap();
        daemons.restart(balancer).unwrap();
    }
    daemons
}

/// The client joins from its second IPv4 address to each address that a server announces.
fn announce(lab: &Lab, announcement: &str) {
    let second_address = lab.client_addresses(lab.vips()[0])[1];
    let client = lab.client();
    client.run("ip mptcp endpoint flush").unwrap();
    client
        .run(&format!("ip mptcp endpoint add {second_address} dev eth1 subflow fullmesh"))
        .unwrap();
    for backend in lab.backends() {
        backend.run("ip mptcp endpoint flush").unwrap();
        backend.run(&format!("ip mptcp endpoint add {announcement} signal")).unwrap();
    }
}

/// Waits until each connection has an established subflow to this address.
fn all_joined(connections: &[Connection], to: SocketAddr) {
    let probe = || {
        connections.iter().try_for_each(|connection| {
            let status = connection.status().map_err(|error| error.to_string())?;
            let joined = status.subflows.iter().any(|flow| flow.remote == to && flow.established);
            if joined { Ok(()) } else { Err(format!("no subflow to {to}: {status:?}")) }
        })
    };
    eventually(LIMIT, probe).unwrap();
}

/// Connections to a service have subflows through another one, announced by the servers, and carry
/// data.
fn joins_arrive(vip: impl Fn(&Lab) -> IpAddr, announcement: impl Fn(IpAddr) -> String, port: u16) {
    let lab = Lab::builder().balancers(2).backends(4).clients(2).build().unwrap();
    let _servers = lab.serve(Transport::Mptcp, PORT).unwrap();
    let _daemons = with_group(&lab);
    let v4 = lab.vips()[0];
    announce(&lab, &announcement(v4));
    let service = SocketAddr::new(vip(&lab), PORT);
    let mut connections: Vec<Connection> =
        (0..12).map(|_| lab.connect(Transport::Mptcp, service).unwrap()).collect();
    all_joined(&connections, SocketAddr::new(v4, port));
    for connection in &mut connections {
        connection.ping().unwrap();
        connection.download(100_000, 3, |_| ()).unwrap();
    }
}

#[test]
fn joins_to_another_port_find_their_connection() {
    if !skip_without(Need::Root) {
        let announcement = |v4| format!("{v4} dev lo port {OTHER_PORT}");
        joins_arrive(|lab| lab.vips()[0], announcement, OTHER_PORT);
    }
}

/// The kernel adds IPv4 subflows to connections that were opened by IPv6, but not the other way
/// round.
#[test]
fn joins_to_the_other_family_find_their_connection() {
    if !skip_without(Need::Root) {
        joins_arrive(|lab| lab.vips()[1], |v4| format!("{v4} dev lo"), PORT);
    }
}

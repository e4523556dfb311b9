//! A restart with other sizes of tables.

use std::net::SocketAddr;

use crate::common::{PORT, ask, said, setup};
use heddle_lab::{Connection, Daemons, Lab, Transport};
use heddle_testing::{Need, skip_without};
use heddled::admin::{Reply, Request};

fn ping(connections: &mut [Connection]) {
    for connection in connections {
        connection.ping().unwrap();
    }
}

/// The program before forwards until the next one, whose tables are empty, takes its place.
#[test]
fn a_restart_with_other_tables_empties_them_and_ends_no_connection() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(3).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let service = SocketAddr::new(lab.vips()[0], PORT);
    let mut connections: Vec<_> =
        (0..12).map(|_| lab.connect(Transport::Tcp, service).unwrap()).collect();
    ping(&mut connections);
    assert!(daemons.connections(0, 100).unwrap().matching >= 12);

    let larger = daemons.config(0).replace("flows = 65536", "flows = 262144");
    daemons.write_config(0, &larger).unwrap();
    let Reply::Reloaded(reloaded) = ask(&daemons, 0, &Request::Reload) else { panic!() };
    let why = "[tables] flows (room for 360448, before 90112)";
    let told = format!("{why} changes with the next start, which empties the tables");
    assert!(reloaded.changes.contains(&told), "{reloaded:?}");
    said(&daemons, 0, &told).unwrap();

    daemons.stop(0);
    ping(&mut connections);
    daemons.restart(0).unwrap();
    said(&daemons, 0, "next start").unwrap_err();
    ping(&mut connections);
    lab.connect(Transport::Tcp, service).unwrap().ping().unwrap();

    daemons.stop(0);
    daemons.restart(0).unwrap();
    ping(&mut connections);
    let log = daemons.log(0);
    let emptied = format!("the tables are empty, and connections go on by hash: {why}");
    assert_eq!(log.matches(&emptied).count(), 1, "the second restart keeps them: {log}");
    assert_eq!(log.matches("took over").count(), 2, "{log}");
}

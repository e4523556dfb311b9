//! Backends in maintenance, that say sorry for others, and that start slowly: connections of the
//! kernel's own TCP.

use std::net::SocketAddr;

use crate::common::{PORT, ask, setup, wait_for_backend};
use heddle_lab::{Connection, Daemons, Lab, Server, Transport};
use heddle_testing::{Need, skip_without};
use heddled::admin::{BackendChange, Reply, Request};
use heddled::health::State;

/// The backend that the tests are about; there are two others.
const THIS: &str = "backend-2";

fn lab() -> (Lab, Vec<Server>) {
    let lab = Lab::builder().backends(3).build().unwrap();
    let servers = lab.serve(Transport::Tcp, PORT).unwrap();
    (lab, servers)
}

/// Reloads with lines more in each service, and in this backend of each.
fn reload(daemons: &Daemons<'_>, of_service: &str, of_backend: &str) {
    let (port, name) = (format!("port = {PORT}\n"), format!("name = \"{THIS}\"\n"));
    let text = daemons.config(0).replace(&port, &format!("{port}{of_service}"));
    daemons.write_config(0, &text.replace(&name, &format!("{name}{of_backend}"))).unwrap();
    assert!(matches!(ask(daemons, 0, &Request::Reload), Reply::Reloaded(_)));
}

fn open(lab: &Lab) -> Connection {
    lab.connect(Transport::Tcp, SocketAddr::new(lab.vips()[0], PORT)).unwrap()
}

/// The number of some new connections that this backend gets.
fn placed(lab: &Lab, connections: usize) -> usize {
    (0..connections).filter(|_| open(lab).backend() == THIS).count()
}

fn wait_for_health(daemons: &Daemons<'_>, name: &str, health: State) {
    wait_for_backend(daemons, 1, name, |backend| backend.health == health);
}

/// Of 40 connections a third of the slots gets none once in ten million runs.
const MANY: usize = 40;

/// Its server answers the checks all the time.
#[test]
fn a_backend_in_maintenance_loses_its_connections_and_gets_no_new_ones() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let mut connections: Vec<Connection> = (0..MANY).map(|_| open(&lab)).collect();
    assert!(connections.iter().any(|connection| connection.backend() == THIS));
    reload(&daemons, "", "state = \"maintenance\"\n");
    wait_for_health(&daemons, THIS, State::Down);
    assert_eq!(placed(&lab, MANY), 0);
    for connection in &mut connections {
        let kept = connection.backend() != THIS;
        assert_eq!(connection.ping().is_ok(), kept, "{}", connection.backend());
    }
    reload(&daemons, "", "");
    wait_for_health(&daemons, THIS, State::Up);
    assert_ne!(placed(&lab, MANY), 0);
}

#[test]
fn a_sorry_backend_serves_while_all_others_are_down() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    reload(&daemons, "", "sorry = true\n");
    wait_for_backend(&daemons, 1, THIS, |backend| backend.sorry);
    assert_eq!(placed(&lab, MANY), 0);
    let others = &lab.backends()[..2];
    lab.cut(&others[0]).unwrap();
    wait_for_health(&daemons, others[0].name(), State::Down);
    assert_eq!(placed(&lab, MANY), 0, "one is left");
    lab.cut(&others[1]).unwrap();
    wait_for_health(&daemons, others[1].name(), State::Down);
    let mut sorry: Vec<Connection> = (0..MANY).map(|_| open(&lab)).collect();
    assert!(sorry.iter().all(|connection| connection.backend() == THIS));
    for other in others {
        lab.restore(other).unwrap();
        wait_for_health(&daemons, other.name(), State::Up);
    }
    assert_eq!(placed(&lab, MANY), 0);
    for connection in &mut sorry {
        connection.ping().unwrap();
    }
}

/// A long start, of which the first step is seen: a 21st of the connections; without it a third of
/// them.
#[test]
fn a_backend_that_is_up_again_gets_few_connections_at_first() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    reload(&daemons, "slow_start = \"1h\"\n", "");
    lab.cut(&lab.backends()[2]).unwrap();
    wait_for_health(&daemons, THIS, State::Down);
    lab.restore(&lab.backends()[2]).unwrap();
    wait_for_health(&daemons, THIS, State::Up);
    // 7 and 50 of 150 are expected, with standard deviations of 2.6 and 5.8.
    let slow = placed(&lab, 150);
    assert!(slow < 25, "{slow} of 150");
    reload(&daemons, "", "");
    let at_once = placed(&lab, 150);
    assert!(at_once >= 25, "{at_once} of 150");
}

/// A weight by command moves no connection, and lasts until the file is read again.
#[test]
fn a_backend_is_weighed_without_the_file() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let mut before: Vec<Connection> = (0..MANY).map(|_| open(&lab)).collect();
    assert!(before.iter().any(|connection| connection.backend() == THIS));
    let weigh = |weight| {
        let change = BackendChange { weight: Some(weight), draining: None };
        let request = Request::Change { service: None, backend: THIS.into(), change };
        let Reply::Backends(changed) = ask(&daemons, 0, &request) else { panic!() };
        assert_eq!(changed.backends.len(), 2, "one of each service");
        assert!(changed.backends.iter().all(|backend| backend.weight == weight), "{changed:?}");
    };
    weigh(0);
    assert_eq!(placed(&lab, MANY), 0);
    weigh(1000);
    // Of 1002 parts two are others'.
    assert!(placed(&lab, MANY) > MANY - 5);
    reload(&daemons, "", "");
    wait_for_backend(&daemons, 1, THIS, |backend| backend.weight == 1);
    for connection in &mut before {
        connection.ping().unwrap();
    }
}

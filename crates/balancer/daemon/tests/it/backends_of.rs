//! A service that has the backends of another one, under the kernel's own TCP.

use std::net::SocketAddr;

use crate::common::{LIMIT, PORT, ask, is_well, setup, wait_for_backend};
use heddle_lab::{Daemons, Lab, Setup, Transport, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{BackendChange, Reply, Request};
use heddled::health::State;

const OTHER_PORT: u16 = PORT + 1;
/// The backend that is drained.
const THIS: &str = "backend-2";
/// Of 40 connections a third of the slots gets none once in ten million runs.
const MANY: usize = 40;

/// The number of some new connections to a port that the backend gets.
fn placed(lab: &Lab, port: u16) -> usize {
    let service = SocketAddr::new(lab.vips()[0], port);
    let open = |_| lab.connect(Transport::Tcp, service).unwrap();
    (0..MANY).map(open).filter(|connection| connection.backend() == THIS).count()
}

#[test]
fn both_services_have_the_backends_and_follow_their_drains() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().backends(3).build().unwrap();
    let _servers = [PORT, OTHER_PORT].map(|port| lab.serve(Transport::Tcp, port).unwrap());
    let extra_config = format!(
        "[[service]]\nname = \"again\"\naddress = \"{}\"\nport = {OTHER_PORT}\nbackends_of = \"web4\"\n",
        lab.vips()[0]
    );
    let mut daemons = Daemons::start(&lab, Setup { extra_config, ..setup("learn", "l2") }).unwrap();
    wait_for_backend(&daemons, 1, THIS, |backend| backend.health == State::Up);
    eventually(LIMIT, || is_well(&daemons, 0)).unwrap();
    assert_ne!(placed(&lab, PORT), 0);
    assert_ne!(placed(&lab, OTHER_PORT), 0);
    let Reply::Services(services) = ask(&daemons, 0, &Request::Services) else { panic!() };
    let again = services.services.iter().find(|service| service.name == "again").unwrap();
    assert_eq!((again.backends, again.backends_up), (3, 3));

    // A daemon that finds these tables goes on with them.
    daemons.stop(0);
    daemons.restart(0).unwrap();
    assert_ne!(placed(&lab, OTHER_PORT), 0);
    let change = BackendChange { weight: None, draining: Some(true) };
    ask(&daemons, 0, &Request::Change { service: None, backend: THIS.into(), change });
    assert_eq!((placed(&lab, PORT), placed(&lab, OTHER_PORT)), (0, 0));
}

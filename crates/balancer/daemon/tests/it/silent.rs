//! A backend that dies between two health checks: new connections of the kernel's TCP leave it.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{LIMIT, PORT, ask, setup};
use heddle_lab::{Connection, Daemons, Lab, Transport, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{Reply, Request, Selection};
use heddled::health::State;

const DEAD: &str = "backend-0";
const CONNECTIONS: usize = 24;

fn open(lab: &Lab) -> Result<Connection, String> {
    let service = SocketAddr::new(lab.vips()[0], PORT);
    lab.connect(Transport::Tcp, service).map_err(|error| error.to_string())
}

/// Checks come too seldom to notice: whatever opens does so by repeated SYNs.
#[test]
fn new_connections_leave_a_backend_before_a_check_fails() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().clients(1).balancers(1).backends(2).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let slow = daemons.config(0).replace("interval = \"500ms\"", "interval = \"600s\"");
    daemons.write_config(0, &slow).unwrap();
    daemons.stop(0);
    daemons.restart(0).unwrap();
    eventually(LIMIT, || open(&lab).map(drop)).unwrap();
    lab.cut(lab.backend(0)).unwrap();
    let times: Vec<Duration> = thread::scope(|scope| {
        let connect = || {
            let began = Instant::now();
            let opened = eventually(LIMIT, || open(&lab)).unwrap();
            assert_ne!(opened.backend(), DEAD);
            began.elapsed()
        };
        let all: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(connect)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let Reply::Backends(all) = ask(&daemons, 0, &Request::Backends(Selection::default())) else {
        panic!()
    };
    let dead = all.backends.iter().find(|backend| backend.name == DEAD).unwrap();
    assert_ne!(dead.health, State::Down, "no check has noticed");
    println!("connections opened after {times:?}");
}

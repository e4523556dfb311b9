//! Health checks on the way of packets: backends whose address answers and whose VIP does not.

use std::fmt::Write as _;
use std::net::TcpListener;

use crate::common::{LIMIT, PORT, ask, said, setup, untunnel};
use heddle_lab::{Daemons, Lab, Node, Transport, eventually};
use heddle_testing::{Need, skip_without};
use heddled::admin::{BackendStatus, Reply, Request, Selection};
use heddled::health::State;

/// Waits until all backends of all services have this health.
fn wait_for(daemons: &Daemons<'_>, health: State) -> Vec<BackendStatus> {
    eventually(LIMIT, || {
        let Reply::Backends(all) = ask(daemons, 0, &Request::Backends(Selection::default())) else {
            panic!("no backends")
        };
        let all = all.backends;
        if all.iter().all(|one| one.health == health) { Ok(all) } else { Err(format!("{all:?}")) }
    })
    .unwrap()
}

/// The port of the checks of the UDP service's backends.
const CHECKS: u16 = 9090;

/// Backends that answer checks at their own addresses alone: at the service's, the port is closed.
fn listen_for_checks(lab: &Lab) -> Vec<TcpListener> {
    let listen = |node: &Node| node.enter(|| TcpListener::bind((node.v4(), CHECKS)).unwrap());
    lab.backends().iter().map(|node| listen(node).unwrap()).collect()
}

/// A UDP service with the backends of the others.
fn datagrams(lab: &Lab, forwarding: &str) -> String {
    let mut text = format!(
        "[[service]]\nname = \"datagrams\"\naddress = \"{}\"\nport = 5353\nprotocol = \"udp\"\nforwarding = \"{forwarding}\"\n\
         health = {{ kind = \"tcp\", port = {CHECKS}, interval = \"500ms\", rise = 1, fall = 2 }}\n",
        lab.vips()[0]
    );
    for (number, node) in lab.backends().iter().enumerate() {
        let _ = write!(
            text,
            "[[service.backend]]\nname = \"backend-{number}\"\naddress = \"{}\"\n",
            node.v4()
        );
    }
    text
}

/// Takes the service's addresses off the backends, or puts them back.
fn addresses(lab: &Lab, command: &str) {
    for node in lab.backends() {
        for (vip, bits) in lab.vips().into_iter().zip([32, 128]) {
            node.run(&format!("ip address {command} {vip}/{bits} dev lo")).unwrap();
        }
    }
}

fn status_names_backends_whose_vip_does_not_answer(
    forwarding: &'static str,
    lose: impl FnOnce(&Lab),
    repair: impl FnOnce(&Lab),
) {
    let lab = Lab::builder().backends(2).build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let mut decapsulating = untunnel(&lab, forwarding);
    let daemons = Daemons::start(&lab, setup("learn", forwarding)).unwrap();
    let _probed = listen_for_checks(&lab);
    let config = daemons.config(0) + &datagrams(&lab, forwarding);
    let config = config.replace("kind = \"tcp\"", "kind = \"tcp\", through = \"forwarding\"");
    daemons.write_config(0, &config).unwrap();
    // No service had such checks at the start.
    ask(&daemons, 0, &Request::Reload);
    wait_for(&daemons, State::Up);

    decapsulating.clear();
    lose(&lab);
    let lost = wait_for(&daemons, State::Down);
    said(&daemons, 0, "backend-0 of web4 is down: its address answers, and ").unwrap();
    for backend in lost {
        let reason = backend.reason.unwrap_or_default();
        let way = format!("by {}: no answer in time", forwarding.to_uppercase());
        assert!(
            reason.starts_with("its address answers, and ") && reason.ends_with(&way),
            "{reason}"
        );
    }
    repair(&lab);
    decapsulating = untunnel(&lab, forwarding);
    wait_for(&daemons, State::Up);
    drop(decapsulating);
}

#[test]
fn backends_without_the_services_address_are_down() {
    if skip_without(Need::Root) {
        return;
    }
    status_names_backends_whose_vip_does_not_answer(
        "l2",
        |lab| addresses(lab, "delete"),
        |lab| addresses(lab, "add"),
    );
}

#[test]
fn backends_that_do_not_decapsulate_ipip_are_down() {
    if skip_without(Need::Root) {
        return;
    }
    status_names_backends_whose_vip_does_not_answer("ipip", |_| (), |_| ());
}

#[test]
fn backends_that_do_not_decapsulate_gue_are_down() {
    if skip_without(Need::Root) {
        return;
    }
    status_names_backends_whose_vip_does_not_answer("gue", |_| (), |_| ());
}

//! `/healthz` of a running daemon, by which BIRD and the other balancers judge.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::common::{LIMIT, PORT, setup};
use heddle_lab::{Daemons, Lab, Transport, eventually};
use heddle_testing::{Need, skip_without};

/// The answer to a GET at the address where a balancer serves metrics.
fn get(lab: &Lab, path: &str) -> String {
    let node = lab.balancer(0);
    let address = SocketAddr::new(node.v4().into(), 9100);
    node.enter(|| {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
    .unwrap()
}

/// Waits until `/healthz` answers with this status.
fn wait_for_status(lab: &Lab, status: &str) -> String {
    let start = format!("HTTP/1.1 {status} ");
    let probe = || {
        let answer = get(lab, "/healthz");
        if answer.starts_with(&start) { Ok(answer) } else { Err(answer) }
    };
    eventually(LIMIT, probe).unwrap()
}

#[test]
fn a_program_that_is_detached_makes_the_balancer_unhealthy() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    assert!(wait_for_status(&lab, "200").ends_with("\r\n\r\nok\n"));
    assert!(get(&lab, "/metrics").contains("\nheddle_lb_programs_attached 1\n"));

    // The link that holds the program has no other holder than its pin.
    daemons.remove_program(0);
    let answer = wait_for_status(&lab, "503");
    assert!(answer.ends_with("\r\n\r\nthe program is not attached to eth0\n"), "{answer}");
    let metrics = get(&lab, "/metrics");
    assert!(metrics.contains("\nheddle_lb_programs_attached 0\n"), "{metrics}");
    assert!(metrics.contains("\nheddle_lb_maps_in_sync 1\n"), "{metrics}");

    daemons.stop(0);
    daemons.restart(0).unwrap();
    wait_for_status(&lab, "200");

    // A program whose link is gone, and whose maps are there, is attached again.
    daemons.detach_program(0).unwrap();
    let logged = || daemons.log(0).contains("attached again").then_some(()).ok_or("not yet".into());
    eventually(LIMIT, logged).unwrap();
    wait_for_status(&lab, "200");
}

/// It has no heartbeats that would tell of the link.
#[test]
fn a_lone_balancer_whose_link_is_down_is_unhealthy() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = Lab::builder().build().unwrap();
    let _servers = lab.serve(Transport::Tcp, PORT).unwrap();
    let _daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    wait_for_status(&lab, "200");
    lab.cut(lab.balancer(0)).unwrap();
    let answer = wait_for_status(&lab, "503");
    assert!(answer.contains("cut off: the link is down"), "{answer}");
    lab.restore(lab.balancer(0)).unwrap();
    wait_for_status(&lab, "200");
}

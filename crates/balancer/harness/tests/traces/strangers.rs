//! Access to a balancer's steering port: other balancers, which know the cookie.

use std::net::{IpAddr, SocketAddr};

use heddle_balancer_maps::abi::{Counter, STEERING_VERSION, SteeringKind};
use heddle_harness::{Cluster, Fate, Setup, balancer_address, steered};

use crate::world::{Traced, flow, open};

const COOKIE: u64 = 0xfeed_beef_0123_4567;

/// struct steering, of abi.h.
fn header(version: u32, kind: u8, token: u32, backend: u32, cookie: u64) -> Vec<u8> {
    let start = [version as u8, kind, 0, 0];
    [&start[..], &token.to_be_bytes(), &backend.to_be_bytes(), &cookie.to_ne_bytes()].concat()
}

fn cluster() -> Option<Cluster> {
    open(Setup { balancers: 3, ..Setup::default() })
}

#[test]
fn a_register_with_the_cookie_is_believed() {
    let Some(cluster) = cluster() else { return };
    let connection = crate::world::owned_by(&cluster, 0, 1);
    let word =
        header(STEERING_VERSION, SteeringKind::Register as u8, connection.token(), 1002, COOKIE);
    let frame = steered(balancer_address(1), balancer_address(0), &word, &connection.third_ack());
    assert_eq!(cluster.send(0, &frame).unwrap().fate, Fate::Backend(2));
    assert!(cluster.token(0, connection.token()).is_some());
}

#[test]
fn strangers_and_wrong_words_are_dropped() {
    let Some(mut cluster) = cluster() else { return };
    let inner = flow(1).ack(&[], 1);
    let register = SteeringKind::Register as u8;
    let right = header(STEERING_VERSION, register, 7, 1002, COOKIE);
    let (peer, own) = (balancer_address(1), balancer_address(0));
    let stranger = SocketAddr::new("10.0.0.99".parse::<IpAddr>().unwrap(), peer.port());
    let mut beyond = flow(1);
    beyond.service.set_port(80);
    let cases = [
        (
            "an unknown address",
            Counter::DropUnauthenticated,
            steered(stranger, own, &right, &inner),
        ),
        (
            "the balancer's own address",
            Counter::DropUnauthenticated,
            steered(own, own, &right, &inner),
        ),
        (
            "a wrong cookie",
            Counter::DropUnauthenticated,
            steered(peer, own, &header(STEERING_VERSION, register, 7, 1002, COOKIE ^ 1), &inner),
        ),
        (
            "another version",
            Counter::DropUnauthenticated,
            steered(peer, own, &header(2, register, 7, 1002, COOKIE), &inner),
        ),
        (
            "half a header",
            Counter::DropUnauthenticated,
            steered(peer, own, &right[..8], &inner[..20]),
        ),
        (
            "no such kind",
            Counter::DropMalformed,
            steered(peer, own, &header(STEERING_VERSION, 9, 7, 1002, COOKIE), &inner),
        ),
        ("of no service", Counter::DropMalformed, steered(peer, own, &right, &beyond.ack(&[], 1))),
        (
            "a steering header in another",
            Counter::DropMalformed,
            steered(peer, own, &right, &steered(peer, own, &right, &inner)),
        ),
        (
            "of an unknown backend",
            Counter::DropNoBackend,
            steered(peer, own, &header(STEERING_VERSION, register, 7, 4, COOKIE), &inner),
        ),
    ];
    for (what, counter, frame) in cases {
        let (sent, seen) = cluster.seen(0, &frame);
        assert_eq!(sent.fate, Fate::Dropped, "{what}");
        assert_eq!(seen.at(0), [counter], "{what}");
    }
    let maps = &cluster.balancer(0).unwrap().maps;
    assert_eq!((maps.tokens.iter().count(), maps.flows.iter().count()), (0, 0));
}

/// Packets from the address of a dead balancer are refused, also if another host has the address now.
#[test]
fn a_balancer_that_left_is_a_stranger() {
    let Some(mut cluster) = cluster() else { return };
    cluster.kill(1).unwrap();
    let word = header(STEERING_VERSION, SteeringKind::Confirm as u8, 7, 1002, COOKIE);
    let frame = steered(balancer_address(1), balancer_address(0), &word, &flow(1).ack(&[], 1));
    let (_, seen) = cluster.seen(0, &frame);
    assert_eq!(seen.at(0), [Counter::DropUnauthenticated]);
}

/// The owner is dead and the others do not know yet: queries to it are lost; then the change is published, and the SYN comes again.
#[test]
fn questions_to_the_dead_are_lost_until_it_is_known() {
    let Some(mut cluster) = cluster() else { return };
    let connection = crate::world::owned_by(&cluster, 0, 1);
    let home = cluster.connect(1, &connection);
    let join = connection.join(&flow(9));
    cluster.crash(0);
    assert_eq!(cluster.send(2, &join).unwrap().fate, Fate::Lost);
    assert_eq!(cluster.to(1, &connection.data(1)), home, "known flows do not mind");
    cluster.publish().unwrap();
    assert_eq!(cluster.to(1, &connection.data(1)), home);
    assert_eq!(cluster.to(2, &join), home);
}

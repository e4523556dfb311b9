//! Access to a balancer's steering port: other balancers, which have the cluster's key.

use std::net::{IpAddr, SocketAddr};

use heddle_balancer_maps::abi::{Counter, STEERING_VERSION, SteeringKind};
use heddle_balancer_maps::steering::{Message, Signed, sign};
use heddle_harness::{Cluster, KEY, Outcome, Setup, balancer_address, inner, steered};

use crate::traces::world::{Traced, flow, open};

/// A header that the first balancer beside `own` has signed for this packet; `version` and `kind`
/// may be none that there are.
fn header(version: u32, kind: u8, token: u32, backend: u32, frame: &[u8]) -> Signed {
    let message = Message { token, backend, ..Message::of(SteeringKind::Register) };
    let mut header = message.signed(KEY, balancer_address(1).ip(), None);
    header[..2].copy_from_slice(&[version as u8, kind]);
    sign(&mut header, KEY, balancer_address(1).ip(), Some(&inner(frame)));
    header
}

/// The header with one bit of its tag changed.
fn forged(header: &Signed) -> Signed {
    let mut forged = *header;
    forged[19] ^= 1;
    forged
}

fn cluster() -> Option<Cluster> {
    open(Setup { balancers: 3, ..Setup::default() })
}

#[test]
fn a_signed_register_is_believed() {
    let Some(cluster) = cluster() else { return };
    let connection = crate::traces::world::owned_by(&cluster, 0, 1);
    let keys = connection.third_ack();
    let register = SteeringKind::Register as u8;
    let word = header(STEERING_VERSION, register, connection.token(), 1002, &keys);
    let frame = steered(balancer_address(1), balancer_address(0), &word, &keys);
    assert_eq!(cluster.send(0, &frame).unwrap().outcome, Outcome::Backend(2));
    assert!(cluster.token(0, connection.token()).is_some());
}

#[test]
fn strangers_and_wrong_words_are_dropped() {
    let Some(mut cluster) = cluster() else { return };
    let packet = flow(1).ack(&[], 1);
    let register = SteeringKind::Register as u8;
    let right = header(STEERING_VERSION, register, 7, 1002, &packet);
    let (peer, own) = (balancer_address(1), balancer_address(0));
    let stranger = SocketAddr::new("10.0.0.99".parse::<IpAddr>().unwrap(), peer.port());
    let mut beyond = flow(1);
    beyond.service.set_port(80);
    let beyond = beyond.ack(&[], 1);
    let within = steered(peer, own, &right, &packet);
    let registration = |frame: &[u8]| header(STEERING_VERSION, register, 7, 1002, frame);
    let cases = [
        (
            "an unknown address",
            Counter::DropUnauthenticated,
            steered(stranger, own, &right, &packet),
        ),
        (
            "the balancer's own address",
            Counter::DropUnauthenticated,
            steered(own, own, &right, &packet),
        ),
        ("a wrong tag", Counter::DropUnauthenticated, steered(peer, own, &forged(&right), &packet)),
        (
            "another version",
            Counter::DropUnauthenticated,
            steered(peer, own, &header(STEERING_VERSION + 1, register, 7, 1002, &packet), &packet),
        ),
        (
            "half a header",
            Counter::DropUnauthenticated,
            steered(peer, own, &right[..8], &packet[..20]),
        ),
        (
            "no such kind",
            Counter::DropMalformed,
            steered(peer, own, &header(STEERING_VERSION, 99, 7, 1002, &packet), &packet),
        ),
        (
            "another packet behind it",
            Counter::DropUnauthenticated,
            steered(peer, own, &right, &flow(2).ack(&[], 1)),
        ),
        (
            "another balancer's message",
            Counter::DropUnauthenticated,
            steered(balancer_address(2), own, &right, &packet),
        ),
        (
            "of no service",
            Counter::DropMalformed,
            steered(peer, own, &registration(&beyond), &beyond),
        ),
        (
            "a steering header in another",
            Counter::DropMalformed,
            steered(peer, own, &registration(&within), &within),
        ),
        (
            "of another balancer as the backend",
            Counter::DropMalformed,
            steered(peer, own, &header(STEERING_VERSION, register, 7, 102, &packet), &packet),
        ),
        (
            "of no backend",
            Counter::DropMalformed,
            steered(peer, own, &header(STEERING_VERSION, register, 7, 0, &packet), &packet),
        ),
    ];
    for (what, counter, frame) in cases {
        let (sent, seen) = cluster.seen(0, &frame);
        assert_eq!(sent.outcome, Outcome::Dropped, "{what}");
        assert_eq!(seen.at(0), [counter], "{what}");
    }
    let maps = &cluster.balancer(0).unwrap().maps;
    assert_eq!((maps.tokens.iter().count(), maps.flows.iter().count()), (0, 0));
}

/// A balancer that is taken for dead may live, and signs: it is heard.
#[test]
fn a_balancer_that_is_taken_for_dead_is_heard() {
    let Some(mut cluster) = cluster() else { return };
    cluster.publish_to(0, &[0, 2]).unwrap();
    let packet = flow(1).ack(&[], 1);
    let word = header(STEERING_VERSION, SteeringKind::Confirm as u8, 7, 1002, &packet);
    let frame = steered(balancer_address(1), balancer_address(0), &word, &packet);
    let (sent, seen) = cluster.seen(0, &frame);
    assert_eq!((sent.outcome, sent.via), (Outcome::Backend(2), vec![0, 2]), "and told on");
    assert_eq!(seen.at(0), [Counter::SteeredKeys, Counter::TokenAdded]);
    assert_eq!(seen.at(2), [Counter::SentForPeer, Counter::TokenAdded]);
}

/// The owner is dead and the others do not know yet: queries to it are lost; then the change is
/// published, and the SYN comes again.
#[test]
fn questions_to_the_dead_are_lost_until_it_is_known() {
    let Some(mut cluster) = cluster() else { return };
    let connection = crate::traces::world::kept_by(&cluster, 0, 1);
    let home = cluster.connect(1, &connection);
    let join = connection.join(&flow(9));
    cluster.crash(0);
    assert_eq!(cluster.send(2, &join).unwrap().outcome, Outcome::Lost);
    assert_eq!(cluster.to(1, &connection.data(1)), home, "known flows do not mind");
    cluster.publish().unwrap();
    assert_eq!(cluster.to(1, &connection.data(1)), home);
    assert_eq!(cluster.to(2, &join), home);
}

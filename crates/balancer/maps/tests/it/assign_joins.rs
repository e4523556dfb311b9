//! Joins of connections whose key a balancer assigned, at that balancer and at another (RomanRoads,
//! section III-C, figure 3).

use crate::assigned::{
    Flags, balancer, balancer_address, count, join, key_in, peer, run, segment, set_ring, syn,
    token,
};
use heddle_balancer_maps::abi::{Counter, FlowState, STEERING_VERSION};
use heddle_balancer_maps::{Action, Balancer};
use heddle_testing::{Need, skip_without};

/// The destination MAC address of a frame.
fn way(frame: &[u8]) -> [u8; 6] {
    frame[..6].try_into().unwrap()
}

/// A connection from this port, open: its backend's address and its token.
fn open(balancer: &Balancer, port: u16) -> ([u8; 6], u32) {
    let mut opened = run(balancer, &syn(port));
    while opened.action == Action::Drop {
        opened = run(balancer, &syn(port));
    }
    let ack = run(balancer, &segment(port, Flags::Ack, &[]));
    assert_eq!(way(&opened.data), way(&ack.data));
    (way(&opened.data), token(key_in(&opened)))
}

#[test]
fn a_join_at_the_same_balancer_follows_its_connection() {
    if skip_without(Need::Root) {
        return;
    }
    let balancer = balancer(0, 4);
    for port in 1..=100 {
        let (backend, token) = open(&balancer, port);
        let (other, same_way) =
            (1000 + port, |packet: &[u8]| way(&run(&balancer, packet).data) == backend);
        assert!(same_way(&join(other, token)));
        assert!(same_way(&segment(other, Flags::Ack, &[])));
        assert!(same_way(&segment(other, Flags::Ack, &[])));
    }
    assert_eq!(count(&balancer, Counter::SentJoin), 100);
}

/// Sends `packet` to `to` and what comes of it to `owner`: the frame in between, and the last one.
fn by_way_of(owner: &Balancer, to: &Balancer, packet: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let between = run(to, packet);
    assert_eq!(between.action, Action::Redirect);
    let last = owner.program.run(&between.data, 1).unwrap();
    assert_eq!(last.action, Action::Redirect);
    (between.data, last.data)
}

/// As published: its owner forwards all packets of the join, for ever.
#[test]
fn a_join_at_another_balancer_goes_by_way_of_its_owner() {
    if skip_without(Need::Root) {
        return;
    }
    let (owner, other) = (balancer(0, 4), balancer(1, 4));
    for port in 1..=100 {
        let (backend, token) = open(&owner, port);
        let second = 1000 + port;
        let ack = segment(second, Flags::Ack, &[]);
        for packet in [join(second, token), ack.clone(), ack.clone(), ack] {
            let (between, last) = by_way_of(&owner, &other, &packet);
            // IPv4 to the owner, UDP, and "treat it as your own".
            assert_eq!(
                between[30..34],
                balancer_address(0).to_string().parse::<std::net::Ipv4Addr>().unwrap().octets()
            );
            assert_eq!(between[42..44], [STEERING_VERSION as u8, 8]);
            assert_eq!((way(&last), &last[14..]), (backend, &packet[..]));
        }
    }
    assert_eq!(count(&other, Counter::SteeredForward), 400);
    let flows: Vec<_> = other.maps.flows.iter().collect();
    assert!(flows.iter().all(|flow| flow.token.is_none() && u32::from(flow.target) == peer(0)));
    assert!(flows.iter().all(|flow| flow.state == FlowState::Established));
}

/// The ICMP error has the MTU less the outer headers, as for any tunnel: IPv4, UDP and 20 bytes.
#[test]
fn what_is_too_long_for_the_owner_is_answered() {
    if skip_without(Need::Root) {
        return;
    }
    let (owner, other) = (balancer(0, 2), balancer(1, 2));
    let (_, token) = open(&owner, 1);
    by_way_of(&owner, &other, &join(2, token));
    let long = |payload: usize| {
        let payload = &vec![0; payload];
        let family = crate::frames::Family::V4;
        crate::assigned::Segment {
            family,
            port: 2,
            flags: Flags::Ack,
            options: &[],
            payload,
            extension: false,
        }
        .packet()
    };
    by_way_of(&owner, &other, &long(1500 - 48 - 40));
    let answer = run(&other, &long(1500 - 48 - 39));
    assert_eq!((answer.action, &answer.data[34..36]), (Action::Tx, &[3, 4][..]));
    assert_eq!(answer.data[40..42], u16::to_be_bytes(1500 - 48));
    assert_eq!(count(&other, Counter::TooBig), 1);
}

/// Two balancers that each take the other for the owner: what one sent, the other does not send
/// back.
#[test]
fn balancers_that_disagree_make_no_loop() {
    if skip_without(Need::Root) {
        return;
    }
    let (mut first, mut second) = (balancer(0, 2), balancer(1, 2));
    set_ring(&mut first, |_| 1, 0);
    set_ring(&mut second, |_| 0, 1);
    let packet = join(2, 77);
    let ack = segment(2, Flags::Ack, &[]);
    for packet in [&packet, &ack] {
        let (sent, back) = (run(&first, packet), run(&second, packet));
        assert_eq!((sent.action, back.action), (Action::Redirect, Action::Redirect));
    }
    let sent = run(&first, &ack);
    assert_eq!(second.program.run(&sent.data, 1).unwrap().action, Action::Drop);
}

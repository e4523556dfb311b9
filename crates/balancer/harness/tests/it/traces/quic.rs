//! QUIC by connection id: packets that name a backend go there, whatever their addresses and ports.

use heddle_balancer_maps::abi::{Counter, FlowState, TargetState};
use heddle_harness::{
    Cluster, Flow, Outcome, Random, Setup, connection_id, fragments, server_id, tagged,
};
use heddle_wire::quic::ServerIds;

use crate::traces::world::{Traced, backend, find, flow, flow_v6, open, with_port};

/// The bytes of the least datagram that names a backend.
const LEAST: usize = 23;

fn ids() -> ServerIds {
    ServerIds::new(0, 2).unwrap()
}

fn quic() -> Setup {
    Setup { backends: 8, quic: Some(ids()), ..Setup::default() }
}

fn id(backend: usize) -> Vec<u8> {
    connection_id(ids(), backend, 0x0102_0304)
}

/// The backend that an unroutable packet of the flow goes to.
fn hashed(cluster: &Cluster, flow: &Flow) -> usize {
    let trace = cluster.explain(0, &flow.datagram(0)).unwrap().trace.unwrap();
    cluster.backend_of(0, trace.target).unwrap()
}

#[test]
fn both_headers_go_to_the_backend_that_they_name() {
    let Some(mut cluster) = open(quic()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        for named in 0..8 {
            for frame in [flow.quic(&id(named), 100), flow.quic_initial(&id(named), 1200)] {
                for frame in [tagged(&frame, 7), frame] {
                    let (sent, seen) = cluster.seen(0, &frame);
                    assert_eq!(backend(&sent), named);
                    assert_eq!(seen.count(Counter::SentQuic), 1, "{seen:?}");
                }
            }
        }
    }
}

/// The client's first packets have an id of its choice; then it uses the server's, and moves.
#[test]
fn a_connection_stays_with_its_backend_while_the_client_moves() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..quic() }) else { return };
    let random_id = [0xe5, 1, 2, 3, 4, 5, 6, 7];
    let home = cluster.to(0, &flow(1).quic_initial(&random_id, 1200));
    assert_eq!(home, hashed(&cluster, &flow(1)), "by hash");
    assert_eq!(cluster.to(0, &flow(1).quic_initial(&random_id, 1200)), home, "sent again");
    assert_eq!(cluster.to(0, &flow(1).quic_initial(&id(home), 1200)), home, "the handshake");
    let ports = (1..200).map(|port| with_port(flow(1), port));
    let addresses = (2..200).map(flow).chain((1..50).map(flow_v6));
    let mut elsewhere = 0;
    for (step, moved) in ports.chain(addresses).enumerate() {
        elsewhere += usize::from(hashed(&cluster, &moved) != home);
        let (sent, seen) = cluster.seen(step % 3, &moved.quic(&id(home), 60));
        assert_eq!((backend(&sent), sent.via.len()), (home, 1), "at any balancer, at once");
        assert_eq!(seen.at(step % 3), [Counter::SentQuic, Counter::FlowAdded]);
    }
    assert!(elsewhere > 300, "the hash gives another backend to most: {elsewhere}");
}

/// Several connections of one client's port, at different backends.
#[test]
fn the_connection_id_precedes_the_flow_which_stays() {
    let Some(mut cluster) = open(quic()) else { return };
    let flow = flow(1);
    let first = cluster.to(0, &flow.quic_initial(&[0xff; 8], 1200));
    let other = (first + 1) % 8;
    for _ in 0..3 {
        let (sent, seen) = cluster.seen(0, &flow.quic(&id(other), 60));
        assert_eq!((backend(&sent), seen.at(0)), (other, vec![Counter::SentQuic]));
        assert_eq!(cluster.to(0, &flow.quic_initial(&[0xff; 8], 1200)), first, "its handshake");
    }
}

/// The flow that a named packet opens: for what names no backend, and for ICMP errors.
#[test]
fn what_names_no_backend_follows_the_flow_of_what_does() {
    let Some(mut cluster) = open(quic()) else { return };
    let home = 3;
    let flow = find((1..).map(flow), |flow| hashed(&cluster, &flow) != home);
    assert_eq!(cluster.to(0, &flow.quic(&id(home), 60)), home);
    assert_eq!(cluster.state(0, &flow), Some(FlowState::New));
    assert_eq!(cluster.to(0, &flow.quic(&id(home), 60)), home);
    assert_eq!(cluster.state(0, &flow), Some(FlowState::Udp));
    let (sent, seen) = cluster.seen(0, &flow.datagram(10));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentFlow]));
    let (sent, seen) = cluster.seen(0, &flow.too_big_datagram(1400));
    assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentIcmp]));
}

/// Its entry is renewed once a second, and so outlives the time after which a silent flow expires.
#[test]
fn the_flow_of_named_packets_lives_as_long_as_they_come() {
    let Some(mut cluster) = open(quic()) else { return };
    let home = 3;
    let flow = find((1..).map(flow), |flow| hashed(&cluster, &flow) != home);
    for _ in 0..5 {
        assert_eq!(cluster.to(0, &flow.quic(&id(home), 60)), home);
        cluster.advance(500).unwrap();
    }
    assert_eq!(cluster.to(0, &flow.datagram(10)), home);
    cluster.advance(1300).unwrap();
    assert_ne!(cluster.to(0, &flow.datagram(10)), home, "expired");
}

#[test]
fn what_cannot_be_read_goes_by_hash() {
    let Some(mut cluster) = open(quic()) else { return };
    let named = 3;
    let flow = find((1..).map(flow), |flow| hashed(&cluster, &flow) != named);
    let home = hashed(&cluster, &flow);
    let mut udp_shorter = flow.quic(&id(named), LEAST);
    let length = 14 + 20 + 4;
    udp_shorter[length..length + 2].copy_from_slice(&(8 + LEAST as u16 - 1).to_be_bytes());
    let rotations = (1..8_u8).map(|rotation| {
        let mut other = id(named);
        other[0] = rotation << 5 | other[0] & 0x1f;
        flow.quic(&other, 60)
    });
    let mut cut = flow.quic_initial(&id(named), 1200);
    cut[14 + 28 + 5] = 255;
    let mut long = flow.quic_initial(&id(named), LEAST);
    long[14 + 28 + 5] = LEAST as u8 - 5;
    let frames = [
        flow.udp(&[]),
        flow.quic(&id(named), 21),
        flow.quic(&id(named), LEAST - 1),
        flow.quic(&id(8), 60),
        flow.quic_initial(&[], 1200),
        flow.quic_initial(&id(named)[..6], 1200),
        udp_shorter,
        long,
    ];
    for frame in frames.into_iter().chain(rotations) {
        let (sent, seen) = cluster.seen(0, &frame);
        assert_eq!((backend(&sent), seen.count(Counter::SentQuic)), (home, 0), "{frame:x?}");
    }
    // 255 bytes of connection id, all there: it is not over the end.
    assert_eq!(cluster.to(0, &cut), named);
    assert_eq!(cluster.to(0, &flow.quic(&id(named), LEAST)), named, "the least that is read");
    assert_eq!(cluster.to(0, &flow.quic_initial(&id(named), LEAST)), named);
}

/// Frames cut anywhere, and bytes at random: each has one verdict, and goes to a backend if it is a
/// datagram at all.
#[test]
fn hostile_packets_go_somewhere_or_nowhere() {
    let Some(cluster) = open(quic()) else { return };
    let mut random = Random::new(9);
    for round in 0..2000 {
        let length = (random.bits() % 64) as usize;
        let mut payload: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        if let (Some(first), 0) = (payload.get_mut(6), round % 2) {
            *first &= 0x1f;
        }
        let mut frame = flow(round).udp(&payload);
        let sent = cluster.send(0, &frame).unwrap();
        assert!(matches!(sent.outcome, Outcome::Backend(_)), "{payload:x?}");
        frame.truncate(14 + (random.bits() % (frame.len() as u64 - 14)) as usize);
        assert_eq!(cluster.send(0, &frame).unwrap().outcome, Outcome::Passed);
    }
}

#[test]
fn server_ids_of_all_lengths_and_rotations_are_found() {
    for (rotation, length) in [(0, 1), (6, 1), (1, 7), (2, 8), (3, 9), (6, 15)] {
        let ids = ServerIds::new(rotation, length).unwrap();
        let Some(cluster) = open(Setup { quic: Some(ids), ..quic() }) else { return };
        for named in 0..8 {
            let id = connection_id(ids, named, named as u32);
            assert_eq!(cluster.to(0, &flow(1).quic(&id, 60)), named);
            assert_eq!(cluster.to(0, &flow(1).quic_initial(&id, 1200)), named);
            let longer = [&id[..], &[0xaa]].concat();
            assert_eq!(cluster.to(0, &flow(2).quic_initial(&longer, 1200)), named);
        }
        let mut other = connection_id(ids, 3, 0);
        other[usize::from(length)] ^= 0x80;
        assert_eq!(cluster.to(0, &flow(3).quic(&other, 60)), hashed(&cluster, &flow(3)));
        assert_eq!(server_id(ids, 3).len(), usize::from(length));
    }
}

/// A backend that drains, fails its checks lately or was removed keeps its connections; one that is
/// down has none.
#[test]
fn a_backend_keeps_its_connections_until_it_is_down() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..quic() }) else { return };
    let home = 3;
    let moved: Vec<Flow> = (1..40).map(flow).collect();
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    for state in [TargetState::Up, TargetState::Failing, TargetState::Removed] {
        cluster.backends[home].state = state;
        cluster.publish().unwrap();
        for (step, flow) in moved.iter().enumerate() {
            assert_eq!(cluster.to(step % 2, &flow.quic(&id(home), 60)), home, "{state:?}");
        }
    }
    cluster.backends[home].state = TargetState::Down;
    cluster.publish().unwrap();
    let (sent, seen) = cluster.seen(0, &moved[0].quic(&id(home), 60));
    assert_ne!(backend(&sent), home);
    assert_eq!((seen.count(Counter::SentQuic), seen.count(Counter::FlowRehashed)), (0, 1));
}

/// Fragments of a datagram whose first one names a backend.
#[test]
fn fragments_go_to_the_backend_that_the_first_one_names() {
    let Some(cluster) = open(Setup { balancers: 2, ..quic() }) else { return };
    let named = 3;
    let flow = find((1..).map(flow), |flow| hashed(&cluster, &flow) != named);
    let parts = fragments(&flow.quic_initial(&id(named), 3000), 1440, 9);
    for (balancer, part) in [0, 1, 1].iter().zip(&parts) {
        assert_eq!(backend(&cluster.send(*balancer, part).unwrap()), named);
    }
}

/// As a service without `quic`: its datagrams are flows, whatever their bytes.
#[test]
fn without_quic_connection_ids_are_not_looked_at() {
    let Some(mut cluster) = open(Setup { quic: None, ..quic() }) else { return };
    for client in 0..20 {
        let (sent, seen) = cluster.seen(0, &flow(client).quic(&id(3), 60));
        assert_eq!(backend(&sent), hashed(&cluster, &flow(client)));
        assert_eq!(seen.at(0), [Counter::SentUdp, Counter::FlowAdded]);
    }
}

#[test]
fn an_explanation_of_quic_changes_nothing() {
    let Some(cluster) = open(quic()) else { return };
    let trace = cluster.explain(0, &flow(1).quic(&id(5), 60)).unwrap().trace.unwrap();
    assert!(trace.counted(Counter::SentQuic));
    assert_eq!(cluster.backend_of(0, trace.target), Some(5));
    assert_eq!(cluster.entry(0, &flow(1)), None);
}

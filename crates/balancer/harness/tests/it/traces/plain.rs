//! TCP without MPTCP, UDP, and what is no service's.

use heddle_balancer_maps::abi::{Counter, FlowState, Forwarding, MptcpMode, Settings, TargetState};
use heddle_harness::{Cluster, Connection, Flow, Outcome, Random, Setup, tagged};

use crate::traces::world::{Traced, backend, connection, flow, flow_v6, open, with_port};

#[test]
fn a_connection_goes_to_one_backend_and_its_entry_follows_it() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    for flow in [flow(1), flow_v6(1)] {
        let (sent, seen) = cluster.seen(0, &flow.syn(&[]));
        let home = backend(&sent);
        assert_eq!(seen.at(0), [Counter::SentSyn, Counter::FlowAdded]);
        assert_eq!(cluster.state(0, &flow), Some(FlowState::New));
        assert_eq!(home, cluster.to(0, &flow.ack(&[], 0)));
        assert_eq!(cluster.state(0, &flow), Some(FlowState::Established));
        let (sent, seen) = cluster.seen(0, &flow.ack(&[], 1400));
        assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentFlow]));
    }
}

/// Weights decide: 65537 slots over four backends differ by less than a percent (Maglev, section
/// 3.4).
#[test]
fn flows_spread_over_backends_by_weight() {
    let sizes = heddle_balancer_maps::Sizes { flows: 16_384, ..Setup::default().sizes };
    let Some(mut cluster) = open(Setup { sizes, ..Setup::default() }) else { return };
    cluster.backends[3].weight = 2;
    cluster.publish().unwrap();
    let mut flows = [0; 4];
    (0..10_000).for_each(|client| flows[cluster.to(0, &flow(client).syn(&[]))] += 1);
    for (backend, expected) in [(0, 2000), (1, 2000), (2, 2000), (3, 4000)] {
        assert!(i32::abs_diff(flows[backend], expected) < 250, "{flows:?}");
    }
}

#[test]
fn every_forwarding_and_a_vlan_tag_reach_the_same_backend() {
    for forwarding in [Forwarding::L2, Forwarding::Ipip, Forwarding::Gue] {
        let Some(cluster) = open(Setup { forwarding, ..Setup::default() }) else { return };
        for flow in [flow(1), flow_v6(2)] {
            let frame = flow.syn(&[]);
            let home = cluster.to(0, &frame);
            let sent = cluster.send(0, &tagged(&frame, 100)).unwrap();
            assert_eq!((backend(&sent), sent.packet()), (home, &frame[14..]));
        }
    }
}

#[test]
fn flows_stay_where_they_are_when_backends_come_and_go() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flows: Vec<_> = (0..200).map(flow).collect();
    let homes: Vec<_> = flows.iter().map(|flow| cluster.plain(0, flow)).collect();
    cluster.backends.extend([heddle_harness::Backend::of_weight(1); 4]);
    cluster.publish().unwrap();
    let now: Vec<_> = flows.iter().map(|flow| cluster.to(0, &flow.ack(&[], 10))).collect();
    assert_eq!(homes, now);
    let hashed = flows.iter().filter(|flow| cluster.to(0, &with_port(**flow, 5).syn(&[])) >= 4);
    assert!((60..140).contains(&hashed.count()), "new flows go to the new half");
}

/// A backend without weight drains: it keeps what it has. Down, it loses that too.
#[test]
fn a_backend_drains_and_goes_down() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    cluster.backends[home].weight = 0;
    cluster.publish().unwrap();
    assert_eq!(cluster.to(0, &flow.ack(&[], 10)), home);
    let new: Vec<_> = (2..100).map(|port| cluster.to(0, &with_port(flow, port).syn(&[]))).collect();
    assert!(!new.contains(&home), "{new:?}");

    cluster.backends[home].state = TargetState::Down;
    cluster.publish().unwrap();
    let (sent, seen) = cluster.seen(0, &flow.ack(&[], 10));
    let second = backend(&sent);
    assert!(second != home && seen.at(0).contains(&Counter::FlowRehashed), "{seen:?}");
    assert_eq!(cluster.to(0, &flow.ack(&[], 10)), second);
}

#[test]
fn without_backends_packets_are_dropped() {
    let Some(mut cluster) = open(Setup { backends: 0, ..Setup::default() }) else { return };
    let (sent, seen) = cluster.seen(0, &flow(1).syn(&[]));
    assert_eq!((sent.outcome, seen.at(0)), (Outcome::Dropped, vec![Counter::DropNoBackend]));
    assert_eq!(cluster.entry(0, &flow(1)), None);
}

#[test]
fn udp_flows_are_remembered() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let (sent, seen) = cluster.seen(0, &flow.datagram(100));
    let home = backend(&sent);
    assert_eq!(seen.at(0), [Counter::SentUdp, Counter::FlowAdded]);
    cluster.backends.push(heddle_harness::Backend::of_weight(1000));
    cluster.publish().unwrap();
    for _ in 0..3 {
        assert_eq!(cluster.to(0, &flow.datagram(100)), home);
    }
    // And are no slower for the change: the entry is of this epoch.
    assert_eq!(cluster.entry(0, &flow).unwrap().epoch, 2);
    cluster.advance(1200).unwrap();
    assert_eq!(cluster.to(0, &flow.datagram(100)), 4, "it expired: by hash, to the heaviest");
}

#[test]
fn what_is_no_services_passes_as_it_is() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let mut stray = flow(1);
    stray.service.set_port(80);
    let ping = [&flow(1).too_big(1400)[..34], &[8, 0, 0, 0, 0, 0, 0, 0]].concat();
    for frame in
        [stray.syn(&[]), stray.datagram(10), tagged(&stray.syn(&[]), 7), vec![0xff; 64], ping]
    {
        let (sent, _) = cluster.seen(0, &frame);
        assert_eq!((sent.outcome, &sent.frame), (Outcome::Passed, &frame));
    }
}

/// `mptcp = "source-ip"`: all of a client's connections, whatever its ports.
#[test]
fn by_source_address_a_client_has_one_backend() {
    let mode = MptcpMode::SourceIp;
    let Some(cluster) = open(Setup { mode, ..Setup::default() }) else { return };
    for client in 0..20 {
        let homes: Vec<_> =
            (1..20).map(|port| cluster.to(0, &with_port(flow(client), port).syn(&[]))).collect();
        assert!(homes.iter().all(|home| home == &homes[0]), "{homes:?}");
    }
}

/// 2^32 - 1 stands for a claimed entry and 0 for a free one. With these on the clock, too, a flow
/// is stored and kept.
#[test]
fn time_wraps() {
    for now in [u32::MAX - 1, u32::MAX, 0] {
        let settings = Settings { now, ..Setup::default().settings };
        let Some(mut cluster) = open(Setup { settings, ..Setup::default() }) else { return };
        let home = cluster.to(0, &flow(1).syn(&[]));
        for _ in 0..3 {
            let (sent, seen) = cluster.seen(0, &flow(1).ack(&[], 10));
            assert_eq!((backend(&sent), seen.at(0)), (home, vec![Counter::SentFlow]), "from {now}");
            cluster.advance(1).unwrap();
        }
        assert_eq!(cluster.state(0, &flow(1)), Some(FlowState::Established), "from {now}");
    }
}

/// A plain packet, and the same one with a tag, which takes the long way: both go the same way and leave the same
/// entry, however long the flow was silent.
#[test]
fn plain_packets_renew_entries_as_all_others_do() {
    for mode in [MptcpMode::Learn, MptcpMode::Off] {
        let setup = || Setup { balancers: 2, mode, ..Setup::default() };
        let Some(mut plain) = open(setup()) else { return };
        let Some(mut whole) = open(setup()) else { return };
        let mut random = Random::new(36);
        let mut flows: Vec<Flow> =
            (1..6).flat_map(|number| [flow(number), flow_v6(number)]).collect();
        let opened = connection(9);
        flows.extend([opened.primary, with_port(opened.primary, 7)]);
        for cluster in [&plain, &whole] {
            flows[..10].iter().for_each(|flow| assert!(cluster.plain(0, flow) < 4));
            cluster.connect(0, &opened);
            cluster.join(0, &opened, &flows[11]);
        }
        for step in 0..300 {
            if random.below(100) == 0 {
                [&mut plain, &mut whole].into_iter().for_each(|all| all.publish().unwrap());
            }
            let silent = [0, 1, 59, 60, 61, 119, 120, 121, 500][random.below(9) as usize];
            [&mut plain, &mut whole].into_iter().for_each(|all| all.advance(silent).unwrap());
            let tcp = flows[random.below(flows.len() as u32) as usize];
            let udp = with_port(tcp, 9);
            let (flow, frame) =
                if step % 3 == 0 { (udp, udp.datagram(10)) } else { (tcp, tcp.ack(&[], 10)) };
            let sent = plain.send(0, &frame).unwrap();
            let expected = whole.send(0, &tagged(&frame, 100)).unwrap();
            let token = |cluster: &Cluster| cluster.token(0, opened.token());
            let seen = (backend(&sent), sent.via, plain.entry(0, &flow), token(&plain));
            let expected = (backend(&expected), expected.via, whole.entry(0, &flow), token(&whole));
            assert_eq!(seen, expected, "{mode:?}, step {step}: {flow:?} after {silent} ticks");
        }
    }
}

/// A SYN that comes again goes with its flow, whatever was decided in between; one that comes again with MPTCP, too.
#[test]
fn repeated_syns_go_with_the_first_one() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flows: Vec<Flow> = (0..50).map(flow).collect();
    let homes: Vec<usize> = flows.iter().map(|flow| cluster.to(0, &flow.syn(&[]))).collect();
    let capable = |flow: &Flow| Connection::new(*flow, 5).syn();
    for (flow, home) in flows.iter().zip(&homes) {
        let (sent, seen) = cluster.seen(0, &flow.syn(&[]));
        assert_eq!((backend(&sent), seen.at(0)), (*home, vec![Counter::SentSyn]));
        assert_eq!(cluster.to(0, &capable(flow)), *home);
        assert_eq!(cluster.state(0, flow), Some(FlowState::Learning));
        assert_eq!(cluster.to(0, &flow.syn(&[])), *home);
    }
    cluster.backends[0].state = TargetState::Down;
    cluster.publish().unwrap();
    for (flow, home) in flows.iter().zip(&homes) {
        let now = cluster.to(0, &flow.syn(&[]));
        assert!(if *home == 0 { now != 0 } else { now == *home }, "{flow:?} from {home} to {now}");
    }
}

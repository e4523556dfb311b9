//! Fragments: the first one has ports, the others follow it, whichever balancers they come by.

use heddle_balancer_maps::abi::{Counter, Forwarding};
use heddle_balancer_maps::{Fragment, Sizes};
use heddle_harness::{Backend, Cluster, Flow, KEY, Outcome, Setup, balancer_address, fragments};

use crate::traces::world::{Traced, backend, connection, flow, flow_v6, open, with_port};

#[test]
fn fragments_go_where_the_first_one_went() {
    let Some(mut cluster) = open(Setup { balancers: 3, ..Setup::default() }) else { return };
    for (id, flow) in (1..40).flat_map(|client| [(client, flow(client)), (client, flow_v6(client))])
    {
        let [first, second, third] = fragments(&flow.datagram(3500), 1440, id).try_into().unwrap();
        let sent = cluster.send(0, &first).unwrap();
        let home = backend(&sent);
        assert_eq!(home, cluster.to(0, &flow.datagram(10)), "the flow's");
        for (balancer, part) in [(1, &second), (2, &third), (0, &second)] {
            let (sent, seen) = cluster.seen(balancer, part);
            assert_eq!((backend(&sent), sent.packet()), (home, &part[14..]));
            assert_eq!(seen.count(Counter::SentFragment), 1);
            assert!(sent.via.len() <= 2, "{:?}", sent.via);
        }
    }
}

/// Out of order, those before the first one wait: whoever has them sends them again.
#[test]
fn a_fragment_before_the_first_waits() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    for client in 0..8 {
        let parts = fragments(&flow(client).datagram(2000), 1480, 7);
        let (sent, seen) = cluster.seen(0, &parts[1]);
        assert_eq!((sent.outcome, seen.count(Counter::FragmentWaits)), (Outcome::Dropped, 1));
        let kept = *sent.via.last().unwrap();
        let [kept] = waiting(&cluster, kept).try_into().unwrap();
        assert_eq!(kept[14..], parts[1][14..]);
        let home = cluster.to(1, &parts[0]);
        assert_eq!(cluster.to(0, &parts[1]), home);
        cluster.advance(600).unwrap();
        assert_eq!(cluster.send(0, &parts[1]).unwrap().outcome, Outcome::Dropped, "too late");
        (0..2).for_each(|balancer| drop(waiting(&cluster, balancer)));
    }
}

fn narrow(balancers: usize) -> Setup {
    Setup { balancers, forwarding: Forwarding::L2, mtu: 1500, ..Setup::default() }
}

/// The fragments that wait at a balancer, with the Ethernet addresses by which it came there.
fn waiting(cluster: &Cluster, balancer: usize) -> Vec<Vec<u8>> {
    let mut waiting = cluster.balancer(balancer).unwrap().waiting().unwrap();
    std::iter::from_fn(|| waiting.take()).collect()
}

/// With an MTU of 1500 no full-sized fragment has room for a steering header. What comes to one
/// balancer arrives all the same.
#[test]
fn fragments_without_room_for_a_header_follow_the_first_at_its_balancer() {
    let Some(cluster) = open(narrow(3)) else { return };
    for (id, flow) in (1..20).flat_map(|client| [(client, flow(client)), (client, flow_v6(client))])
    {
        for bytes in [2000, 4000] {
            let parts = fragments(&flow.datagram(bytes), 1448, id + bytes as u16);
            let homes: Vec<usize> = parts.iter().map(|part| cluster.to(0, part)).collect();
            assert!(homes.iter().all(|home| *home == homes[0]), "{homes:?}");
        }
    }
}

/// Those that come to another balancer wait there, or at the fragments' owner. Whoever has them asks
/// the others, and then knows.
#[test]
fn fragments_at_another_balancer_wait_until_it_knows() {
    let Some(mut cluster) = open(narrow(3)) else { return };
    let mut asked = 0;
    for (id, flow) in (1..20).flat_map(|client| [(client, flow(client)), (client, flow_v6(client))])
    {
        let [first, second, last] = fragments(&flow.datagram(4000), 1448, id).try_into().unwrap();
        let home = cluster.to(0, &first);
        for part in [second, last] {
            let sent = cluster.send(1, &part).unwrap();
            if sent.outcome == Outcome::Backend(home) {
                continue;
            }
            let at = *sent.via.last().unwrap();
            let kept = waiting(&cluster, at).remove(0);
            assert_eq!(kept[14..], part[14..]);
            let fragment = Fragment::of(&kept).unwrap();
            let (own, other) = (balancer_address(at), balancer_address(0));
            let question = fragment.question(KEY, own.ip());
            let question = Flow { client: own, service: other }.udp(&question);
            let (answered, seen) = cluster.seen(0, &question);
            assert_eq!((answered.outcome, answered.via), (Outcome::Dropped, vec![0, at]));
            assert_eq!(seen.at(at), [Counter::FragmentHeard], "its head goes to no backend");
            let seed = cluster.balancer(at).unwrap().maps.settings.get().unwrap().seed;
            let known = cluster.balancer(at).unwrap().fragments().unwrap();
            assert!(known.has(seed, &fragment.key));
            assert_eq!(cluster.to(at, &kept), home);
            asked += 1;
        }
    }
    assert!(asked > 20, "{asked}");
}

/// A question about a packet of which nothing is known says so, and one from a stranger nothing.
#[test]
fn questions_about_unknown_fragments_teach_nothing() {
    let Some(mut cluster) = open(narrow(2)) else { return };
    let part = fragments(&flow(1).datagram(4000), 1480, 9).remove(1);
    let fragment = Fragment::of(&part).unwrap();
    let (own, other) = (balancer_address(1), balancer_address(0));
    for (key, answer) in [(KEY, Counter::Replied), ([1, 2], Counter::DropUnauthenticated)] {
        let question = Flow { client: own, service: other }.udp(&fragment.question(key, own.ip()));
        let (_, seen) = cluster.seen(0, &question);
        assert_eq!(seen.at(0), [answer]);
        assert_eq!(cluster.balancer(1).unwrap().maps.fragments.iter().count(), 0);
    }
}

/// A flow that no hash explains: its fragments follow its entry.
#[test]
fn fragments_of_a_subflow_go_to_its_backend() {
    let Some(cluster) = open(Setup { balancers: 2, backends: 8, ..Setup::default() }) else {
        return;
    };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    let subflow = crate::traces::world::find(subflows, |subflow| cluster.hashed(&subflow) != home);
    cluster.join(0, &connection, &subflow);
    for (balancer, part) in [0, 1, 1].iter().zip(fragments(&subflow.data(3000), 1480, 5)) {
        assert_eq!(backend(&cluster.send(*balancer, &part).unwrap()), home);
    }
}

/// UDP in fragments only (tunnels, DNSSEC) is a flow as any: behind its first datagram it stays,
/// also when backends change.
#[test]
fn datagrams_in_fragments_are_a_flow() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let send = |cluster: &Cluster, id| -> Vec<usize> {
        fragments(&flow.datagram(2000), 1480, id).iter().map(|part| cluster.to(0, part)).collect()
    };
    let homes = send(&cluster, 1);
    cluster.backends.push(Backend::of_weight(1000));
    cluster.publish().unwrap();
    for (id, silence) in [(2, 500), (3, 1000), (4, 1000)] {
        cluster.advance(silence).unwrap();
        assert_eq!(send(&cluster, id), homes);
    }
}

/// RFC 6946: a fragment header on a whole packet. It is no fragment: what it opens is a flow as
/// any.
#[test]
fn an_atomic_fragment_is_a_packet() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let frame = flow_v6(1).syn(&[]);
    let [whole] = fragments(&frame, 1440, 3).try_into().unwrap();
    let (_, seen) = cluster.seen(0, &whole);
    assert_eq!(seen.at(0), [Counter::SentSyn, Counter::FlowAdded]);
}

/// Strangers' first fragments, of so many sources, one each or all of one.
fn flood(cluster: &Cluster, sources: u16, each: u16) {
    for source in 0..sources {
        let datagram = flow(1000 + source).datagram(64);
        for id in 0..each {
            cluster.send(0, &fragments(&datagram, 32, id)[0]).unwrap();
        }
    }
}

/// The later fragments of a flow that goes on arrive whatever strangers send; those of a flow that
/// has just begun nearly always.
#[test]
fn strangers_fragments_displace_no_flows() {
    let sizes = Sizes { fragments: 32_768, ..Setup::default().sizes };
    let setup = Setup { balancers: 2, sizes, ..Setup::default() };
    let Some(mut cluster) = open(setup) else { return };
    let begun: Vec<_> = (1..=200).map(flow).collect();
    let settled: Vec<_> = (201..=300).map(flow).collect();
    for flow in &settled {
        for _ in 0..3 {
            cluster.to(0, &flow.datagram(10));
        }
    }
    cluster.advance(70).unwrap();
    for flow in &settled {
        cluster.to(0, &flow.datagram(10));
    }
    let parts = |flow: &Flow| fragments(&flow.datagram(2900), 1480, 77);
    let first = |flow: &Flow| cluster.to(0, &parts(flow)[0]);
    let homes: Vec<usize> = settled.iter().chain(&begun).map(first).collect();
    flood(&cluster, 9000, 1);
    flood(&cluster, 2, 5000);
    let arrives = |(flow, home): &(&Flow, &usize)| {
        cluster.send(1, &parts(flow)[1]).unwrap().outcome == Outcome::Backend(**home)
    };
    let flows = settled.iter().chain(&begun).zip(&homes);
    let arrived: Vec<bool> = flows.map(|flow| arrives(&flow)).collect();
    let count = |arrived: &[bool]| arrived.iter().filter(|arrived| **arrived).count();
    assert_eq!(count(&arrived[..100]), 100, "settled flows");
    // Half of the packets are owned by each balancer: a bucket of four has had one stranger on
    // average (p = 0.004 for four or more).
    assert!(count(&arrived[100..]) > 180, "{} of 200", count(&arrived[100..]));
}

/// The stack gets the packets that it answers (`ping -s 3000`) whole.
#[test]
fn later_fragments_of_icmp_pass_as_the_first_does() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    for (flow, protocol, echo) in [(flow(1), 1_u8, 8_u8), (flow_v6(1), 58, 128)] {
        let mut whole = flow.datagram(3000);
        let (next, ip) = if protocol == 1 { (14 + 9, 34) } else { (14 + 6, 54) };
        whole[next] = protocol;
        whole[ip] = echo;
        for part in fragments(&whole, 1480, 5) {
            let (sent, seen) = cluster.seen(0, &part);
            assert_eq!((sent.outcome, seen.at(0)), (Outcome::Passed, vec![Counter::PassIcmp]));
            assert_eq!(sent.frame, part);
        }
    }
}

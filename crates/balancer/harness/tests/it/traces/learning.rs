//! Keys in clear: what makes a token, and what does not.

use heddle_balancer_maps::abi::{Counter, FlowState, Limit, TokenState};
use heddle_harness::{Connection, Setup};
use heddle_wire::Version;

use crate::traces::world::{Traced, backend, connection, flow, flow_v6, open, with_port};

#[test]
fn the_third_ack_tells_and_data_confirms() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    for version in [Version::V0, Version::V1] {
        let connection = Connection { version, ..Connection::new(flow_v6(version as u16), 7) };
        let (sent, seen) = cluster.seen(0, &connection.syn());
        let home = backend(&sent);
        assert_eq!(seen.at(0), [Counter::SentCapable, Counter::FlowAdded]);
        let (sent, seen) = cluster.seen(0, &connection.third_ack());
        assert_eq!(
            (backend(&sent), seen.at(0)),
            (home, vec![Counter::SentKeys, Counter::TokenAdded])
        );
        assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Provisional));
        assert_eq!(cluster.to(0, &connection.first_data(100)), home);
        let (sent, _) = cluster.seen(0, &connection.data(100));
        assert_eq!(backend(&sent), home);
        assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Confirmed));
        assert_eq!(cluster.state(0, &connection.primary), Some(FlowState::Established));
        // From here on a packet is one lookup.
        let (_, seen) = cluster.seen(0, &connection.data(1400));
        assert_eq!(seen.at(0), [Counter::SentFlow]);
    }
}

/// The keys are in the first data too (RFC 8684, section 3.1).
#[test]
fn a_lost_third_ack_is_made_good_by_the_first_data() {
    let Some(cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.to(0, &connection.syn());
    assert_eq!(cluster.to(0, &connection.first_data(100)), home);
    assert_eq!(cluster.join(0, &connection, &with_port(connection.primary, 7)), home);
}

/// The router sends the third ACK to a balancer that never saw the SYN.
#[test]
fn a_third_ack_that_went_another_way_is_learnt() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let connection = connection(1);
    let home = cluster.to(0, &connection.syn());
    let (sent, seen) = cluster.seen(1, &connection.third_ack());
    assert_eq!(backend(&sent), home);
    assert_eq!(seen.count(Counter::TokenAdded), 2, "at both that keep it");
    assert_eq!(cluster.to(1, &connection.data(100)), home);
    for balancer in [0, 1] {
        let subflow = with_port(connection.primary, 7 + balancer as u16);
        assert_eq!(cluster.join(balancer, &connection, &subflow), home);
    }
}

/// The server does not speak MPTCP: its clients' packets are searched for `learning` ticks, no
/// longer.
#[test]
fn without_keys_the_search_ends() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.to(0, &connection.syn());
    cluster.advance(299).unwrap();
    assert_eq!(cluster.to(0, &connection.primary.ack(&[], 10)), home);
    assert_eq!(cluster.state(0, &connection.primary), Some(FlowState::Learning));
    cluster.advance(1).unwrap();
    assert_eq!(cluster.to(0, &connection.primary.ack(&[], 10)), home);
    assert_eq!(cluster.state(0, &connection.primary), Some(FlowState::Established));
    assert_eq!(cluster.token(0, connection.token()), None);
}

/// Another client's connection with the same token on another backend: the first one keeps it.
#[test]
fn two_backends_with_one_token() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let first = connection(1);
    let home = cluster.connect(0, &first);
    let other = (2..).map(flow).find(|flow| cluster.hashed(flow) != home).unwrap();
    let second = Connection { primary: other, ..first };
    let (_, seen) = cluster.watch(|c| Ok(c.connect(0, &second))).unwrap();
    assert!(seen.count(Counter::TokenCollision) > 0);
    assert_eq!(cluster.join(0, &first, &with_port(first.primary, 7)), home);
    assert_eq!(cluster.token_state(0, &first), Some(TokenState::Confirmed));
}

/// The second one's packets are data, not keys: they confirm nothing, least of all token 0.
#[test]
fn a_refused_token_leaves_nothing_behind() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let first = connection(1);
    let home = cluster.connect(0, &first);
    let other = (2..).map(flow).find(|flow| cluster.hashed(flow) != home).unwrap();
    let second = Connection { primary: other, ..first };
    cluster.to(0, &second.third_ack());
    let (_, seen) = cluster.seen(0, &second.data(100));
    assert_eq!(seen.count(Counter::TokenAdded), 0);
    assert_eq!(cluster.balancer(0).unwrap().maps.tokens.iter().count(), 1);
}

/// Anybody can send an ACK with keys in it. What it leaves is soon forgotten, unless its flow goes
/// on.
#[test]
fn a_forged_ack_is_forgotten() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let forged = connection(1);
    let home = cluster.to(0, &forged.third_ack());
    assert_eq!(cluster.token_state(0, &forged), Some(TokenState::Unopened));
    let other = (2..).map(flow).find(|flow| cluster.hashed(flow) != home).unwrap();
    let true_one = Connection { primary: other, ..forged };
    cluster.advance(600).unwrap();
    let its_home = cluster.connect(0, &true_one);
    assert_eq!(cluster.join(0, &true_one, &with_port(other, 7)), its_home);
}

#[test]
fn forged_acks_never_take_a_live_token() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let victim = connection(1);
    let home = cluster.connect(0, &victim);
    for client in 2..40 {
        cluster.to(0, &Connection { primary: flow(client), ..victim }.third_ack());
    }
    assert_eq!(cluster.join(0, &victim, &with_port(victim.primary, 7)), home);
    // Nor do many keys push it out: 10 000 tokens on a table for 4096.
    for client in 100..10_100 {
        cluster.to(0, &connection(client).third_ack());
    }
    cluster.advance(1).unwrap();
    assert_eq!(cluster.join(0, &victim, &with_port(victim.primary, 8)), home);
}

/// Keys on flows that never opened are limited: 2 a tick, 5 at once.
#[test]
fn stray_keys_are_limited() {
    let mut setup = Setup::default();
    setup.settings.learn = Limit { per_tick: 2, burst: 5 };
    let Some(mut cluster) = open(setup) else { return };
    let mut learnt = |clients: std::ops::Range<u16>| {
        let send = |c: &mut heddle_harness::Cluster| {
            for client in clients {
                c.to(0, &connection(client).third_ack());
            }
            Ok(())
        };
        let (_, seen) = pinned(|| cluster.watch(send).unwrap());
        let counts = [Counter::TokenAdded, Counter::LearnLimited].map(|c| seen.count(c));
        cluster.advance(1).unwrap();
        counts
    };
    assert_eq!(learnt(0..20), [5, 15]);
    assert_eq!(learnt(20..40), [2, 18]);
    assert_eq!(learnt(40..41), [1, 0]);
    assert_eq!(learnt(50..60), [3, 7]);
}

/// Limits are per processor: on one.
fn pinned<T>(run: impl FnOnce() -> T) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).unwrap();
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).unwrap();
    let result = run();
    sched_setaffinity(None, &all).unwrap();
    result
}

/// A connection without data: the server talks, the client acknowledges (DSS).
#[test]
fn acknowledgements_confirm() {
    let Some(cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    cluster.to(0, &connection.syn());
    cluster.to(0, &connection.third_ack());
    cluster.to(0, &connection.data(0));
    assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Confirmed));
}

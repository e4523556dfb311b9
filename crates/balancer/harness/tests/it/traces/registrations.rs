//! Each token and flow is known to two balancers: what deaths, returns and reloads do to them.

use heddle_balancer_maps::abi::{Counter, TokenState};
use heddle_harness::{Backend, Cluster, Connection, Flow, Outcome, Setup};

use crate::traces::world::{
    Traced, backend, connection, find, flow, kept_by, numbered, open, with_port,
};

fn three() -> Setup {
    Setup { balancers: 3, backends: 8, ..Setup::default() }
}

/// With heartbeats: two ticks of silence make a balancer suspect.
fn watchful() -> Setup {
    let mut setup = three();
    setup.settings.heartbeat = 2;
    setup
}

fn astray(cluster: &Cluster, connection: &Connection, home: usize) -> Flow {
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    find(subflows, |subflow| cluster.hashed(&subflow) != home)
}

#[test]
fn tokens_are_confirmed_with_both_keepers() {
    let Some(cluster) = open(three()) else { return };
    for (first, second) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        let connection = kept_by(&cluster, first, second);
        let home = cluster.connect(0, &connection);
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &connection.data(1)), home));
        for keeper in [first, second] {
            assert_eq!(cluster.token_state(keeper, &connection), Some(TokenState::Confirmed));
        }
    }
}

/// A balancer comes back, and three seconds later the one that had its entries dies: nothing had
/// asked or told the first one meanwhile.
#[test]
fn a_return_and_then_a_death_lose_no_join() {
    let Some(mut cluster) = open(three()) else { return };
    let tokens: Vec<_> = (1..60).map(connection).collect();
    cluster.kill(0).unwrap();
    let homes: Vec<_> = tokens.iter().map(|c| cluster.connect(1, c)).collect();
    for (connection, &home) in tokens.iter().zip(&homes) {
        (0..2).for_each(|_| assert_eq!(cluster.to(1, &connection.data(1)), home));
    }
    cluster.revive(0).unwrap();
    cluster.advance(180).unwrap();
    cluster.kill(1).unwrap();
    for (connection, &home) in tokens.iter().zip(&homes) {
        for balancer in [0, 2] {
            let subflow = with_port(connection.primary, 7 + balancer as u16);
            assert_eq!(cluster.join(balancer, connection, &subflow), home);
        }
    }
}

/// A balancer's link comes back, or goes, and the others do not notice at the same moment. Those
/// that go on count each other as alive, and it counted at least one of them throughout: a token is
/// where all look for it.
#[test]
fn views_that_differ_lose_no_join() {
    let Some(mut cluster) = open(three()) else { return };
    let views_of_one: [&[usize]; 3] = [&[0, 1], &[0, 2], &[0, 1, 2]];
    let views_of_others: [&[usize]; 2] = [&[1, 2], &[0, 1, 2]];
    let mut connections = (1..).map(connection);
    for own in views_of_one {
        for (one, other) in
            views_of_others.map(|one| views_of_others.map(|two| (one, two))).concat()
        {
            for (balancer, view) in [own, one, other].into_iter().enumerate() {
                cluster.publish_to(balancer, view).unwrap();
            }
            for opened in 0..3 {
                for connection in connections.by_ref().take(12) {
                    let home = cluster.connect(opened, &connection);
                    for joined in 0..3 {
                        let subflow = with_port(connection.primary, 7 + joined as u16);
                        let found = cluster.join(joined, &connection, &subflow);
                        assert_eq!(
                            found, home,
                            "{own:?}, {one:?}, {other:?}: from {opened} at {joined}"
                        );
                    }
                }
            }
        }
    }
}

/// The dead balancer is not known to be dead: keys that are lost with it come again by the other
/// keeper.
#[test]
fn keys_that_come_again_go_through_the_other_keeper() {
    let Some(mut cluster) = open(three()) else { return };
    let connection = kept_by(&cluster, 0, 2);
    let home = cluster.to(1, &connection.syn());
    cluster.crash(0);
    assert_eq!(cluster.send(1, &connection.third_ack()).unwrap().outcome, Outcome::Lost);
    let sent = cluster.send(1, &connection.first_data(100)).unwrap();
    assert_eq!((backend(&sent), sent.via), (home, vec![1, 2]));
    cluster.publish().unwrap();
    assert_eq!(cluster.join(2, &connection, &with_port(connection.primary, 7)), home);
}

/// All are suspect to a balancer that hears nothing, since its machine is busy: tokens are
/// registered nevertheless.
#[test]
fn keys_are_registered_where_all_are_suspect() {
    let Some(mut cluster) = open(watchful()) else { return };
    cluster.beat().unwrap();
    cluster.advance(10).unwrap();
    let connection = kept_by(&cluster, 0, 2);
    let home = cluster.connect(1, &connection);
    assert_eq!(cluster.join(2, &connection, &with_port(connection.primary, 7)), home);
}

/// The same with the flows of joins, before their third packets.
#[test]
fn joins_are_registered_where_all_are_suspect() {
    let Some(mut cluster) = open(watchful()) else { return };
    cluster.beat().unwrap();
    let connection = kept_by(&cluster, 1, 2);
    let home = cluster.connect(1, &connection);
    cluster.advance(10).unwrap();
    let subflows: Vec<Flow> = (10..60)
        .map(|port| with_port(connection.primary, port))
        .filter(|subflow| cluster.hashed(subflow) != home)
        .take(20)
        .collect();
    for subflow in &subflows {
        assert_eq!(cluster.to(1, &connection.join(subflow)), home);
    }
    let told = |subflow: &&Flow| [0, 2].iter().any(|&at| cluster.entry(at, subflow).is_some());
    assert!(subflows.iter().filter(told).count() > 0, "those that two others keep");
}

/// Silence makes a balancer suspect before it is known to be dead: questions go to the other
/// keeper, and keys when they come again.
#[test]
fn nothing_waits_for_a_suspect() {
    let Some(mut cluster) = open(watchful()) else { return };
    cluster.beat().unwrap();
    let known = kept_by(&cluster, 0, 2);
    let home = cluster.connect(1, &known);
    (0..3).for_each(|_| assert_eq!(cluster.to(1, &known.data(1)), home));
    let subflow = astray(&cluster, &known, home);
    assert_eq!(cluster.join(1, &known, &subflow), home);
    (0..4).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), home));
    cluster.crash(0);
    for _ in 0..3 {
        cluster.advance(1).unwrap();
        cluster.beat().unwrap();
    }
    let new = Connection { primary: flow(4000), ..kept_by(&cluster, 0, 2) };
    let new = Connection { server_key: heddle_wire::Key([9; 8]), ..new };
    let its_home = cluster.to(1, &new.syn());
    assert_eq!(cluster.send(1, &new.third_ack()).unwrap().outcome, Outcome::Lost);
    assert_eq!(cluster.to(1, &new.first_data(100)), its_home);
    assert_eq!(cluster.to(1, &new.data(100)), its_home);
    assert_eq!(cluster.join(1, &known, &with_port(subflow, 7)), home, "a join asks the other one");
    assert_eq!(cluster.to(2, &subflow.data(1)), home);
    assert_eq!(cluster.to(2, &new.data(1)), its_home);
    let stalled = (1..400).filter(|&client| {
        let frame = connection(client).join(&flow(client + 1000));
        cluster.send(1, &frame).unwrap().outcome == Outcome::Lost
    });
    // Of tokens that nobody knows the suspect is asked at last: it may live.
    assert!(stalled.count() > 0);
}

/// One packet in each refresh interval: all registrations are made nevertheless, one by one.
#[test]
fn flows_of_few_packets_are_registered_everywhere() {
    let Some(mut cluster) = open(three()) else { return };
    let refresh = cluster.settings().refresh;
    let connections: Vec<_> = (1..60).map(connection).collect();
    let homes: Vec<_> = connections.iter().map(|c| cluster.connect(1, c)).collect();
    cluster.backends.extend([Backend::of_weight(1); 4]);
    cluster.publish().unwrap();
    for _ in 0..5 {
        cluster.advance(refresh).unwrap();
        for (connection, &home) in connections.iter().zip(&homes) {
            assert_eq!(cluster.to(1, &connection.data(1)), home);
        }
    }
    cluster.kill(1).unwrap();
    for (connection, &home) in connections.iter().zip(&homes) {
        for balancer in [0, 2] {
            assert_eq!(cluster.to(balancer, &connection.data(1)), home);
        }
    }
}

/// Addresses and ports are used again: a balancer that had the old flow asks before it sends the
/// new one's packets where the old one's went.
#[test]
fn an_entry_of_a_flow_that_has_ended_is_verified() {
    verified_after(Setup::default().settings.syn_timeout + 60);
}

/// The same when routers move flows to and fro within seconds, and no balancer knows yet that one has
/// died.
#[test]
fn an_entry_of_a_flow_that_has_just_ended_is_verified() {
    verified_after(180);
}

/// A flow opens at another balancer after so many ticks.
fn verified_after(ticks: u32) {
    let Some(mut cluster) = open(three()) else { return };
    let mut subflows = Vec::new();
    for number in 1..80 {
        let (old, new) = (connection(number), connection(number + 100));
        let (old_home, home) = (cluster.connect(0, &old), cluster.connect(1, &new));
        let subflow = with_port(old.primary, 10);
        assert_eq!(cluster.join(0, &old, &subflow), old_home);
        assert_eq!(cluster.to(0, &subflow.joined_ack()), old_home);
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), old_home));
        if number % 2 == 0 {
            assert_eq!(cluster.to(0, &subflow.fin()), old_home);
        }
        subflows.push((new, subflow, home));
    }
    cluster.advance(ticks).unwrap();
    for (new, subflow, home) in &subflows {
        assert_eq!(cluster.join(1, new, subflow), *home);
        assert_eq!(cluster.to(1, &subflow.joined_ack()), *home);
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), *home));
    }
    for (_, subflow, home) in &subflows {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), *home));
    }
}

/// A plain flow is registered nowhere, and its end may come to another balancer, as may a subflow
/// that takes its port: the subflow's packets have an option that the plain flow's never had.
#[test]
fn an_entry_of_a_plain_flow_that_has_ended_takes_no_subflows_packets() {
    let Some(mut cluster) = open(three()) else { return };
    let mut subflows = Vec::new();
    for number in 1..60 {
        let new = connection(number + 100);
        let home = cluster.connect(1, &new);
        let subflow = with_port(connection(number).primary, 10);
        let old_home = cluster.plain(0, &subflow);
        subflows.push((new, subflow, home, old_home));
    }
    cluster.advance(180).unwrap();
    for (_, subflow, _, old_home) in &subflows {
        assert_eq!(cluster.to(0, &subflow.ack(&[], 1)), *old_home, "the plain flow goes on");
    }
    cluster.advance(180).unwrap();
    for (new, subflow, home, _) in &subflows {
        assert_eq!(cluster.join(1, new, subflow), *home);
        assert_eq!(cluster.to(1, &subflow.joined_ack()), *home);
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), *home));
    }
    for (_, subflow, home, _) in &subflows {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), *home));
    }
}

/// A connection moves between its SYN and its keys, to a balancer that has an entry of an old one
/// with the same addresses and ports: its token is learnt nevertheless.
#[test]
fn keys_on_an_entry_of_an_old_connection_are_learnt() {
    for (pause, plain) in [(60, false), (3600, false), (60, true)] {
        let Some(mut cluster) = open(three()) else { return };
        let olds: Vec<_> = (1..30).map(connection).collect();
        for old in &olds {
            if plain {
                cluster.plain(1, &old.primary);
            } else {
                cluster.connect(1, old);
                cluster.to(1, &old.primary.fin());
            }
        }
        cluster.advance(61).unwrap();
        for old in olds.iter().filter(|_| plain) {
            cluster.to(1, &old.primary.ack(&[], 1));
        }
        cluster.advance(cluster.settings().syn_timeout + pause).unwrap();
        for (number, old) in olds.iter().enumerate() {
            let new = Connection { primary: old.primary, ..connection(number as u16 + 100) };
            let home = cluster.to(0, &new.syn());
            let frames = [new.third_ack(), new.first_data(100), new.data(100), new.data(0)];
            for frame in &frames[number % 2..] {
                assert_eq!(cluster.to(1, frame), home, "{number}");
            }
            for balancer in 0..3 {
                let subflow = with_port(new.primary, 7 + balancer as u16);
                assert_eq!(cluster.join(balancer, &new, &subflow), home, "{number}, {balancer}");
            }
        }
    }
}

/// Keys alone, which anybody can send, change no entry.
#[test]
fn keys_alone_leave_a_silent_flow_its_token() {
    let Some(mut cluster) = open(three()) else { return };
    let old = connection(1);
    let home = cluster.connect(1, &old);
    cluster.advance(cluster.settings().syn_timeout + 60).unwrap();
    let forged = Connection { primary: old.primary, ..connection(100) };
    cluster.to(1, &forged.third_ack());
    assert_eq!(cluster.entry(1, &old.primary).unwrap().token, Some(old.token()));
    let mut later = old.data(1);
    later[14 + 20 + 4] ^= 0x80; // far from where the forged connection's next packet would start
    assert_eq!(cluster.to(1, &later), home);
    assert_eq!(cluster.entry(1, &old.primary).unwrap().token, Some(old.token()));
}

/// A join moves between its SYN and its third packet, to a balancer that has an entry of an old one
/// with the same addresses and ports.
#[test]
fn a_join_that_moves_to_an_entry_of_an_old_one() {
    let Some(mut cluster) = open(three()) else { return };
    let mut subflows = Vec::new();
    for number in 1..40 {
        let (old, new) = (connection(number), connection(number + 100));
        let old_home = cluster.connect(1, &old);
        let subflow = with_port(old.primary, 10);
        assert_eq!(cluster.join(1, &old, &subflow), old_home);
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), old_home));
        subflows.push((new, subflow));
    }
    cluster.advance(cluster.settings().syn_timeout + 60).unwrap();
    for (new, subflow) in &subflows {
        let home = cluster.connect(2, new);
        assert_eq!(cluster.to(0, &new.join(subflow)), home);
        assert_eq!(cluster.to(1, &subflow.joined_ack()), home);
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), home));
    }
}

/// A join takes an old one's port, sends far in its first second, and its balancer dies then: the keepers, which saw
/// its SYN alone, know that the packets are not the old one's.
#[test]
fn a_fast_join_on_an_old_ones_port_is_found_in_its_first_second() {
    for ended in [true, false] {
        let Some(mut cluster) = open(three()) else { return };
        let mut subflows = Vec::new();
        for number in 1..40 {
            let (old, new) = (connection(number), connection(number + 100));
            let old_home = cluster.connect(0, &old);
            let subflow = with_port(old.primary, 10);
            assert_eq!(cluster.join(0, &old, &subflow), old_home);
            (0..3).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), old_home));
            if ended {
                assert_eq!(cluster.to(0, &subflow.fin()), old_home);
            }
            subflows.push((new, subflow, cluster.connect(0, &new)));
        }
        cluster.advance(cluster.settings().syn_timeout + 60).unwrap();
        let start = 50_000_000;
        for (new, subflow, home) in &subflows {
            let frames = [
                numbered(new.join(subflow), start),
                numbered(subflow.joined_ack(), start + 1),
                numbered(subflow.data(100), start + 1),
            ];
            assert!(frames.iter().all(|frame| cluster.to(0, frame) == *home));
        }
        cluster.advance(50).unwrap();
        for (_, subflow, home) in &subflows {
            for ahead in (60_000..1_200_000).step_by(60_000) {
                assert_eq!(cluster.to(0, &numbered(subflow.data(100), start + ahead)), *home);
            }
        }
        cluster.kill(0).unwrap();
        for (_, subflow, home) in &subflows {
            for ahead in [1_200_000, 1_200_100] {
                let frame = numbered(subflow.data(100), start + ahead);
                assert!([1, 2].iter().all(|&at| cluster.to(at, &frame) == *home));
            }
        }
    }
}

/// An old flow could not be registered to its end, since all others were suspect: what is said of its addresses and
/// ports minutes later is not older than that.
#[test]
fn a_registration_that_was_never_made_does_not_make_an_entry_the_newest() {
    let Some(mut cluster) = open(watchful()) else { return };
    cluster.beat().unwrap();
    let olds: Vec<Connection> = (1..30).map(connection).collect();
    let homes: Vec<usize> = olds.iter().map(|old| cluster.connect(1, old)).collect();
    cluster.advance(10).unwrap();
    for (old, home) in olds.iter().zip(homes) {
        let subflow = with_port(old.primary, 10);
        assert_eq!(cluster.join(1, old, &subflow), home);
        (0..3).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), home));
    }
    cluster.advance(2 * cluster.settings().refresh).unwrap();
    cluster.beat().unwrap();
    for (number, old) in olds.iter().enumerate() {
        let new = connection(number as u16 + 100);
        let (home, subflow) = (cluster.connect(0, &new), with_port(old.primary, 10));
        assert_eq!(cluster.join(0, &new, &subflow), home);
        (0..3).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), home));
        assert_eq!(cluster.to(1, &subflow.data(1)), home, "{number}");
    }
}

/// A flow that the hash explains causes no question, and so waits for no answer.
#[test]
fn plain_flows_never_wait_for_a_dead_balancer() {
    let Some(mut cluster) = open(three()) else { return };
    let flows: Vec<_> = (1..100).map(flow).collect();
    let homes: Vec<_> = flows.iter().map(|flow| cluster.plain(0, flow)).collect();
    cluster.crash(0);
    for (flow, &home) in flows.iter().zip(&homes) {
        let sent = cluster.send(1, &flow.ack(&[], 100)).unwrap();
        assert_eq!((backend(&sent), sent.via), (home, vec![1]));
    }
}

/// But where the table has changed while they lived, they are asked for.
#[test]
fn plain_flows_of_changed_slots_are_found() {
    let Some(mut cluster) = open(three()) else { return };
    let flows: Vec<_> = (1..100).map(flow).collect();
    let homes: Vec<_> = flows.iter().map(|flow| cluster.plain(0, flow)).collect();
    cluster.backends.extend([Backend::of_weight(1); 4]);
    cluster.publish().unwrap();
    for (flow, &home) in flows.iter().zip(&homes) {
        (0..2).for_each(|_| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home));
    }
    cluster.kill(0).unwrap();
    let mut asked = 0;
    for (flow, &home) in flows.iter().zip(&homes) {
        let kept = [1, 2].into_iter().any(|keeper| cluster.entry(keeper, flow).is_some());
        let sent = cluster.send(1, &flow.ack(&[], 1)).unwrap();
        assert_eq!(backend(&sent), home);
        assert!(kept || sent.via == [1], "the hash explains it: {:?}", sent.via);
        asked += usize::from(kept);
    }
    assert!(asked > 10, "{asked}");
}

/// A backend is added at one balancer before the others: connections to it live, and joins arrive
/// where it is known.
#[test]
fn a_backend_that_the_others_do_not_know_yet() {
    let Some(mut cluster) = open(three()) else { return };
    cluster.backends.push(Backend::of_weight(8));
    cluster.publish_to(1, &[0, 1, 2]).unwrap();
    let mut returned = 0;
    let new: Vec<_> = (1..200)
        .map(connection)
        .filter(|c| backend(&cluster.send(1, &c.primary.syn(&[])).unwrap()) == 8)
        .map(|c| Connection { primary: with_port(c.primary, 50_000), ..c })
        .filter(|c| cluster.to(1, &c.syn()) == 8)
        .take(20)
        .collect();
    assert!(new.len() > 10);
    for connection in &new {
        let (home, seen) = cluster.watch(|c| Ok(c.connect(1, connection))).unwrap();
        assert_eq!(home, 8);
        returned += seen.count(Counter::SentReturned);
        let subflow = with_port(connection.primary, 7);
        assert_eq!(cluster.join(1, connection, &subflow), 8);
        (0..6).for_each(|_| assert_eq!(cluster.to(1, &subflow.data(1)), 8));
        // Balancer 1 answers, and forwards what balancer 2 cannot send.
        if cluster.owner(connection.token()) == Some(1) {
            let elsewhere = with_port(connection.primary, 8);
            assert_eq!(cluster.join(2, connection, &elsewhere), 8);
            assert_eq!(cluster.to(2, &elsewhere.fin()), 8);
        }
    }
    assert!(returned > 10, "{returned}");
    // The others follow, and hear of the tokens with the next refresh.
    cluster.publish().unwrap();
    for connection in &new {
        (0..6).for_each(|_| assert_eq!(cluster.to(1, &connection.data(1)), 8));
        for balancer in 0..3 {
            let subflow = with_port(connection.primary, 20 + balancer as u16);
            assert_eq!(cluster.join(balancer, connection, &subflow), 8);
        }
    }
}

/// Two of five at once: the hash explains connections.
#[test]
fn two_of_five_die_at_once() {
    let Some(mut cluster) = open(Setup { balancers: 5, backends: 8, ..Setup::default() }) else {
        return;
    };
    let connections: Vec<_> = (1..60).map(connection).collect();
    let flows: Vec<_> = (1000..1060).map(flow).collect();
    let at: Vec<_> = connections.iter().map(|c| cluster.route(&c.primary).unwrap()).collect();
    let homes: Vec<_> =
        connections.iter().zip(&at).map(|(c, &at)| cluster.connect(at, c)).collect();
    let plain: Vec<_> = flows.iter().map(|f| cluster.plain(cluster.route(f).unwrap(), f)).collect();
    cluster.crash(0);
    cluster.crash(1);
    for (flow, &home) in flows.iter().zip(&plain) {
        assert_eq!(cluster.to(cluster.route(flow).unwrap(), &flow.ack(&[], 1)), home);
    }
    cluster.publish().unwrap();
    for (connection, &home) in connections.iter().zip(&homes) {
        assert_eq!(
            cluster.to(cluster.route(&connection.primary).unwrap(), &connection.data(1)),
            home
        );
    }
}

//! Forged packets, whose sender sees no answer: a SYN, RST or FIN neither moves nor shortens what
//! only memory explains.

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{Counter, FlowState, TokenState};
use heddle_harness::{Cluster, Connection, Flow, Setup};

use crate::traces::world::{
    Traced, backend, connection, flow, numbered, open, owned_by, with_port,
};

mod handshakes;

/// Longer than the timeouts `syn` and `closing`: what they hold is forgotten.
const SILENCE: u32 = 700;

/// Packets that anybody can send in the name of a flow's client; the last one names a connection of
/// the sender's own.
fn forged(flow: &Flow, own: &Connection) -> [(&'static str, Vec<u8>); 5] {
    [
        ("RST", flow.rst()),
        ("FIN", flow.fin()),
        ("SYN", flow.syn(&[])),
        ("SYN with MP_CAPABLE", Connection { primary: *flow, ..*own }.syn()),
        ("SYN with MP_JOIN", own.join(flow)),
    ]
}

/// A connection, and a subflow of it whose own hash gives another backend.
fn joined(cluster: &Cluster, client: u16) -> (Connection, Flow, usize) {
    let connection = connection(client);
    let home = cluster.connect(0, &connection);
    let subflows = (10..).map(|port| with_port(connection.primary, port));
    let subflow = crate::traces::world::find(subflows, |subflow| cluster.hashed(&subflow) != home);
    assert_eq!(cluster.join(0, &connection, &subflow), home);
    (connection, subflow, home)
}

/// A connection of the attacker's, at another backend.
fn own_connection(cluster: &Cluster, home: usize) -> Connection {
    let flow = (1000..).map(flow).find(|flow| cluster.hashed(flow) != home).unwrap();
    let attacker = Connection { primary: flow, ..connection(1000) };
    assert_ne!(cluster.connect(0, &attacker), home);
    attacker
}

/// Connections of attackers, at two backends.
fn attackers(cluster: &Cluster) -> [(usize, Connection); 2] {
    let opened = |own: Connection| (cluster.connect(0, &own), own);
    let first = opened(connection(1000));
    let second = (1001..).map(connection).find(|own| cluster.hashed(&own.primary) != first.0);
    [first, opened(second.unwrap())]
}

/// The attacker whose connection is at another backend.
fn other(attackers: &[(usize, Connection); 2], home: usize) -> (usize, Connection) {
    *attackers.iter().find(|(at, _)| *at != home).unwrap()
}

#[test]
fn a_silent_join_stays_where_it_is() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    for number in 0..5 {
        let (connection, subflow, home) = joined(&cluster, number);
        let attacker = own_connection(&cluster, home);
        for silent_before in [0, SILENCE] {
            cluster.advance(silent_before).unwrap();
            let (what, frame) = forged(&subflow, &attacker)[usize::from(number)].clone();
            cluster.send(0, &frame).unwrap();
            cluster.advance(SILENCE).unwrap();
            assert_eq!(cluster.to(0, &subflow.data(1)), home, "{what}, {silent_before}");
            assert_eq!(cluster.to(0, &subflow.data(1)), home, "{what}, {silent_before}");
            let entry = cluster.entry(0, &subflow).unwrap();
            assert_eq!(
                (entry.state, entry.token),
                (FlowState::Established, Some(connection.token()))
            );
        }
    }
}

/// All of them, one behind the other, at each of many subflows.
#[test]
fn nothing_but_forged_packets_moves_no_join() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let joins: Vec<_> = (0..20).map(|client| joined(&cluster, client)).collect();
    let attacker = own_connection(&cluster, joins[0].2);
    for _ in 0..3 {
        cluster.advance(SILENCE).unwrap();
        for (_, subflow, _) in &joins {
            for (_, frame) in forged(subflow, &attacker) {
                cluster.send(0, &frame).unwrap();
            }
        }
    }
    cluster.advance(SILENCE).unwrap();
    for (_, subflow, home) in &joins {
        assert_eq!(cluster.to(0, &subflow.data(1)), *home);
    }
}

/// On the first subflow they do not wipe the token: joins find the connection long after.
#[test]
fn a_first_subflow_keeps_its_token() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let attacker = own_connection(&cluster, home);
    for (number, (what, frame)) in forged(&connection.primary, &attacker).into_iter().enumerate() {
        cluster.advance(SILENCE).unwrap();
        cluster.send(0, &frame).unwrap();
        for _ in 0..4 {
            cluster.advance(3000).unwrap();
            (0..3).for_each(|_| assert_eq!(cluster.to(0, &connection.data(1)), home, "{what}"));
        }
        let subflow = with_port(connection.primary, 100 + number as u16);
        assert_eq!(cluster.join(0, &connection, &subflow), home, "{what}");
    }
}

/// A client that has sent its FIN may listen for long (RFC 9293, section 3.6).
#[test]
fn a_half_closed_join_may_be_silent() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let (_, subflow, home) = joined(&cluster, 1);
    assert_eq!(cluster.to(0, &subflow.fin()), home);
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::ClosingStateful));
    for silence in [SILENCE, 17_000] {
        cluster.advance(silence).unwrap();
        assert_eq!(cluster.to(0, &subflow.data(0)), home);
    }
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::ClosingStateful), "it only listens");
    cluster.advance(60).unwrap();
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
    assert_eq!(cluster.state(0, &subflow), Some(FlowState::Established), "it goes on");
}

/// An established flow whose backend the hash does not give any more, without a token.
#[test]
fn a_flow_of_a_drained_backend_stays() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flows: Vec<Flow> = (1..6).map(flow).collect();
    let homes: Vec<usize> = flows.iter().map(|flow| cluster.plain(0, flow)).collect();
    let attacker = own_connection(&cluster, homes[0]);
    for backend in 0..4 {
        cluster.backends[backend].weight = u32::from(!homes.contains(&backend));
    }
    cluster.backends.push(heddle_harness::Backend::of_weight(1));
    cluster.publish().unwrap();
    for (number, (flow, home)) in flows.iter().zip(homes).enumerate() {
        cluster.advance(SILENCE).unwrap();
        let (what, frame) = forged(flow, &attacker)[number].clone();
        cluster.send(0, &frame).unwrap();
        cluster.advance(SILENCE).unwrap();
        assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home, "{what}");
    }
}

/// One that the hash explains goes where it went, too: a join that names the attacker's connection
/// does not take it along.
#[test]
fn a_join_does_not_take_a_plain_flow_along() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    let attacker = own_connection(&cluster, home);
    for frames in [vec![], vec![flow.rst()], vec![flow.fin(), flow.rst()]] {
        cluster.advance(60).unwrap();
        for frame in frames {
            assert_eq!(cluster.to(0, &frame), home);
        }
        assert_ne!(cluster.to(0, &attacker.join(&flow)), home, "the SYN itself goes by its token");
        assert_eq!(cluster.to(0, &numbered(flow.ack(&[], 1), 1 << 20)), home);
        assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home, "that has ended it");
    }
}

/// A forged RST is made good by the packets that follow.
#[test]
fn a_flow_that_goes_on_is_not_closed() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let flow = flow(1);
    let home = cluster.plain(0, &flow);
    cluster.to(0, &flow.rst());
    assert_eq!(cluster.state(0, &flow), Some(FlowState::Closing));
    for _ in 0..60 {
        assert_eq!(cluster.state(0, &flow), Some(FlowState::Closing), "at {}", cluster.now());
        cluster.advance(1).unwrap();
        assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home);
    }
    assert_eq!(cluster.state(0, &flow), Some(FlowState::Established), "a second later");
}

/// A client that was restarted uses a port again while the balancer still has the old flow: the packets
/// behind the SYN of the new join go with it, and a second later give it the entry.
#[test]
fn a_true_join_takes_the_entry_over() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let (_, subflow, old_home) = joined(&cluster, 1);
    let next = own_connection(&cluster, old_home);
    let (sent, seen) = cluster.seen(0, &next.join(&subflow));
    let home = backend(&sent);
    assert_ne!(home, old_home);
    assert_eq!(seen.at(0), [Counter::SentJoin, Counter::CandidateAdded]);
    assert_eq!(cluster.to(0, &subflow.joined_ack()), home);
    assert_ne!(cluster.entry(0, &subflow).unwrap().token, Some(next.token()));
    cluster.advance(60).unwrap();
    let (sent, seen) = cluster.seen(0, &subflow.data(1));
    assert_eq!(
        (backend(&sent), seen.at(0)),
        (home, vec![Counter::SentFlow, Counter::FlowAdded, Counter::CandidateAccepted])
    );
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
    assert_eq!(cluster.entry(0, &subflow).unwrap().token, Some(next.token()));
    for _ in 0..3 {
        cluster.advance(SILENCE).unwrap();
        assert_eq!(cluster.to(0, &subflow.data(1)), home);
    }
}

/// The ACK of a handshake has the number behind its SYN's: the victim's own, on its way at this
/// moment, is another one's.
#[test]
fn an_ack_of_another_handshake_takes_nothing_over() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let (_, subflow, home) = joined(&cluster, 1);
    let attacker = own_connection(&cluster, home);
    let mut ack = subflow.joined_ack();
    ack[14 + 20 + 4] = 0x80;
    cluster.send(0, &attacker.join(&subflow)).unwrap();
    assert_eq!(cluster.to(0, &ack), home);
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
    cluster.advance(SILENCE).unwrap();
    assert_eq!(cluster.to(0, &subflow.joined_ack()), home, "and a SYN is soon forgotten");
    assert_eq!(cluster.to(0, &subflow.data(1)), home);
}

/// The same with a new connection: its keys make the entry's token.
#[test]
fn a_true_connection_takes_the_entry_over() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let (old, subflow, _) = joined(&cluster, 1);
    let next = Connection { primary: subflow, ..connection(77) };
    let (sent, seen) = cluster.seen(0, &next.syn());
    let home = backend(&sent);
    assert!(seen.at(0).contains(&Counter::CandidateAdded), "{seen:?}");
    assert_eq!(cluster.entry(0, &subflow).unwrap().token, Some(old.token()));
    assert_eq!(cluster.to(0, &next.third_ack()), home);
    assert_eq!(
        cluster.token(0, next.token()).map(|entry| entry.state),
        Some(TokenState::Provisional)
    );
    assert_eq!(cluster.to(0, &next.first_data(10)), home);
    cluster.advance(60).unwrap();
    for frame in [next.data(10), next.data(10)] {
        assert_eq!(cluster.to(0, &frame), home);
    }
    assert_eq!(cluster.entry(0, &subflow).unwrap().token, Some(next.token()));
    assert_eq!(cluster.join(0, &next, &with_port(subflow, 9)), home);
}

/// The client that never sent the SYN answers the backend's SYN and ACK at once (RFC 9293, 3.10.7.4): nothing
/// that is forged behind that counts, however often it comes, and whatever it guesses of time.
#[test]
fn a_client_that_answers_keeps_its_flow() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let plain = flow(1);
    let home = cluster.plain(0, &plain);
    let attacker = own_connection(&cluster, home);
    let answer = numbered(plain.ack(&[], 0), 5_000_000);
    for wait in [0, 1, 30, 60, 120, 599] {
        cluster.send(0, &attacker.join(&plain)).unwrap();
        cluster.send(0, &plain.joined_ack()).unwrap();
        assert_eq!(cluster.to(0, &answer), home);
        cluster.advance(wait).unwrap();
        for forged in [plain.joined_ack(), plain.data(1)] {
            assert_eq!(cluster.to(0, &forged), home, "after {wait}");
        }
        assert_eq!(cluster.to(0, &answer), home);
        assert_eq!(cluster.entry(0, &plain).unwrap().token, None);
    }
}

/// Balancers that keep a flow hear of the forged SYN, and then that the flow goes on.
#[test]
fn a_flow_that_goes_on_does_so_at_all_balancers() {
    let setup = Setup { balancers: 3, backends: 8, ..Setup::default() };
    let Some(mut cluster) = open(setup) else { return };
    let victims: Vec<_> = (1..20).map(|client| joined(&cluster, client)).collect();
    let attackers = [2000, 2001].map(connection);
    let attackers = attackers.map(|attacker| (cluster.connect(0, &attacker), attacker));
    for (_, subflow, home) in &victims {
        (0..3).for_each(|_| assert_eq!(cluster.to(0, &subflow.data(1)), *home));
        let Some((_, attacker)) = attackers.iter().find(|(at, _)| at != home) else { continue };
        cluster.send(0, &attacker.join(subflow)).unwrap();
        for _ in 0..3 {
            assert_eq!(cluster.to(0, &numbered(subflow.data(1), 1 << 31)), *home);
        }
    }
    cluster.kill(0).unwrap();
    for (_, subflow, home) in &victims {
        for at in [1, 2] {
            assert_eq!(cluster.to(at, &subflow.data(1)), *home, "its number is as the SYN's");
        }
    }
}

/// Keys, and what confirms them, count where they follow the SYN: one guess of 128 does.
#[test]
fn packets_far_from_the_opening_confirm_nothing() {
    let Some(mut cluster) = open(Setup::default()) else { return };
    let connection = connection(1);
    let forged = Connection { primary: connection.primary, ..crate::traces::world::connection(2) };
    for start in [0, 0xffff_ff00] {
        let at = |frame: Vec<u8>, ahead: u32| numbered(frame, ahead.wrapping_add(start));
        let home = cluster.to(0, &at(connection.syn(), 0));
        for ahead in [1 << 26, 1 << 31, 0xff00_0000] {
            assert_eq!(cluster.to(0, &at(forged.third_ack(), ahead)), home);
        }
        assert_eq!(cluster.token_state(0, &forged), None);
        assert_eq!(cluster.to(0, &at(connection.third_ack(), 1)), home);
        assert_eq!(cluster.to(0, &at(connection.data(10), 1 << 31)), home);
        assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Provisional));
        assert_eq!(cluster.to(0, &at(connection.data(10), 1)), home);
        assert_eq!(cluster.token_state(0, &connection), Some(TokenState::Confirmed));
        cluster.advance(40_000).unwrap();
    }
}

/// Anybody can send keys: without a SYN before them no join finds their token, until their connection
/// goes on.
#[test]
fn keys_alone_name_no_connection() {
    let Some(mut cluster) = open(Setup { balancers: 2, ..Setup::default() }) else { return };
    let plain = flow(1);
    let home = cluster.plain(0, &plain);
    for at in [0, 1] {
        let attacker = owned_by(&cluster, at, 1000);
        cluster.send(0, &attacker.third_ack()).unwrap();
        let (_, seen) = cluster.seen(0, &attacker.join(&plain));
        assert_eq!((seen.count(Counter::SentJoin), seen.count(Counter::CandidateAdded)), (0, 0));
        assert_eq!(cluster.to(0, &plain.joined_ack()), home);
        assert_eq!(cluster.token_state(at, &attacker), Some(TokenState::Unopened));
        cluster.send(0, &attacker.data(0)).unwrap();
        assert_eq!(cluster.token_state(at, &attacker), Some(TokenState::Confirmed));
        let (_, seen) = cluster.seen(0, &attacker.join(&flow(2)));
        assert!(seen.count(Counter::SentJoin) + seen.count(Counter::SentForPeer) > 0, "{seen:?}");
    }
}

/// The first packet behind a forged SYN takes nothing over, however long after it comes.
#[test]
fn one_packet_behind_a_join_takes_nothing_over() {
    let Some(mut cluster) = open(Setup { backends: 8, ..Setup::default() }) else { return };
    let plain = flow(1);
    let home = cluster.plain(0, &plain);
    let attacker = own_connection(&cluster, home);
    cluster.send(0, &attacker.join(&plain)).unwrap();
    cluster.advance(61).unwrap();
    assert_ne!(cluster.to(0, &plain.joined_ack()), home, "it goes with the SYN");
    assert_eq!(cluster.entry(0, &plain).unwrap().token, None);
    assert_eq!(cluster.to(0, &numbered(plain.ack(&[], 1), 1 << 20)), home);
    assert_eq!(cluster.to(0, &plain.ack(&[], 1)), home);
}

/// The price of a flow whose client is silent and whose port is not known: all packets of the attack are sent.
/// Prints the figure of docs/src/balancer/security.md.
#[test]
fn a_silent_flow_at_an_unknown_port_costs_three_packets_a_port() {
    let ports: Vec<u16> = (1024..=65_535).collect();
    let sizes = Sizes { flows: 1 << 18, tokens: 1 << 14, ..Setup::default().sizes };
    let mut setup = Setup { backends: 8, sizes, ..Setup::default() };
    setup.settings.most_source_joins = 16;
    let Some(mut cluster) = open(setup) else { return };
    let victim = with_port(flow(1), 65_535);
    let home = cluster.plain(0, &victim);
    cluster.advance(61).unwrap();
    assert_eq!(cluster.to(0, &victim.ack(&[], 1)), home);
    let mut attackers = (2000..).map(connection);
    let mut packets = 0;
    let mut send = |cluster: &Cluster, frames: &[Vec<u8>]| {
        packets += frames.len();
        frames.iter().for_each(|frame| drop(cluster.send(0, frame).unwrap()));
    };
    for tried in ports.chunks(16) {
        let attacker = attackers.find(|c| cluster.hashed(&c.primary) != home).unwrap();
        send(&cluster, &[attacker.syn(), attacker.third_ack()]);
        let joins = tried.iter().map(|&port| attacker.join(&with_port(victim, port)));
        send(&cluster, &joins.collect::<Vec<_>>());
    }
    let behind: Vec<_> = ports.iter().map(|&port| with_port(victim, port).joined_ack()).collect();
    for (wait, moved) in [(61, false), (1, true)] {
        cluster.advance(wait).unwrap();
        send(&cluster, &behind);
        assert_eq!(cluster.entry(0, &victim).unwrap().token.is_some(), moved);
    }
    println!("packets that moved it: {packets}");
}

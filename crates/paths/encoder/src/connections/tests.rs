//! Connections over two leaves and some spines, in seconds; and any fabric while links fail.

use std::collections::BTreeSet;

use heddle_policy::cflb::{CflbConfig, Cipher, Rules};
use proptest::prelude::*;
use proptest::sample::Index;

use heddle_units::Rate;

use super::*;
use crate::testing::{PORTS, any_graph, any_pair, leaf_spine, network, network_of};
use crate::{End, Family, Fit, PortRules, Scheduler};

const LEASE: u64 = 60;

/// Accepts all ports: no port is taken outside of the allocator.
const fn others_use_none(_: &Fields) -> bool {
    true
}

fn connections(network: &Network, scheduler: Scheduler) -> Connections {
    Connections::new(Placer::new(network.fabric(), scheduler), LEASE)
}

fn request(network: &Network, from: u32, to: u32, subflows: u16) -> Request {
    let pair = network.pair_of(from, to, Family::V4).unwrap();
    Request { pair, protocol: 6, ports: PORTS, subflows, rate: None, lease: None }
}

/// The switches that a subflow's packets pass, as routers decide.
fn switches(network: &Network, connection: &Connection, subflow: SubflowId) -> Vec<String> {
    let fields = &connection.subflows[&subflow].fields;
    let walk = network.walk(connection.request.pair.from, fields).unwrap();
    assert_eq!(walk.end, End::Delivered);
    walk.steps.into_iter().map(|step| step.name).collect()
}

fn spines(network: &Network, connection: &Connection) -> BTreeSet<String> {
    let ids = connection.subflows.keys();
    ids.map(|subflow| switches(network, connection, *subflow)[1].clone()).collect()
}

/// Claim C6: seven paths, seven subflows, all of them used, whatever the connection. Random ports
/// do so in 0.6 % of cases.
#[test]
fn seven_subflows_take_seven_paths() {
    let network = network(&leaf_spine(2, 7), 7);
    for _ in 0..20 {
        let mut connections = connections(&network, Scheduler::FewestFlows);
        let id =
            connections.open(&network, &request(&network, 0, 2, 7), 0, others_use_none).unwrap();
        let connection = connections.get(id).unwrap();
        let expected = (1..=7).map(|spine| format!("spine-{spine}")).collect();
        assert_eq!(spines(&network, connection), expected);
        assert!(connection.subflows.values().all(|subflow| subflow.placement.shared == 0));
    }
}

/// Claim C7's first half: two subflows are enough for two different links, every time.
#[test]
fn two_subflows_take_two_paths() {
    let network = network(&leaf_spine(2, 7), 7);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    for _ in 0..400 {
        let id =
            connections.open(&network, &request(&network, 0, 2, 2), 0, others_use_none).unwrap();
        assert_eq!(spines(&network, connections.get(id).unwrap()).len(), 2);
    }
}

#[test]
fn no_two_subflows_of_a_pair_have_the_same_ports() {
    let network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let ids: Vec<_> = (0..500)
        .map(|_| {
            connections.open(&network, &request(&network, 0, 2, 2), 0, others_use_none).unwrap()
        })
        .collect();
    assert_eq!(connections.ports().len(), 1000);
    for id in ids {
        connections.close(id).unwrap();
    }
    assert!(connections.ports().is_empty());
}

#[test]
fn a_lease_ends_unless_it_is_renewed() {
    let network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let mut open = |now| {
        connections.open(&network, &request(&network, 0, 2, 1), now, others_use_none).unwrap()
    };
    let (first, second) = (open(0), open(10));
    assert_eq!(connections.expire(59), []);
    assert_eq!(connections.renew(first, 59), Ok(59 + LEASE));
    assert_eq!(connections.expire(70), [second]);
    assert_eq!(connections.expire(118), []);
    assert_eq!(connections.expire(119), [first]);
    assert_eq!(connections.renew(first, 119), Err(PathEncoderError::NoConnection(first.0)));
    assert_eq!((connections.iter().count(), connections.ports().len()), (0, 0));
}

#[test]
fn subflows_come_and_go() {
    let network = network(&leaf_spine(2, 3), 3);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let id = connections.open(&network, &request(&network, 0, 2, 1), 0, others_use_none).unwrap();
    let second = connections.add_subflow(&network, id, PORTS, others_use_none).unwrap();
    let third = connections.add_subflow(&network, id, PORTS, others_use_none).unwrap();
    assert_eq!((second, third), (SubflowId(1), SubflowId(2)));
    assert_eq!(spines(&network, connections.get(id).unwrap()).len(), 3);
    let closed = connections.close_subflow(id, second).unwrap();
    assert_eq!(connections.close_subflow(id, second), Err(no_subflow(id, second)));
    let fourth = connections.add_subflow(&network, id, PORTS, others_use_none).unwrap();
    let again = &connections.get(id).unwrap().subflows[&fourth];
    assert_eq!(
        (fourth, &again.placement.path),
        (SubflowId(3), &closed.placement.path),
        "the free one"
    );
}

/// 3 spines become 2: the subflow over the failed one is dead, and another one's digit names
/// another spine now.
#[test]
fn after_a_failure_the_affected_subflows_are_listed_and_moved() {
    let mut network = network(&leaf_spine(2, 3), 3);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let id = connections.open(&network, &request(&network, 0, 2, 3), 0, others_use_none).unwrap();
    let over = |connections: &Connections, network: &Network, spine: &str| {
        let connection = connections.get(id).unwrap();
        let is_over = |id: &&SubflowId| switches(network, connection, **id)[1] == spine;
        *connection.subflows.keys().find(is_over).unwrap()
    };
    let [first, second, third] =
        ["spine-1", "spine-2", "spine-3"].map(|spine| over(&connections, &network, spine));
    let [link] = network.links_between("leaf-1", "spine-1").unwrap()[..] else { panic!() };
    network.set_down(&[link]).unwrap();
    let mut affected = connections.affected(&network);
    affected.sort_by_key(|affected| affected.subflow != first);
    let state = |subflow, impact| Affected { connection: id, subflow, impact };
    assert_eq!(affected[0], state(first, LinkImpact::LinkDown { link }));
    // Number 1 of 3 was spine 2 and is number 0 of 2: the digit 1 is spine 3 now. Number 2 is too
    // high, and is hashed.
    assert!(affected[1..].contains(&state(second, LinkImpact::Rerouted)));
    assert!(
        affected[1..]
            .iter()
            .all(|a| a.impact == LinkImpact::Rerouted && [second, third].contains(&a.subflow))
    );
    for affected in affected {
        connections
            .replace(&network, affected.connection, affected.subflow, others_use_none)
            .unwrap();
    }
    assert_eq!(connections.affected(&network), []);
    assert_eq!(
        spines(&network, connections.get(id).unwrap()),
        ["spine-2", "spine-3"].map(String::from).into()
    );
    connections.close(id).unwrap();
    assert!(
        (0..network.fabric().ports.len() as u32).all(|port| connections.placer().flows(port) == 0)
    );
    assert!(connections.ports().is_empty());
}

/// A host that is cut off: its subflow can be placed nowhere, and stays as it was.
#[test]
fn a_subflow_that_cannot_be_moved_stays() {
    let mut network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let id = connections.open(&network, &request(&network, 0, 2, 1), 0, others_use_none).unwrap();
    let before = connections.get(id).unwrap().clone();
    let [link] = network.links_between("host-3", "leaf-2").unwrap()[..] else { panic!() };
    network.set_down(&[link]).unwrap();
    let impact = LinkImpact::LinkDown { link };
    assert_eq!(
        connections.affected(&network),
        [Affected { connection: id, subflow: SubflowId(0), impact }]
    );
    let error = connections.replace(&network, id, SubflowId(0), others_use_none).unwrap_err();
    assert_eq!(error, PathEncoderError::HostDown { host: "host-3".into() });
    assert_eq!(connections.get(id), Some(&before));
    let links = before.subflows[&SubflowId(0)].placement.links();
    assert!(links.iter().all(|link| connections.placer().flows(*link) == 1), "and on its links");
    network.set_down(&[]).unwrap();
    assert_eq!(connections.affected(&network), []);
    connections.close(id).unwrap();
    assert!(
        (0..network.fabric().ports.len() as u32).all(|port| connections.placer().flows(port) == 0)
    );
}

/// Of a field with 8 ports, half name each spine: the fifth subflow over one spine finds none, and
/// nothing of it is left.
#[test]
fn a_connection_that_finds_no_ports_is_not_opened() {
    let field = Field::SourcePort(heddle_policy::cflb::PortRange { low: 50_000, high: 50_007 });
    let config = CflbConfig { field, cipher: Cipher::Feistel, radix: 2, rules: Rules::Even };
    let network = network_of(&leaf_spine(2, 2), &config, PortRules::default());
    let mut connections = connections(&network, Scheduler::FewestFlows);
    connections.open(&network, &request(&network, 0, 2, 8), 0, others_use_none).unwrap();
    let error =
        connections.open(&network, &request(&network, 0, 2, 2), 0, others_use_none).unwrap_err();
    assert!(matches!(error, PathEncoderError::NoneFree { .. }), "{error}");
    assert_eq!((connections.ports().len(), connections.iter().count()), (8, 1));
    let flows = |port| connections.placer().flows(network.fabric().port_of_switch(0, port));
    assert_eq!([2, 3].map(|port| flows(heddle_policy::Port(port))), [4, 4]);
    assert!(
        connections.open(&network, &request(&network, 1, 2, 8), 0, others_use_none).is_ok(),
        "another host's ports"
    );
}

#[test]
fn rates_are_reserved_for_each_subflow() {
    let network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FirstFit);
    let request = Request { rate: Some(Rate::gbps(6)), ..request(&network, 0, 2, 3) };
    let id = connections.open(&network, &request, 0, others_use_none).unwrap();
    let subflows = connections.get(id).unwrap().subflows.values();
    let fits: Vec<Fit> = subflows.map(|subflow| subflow.placement.fit).collect();
    assert_eq!(fits, [Fit::Fits, Fit::Fits, Fit::Oversubscribed { by: Rate::gbps(2) }]);
}

/// Of 8 ports half name each spine. One is refused, one is marked for the host: 6 subflows find
/// ports, the next one over either spine has tried all 4 names of its path.
#[test]
fn ports_that_are_in_use_elsewhere_are_not_given() {
    let field = Field::SourcePort(heddle_policy::cflb::PortRange { low: 50_000, high: 50_007 });
    let config = CflbConfig { field, cipher: Cipher::Feistel, radix: 2, rules: Rules::Even };
    let network = network_of(&leaf_spine(2, 2), &config, PortRules::default());
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let one = request(&network, 0, 2, 1);
    let source = |fields: &Fields| fields.ports.unwrap().source;
    let marking = connections.open(&network, &one, 0, |fields| source(fields) != 50_003).unwrap();
    connections.set_taken_ports(marking, [50_005].into()).unwrap();
    let mut given = BTreeSet::new();
    for _ in 0..2 {
        let id = connections.open(&network, &one, 0, |fields| source(fields) != 50_003).unwrap();
        given.insert(source(&connections.get(id).unwrap().subflows[&SubflowId(0)].fields));
    }
    assert_eq!(given.intersection(&[50_003, 50_005].into()).count(), 0);
    let eight = request(&network, 0, 3, 8);
    let error = connections.open(&network, &eight, 0, others_use_none).unwrap_err();
    assert_eq!(error, PathEncoderError::NoneFree { tried: 4 }, "of the host, whoever receives");
    let is_free = |connections: &Connections, from, source| {
        connections.ports().is_free(from, 3, Ports { source, ..PORTS })
    };
    let marked = [(0, 50_005), (1, 50_005), (0, 50_006)];
    let free = |connections: &Connections| marked.map(|(from, at)| is_free(connections, from, at));
    assert_eq!(free(&connections), [false, true, true]);

    connections.set_taken_ports(marking, [50_006, 50_007].into()).unwrap();
    assert_eq!(free(&connections), [true, true, false], "in place of the former ones");
    assert_eq!(connections.ports().taken(), 2);
    connections.close(marking).unwrap();
    assert_eq!(free(&connections), [true; 3]);
    assert_eq!(connections.ports().taken(), 0);
    let gone = Err(PathEncoderError::NoConnection(marking.0));
    assert_eq!(connections.set_taken_ports(marking, [50_005].into()), gone);
}

/// A subflow that is placed anew leaves a port that its host now uses otherwise; if there is no
/// other one, it stays.
#[test]
fn a_subflow_placed_anew_asks_for_free_ports_again() {
    let network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let id = connections.open(&network, &request(&network, 0, 2, 1), 0, others_use_none).unwrap();
    let ports = |connections: &Connections| {
        connections.get(id).unwrap().subflows[&SubflowId(0)].fields.ports.unwrap()
    };
    let before = ports(&connections);
    let none = connections.replace(&network, id, SubflowId(0), |_| false).unwrap_err();
    assert!(matches!(none, PathEncoderError::NoneFree { .. }), "{none}");
    assert_eq!(ports(&connections), before);
    let is_even = |fields: &Fields| fields.ports.unwrap().source.is_multiple_of(2);
    connections.replace(&network, id, SubflowId(0), is_even).unwrap();
    assert!(ports(&connections).source.is_multiple_of(2));
    assert_eq!(connections.ports().len(), 1);
}

/// Asked for 10 s and for 90 s where 60 s are usual.
#[test]
fn a_lease_may_be_shorter_or_longer() {
    let network = network(&leaf_spine(2, 2), 2);
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let mut open = |lease| {
        let request = Request { lease, ..request(&network, 0, 2, 1) };
        connections.open(&network, &request, 0, others_use_none).unwrap()
    };
    let [short, usual, long] = [Some(10), None, Some(90)].map(&mut open);
    assert_eq!(connections.renew(short, 5), Ok(15));
    assert_eq!(connections.expire(14), []);
    assert_eq!(connections.expire(15), [short]);
    assert_eq!(connections.expire(89), [usual]);
    assert_eq!(connections.len(), 1);
    assert_eq!(connections.expire(90), [long]);
    assert!(connections.is_empty());
}

/// A flow label leaves the ports alone, so each subflow must bring its own.
#[test]
fn with_flow_labels_the_ports_are_the_callers() {
    let config = CflbConfig {
        field: Field::FlowLabel,
        cipher: Cipher::Feistel,
        radix: 2,
        rules: Rules::Even,
    };
    let network = network_of(&leaf_spine(2, 2), &config, PortRules::default());
    let mut connections = connections(&network, Scheduler::FewestFlows);
    let pair = network.pair_of(0, 2, Family::V6).unwrap();
    let request = Request { pair, ..request(&network, 0, 2, 1) };
    let twice = Request { subflows: 2, ..request };
    assert_eq!(
        connections.open(&network, &twice, 0, others_use_none),
        Err(PathEncoderError::PortsGiven)
    );
    let id = connections.open(&network, &request, 0, others_use_none).unwrap();
    assert_eq!(
        connections.add_subflow(&network, id, PORTS, others_use_none),
        Err(PathEncoderError::PortsInUse)
    );
    connections
        .add_subflow(&network, id, Ports { source: 40_001, ..PORTS }, others_use_none)
        .unwrap();
    assert_eq!(spines(&network, connections.get(id).unwrap()).len(), 2);
    assert_eq!(connections.replace(&network, id, SubflowId(0), others_use_none), Ok(()));
}

proptest! {
    /// Connections open and close while links fail: every subflow that is not listed as affected
    /// takes its path, and in the end nothing is left on links or allocated.
    #[test]
    fn subflows_take_their_paths_or_are_listed(
        graph in any_graph(),
        steps in prop::collection::vec(
            (any::<(Index, Index)>(), 1u16..4, prop::collection::vec(any::<Index>(), 0..4)),
            1..8,
        ),
        first_fit in any::<bool>(),
    ) {
        let mut network = network(&graph, 16);
        let scheduler = if first_fit { Scheduler::FirstFit } else { Scheduler::FewestFlows };
        let mut connections = connections(&network, scheduler);
        for (now, (pair, subflows, down)) in steps.into_iter().enumerate() {
            let (from, to) = any_pair(network.fabric(), pair);
            let opened = connections.open(&network, &request(&network, from, to, subflows), now as u64, others_use_none);
            prop_assert_eq!(opened.is_ok(), network.find(from, to).is_ok());
            let down: Vec<u32> = down.iter().map(|link| link.index(graph.links.len()) as u32).collect();
            network.set_down(&down).unwrap();
            let affected = connections.affected(&network);
            for Affected { connection, subflow, .. } in &affected {
                let pair = connections.get(*connection).unwrap().request.pair;
                let replaced = connections.replace(&network, *connection, *subflow, others_use_none);
                prop_assert_eq!(replaced.is_ok(), network.find(pair.from, pair.to).is_ok());
            }
            for Affected { connection, .. } in connections.affected(&network) {
                let pair = connections.get(connection).unwrap().request.pair;
                prop_assert!(network.find(pair.from, pair.to).is_err());
            }
        }
        connections.expire(u64::MAX);
        prop_assert!(connections.ports().is_empty() && connections.iter().count() == 0);
        for port in 0..network.fabric().ports.len() as u32 {
            prop_assert_eq!(connections.placer().flows(port), 0);
        }
    }
}

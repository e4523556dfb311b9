//! Full tables: who gives way to whom.

use heddle_balancer_maps::Sizes;
use heddle_balancer_maps::abi::{BUCKET_ENTRIES, Counter, FlowState};
use heddle_harness::{Cluster, Connection, Flow, Setup};

use crate::traces::world::{Traced, connection, flow, open, with_port};

/// 8 buckets and 3 extra ones: 44 places.
fn tiny() -> Option<Cluster> {
    let sizes = Sizes { flows: 44, ..Setup::default().sizes };
    open(Setup { sizes, ..Setup::default() })
}

/// Settles flows: they go on when they are older than a second.
fn settle(cluster: &mut Cluster, flows: &[Flow]) {
    cluster.advance(61).unwrap();
    for flow in flows {
        cluster.send(0, &flow.ack(&[], 1)).unwrap();
    }
}

fn established(cluster: &Cluster, flows: &[Flow]) -> Vec<Flow> {
    let known = |flow: &&Flow| cluster.state(0, flow) == Some(FlowState::Established);
    flows.iter().filter(known).copied().collect()
}

/// A flood of SYNs leaves every established flow where it is; its own SYNs give way to each other.
#[test]
fn syn_floods_push_no_established_flow_out() {
    let Some(mut cluster) = tiny() else { return };
    let flows: Vec<Flow> = (0..30).map(flow).collect();
    flows.iter().for_each(|flow| assert!(cluster.plain(0, flow) < 4));
    settle(&mut cluster, &flows);
    let before = established(&cluster, &flows);
    assert!(before.len() >= 28, "{}", before.len());
    let (_, seen) = cluster
        .watch(|c| {
            (1000..6000).for_each(|client| assert!(c.to(0, &flow(client).syn(&[])) < 4));
            Ok(())
        })
        .unwrap();
    assert!(seen.count(Counter::FlowEvicted) > 2000, "{seen:?}");
    assert_eq!(established(&cluster, &before), before);
    // Those of a second flood find handshakes that take too long.
    cluster.advance(31).unwrap();
    let flood = |c: &mut Cluster| {
        (6000..7000).for_each(|client| assert!(c.to(0, &flow(client).syn(&[])) < 4));
        Ok(())
    };
    let (_, seen) = cluster.watch(flood).unwrap();
    assert_eq!(seen.count(Counter::FlowFull), 0, "{seen:?}");
    assert_eq!(established(&cluster, &before), before);
}

/// A flow in an extra bucket is found for as long as it lives, however long ago it came there.
#[test]
fn flows_in_extra_buckets_are_found_while_they_live() {
    let Some(mut cluster) = tiny() else { return };
    let flows: Vec<Flow> = (0..30).map(flow).collect();
    flows.iter().for_each(|flow| assert!(cluster.plain(0, flow) < 4));
    settle(&mut cluster, &flows);
    let known = established(&cluster, &flows);
    let maps = &cluster.balancer(0).unwrap().maps;
    let extra = (8 * BUCKET_ENTRIES as usize)..maps.flows.room();
    assert!(extra.filter(|&place| maps.flows.at(place).is_some()).count() > 2);
    let life = cluster.settings().flow_timeout;
    for _ in 0..4 {
        cluster.advance(life - 1).unwrap();
        for flow in &known {
            let (_, seen) = cluster.seen(0, &flow.ack(&[], 1));
            assert_eq!(seen.at(0), [Counter::SentFlow], "{flow:?}");
        }
    }
    cluster.advance(life).unwrap();
    for flow in &known {
        let (_, seen) = cluster.seen(0, &flow.ack(&[], 1));
        assert_eq!(seen.count(Counter::SentFlow), 0, "{flow:?}");
    }
}

/// Joins, whose place no hash tells, take the places of flows that the hash explains: those go on
/// as before.
#[test]
fn joins_take_the_places_of_flows_that_the_hash_explains() {
    let Some(mut cluster) = tiny() else { return };
    let connection = connection(1);
    let home = cluster.connect(0, &connection);
    let flows: Vec<Flow> = (100..300).map(flow).collect();
    let homes: Vec<usize> = flows.iter().map(|flow| cluster.plain(0, flow)).collect();
    settle(&mut cluster, &flows);
    let joins: Vec<Flow> = (10..30).map(|port| with_port(connection.primary, port)).collect();
    let join = |c: &mut Cluster| {
        joins.iter().for_each(|subflow| assert_eq!(c.join(0, &connection, subflow), home));
        Ok(())
    };
    let (_, seen) = cluster.watch(join).unwrap();
    assert!(seen.count(Counter::FlowEvicted) > 10, "{seen:?}");
    let known = established(&cluster, &joins).len();
    assert!(known as u64 >= 20 - seen.count(Counter::FlowFull), "{known} {seen:?}");
    for (flow, home) in flows.iter().zip(homes) {
        assert_eq!(cluster.to(0, &flow.ack(&[], 1)), home, "evicted or not");
    }
    joins.iter().for_each(|subflow| assert_eq!(cluster.to(0, &subflow.data(1)), home));
}

/// Flows of a few packets give way as those that open do, until they go on a second later: the
/// oldest first.
#[test]
fn fresh_flows_give_way_to_each_other() {
    let Some(mut cluster) = tiny() else { return };
    let old: Vec<Flow> = (0..20).map(flow).collect();
    old.iter().for_each(|flow| assert!(cluster.plain(0, flow) < 4));
    settle(&mut cluster, &old);
    let before = established(&cluster, &old);
    (1000..3000).for_each(|client| assert!(cluster.plain(0, &flow(client)) < 4));
    assert_eq!(established(&cluster, &before), before);
    let newcomers: Vec<Flow> = (5000..5010).map(flow).collect();
    cluster.advance(1).unwrap();
    newcomers.iter().for_each(|flow| assert!(cluster.plain(0, flow) < 4));
    assert_eq!(established(&cluster, &newcomers), newcomers, "in the places of older ones");
    // The hash explains them no more: they stay.
    cluster.backends.push(heddle_harness::Backend::of_weight(4));
    cluster.publish().unwrap();
    cluster.advance(1).unwrap();
    (6000..7000).for_each(|client| assert!(cluster.to(0, &flow(client).syn(&[])) < 5));
    assert_eq!(established(&cluster, &newcomers), newcomers);
}

/// Flows whose backend no hash gives are never evicted: those of a backend that drains, and joins.
#[test]
fn what_only_its_entry_tells_stays() {
    let Some(mut cluster) = tiny() else { return };
    cluster.backends[1..].iter_mut().for_each(|backend| backend.weight = 0);
    cluster.publish().unwrap();
    let flows: Vec<Flow> = (0..44).map(flow).collect();
    flows.iter().for_each(|flow| assert_eq!(cluster.plain(0, flow), 0));
    let kept = established(&cluster, &flows);
    cluster.backends[0].weight = 0;
    cluster.backends[1].weight = 1;
    cluster.publish().unwrap();
    let connection = connection(100);
    assert_eq!(cluster.connect(0, &connection), 1);
    (10..200).for_each(|port| {
        cluster.to(0, &connection.join(&with_port(connection.primary, port)));
        cluster.to(0, &flow(1000 + port).syn(&[]));
        cluster.to(0, &flow(1000 + port).ack(&[], 1));
    });
    assert_eq!(established(&cluster, &kept), kept);
    kept.iter().for_each(|flow| assert_eq!(cluster.to(0, &flow.ack(&[], 1)), 0));
}

/// Tokens: provisional ones give way to each other, confirmed ones to none.
#[test]
fn confirmed_tokens_stay_in_a_full_table() {
    let sizes = Sizes { tokens: 44, ..Setup::default().sizes };
    let Some(mut cluster) = open(Setup { sizes, ..Setup::default() }) else { return };
    let connections: Vec<Connection> = (0..30).map(connection).collect();
    let homes: Vec<usize> = connections.iter().map(|c| cluster.connect(0, c)).collect();
    let (_, seen) = cluster
        .watch(|c| {
            (100..1100).for_each(|n| assert!(c.to(0, &connection(n).third_ack()) < 4));
            Ok(())
        })
        .unwrap();
    assert!(seen.count(Counter::TokenEvicted) > 500, "{seen:?}");
    for (connection, home) in connections.iter().zip(homes) {
        let subflow = with_port(connection.primary, 9);
        assert_eq!(cluster.to(0, &connection.join(&subflow)), home);
    }
}

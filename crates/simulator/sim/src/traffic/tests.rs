//! Arrivals against the scenario's parameters.

use heddle_transport::{Group, TcpConfig};
use heddle_units::Rate;

use super::*;
use crate::five_tuple::FlowHash;

const START: Time = Time::millis(1);

/// Flows of 1 to 19 KB, 10 KB on average, at half of 8 Gbps: 50 000 flows a second.
fn flows(pattern: Pattern) -> Flows {
    let points = vec![(1000.0, 0.0), (19_000.0, 1.0)];
    let sizes = SizeDistribution { name: "even".into(), points };
    let (capacity, connections) = (Rate::gbps(8), Connections::PerFlow);
    Flows { sizes, load: 0.5, capacity, pattern, connections }
}

fn everybody(hosts: u32) -> Pattern {
    Pattern::Sets { clients: (0..hosts).collect(), servers: (0..hosts).collect() }
}

/// The first arrivals, each with its flows.
fn arrivals(workload: &Workload, hosts: u32, seed: u64, count: usize) -> Vec<(Time, Vec<NewFlow>)> {
    let mut traffic = Traffic::new(workload, hosts, START, seed);
    let arrival = || {
        let (at, mut flows) = (traffic.next_at(), Vec::new());
        traffic.arrive(&mut flows);
        (at, flows)
    };
    std::iter::repeat_with(arrival).take(count).collect()
}

fn poisson(pattern: Pattern, hosts: u32, count: usize) -> Vec<(Time, Vec<NewFlow>)> {
    arrivals(&Workload::Flows(flows(pattern)), hosts, 1, count)
}

#[test]
fn gaps_are_exponential_and_the_load_is_as_asked() {
    let arrivals = poisson(everybody(4), 4, 100_000);
    let before = std::iter::once(START).chain(arrivals.iter().map(|(at, _)| *at));
    let gaps: Vec<f64> =
        arrivals.iter().zip(before).map(|((at, _), before)| (*at - before).as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean / 20e-6 - 1.0).abs() < 0.02, "{mean}");
    let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
    assert!((square / (2.0 * mean * mean) - 1.0).abs() < 0.04, "E[X^2] = 2 E[X]^2: {square}");
    let bytes: u64 = arrivals.iter().flat_map(|(_, flows)| flows).map(|flow| flow.size.0).sum();
    let load = bytes as f64 * 8.0 / gaps.iter().sum::<f64>() / 8e9;
    assert!((load / 0.5 - 1.0).abs() < 0.02, "{load}");
}

#[test]
fn every_pair_but_a_host_and_itself_is_as_likely() {
    let mut counts = [[0u32; 4]; 4];
    for (_, flows) in poisson(everybody(4), 4, 12_000) {
        counts[flows[0].from as usize][flows[0].to as usize] += 1;
    }
    for (from, row) in counts.iter().enumerate() {
        for (to, &count) in row.iter().enumerate() {
            let expected = if from == to { 0..1 } else { 880..1120 };
            assert!(expected.contains(&count), "{from} to {to}: {count}, 4 sigma from 1000");
        }
    }
}

#[test]
fn in_a_permutation_each_host_sends_to_one_and_hears_one() {
    let mut receivers = vec![None; 9];
    for (_, flows) in poisson(Pattern::Permutation, 9, 1000) {
        let receiver = receivers[flows[0].from as usize].get_or_insert(flows[0].to);
        assert_eq!(*receiver, flows[0].to);
    }
    let mut receivers: Vec<u32> = receivers.into_iter().flatten().collect();
    receivers.sort_unstable();
    assert_eq!(receivers, (0..9).collect::<Vec<_>>());
}

#[test]
fn the_senders_of_an_incast_are_different_hosts_and_answer_at_once() {
    for (_, flows) in poisson(Pattern::Incast { senders: 5 }, 8, 500) {
        let mut hosts: Vec<u32> = flows.iter().map(|flow| flow.from).collect();
        hosts.push(flows[0].to);
        hosts.sort_unstable();
        hosts.dedup();
        assert_eq!((flows.len(), hosts.len()), (5, 6));
        assert!(flows.iter().all(|flow| flow.to == flows[0].to));
    }
}

#[test]
fn a_seed_gives_one_traffic() {
    for pattern in [everybody(6), Pattern::Permutation, Pattern::Incast { senders: 2 }] {
        let workload = Workload::Flows(flows(pattern));
        let of_seed = |seed| arrivals(&workload, 6, seed, 100);
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
    }
}

#[test]
fn a_replay_is_in_order_of_time_and_then_of_the_list() {
    let flow = |at, from| ReplayFlow { at: Time::micros(at), from, to: 9, size: Bytes(1) };
    let list = vec![flow(7, 1), flow(3, 2), flow(7, 3), flow(3, 4)];
    let arrivals = arrivals(&Workload::Replay(list), 10, 1, 5);
    let seen: Vec<_> =
        arrivals.iter().flat_map(|(at, flows)| flows.iter().map(|flow| (*at, flow.from))).collect();
    let at = |us| START + Time::micros(us);
    assert_eq!(seen, [(at(3), 2), (at(3), 4), (at(7), 1), (at(7), 3)]);
    assert_eq!(arrivals[4].0, Time::NEVER, "no more");
}

#[test]
fn long_flows_start_within_their_time() {
    let pairs = Some(vec![(0, 1), (2, 1), (1, 0)]);
    let long = Long { pairs: pairs.clone(), start_within: Time::micros(50) };
    let arrivals = arrivals(&Workload::Long(long), 3, 1, 3);
    let mut ends: Vec<_> = arrivals.iter().map(|(_, flows)| (flows[0].from, flows[0].to)).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(0, 1), (1, 0), (2, 1)]);
    assert!(arrivals.iter().all(|(at, _)| (START..START + Time::micros(50)).contains(at)));
}

#[test]
fn flows_of_a_pair_take_its_connections_in_turn() {
    let mut hosts =
        Hosts::new(vec![Group::Tcp(TcpConfig::default())], 1, None, None, FlowHash::FiveTuple);
    let mut pools = ConnectionPools::default();
    let mut connection = |from, to, connections| {
        let flow = NewFlow { from, to, size: Bytes(1), connections, workload: 0, index: 0 };
        pools.connection(&flow, &mut hosts)
    };
    let pool = Connections::Persistent(3);
    assert_eq!([(); 7].map(|()| connection(0, 1, pool)), [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!([connection(1, 0, pool), connection(0, 1, pool)], [3, 1], "a pair has a direction");
    assert_eq!([(); 2].map(|()| connection(0, 1, Connections::PerFlow)), [4, 5]);
}

#[test]
fn a_further_workload_leaves_the_flows_of_the_first_as_they_are() {
    let named =
        |name: &str, workload| NamedWorkload { name: name.into(), transport: None, workload };
    let incast = Workload::Flows(flows(Pattern::Incast { senders: 3 }));
    let parts = vec![named("a", Workload::Flows(flows(everybody(4)))), named("b", incast.clone())];
    let both = arrivals(&Workload::Several(parts), 4, 1, 400);
    assert!(both.is_sorted_by_key(|(at, _)| *at));
    let arrivals_of = |number| {
        let is_its_own = move |flow: &NewFlow| flow.workload == number;
        both.iter().filter(move |(_, flows)| flows.iter().all(is_its_own))
    };
    let first: Vec<_> = arrivals_of(0).cloned().collect();
    assert_eq!(first, poisson(everybody(4), 4, first.len()));
    assert!(
        arrivals_of(1).all(|(_, flows)| flows.len() == 3)
            && arrivals_of(0).count() + arrivals_of(1).count() == 400
    );
    let alone = arrivals(&incast, 4, 1, 1);
    assert_ne!(arrivals_of(1).next().map(|(at, _)| *at), Some(alone[0].0), "a stream of its own");
}

#[test]
fn a_pool_opens_a_connection_only_if_none_is_idle() {
    let mut hosts =
        Hosts::new(vec![Group::Tcp(TcpConfig::default())], 1, None, None, FlowHash::FiveTuple);
    let mut pools = ConnectionPools::default();
    let flow = NewFlow {
        from: 0,
        to: 1,
        size: Bytes(1),
        connections: Connections::Pool,
        workload: 0,
        index: 0,
    };
    let mut connection = |hosts: &mut Hosts| pools.connection(&flow, hosts);
    assert_eq!([(); 2].map(|()| connection(&mut hosts)), [0, 0], "it carries nothing yet");
    hosts.occupy(0);
    assert_eq!([(); 2].map(|()| connection(&mut hosts)), [1, 1]);
    hosts.occupy(1);
    assert_eq!(connection(&mut hosts), 2);
}

/// A flow of a connection starts an exponential pause after the last one has ended: with flows that
/// take 100 us, a connection's flows are 100 us and the pause apart.
#[test]
fn a_connection_of_a_closed_loop_pauses_after_its_last_flow() {
    let pairs = Pattern::Pairs { clients: vec![0, 1], servers: vec![2, 3] };
    let connections = Connections::ClosedLoop(3);
    let workload = Workload::Flows(Flows { connections, ..flows(pairs) });
    let mut traffic = Traffic::new(&workload, 4, START, 1);
    let took = Time::micros(100);
    let (mut busy, mut gaps, mut last) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    while gaps.len() < 20_000 {
        let now = traffic.next_at();
        if let Some((&(end, index), &flow)) = busy.first_key_value()
            && end <= now
        {
            busy.remove(&(end, index));
            traffic.finished(end, &flow);
            continue;
        }
        let mut started = Vec::new();
        traffic.arrive(&mut started);
        let NewFlow { from, to, index, .. } = started[0];
        assert_eq!(from, index / 3, "three connections of a pair");
        gaps.extend(last.insert(index, now).map(|before| (now - before).as_secs_f64()));
        let flow = Flow {
            start: now,
            from,
            to,
            size: Bytes(1),
            measured: true,
            workload: 0,
            id: 1,
            index,
        };
        busy.insert((now + took, index), flow);
    }
    // At half of 8 Gbps six connections have a flow of 10 KB every 120 us each. The deviation of
    // the mean is 120 us / sqrt(20 000), 0.85 us.
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 220e-6).abs() < 4.0 * 0.85e-6, "{mean}");
}

#[test]
fn a_flow_of_a_closed_loop_takes_the_connection_that_it_is_of() {
    let mut hosts =
        Hosts::new(vec![Group::Tcp(TcpConfig::default())], 1, None, None, FlowHash::FiveTuple);
    let mut pools = ConnectionPools::default();
    let mut connection = |index| {
        let connections = Connections::ClosedLoop(3);
        let flow = NewFlow { from: 0, to: 1, size: Bytes(1), connections, workload: 0, index };
        pools.connection(&flow, &mut hosts)
    };
    assert_eq!([5, 3, 4, 5].map(&mut connection), [2, 0, 1, 2]);
}

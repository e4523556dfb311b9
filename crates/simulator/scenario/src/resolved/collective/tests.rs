use super::*;

fn of(operation: Operation, hosts: u32, size: u64) -> (Collective, FlowGraph) {
    let collective = Collective { operation, size: Bytes(size), hosts: (10..10 + hosts).collect() };
    let graph = collective.graph();
    assert_eq!(graph.flow_count(), collective.flows());
    assert_eq!(graph.order().len(), graph.flows.len(), "no flow waits for itself");
    (collective, graph)
}

/// From, to, bytes of the flows of a range, ranks from 0.
fn listed(flows: &[GraphFlow]) -> Vec<(u32, u32, u64)> {
    flows.iter().map(|flow| (flow.from - 10, flow.to - 10, flow.size.0)).collect()
}

/// Bytes that a rank sends.
fn sent(graph: &FlowGraph, rank: u32) -> u64 {
    graph.flows.iter().filter(|flow| flow.from == 10 + rank).map(|flow| flow.size.0).sum()
}

fn hierarchical(group: u32) -> Operation {
    Operation::HierarchicalAllReduce { group }
}

/// Steps, if each flow takes one.
fn steps(graph: &FlowGraph) -> u64 {
    graph.critical_path(|_| Time(1)).0
}

/// The closed forms of the articles. A tree has its steps for powers of two; of others some
/// branches are shorter.
#[test]
fn operations_have_the_steps_of_their_closed_forms() {
    for hosts in 2..20 {
        let count = u64::from(hosts);
        let log = count.next_power_of_two().ilog2();
        assert_eq!(steps(&of(Operation::RingAllReduce, hosts, 1000).1), 2 * (count - 1));
        for operation in
            [Operation::AllToAll, Operation::RingReduceScatter, Operation::RingAllGather]
        {
            assert_eq!(steps(&of(operation, hosts, 1000).1), count - 1, "{operation:?}");
        }
        assert_eq!(steps(&of(Operation::TreeBroadcast, hosts, 1000).1), u64::from(log));
        let tree = steps(&of(Operation::TreeAllReduce, hosts, 1000).1);
        assert!(tree <= 2 * u64::from(log), "{hosts}: {tree}");
        assert!(tree == 2 * u64::from(log) || !hosts.is_power_of_two(), "{hosts}: {tree}");
    }
}

/// Each host but the root sends once up and receives once down; in the whole the vector crosses
/// 2 (n - 1) links.
#[test]
fn a_tree_leads_to_the_root_and_back() {
    let (_, graph) = of(Operation::TreeAllReduce, 6, 100);
    let pairs: Vec<(u32, u32)> = graph.flows.iter().map(|f| (f.from - 10, f.to - 10)).collect();
    assert_eq!(pairs[..5], [(1, 0), (3, 2), (5, 4), (2, 0), (4, 0)]);
    assert_eq!(pairs[5..], [(0, 4), (0, 2), (0, 1), (2, 3), (4, 5)]);
    assert_eq!(graph.flows[3].after, [1], "what 3 sent");
    assert_eq!(graph.flows[5].after, [0, 3, 4], "all that reached the root");
    assert_eq!(graph.flows[8].after, [6], "what 2 was sent");
    assert!(graph.flows.iter().all(|flow| flow.size == Bytes(100)));
}

#[test]
fn all_to_all_has_each_pair_once_and_moves_all_but_the_own_part() {
    let (_, graph) = of(Operation::AllToAll, 5, 103);
    let mut pairs: Vec<(u32, u32)> = graph.flows.iter().map(|f| (f.from, f.to)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 20);
    assert!(pairs.iter().all(|(from, to)| from != to));
    for host in 10..15 {
        let sent = graph.flows.iter().filter(|f| f.from == host).map(|f| f.size.0);
        let kept = 20 + u64::from(host < 13);
        assert_eq!(sent.sum::<u64>(), 103 - kept);
    }
}

/// Vectors of 103 bytes in parts of 26, 26, 26 and 25: halves of what is left between ranks 2 and 1
/// apart, then what they have between ranks 1 and 2 apart.
#[test]
fn halving_and_doubling_follow_the_schedule() {
    let (_, graph) = of(Operation::HalvingDoublingAllReduce, 4, 103);
    assert_eq!(listed(&graph.flows[..4]), [(0, 2, 51), (1, 3, 51), (2, 0, 52), (3, 1, 52)]);
    assert_eq!(listed(&graph.flows[4..8]), [(0, 1, 26), (1, 0, 26), (2, 3, 25), (3, 2, 26)]);
    assert_eq!(listed(&graph.flows[8..12]), [(0, 1, 26), (1, 0, 26), (2, 3, 26), (3, 2, 25)]);
    assert_eq!(listed(&graph.flows[12..]), [(0, 2, 52), (1, 3, 52), (2, 0, 51), (3, 1, 51)]);
    let after = |flow: usize| graph.flows[flow].after.as_slice();
    assert_eq!((after(0), after(4), after(7)), (&[][..], &[0, 2][..], &[3, 1][..]));
    assert_eq!((after(8), after(12), after(15)), (&[4, 5][..], &[8, 9][..], &[11, 10][..]));
}

/// Two groups of two: a step in each, two between the ranks of one place, a step in each.
#[test]
fn a_hierarchy_reduces_inside_then_between_then_gathers() {
    let (_, graph) = of(hierarchical(2), 4, 100);
    assert_eq!(listed(&graph.flows[..4]), [(0, 1, 50), (1, 0, 50), (2, 3, 50), (3, 2, 50)]);
    assert_eq!(listed(&graph.flows[4..8]), [(0, 2, 25), (2, 0, 25), (0, 2, 25), (2, 0, 25)]);
    assert_eq!(listed(&graph.flows[8..12]), [(1, 3, 25), (3, 1, 25), (1, 3, 25), (3, 1, 25)]);
    assert_eq!(listed(&graph.flows[12..]), [(0, 1, 50), (1, 0, 50), (2, 3, 50), (3, 2, 50)]);
    let after: Vec<u32> = graph.flows[4..].iter().map(|flow| flow.after[0]).collect();
    assert_eq!(after, [1, 3, 5, 4, 0, 2, 9, 8, 7, 11, 6, 10]);
}

/// 2 log2 n steps, and of groups of g 2 (g - 1) + 2 (n / g - 1); each moves 2 (n - 1) vectors, of
/// which a host sends 2 (n - 1) / n. By halving and doubling it sends all but its part, and then
/// receives the same.
#[test]
fn all_reduces_move_the_bytes_of_their_closed_forms() {
    for (hosts, size) in [(2, 64), (8, 64), (8, 1001), (64, 64), (64, 99_999)] {
        let (_, graph) = of(Operation::HalvingDoublingAllReduce, hosts, size);
        assert_eq!(steps(&graph), 2 * u64::from(hosts.ilog2()));
        let (scatter, gather) = graph.flows.split_at(graph.flows.len() / 2);
        for rank in 0..hosts {
            let others = size - part(Bytes(size), hosts.into(), rank.into()).0;
            let bytes = |flows: &[GraphFlow], is_meant: fn(&GraphFlow, u32) -> bool| -> u64 {
                let meant = flows.iter().filter(|flow| is_meant(flow, 10 + rank));
                meant.map(|flow| flow.size.0).sum()
            };
            assert_eq!(bytes(scatter, |flow, host| flow.from == host), others, "{rank}");
            assert_eq!(bytes(gather, |flow, host| flow.to == host), others, "{rank}");
        }
    }
    for (hosts, group, size) in [(6, 2, 600), (6, 3, 601), (12, 4, 1200), (40, 8, 4321)] {
        let (_, graph) = of(hierarchical(group), hosts, size);
        assert_eq!(steps(&graph), u64::from(2 * (group - 1) + 2 * (hosts / group - 1)));
        let all: u64 = (0..hosts).map(|rank| sent(&graph, rank)).sum();
        assert_eq!(all, 2 * u64::from(hosts - 1) * size);
        let each = 2 * u64::from(hosts - 1) * size / u64::from(hosts);
        let is_even = size % u64::from(hosts) == 0;
        assert!(!is_even || (0..hosts).all(|rank| sent(&graph, rank) == each), "{hosts}");
    }
}

fn experts(experts: u32, token: u64, draw: u32) -> Operation {
    Operation::ExpertAllToAll(Experts { experts, token: Bytes(token), draw })
}

/// As many experts as hosts: all tokens go to all, and the same back.
#[test]
fn tokens_of_all_experts_go_everywhere_and_come_back() {
    let (_, graph) = of(experts(5, 8, 1), 5, 100);
    assert_eq!((graph.flow_count(), steps(&graph)), (2 * 20, 2));
    for rank in 0..5 {
        assert_eq!(sent(&graph, rank), 2 * 4 * 100);
    }
    let first: Vec<(u32, u32, u64)> = listed(&graph.flows[..4]);
    assert_eq!(first, [1, 2, 3, 4].map(|to| (0, to, 100)), "from its successor on");
}

/// A token of the whole vector goes to two hosts, of which one may be its own.
#[test]
fn a_token_has_different_experts() {
    for draw in 0..50 {
        let (_, graph) = of(experts(2, 1000, draw), 6, 1000);
        let dispatch: Vec<_> = graph.flows.iter().filter(|flow| flow.after.is_empty()).collect();
        for rank in 10..16 {
            let to: Vec<u32> = dispatch.iter().filter(|f| f.from == rank).map(|f| f.to).collect();
            assert!(to.len() == 1 || (to.len() == 2 && to[0] != to[1]), "{to:?}");
            assert!(dispatch.iter().all(|flow| flow.size == Bytes(1000) && flow.from != flow.to));
        }
    }
}

/// Results are those of all tokens, and start when all tokens of their host have arrived.
#[test]
fn results_mirror_the_dispatch_and_wait_for_it() {
    let (_, graph) = of(experts(2, 7, 3), 8, 1003);
    let sends = |is_dispatch: bool| {
        let kind = move |flow: &&GraphFlow| flow.after.is_empty() == is_dispatch;
        graph.flows.iter().filter(|flow| !flow.is_computation()).filter(kind)
    };
    let mut results: Vec<_> = sends(false).map(|f| (f.to, f.from, f.size)).collect();
    let mut tokens: Vec<_> = sends(true).map(|f| (f.from, f.to, f.size)).collect();
    results.sort_unstable();
    tokens.sort_unstable();
    assert_eq!(results, tokens);
    for flow in sends(false) {
        let all = graph.flows[flow.after[0] as usize].after.len();
        assert_eq!(all, sends(true).filter(|sent| sent.to == flow.from).count());
    }
}

/// 1000 tokens of each of 8 hosts, 2 of 8 experts each: 250 to each, with a standard deviation of
/// 13.7. The largest of 56 is five of them away with a probability of 3 in 100,000.
#[test]
fn experts_are_equally_likely() {
    let (_, graph) = of(experts(2, 1, 1), 8, 1000);
    let tokens: Vec<u64> =
        graph.flows.iter().filter(|flow| flow.after.is_empty()).map(|flow| flow.size.0).collect();
    assert_eq!(tokens.len(), 56);
    assert!(tokens.iter().all(|&count| count.abs_diff(250) < 68), "{tokens:?}");
    let (_, same) = of(experts(2, 1, 1), 8, 1000);
    let (_, other) = of(experts(2, 1, 2), 8, 1000);
    assert_eq!(graph, same);
    assert_ne!(graph, other, "another draw");
}

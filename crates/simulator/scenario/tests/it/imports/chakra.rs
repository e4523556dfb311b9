//! Traces of Chakra against the graphs that they mean.

use heddle_scenario::{FlowGraph, ImportSettings, InputFile, import};
use heddle_units::{Bytes, Time};

use super::trace::{
    COLLECTIVE, COMPUTATION, RECEIVE, SEND, attribute, bytes, collective, file, int64, message,
    micros, node, number, two_ranks,
};
use super::{resolved, table};

fn graph_with(files: &[InputFile], settings: &ImportSettings) -> (FlowGraph, Vec<String>) {
    let imported = import(files, settings).unwrap_or_else(|error| panic!("{error}"));
    let (table, notices) = table(imported);
    (resolved(&table), notices)
}

fn graph(files: &[InputFile]) -> FlowGraph {
    graph_with(files, &ImportSettings::default()).0
}

fn error(files: &[InputFile]) -> String {
    import(files, &ImportSettings::default()).expect_err("refused").to_string()
}

/// Each step takes `micros`.
fn time(graph: &FlowGraph, micros: u64) -> Time {
    graph.critical_path(|_| Time::micros(micros))
}

#[test]
fn nodes_become_flows_and_computations() {
    let imported = import(&two_ranks(), &ImportSettings::default()).unwrap();
    assert_eq!(imported.is, "5 flows and 7 other computations of 2 ranks");
    let (table, notices) = table(imported);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "id,after,from,to,size,delay",
            "forward.1/r0,,host-1,,,5us",
            "send.2/r0,forward.1/r0,host-1,host-2,1KB,",
            "reduce.3/r0/n3/start,send.2/r0,host-1,,,",
        ]
    );
    assert_eq!(
        lines[5..7],
        ["recv.1/r1,send.2/r0,host-2,,,", "backward.2/r1,recv.1/r1,host-2,,,3us"]
    );
    assert_eq!(notices, [""; 0]);
    // 5 us, the message, 3 us, two steps of the ring.
    assert_eq!(time(&resolved(&table), 10), Time::micros(5 + 10 + 3 + 2 * 10));
}

/// Four ranks whose computations take 1 to 4 us: the last one is on every path. The steps are those
/// of the operations; what each rank brings, of all-gather, crosses each link n - 1 times.
#[test]
fn collectives_wait_for_all_that_take_part() {
    for (operation, steps, bytes) in [
        (0, 6, 6 * 4 * 1000),
        (2, 3, 3 * 4 * 4000),
        (5, 2, 3 * 4000),
        (6, 3, 3 * 4 * 1000),
        (7, 3, 3 * 4 * 1000),
        (8, 3, 3 * 4 * 1000),
    ] {
        let rank = |rank: usize| {
            let before = node(1, "x", COMPUTATION, &[], &[micros(rank as u64 + 1)]);
            let all = node(2, "all", COLLECTIVE, &[1], &collective(operation, 4000));
            let behind = node(3, "y", COMPUTATION, &[2], &[micros(100)]);
            file(rank, &[before, all, behind])
        };
        let graph = graph(&[0, 1, 2, 3].map(rank));
        let sum: Bytes = Bytes(graph.flows.iter().map(|flow| flow.size.0).sum());
        assert_eq!(sum, Bytes(bytes), "{operation}");
        let all: u64 = if operation == 5 { 1 } else { 4 };
        let expected = Time::micros(all + steps * 10 + 100);
        // A broadcast's last receivers may come later than its root.
        let late = Time::micros(3);
        let found = time(&graph, 10);
        assert!(found >= expected && found <= expected + late, "{operation}: {found}");
    }
}

#[test]
fn a_barrier_sends_nothing() {
    let rank = |rank: usize, delay: u64| {
        let before = node(1, "x", COMPUTATION, &[], &[micros(delay)]);
        let barrier = node(2, "barrier", COLLECTIVE, &[1], &[int64("comm_type", 9)]);
        let other = 1 - rank as i64;
        let (kind, end) = if rank == 0 { (SEND, "comm_dst") } else { (RECEIVE, "comm_src") };
        file(rank, &[before, barrier, node(3, "m", kind, &[2], &message(end, other, 0, 10))])
    };
    let graph = graph(&[rank(0, 2), rank(1, 30)]);
    assert_eq!((graph.flow_count(), time(&graph, 1)), (1, Time::micros(31)));
}

/// Two groups, one from a metadata node as PyTorch writes it, one from a file.
#[test]
fn groups_are_those_of_the_trace_or_of_a_file() {
    let values = r#"["[{\"pg_name\": \"5\", \"ranks\": [0, 1]}]"]"#;
    let groups = node(9, "process_group", 1, &[], &[bytes(8, &bytes(1, values.as_bytes()))]);
    let rank = |rank: usize| {
        let name = if rank < 2 { "5" } else { "6" };
        let group = attribute("pg_name", &bytes(29, name.as_bytes()));
        let mut rest = collective(6, 8);
        rest.push(group);
        file(rank, &[groups.clone(), node(1, "exchange", COLLECTIVE, &[], &rest)])
    };
    let files = [0, 1, 2, 3].map(rank);
    let said = error(&files);
    assert_eq!(
        said,
        "step.2.et: node 1 (exchange): group 6 is not known\nhelp: `--groups FILE`, as in {\"1\": [0, 1]}"
    );
    let json = InputFile { name: "groups.json".into(), bytes: b"{\"6\": [2, 3]}".to_vec() };
    let settings = ImportSettings { groups: Some(json), ..ImportSettings::default() };
    let (graph, _) = graph_with(&files, &settings);
    let flows = graph.flows.iter().filter(|flow| !flow.is_computation());
    let mut pairs: Vec<(u32, u32)> = flows.map(|flow| (flow.from, flow.to)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 1), (1, 0), (2, 3), (3, 2)]);
    let bad = InputFile { name: "groups.json".into(), bytes: b"{\"6\": 3}".to_vec() };
    let settings = ImportSettings { groups: Some(bad), ..ImportSettings::default() };
    let said = import(&files, &settings).unwrap_err().to_string();
    assert!(said.starts_with("groups.json: groups: group 6 is no list of ranks\nhelp: "), "{said}");
}

/// Numbers of any type, and nodes listed packed: 3 in `sint64`, `sfixed32` and `fixed64`.
#[test]
fn numbers_have_any_of_protobufs_types() {
    let fixed32 = |field: u64, value: i32| {
        [number(field, 0)[..number(field, 0).len() - 1].to_vec(), value.to_le_bytes().to_vec()]
            .concat()
    };
    let fixed32 = |field: u64, value: i32| {
        let mut bytes = fixed32(field, value);
        // The type of a field of 32 bits, in the lowest bits of its number.
        bytes[0] |= 5;
        bytes
    };
    let send = [
        attribute("comm_dst", &fixed32(23, 1)),
        attribute("comm_tag", &number(17, 5)),
        attribute("comm_size", &number(13, 3)),
        bytes(4, &[1, 2]),
    ];
    let receive = message("comm_src", 0, -3, 3);
    let files = [
        file(
            0,
            &[
                node(1, "a", COMPUTATION, &[], &[micros(1)]),
                node(2, "b", COMPUTATION, &[], &[micros(2)]),
                node(3, "send", SEND, &[], &send),
            ],
        ),
        file(1, &[node(1, "recv", RECEIVE, &[], &receive)]),
    ];
    let graph = graph(&files);
    assert_eq!(graph.flows[2].after, [0, 1], "packed");
    assert_eq!((graph.flows[2].to, graph.flows[2].size), (1, Bytes(3)));
}

#[test]
fn what_takes_no_time_is_told() {
    let mut files = two_ranks();
    let extra = [
        node(8, "matmul", COMPUTATION, &[], &[int64("num_ops", 1_000_000)]),
        node(9, "load", 2, &[], &[int64("tensor_size", 4096)]),
    ];
    let more = file(0, &extra);
    files[0].bytes.extend(&more.bytes[8..]);
    let (_, notices) = graph_with(&files, &ImportSettings::default());
    assert_eq!(
        notices,
        [
            "step.0.et: 1 computations have `num_ops` and no `duration_micros`: they take no time",
            "step.0.et: 1 memory nodes have no `duration_micros`: they take no time",
        ]
    );
}

#[test]
fn messages_without_their_like_are_named() {
    let send = |to: i64, tag: i64, size: i64| {
        node(2, "send", SEND, &[], &message("comm_dst", to, tag, size))
    };
    let receive =
        |tag: i64, after: &[u64]| node(1, "recv", RECEIVE, after, &message("comm_src", 0, tag, 10));
    let two = |a: &[Vec<u8>], b: &[Vec<u8>]| error(&[file(0, a), file(1, b)]);
    for (found, expected) in [
        (
            two(&[send(1, 7, 10)], &[receive(8, &[])]),
            "step.0.et: node 2 (send): rank 1 has no receive for it\n\
             help: a receive from rank 0 to 1 with `comm_tag` 7 in step.1.et",
        ),
        (
            two(&[node(5, "x", COMPUTATION, &[], &[])], &[receive(8, &[])]),
            "step.1.et: node 1 (recv): rank 0 has no send for it\n\
             help: a send from rank 0 to 1 with `comm_tag` 8 in step.0.et",
        ),
        (
            two(&[send(1, 7, 11)], &[receive(7, &[])]),
            "step.0.et: node 2 (send): 11B are sent, and rank 1 receives 10B\n\
             help: one `comm_size` here and at node 1 of step.1.et",
        ),
        (
            two(&[send(2, 7, 11)], &[receive(7, &[])]),
            "step.0.et: node 2 (send): `comm_dst` is 2, and no file is that rank's\n\
             help: name the files of all ranks, as in `step.*.et`",
        ),
        (
            two(&[send(0, 7, 11)], &[receive(7, &[])]),
            "step.0.et: node 2 (send): rank 0 is at both ends\nhelp: another rank",
        ),
        (
            two(&[node(2, "", SEND, &[], &[])], &[receive(7, &[])]),
            "step.0.et: node 2 (send): `comm_dst` is missing\nhelp: the rank at the other end",
        ),
        (
            two(&[send(1, 7, -1)], &[receive(7, &[])]),
            "step.0.et: node 2 (send): `comm_size` is -1\nhelp: a number of bytes from 0",
        ),
        (
            two(&[send(1, 7, 10)], &[receive(7, &[4])]),
            "step.1.et: node 1 (recv): it waits for node 4, which the file does not have\n\
             help: a whole trace",
        ),
        (
            two(&[send(1, 7, 10), send(1, 7, 10)], &[receive(7, &[])]),
            "step.0.et: node 2 (send): message 2 has the same number\n\
             help: a number of its own for each node",
        ),
        (
            two(&[node(5, "x", COMPUTATION, &[], &[])], &[node(5, "x", COMPUTATION, &[], &[])]),
            "step.0.et: nodes: no rank sends anything to another\n\
             help: a trace with sends or collectives of two ranks or more",
        ),
        (
            two(&[node(5, "x", 12, &[], &[])], &[]),
            "step.0.et: node 5 (x): its type is none of Chakra's\n\
             help: from 0 to 7 (`NodeType` of `et_def.proto`)",
        ),
        (
            two(&[node(5, "x", COMPUTATION, &[], &[micros(u64::MAX)])], &[receive(7, &[])]),
            "step.0.et: node 5 (x): 18446744073709551615 us are too long\nhelp: at most a day",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

/// Each rank receives before it sends.
#[test]
fn ranks_that_wait_for_each_other_are_named() {
    let rank = |rank: usize| {
        let other = 1 - rank as i64;
        file(
            rank,
            &[
                node(1, "recv", RECEIVE, &[], &message("comm_src", other, 0, 10)),
                node(2, "send", SEND, &[1], &message("comm_dst", other, 0, 10)),
            ],
        )
    };
    let said = error(&[rank(0), rank(1)]);
    assert!(
        said.starts_with(
            "step.0.et: nodes: nodes wait for each other: recv.1/r0 after send.2/r1 after recv.1/r1 after send.2/r0 after recv.1/r0\nhelp: "
        ),
        "{said}"
    );
}

#[test]
fn files_that_are_not_one_trace_are_named() {
    let mut files = two_ranks();
    files[1].name = "step.2.et".to_owned();
    let missing = "step.2.et: name: the file of rank 1 is missing\n\
                   help: name the files of all ranks, as in `step.*.et`";
    assert_eq!(error(&files), missing);
    files[1].name = "other.0.et".to_owned();
    assert!(error(&files).starts_with("other.0.et: name: rank 0 has another file, too\nhelp: "));
    files[1].name = "step.one.et".to_owned();
    assert!(error(&files).starts_with("step.one.et: name: the name has no rank\nhelp: "));
    files[1].name = "step.1.et".to_owned();
    files[1].bytes = vec![0x1f, 0x8b, 8, 0];
    assert!(error(&files).contains("the file is compressed: `gunzip` it"), "{}", error(&files));
    let plain = |name: &str| InputFile { name: name.into(), bytes: b"1\n".to_vec() };
    let said = error(&[plain("a.csv"), plain("b.csv")]);
    assert!(said.starts_with("a.csv: name: 2 files are not one trace\nhelp: "), "{said}");
}

#[test]
fn collectives_that_differ_between_ranks_are_named() {
    let rank = |number: usize, operations: &[(i64, i64)]| {
        let nodes = (1..).zip(operations).map(|(id, &(operation, size))| {
            node(id, "c", COLLECTIVE, &[], &collective(operation, size))
        });
        file(number, &nodes.collect::<Vec<_>>())
    };
    let said = error(&[rank(0, &[(0, 10), (0, 20)]), rank(1, &[(0, 10), (2, 20)])]);
    let same = "step.1.et: node 2 (c): node 2 of rank 0 has the same place among the collectives of all ranks, \
                and another `comm_type` or `comm_size`\nhelp: all ranks do the same in one order";
    assert_eq!(said, same);
    let said = error(&[rank(0, &[(0, 10), (0, 20)]), rank(1, &[(0, 10)])]);
    let fewer = "step.0.et: node 2 (c): rank 1 has no such collective of all ranks\nhelp: as many in step.1.et";
    assert_eq!(said, fewer);
    let said = error(&[rank(0, &[(3, 10)]), rank(1, &[(3, 10)])]);
    assert!(said.starts_with("step.0.et: node 1 (c): `comm_type` 3 is not simulated\nhelp: "));
    let part = bytes(28, &bytes(1, &[1, 0]));
    let rest = [collective(0, 8), vec![attribute("involved_dim", &part)]].concat();
    let partial = |rank: usize| file(rank, &[node(1, "c", COLLECTIVE, &[], &rest)]);
    let said = error(&[partial(0), partial(1)]);
    assert!(said.contains("`involved_dim` leaves out a dimension"), "{said}");
}

//! The flow graph of a training job, from the traces of its ranks.
//!
//! A node waits for those of its rank that it names, by control and by data. Computations (and nodes
//! of memory) take their `duration_micros`; those of a rank that do not wait for each other overlap.
//! A send ends with the arrival of its bytes, and so does the receive with the same tag: the n-th of
//! a pair of ranks with the n-th. The n-th collective of a group at each rank is one operation: a
//! rank takes part when what its node waits for has ended, and goes on when it has its result.
//! Rings reduce and gather, pairs exchange, a binomial tree broadcasts
//! ([`Collective`](crate::Collective)).

use std::collections::{BTreeMap, BTreeSet};

use heddle_config::Problem;
use heddle_units::{Bytes, Time};

use super::chakra::{Kind, Node, Trace};
use super::limits::check_rows;
use crate::resolve::cycle_text;
use crate::{Collective, FlowGraph, GraphFlow, Operation};

/// A computation longer than this many microseconds is a mistake: a day.
const MOST_MICROS: u64 = 86_400_000_000;

/// A node by the number of its rank and its place in the rank's trace.
type Place = (u32, usize);

/// The job's flows and computations, and what was left out.
pub(super) fn graph(
    traces: &[Trace],
    groups: &BTreeMap<String, Vec<u32>>,
) -> Result<(FlowGraph, Vec<String>), Problem> {
    let mut job = Job { traces, rows: Vec::new(), starts: Vec::new(), ends: Vec::new() };
    job.add_nodes()?;
    job.add_dependencies()?;
    job.match_messages()?;
    for (name, operation) in collectives(traces, groups)? {
        job.add_collective(&name, &operation)?;
    }
    let graph = FlowGraph { flows: job.rows };
    if let Some(cycle) = graph.cycle() {
        let message = format!("nodes wait for each other: {}", cycle_text(&graph, &cycle));
        let rank = graph.flows[cycle[0] as usize].from as usize;
        return Err(Problem::at("nodes", message)
            .help("a receive waits for the send of the other rank, and for all that this waits for")
            .in_file(&traces[rank].file, None));
    }
    if graph.flow_count() == 0 {
        return Err(Problem::at("nodes", "no rank sends anything to another")
            .help("a trace with sends or collectives of two ranks or more")
            .in_file(&traces[0].file, None));
    }
    Ok((graph, notices(traces)))
}

struct Job<'a> {
    traces: &'a [Trace],
    rows: Vec<GraphFlow>,
    /// For each rank and node, the row that waits for what the node names.
    starts: Vec<Vec<u32>>,
    /// Likewise the row that ends it. Of a collective it is another one.
    ends: Vec<Vec<u32>>,
}

impl Job<'_> {
    fn node(&self, (rank, place): Place) -> &Node {
        &self.traces[rank as usize].nodes[place]
    }

    /// A problem with a node.
    fn wrong(&self, place: Place, message: impl Into<String>) -> Problem {
        self.traces[place.0 as usize].wrong(self.node(place), message)
    }

    /// Adds a row, at first a computation of no time.
    fn push(&mut self, id: String, rank: u32) -> u32 {
        let (after, size, delay) = (Vec::new(), Bytes(0), Time::ZERO);
        self.rows.push(GraphFlow { id, after, from: rank, to: rank, size, delay });
        self.rows.len() as u32 - 1
    }

    /// Rows for all nodes, of which collectives have two.
    fn add_nodes(&mut self) -> Result<(), Problem> {
        let count = self.traces.iter().map(|trace| 2 * trace.nodes.len() as u64).sum();
        check_rows(count).map_err(|problem| problem.in_file(&self.traces[0].file, None))?;
        for (rank, trace) in (0..).zip(self.traces) {
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            for (place, node) in trace.nodes.iter().enumerate() {
                let name = format!("{}.{}/r{rank}", node.label, node.id);
                let is_collective = node.kind == Kind::Collective;
                if is_collective {
                    starts.push(self.push(format!("{name}/start"), rank));
                }
                let end = self.push(name, rank);
                ends.push(end);
                if !is_collective {
                    starts.push(end);
                }
                if node.micros > MOST_MICROS {
                    let message = format!("{} us are too long", node.micros);
                    return Err(self.wrong((rank, place), message).help("at most a day"));
                }
                if matches!(node.kind, Kind::Computation | Kind::Memory) {
                    self.rows[end as usize].delay = Time::micros(node.micros);
                }
            }
            self.starts.push(starts);
            self.ends.push(ends);
        }
        Ok(())
    }

    fn add_dependencies(&mut self) -> Result<(), Problem> {
        for (rank, trace) in (0..).zip(self.traces) {
            let ids = trace.nodes.iter().map(|node| node.id).zip(&self.ends[rank as usize]);
            let ends: BTreeMap<u64, u32> = ids.map(|(id, &end)| (id, end)).collect();
            for (place, node) in trace.nodes.iter().enumerate() {
                let after = node.after.iter().map(|id| {
                    ends.get(id).copied().ok_or_else(|| {
                        let message =
                            format!("it waits for node {id}, which the file does not have");
                        self.wrong((rank, place), message).help("a whole trace")
                    })
                });
                let after = after.collect::<Result<Vec<u32>, Problem>>()?;
                self.rows[self.starts[rank as usize][place] as usize].after = after;
            }
        }
        Ok(())
    }

    /// Makes each send a flow, which the receive with the same ends and tag waits for.
    fn match_messages(&mut self) -> Result<(), Problem> {
        let mut messages: BTreeMap<(u32, u32, i64), [Vec<Place>; 2]> = BTreeMap::new();
        for (rank, trace) in (0..).zip(self.traces) {
            for (place, node) in trace.nodes.iter().enumerate() {
                let side = match node.kind {
                    Kind::Send => 0,
                    Kind::Receive => 1,
                    _ => continue,
                };
                let (from, to) = self.ends_of((rank, place), side == 0)?;
                messages.entry((from, to, node.tag)).or_default()[side].push((rank, place));
            }
        }
        for ((from, to, tag), [sends, receives]) in messages {
            if let Some(&alone) = sends.get(receives.len()).or(receives.get(sends.len())) {
                let (what, other) = if alone.0 == from { ("receive", to) } else { ("send", from) };
                let message = format!("rank {other} has no {what} for it");
                return Err(self.wrong(alone, message).help(format!(
                    "a {what} from rank {from} to {to} with `comm_tag` {tag} in {}",
                    self.traces[other as usize].file
                )));
            }
            for (&send, &receive) in sends.iter().zip(&receives) {
                self.match_message(send, receive)?;
            }
        }
        Ok(())
    }

    /// Sender and receiver of a send or a receive.
    fn ends_of(&self, place: Place, is_send: bool) -> Result<(u32, u32), Problem> {
        let node = self.node(place);
        let (own, other) = match is_send {
            true => (("comm_src", node.source), ("comm_dst", node.destination)),
            false => (("comm_dst", node.destination), ("comm_src", node.source)),
        };
        if own.1.is_some_and(|rank| rank != i64::from(place.0)) {
            let message = format!("`{}` is not the rank of the file, {}", own.0, place.0);
            return Err(self.wrong(place, message).help("leave it out, or its own rank"));
        }
        let missing = || {
            self.wrong(place, format!("`{}` is missing", other.0)).help("the rank at the other end")
        };
        let number = other.1.ok_or_else(missing)?;
        let peer = u32::try_from(number).ok().filter(|&rank| (rank as usize) < self.traces.len());
        let unknown = || {
            let message = format!("`{}` is {number}, and no file is that rank's", other.0);
            self.wrong(place, message).help("name the files of all ranks, as in `step.*.et`")
        };
        let peer = peer.ok_or_else(unknown)?;
        if peer == place.0 {
            let message = format!("rank {peer} is at both ends");
            return Err(self.wrong(place, message).help("another rank"));
        }
        Ok(if is_send { (place.0, peer) } else { (peer, place.0) })
    }

    fn match_message(&mut self, send: Place, receive: Place) -> Result<(), Problem> {
        let size = self.size(send)?;
        let received = self.size(receive)?;
        if size != received {
            let message = format!("{size} are sent, and rank {} receives {received}", receive.0);
            return Err(self.wrong(send, message).help(format!(
                "one `comm_size` here and at node {} of {}",
                self.node(receive).id,
                self.traces[receive.0 as usize].file
            )));
        }
        let row = self.ends[send.0 as usize][send.1];
        let flow = &mut self.rows[row as usize];
        flow.size = size;
        if size.0 > 0 {
            flow.to = receive.0;
        }
        let receive = self.starts[receive.0 as usize][receive.1];
        self.rows[receive as usize].after.push(row);
        Ok(())
    }

    fn size(&self, place: Place) -> Result<Bytes, Problem> {
        match self.node(place).size {
            Some(size @ 0..) => Ok(Bytes(size as u64)),
            Some(size) => Err(self
                .wrong(place, format!("`comm_size` is {size}"))
                .help("a number of bytes from 0")),
            None => Err(self.wrong(place, "`comm_size` is missing").help("its bytes")),
        }
    }

    /// Adds the flows of an operation whose nodes are these.
    fn add_collective(&mut self, group: &str, members: &[Place]) -> Result<(), Problem> {
        let first = members[0];
        let kind = self.node(first).operation;
        let size = if kind == Some(BARRIER) { Bytes(0) } else { self.size(first)? };
        for &member in &members[1..] {
            let node = self.node(member);
            if node.operation != kind || (kind != Some(BARRIER) && self.size(member)? != size) {
                let message = format!(
                    "node {} of rank {} has the same place among the collectives of {}, \
                     and another `comm_type` or `comm_size`",
                    self.node(first).id,
                    first.0,
                    called(group)
                );
                return Err(self.wrong(member, message).help("all ranks do the same in one order"));
            }
        }
        if let Some(partial) = members.iter().find(|&&member| self.node(member).is_partial) {
            return Err(self
                .wrong(*partial, "`involved_dim` leaves out a dimension of ASTRA-sim's network")
                .help("a group of the ranks that take part: `pg_name`, and `--groups`"));
        }
        let count = members.len() as u64;
        let (operation, size) = match kind {
            Some(0) => (Operation::RingAllReduce, size),
            // `comm_size` has what each rank brings.
            Some(2) => (Operation::RingAllGather, Bytes(size.0.saturating_mul(count))),
            Some(5) => (Operation::TreeBroadcast, size),
            Some(6) => (Operation::AllToAll, size),
            Some(7 | 8) => (Operation::RingReduceScatter, size),
            Some(BARRIER) => (Operation::TreeBroadcast, Bytes(0)),
            _ => {
                let message = match kind {
                    Some(kind) => format!("`comm_type` {kind} is not simulated"),
                    None => "`comm_type` is missing".to_owned(),
                };
                return Err(self.wrong(first, message).help(
                    "all-reduce 0, all-gather 2, broadcast 5, all-to-all 6, reduce-scatter 7 or 8, \
                     barrier 9; others as sends and receives",
                ));
            }
        };
        let hosts: Vec<u32> = members.iter().map(|member| member.0).collect();
        let collective = Collective { operation, size, hosts };
        check_rows(self.rows.len() as u64 + collective.flows())
            .map_err(|problem| problem.in_file(&self.traces[first.0 as usize].file, None))?;
        match kind {
            Some(BARRIER) => self.add_barrier(members),
            _ => self.add_flows(members, collective.graph().flows),
        }
        Ok(())
    }

    /// All go on when all have come.
    fn add_barrier(&mut self, members: &[Place]) {
        let all = self.push(self.step_name(members[0], members[0], "all"), members[0].0);
        for &(rank, place) in members {
            let (start, end) = (self.starts[rank as usize][place], self.ends[rank as usize][place]);
            self.rows[all as usize].after.push(start);
            self.rows[end as usize].after.push(all);
        }
    }

    /// A name in the step of an operation's first node.
    fn step_name(&self, first: Place, member: Place, rest: &str) -> String {
        let (step, own) = (self.node(first), self.node(member));
        format!("{}.{}/r{}/n{}/{rest}", step.label, step.id, member.0, own.id)
    }

    fn add_flows(&mut self, members: &[Place], flows: Vec<GraphFlow>) {
        let base = self.rows.len() as u32;
        let places: BTreeMap<u32, usize> = members.iter().copied().collect();
        let last = last_flows(&flows);
        for (number, mut flow) in flows.into_iter().enumerate() {
            let member = (flow.from, places[&flow.from]);
            flow.id = self.step_name(members[0], member, &format!("f{number}"));
            flow.after.iter_mut().for_each(|before| *before += base);
            flow.after.push(self.starts[member.0 as usize][member.1]);
            // Parts of a vector that is shorter than the group.
            flow.to = if flow.size.0 == 0 { flow.from } else { flow.to };
            self.rows.push(flow);
        }
        for &(rank, place) in members {
            let start = self.starts[rank as usize][place];
            let end = self.ends[rank as usize][place];
            self.rows[end as usize].id = self.step_name(members[0], (rank, place), "end");
            self.rows[start as usize].id = self.step_name(members[0], (rank, place), "start");
            let last = last.get(&rank).into_iter().flatten().map(|flow| flow + base);
            self.rows[end as usize].after = std::iter::once(start).chain(last).collect();
        }
    }
}

/// Of each rank, the flows whose arrival is the end of its part of an operation: those to it for
/// which none of its own waits, or else those from it.
fn last_flows(flows: &[GraphFlow]) -> BTreeMap<u32, Vec<u32>> {
    let (mut used, mut ends) = (BTreeSet::new(), BTreeMap::new());
    for flow in flows {
        used.extend(flow.after.iter().map(|&before| (before, flow.from)));
    }
    for is_receiver in [true, false] {
        let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, flow) in (0..).zip(flows) {
            let rank = if is_receiver { flow.to } else { flow.from };
            if !used.contains(&(number, rank)) {
                found.entry(rank).or_default().push(number);
            }
        }
        found.into_iter().for_each(|(rank, last)| {
            ends.entry(rank).or_insert(last);
        });
    }
    ends
}

/// `comm_type` of a barrier, which sends nothing.
const BARRIER: i64 = 9;

fn called(group: &str) -> String {
    match group {
        "" => "all ranks".to_owned(),
        name => format!("group {name}"),
    }
}

/// The nodes of each operation, in the order of the group's ranks, with the group's name.
fn collectives(
    traces: &[Trace],
    groups: &BTreeMap<String, Vec<u32>>,
) -> Result<Vec<(String, Vec<Place>)>, Problem> {
    let mut of_group: BTreeMap<&str, BTreeMap<u32, Vec<Place>>> = BTreeMap::new();
    for (rank, trace) in (0..).zip(traces) {
        for (place, node) in trace.nodes.iter().enumerate() {
            if node.kind == Kind::Collective {
                let places = of_group.entry(&node.group).or_default();
                places.entry(rank).or_default().push((rank, place));
            }
        }
    }
    let mut all = Vec::new();
    for (name, places) in of_group {
        let some = places.values().flatten().copied().next().unwrap_or_default();
        let wrong = |(rank, place): Place, message: String| {
            let trace: &Trace = &traces[rank as usize];
            trace.wrong(&trace.nodes[place], message)
        };
        let ranks = ranks_of(name, traces, groups).map_err(|message| {
            wrong(some, message).help("`--groups FILE`, as in {\"1\": [0, 1]}")
        })?;
        let set: BTreeSet<u32> = ranks.iter().copied().collect();
        if let Some((rank, own)) = places.iter().find(|(rank, _)| !set.contains(rank)) {
            let message = format!("rank {rank} is not in group {name}");
            return Err(wrong(own[0], message).help("a group with all ranks that take part"));
        }
        let count = places.values().map(Vec::len).max().unwrap_or(0);
        for &rank in &ranks {
            let own = places.get(&rank).map_or(0, Vec::len);
            if own < count {
                let more = places.values().find_map(|own_of| own_of.get(own));
                let message = format!("rank {rank} has no such collective of {}", called(name));
                return Err(wrong(*more.unwrap_or(&some), message)
                    .help(format!("as many in {}", traces[rank as usize].file)));
            }
        }
        let member = |number: usize| ranks.iter().map(|rank| places[rank][number]).collect();
        all.extend((0..count).map(|number| (name.to_owned(), member(number))));
    }
    Ok(all)
}

/// The ranks of a group: those of `--groups`, or of a trace's metadata; without a name, or of an
/// unknown group 0, all.
fn ranks_of(
    name: &str,
    traces: &[Trace],
    groups: &BTreeMap<String, Vec<u32>>,
) -> Result<Vec<u32>, String> {
    let all = 0..traces.len() as u32;
    let known = groups.get(name).or(traces.iter().find_map(|trace| trace.groups.get(name)));
    let ranks = match known {
        Some(ranks) if !ranks.is_empty() => ranks.clone(),
        Some(_) => return Ok(all.collect()),
        None if name.is_empty() || name == "0" => return Ok(all.collect()),
        None => return Err(format!("group {name} is not known")),
    };
    if let Some(rank) = ranks.iter().find(|rank| !all.contains(rank)) {
        return Err(format!("group {name} has rank {rank}, and no file is that rank's"));
    }
    if ranks.iter().collect::<BTreeSet<_>>().len() < ranks.len() {
        return Err(format!("group {name} has a rank twice"));
    }
    Ok(ranks)
}

/// Parts of traces for which no simulation of the network takes time.
fn notices(traces: &[Trace]) -> Vec<String> {
    let nodes = || traces.iter().flat_map(|trace| &trace.nodes);
    let timeless =
        |node: &&Node| node.kind == Kind::Computation && node.micros == 0 && node.operations > 0;
    let memory = |node: &&Node| node.kind == Kind::Memory && node.micros == 0;
    let broadcast = |node: &&Node| node.kind == Kind::Collective && node.operation == Some(5);
    let counts = [
        (
            nodes().filter(timeless).count(),
            "computations have `num_ops` and no `duration_micros`: they take no time",
        ),
        (
            nodes().filter(memory).count(),
            "memory nodes have no `duration_micros`: they take no time",
        ),
        (
            nodes().filter(broadcast).count(),
            "nodes are broadcasts, whose root is the first rank of the group",
        ),
    ];
    let told = counts.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, what)| format!("{}: {count} {what}", traces[0].file)).collect()
}

//! Results of a run.

use heddle_policy::Counters;
use heddle_units::{Bytes, Rate, Time};

/// One measured flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Its number among the flows of the run, from 1, in order of their starts.
    pub id: u32,
    /// Its place in [`heddle_scenario::FlowGraph::flows`], if its workload is a collective
    /// operation or a flow graph.
    pub index: u32,
    /// Its workload, as a number among the parts of the scenario's.
    pub workload: u16,
    /// Start of the flow at the application, from the start of the run.
    pub start: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload.
    pub size: Bytes,
    /// Flow completion time: from `start` until the receiver has every byte, including the wait for
    /// a busy connection.
    pub fct: Time,
    /// Ideal flow completion time, that in an empty fabric: handshake if there is one, transmission
    /// at the slowest link, delays.
    pub ideal_fct: Time,
}

/// A run keeps one of each measured flow.
const _: () = assert!(size_of::<FlowRecord>() <= 56);

/// A measured flow that had not finished at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedFlow {
    /// Its number among the flows of the run, from 1, in order of their starts.
    pub id: u32,
    /// As [`FlowRecord::index`].
    pub index: u32,
    /// Its workload, as a number among the parts of the scenario's.
    pub workload: u16,
    /// Start of the flow at the application, from the start of the run.
    pub start: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload.
    pub size: Bytes,
    /// Payload received in order until the end of the run.
    pub delivered: Bytes,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// Its workload, as a number among the parts of the scenario's.
    pub workload: u16,
    /// The host that sent it.
    pub client: u32,
    /// Its start, from the start of the run.
    pub start: Time,
    /// From there until the client has the last response.
    pub time: Time,
}

/// A flow without end, and its share of the measuring window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFlow {
    /// Its number among the flows of the run, from 1, in order of their starts.
    pub id: u32,
    /// Its workload, as a number among the parts of the scenario's.
    pub workload: u16,
    /// Start of the flow at the application, from the start of the run.
    pub start: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload received in order in the measuring window.
    pub delivered: Bytes,
    /// The part of the measuring window in which the flow ran.
    pub time: Time,
    /// Rate of the links that its connection can have, at the slower of both hosts.
    pub host_rate: Rate,
}

impl LongFlow {
    /// Payload received per second of [`LongFlow::time`]; 0 if there was none.
    pub fn goodput(&self) -> Rate {
        if self.time == Time::ZERO {
            return Rate(0);
        }
        Rate((self.delivered.0 as f64 * 8.0 / self.time.as_secs_f64()) as u64)
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortName {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Its number among the parallel links of its ends, from 1; `None` of a link alone.
    pub parallel: Option<u32>,
    /// Its rate.
    pub rate: Rate,
}

impl PortName {
    /// The link's name, as scenario files write it: `leaf-1 spine-1`, and of parallel links
    /// `leaf-1 spine-1 #2`. The end that sends comes first.
    pub fn link(&self) -> String {
        let PortName { from, to, parallel, .. } = self;
        parallel.map_or_else(|| format!("{from} {to}"), |number| format!("{from} {to} #{number}"))
    }
}

/// Samples of ports, at even intervals and at the end of the run: those between switches, or those of
/// [`heddle_scenario::Measure::sample`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The ports, in the order of each row.
    pub ports: Vec<PortName>,
    /// Time of each sample.
    pub times: Vec<Time>,
    /// Row by row: bytes that each port sent since the sample before.
    pub sent: Vec<u32>,
    /// Row by row: bytes waiting at each port.
    pub queued: Vec<u32>,
    /// Row by row: packets that each port dropped at its full buffer since the sample before.
    pub dropped: Vec<u32>,
    /// Row by row: packets that each port marked (ECN) since the sample before.
    pub marked: Vec<u32>,
    /// Index of the first sample in the measuring window.
    pub measured_from: usize,
}

impl Samples {
    /// Index of the port from one node to another.
    pub fn port(&self, from: &str, to: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.from == from && port.to == to)
    }

    /// One port's waiting bytes at each sample of the measuring window.
    pub fn queue_of(&self, port: usize) -> impl Iterator<Item = u32> + '_ {
        let width = self.ports.len().max(1);
        self.queued
            .chunks(width)
            .skip(self.measured_from)
            .filter_map(move |row| row.get(port).copied())
    }

    /// One port's utilisation (0 to 1) between samples, for all samples.
    pub fn utilisation_of(&self, port: usize) -> impl Iterator<Item = f64> + '_ {
        let width = self.ports.len().max(1);
        let rate = self.ports.get(port).map_or(Rate(0), |port| port.rate);
        self.sent.chunks(width).zip(self.intervals()).map(move |(row, interval)| {
            let most = rate.bytes_in(interval).0.max(1) as f64;
            row.get(port).map_or(0.0, |&sent| f64::from(sent) / most)
        })
    }

    /// Time from each sample's predecessor, of the first from the start, to it. The last is shorter
    /// where the run ends between two samples.
    pub fn intervals(&self) -> impl Iterator<Item = Time> + '_ {
        let before = std::iter::once(Time::ZERO).chain(self.times.iter().copied());
        self.times.iter().zip(before).map(|(&at, before)| at - before)
    }
}

/// A warm-up that a test ended (`measure.warm_up_limit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// From the first flow to the measuring window.
    pub length: Time,
    /// True if the test passed, false if the limit was reached.
    pub passed: bool,
}

/// Sums over a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Simulated time at the end.
    pub simulated: Time,
    /// True if the run was stopped because no data had arrived anywhere for [`STALL`](crate::STALL)
    /// and the longest retransmission timeout, and nothing was to come.
    pub stalled: bool,
    /// Packet hops: one packet entering one link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// The warm-up, where its length is not fixed; `None` if the run ended before.
    pub open_warm_up: Option<WarmUp>,
    /// Flows started, measured or not.
    pub flows_started: u64,
    /// Flows with an end that started in the measuring window.
    pub measured: u64,
    /// Measured flows that had not finished at the end.
    pub unfinished: u64,
    /// Application bytes received in order.
    pub delivered: Bytes,
    /// Application bytes received in order in the measuring window.
    pub delivered_in_window: Bytes,
    /// Length of the measuring window.
    pub window: Time,
    /// Segments sent by clients, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Data segments delivered after a later one (reordering).
    pub reordered: u64,
    /// MPTCP: bytes reinjected on another subflow, after a timeout or because the receive window
    /// was full.
    pub reinjected: Bytes,
    /// MPTCP: halvings of the window of a subflow for which a full receive window waited.
    pub penalties: u64,
    /// MPTCP: SYNs of joins that met no connection, or one whose keys the server did not know yet.
    pub refused_joins: u64,
    /// CFLB: subflows placed on a path.
    pub placed: u64,
    /// Packets dropped at a full buffer.
    pub dropped: u64,
    /// Those of them that a sender's own port dropped.
    pub dropped_at_senders: u64,
    /// Packets lost on failed links.
    pub lost_to_failures: u64,
    /// Packets without a route.
    pub unroutable: u64,
    /// Packets marked by ECN.
    pub ecn_marked: u64,
    /// Packets that switches have cut to their headers.
    pub trimmed: u64,
    /// Packets that arrived for a closed connection.
    pub to_closed_connections: u64,
    /// Bytes of probes sent on links.
    pub probe_bytes: Bytes,
    /// Largest number of packets at one time.
    pub peak_packets: u64,
    /// Packets in flight at the end.
    pub in_flight: u64,
    /// Packets sent by hosts.
    pub sent: u64,
    /// Packets received by hosts.
    pub received: u64,
    /// Probes sent on links.
    pub probes_sent: u64,
    /// Largest state of a switch in bytes, as the scheme counts it.
    pub state_bytes: u64,
}

/// Drops and ECN marks at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortCounters {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Packets dropped at a full buffer.
    pub dropped: u64,
    /// Packets marked by ECN.
    pub ecn_marked: u64,
}

/// Sharing of links between switches by the subflows of a connection, in the direction to the
/// server.
///
/// A sample is a connection at a sampling time of the measuring window, if at least two of its
/// subflows sent in the sampling interval. Flowlets change paths: the links of a subflow are those
/// that it used last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathUse {
    /// Samples of connections.
    pub samples: u64,
    /// Samples in which two or more active subflows shared a link.
    pub shared: u64,
    /// Samples in which they shared the uplink of their ToR.
    pub shared_first_hop: u64,
    /// Sum over samples of the distinct paths of active subflows.
    pub paths_sum: u64,
    /// Sum over samples of the active subflows.
    pub subflows_sum: u64,
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Measured flows, in the order in which they finished.
    pub flows: Vec<FlowRecord>,
    /// Measured flows that had not finished, in the order in which they started.
    pub unfinished: Vec<UnfinishedFlow>,
    /// Flows without end, in the order in which they started.
    pub long_flows: Vec<LongFlow>,
    /// Requests that started in the measuring window and were answered, in the order of their ends.
    pub requests: Vec<RequestRecord>,
    /// Samples of queues and links.
    pub samples: Samples,
    /// Sums.
    pub totals: Totals,
    /// Counters of the scheme, summed over all switches.
    pub scheme: Counters,
    /// Link sharing between subflows, if the run takes samples and its connections have more than
    /// one path.
    pub path_use: Option<PathUse>,
    /// Counters of the ports that dropped or marked packets.
    pub port_counters: Vec<PortCounters>,
    /// Hash over every event of the run: equal digests mean equal runs.
    pub digest: u64,
}

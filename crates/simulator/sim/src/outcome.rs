//! What a run gives.

use heddle_policy::Counters;
use heddle_units::{Bytes, Rate, Time};

/// One measured flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// When the application had it ready, from the start of the run.
    pub start: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Payload.
    pub size: Bytes,
    /// Flow completion time: from `start` until the receiver has every byte, waiting on a busy connection included.
    pub fct: Time,
    /// The same in an empty fabric, by arithmetic: handshake if there is one, transmission at the slowest link, delays.
    pub ideal_fct: Time,
}

/// One direction of a link between switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortName {
    /// The switch that sends.
    pub from: String,
    /// The switch that receives.
    pub to: String,
    /// Its rate.
    pub rate: Rate,
}

/// Samples of the ports between switches, at even intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The ports, in the order of each row.
    pub ports: Vec<PortName>,
    /// When each sample was taken.
    pub times: Vec<Time>,
    /// Row by row: bytes that each port sent since the sample before.
    pub sent: Vec<u32>,
    /// Row by row: bytes waiting at each port.
    pub queued: Vec<u32>,
    /// From this sample on, samples lie in the measuring window.
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
        let before = std::iter::once(Time::ZERO).chain(self.times.iter().copied());
        self.sent.chunks(width).zip(self.times.iter().zip(before)).map(
            move |(row, (&at, before))| {
                let most = rate.bytes_in(at - before).0.max(1) as f64;
                row.get(port).map_or(0.0, |&sent| f64::from(sent) / most)
            },
        )
    }
}

/// Sums over a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Simulated time at the end.
    pub simulated: Time,
    /// One packet entering one link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Flows started, measured or not.
    pub flows_started: u64,
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
    /// Data segments that arrived behind a later one.
    pub reordered: u64,
    /// MPTCP: bytes that were given to a second subflow because the first was late with them.
    pub reinjected: Bytes,
    /// CFLB: subflows that were placed on a path.
    pub placed: u64,
    /// Packets dropped at a full buffer.
    pub dropped: u64,
    /// Packets lost with a failed link.
    pub lost_to_failures: u64,
    /// Packets that no route could take.
    pub unroutable: u64,
    /// Packets marked (ECN).
    pub ecn_marked: u64,
    /// Packets that reached a host whose connection was gone.
    pub to_closed_connections: u64,
    /// Bytes of probes put on links.
    pub probe_bytes: Bytes,
    /// Most packets that existed at one time.
    pub peak_packets: u64,
    /// Packets still under way at the end.
    pub in_flight: u64,
    /// Packets that hosts put on the wire, and took off it.
    pub sent: u64,
    /// See [`Totals::sent`].
    pub received: u64,
    /// Probes put on links.
    pub probes_sent: u64,
    /// State of the switch that holds most of it, in bytes, as the scheme counts it.
    pub state_bytes: u64,
}

/// Drops and marks at one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortCounters {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Packets dropped at a full buffer.
    pub dropped: u64,
    /// Packets marked.
    pub ecn_marked: u64,
}

/// How the subflows of connections share links between switches, on their way to the server.
///
/// It counts over samples of connections: each connection of which at least two subflows sent in the sampling interval, at each
/// sample of the measuring window. Flowlets move: a subflow's links are those that it used last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathUse {
    /// Samples of connections.
    pub samples: u64,
    /// Of these, samples in which two active subflows or more had a link in common.
    pub shared: u64,
    /// Of these, samples in which that was the link up from their ToR.
    pub shared_first_hop: u64,
    /// Sum over samples: different paths that the active subflows took, link by link.
    pub paths_sum: u64,
    /// Sum over samples: active subflows.
    pub subflows_sum: u64,
}

/// What a run gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Measured flows, in the order in which they finished.
    pub flows: Vec<FlowRecord>,
    /// Samples of queues and links.
    pub samples: Samples,
    /// Sums.
    pub totals: Totals,
    /// What the scheme counted, over all switches.
    pub scheme: Counters,
    /// How subflows share links, if the run takes samples and its connections have more than one path.
    pub path_use: Option<PathUse>,
    /// Ports that dropped or marked anything.
    pub port_counters: Vec<PortCounters>,
    /// A hash over every event of the run: equal digests mean equal runs.
    pub digest: u64,
}

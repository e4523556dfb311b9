//! `[workload]`.

use heddle_units::{Bytes, Rate, Time};
use serde::{Deserialize, Deserializer, Serialize};

use super::Transport;

/// A workload and the keys that all kinds have.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub(crate) struct TrafficPart {
    #[serde(flatten)]
    pub(crate) common: Common,
    #[serde(flatten)]
    pub(crate) workload: Workload,
}

impl<'de> Deserialize<'de> for TrafficPart {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TrafficPart, D::Error> {
        #[derive(Deserialize)]
        struct Layers(Common, Workload);
        Layers::deserialize(from).map(|Layers(common, workload)| TrafficPart { common, workload })
    }
}

/// Keys of every workload.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Common {
    /// Name in results: letters, digits, `-` and `_`. Needed where there are several workloads.
    /// Default: none.
    pub(crate) name: Option<String>,
    /// Protocol of the connections of this workload. Default: the scenario's `[transport]`.
    pub(crate) transport: Option<Transport>,
}

/// The traffic.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(tag = "kind"))]
pub(crate) enum Workload {
    /// Flows that arrive by a Poisson process, their sizes drawn from a distribution.
    Flows(Flows),
    /// Flows without end: every host sends to one other, or the pairs given.
    Long(Long),
    /// Flows listed one by one in a file.
    Replay(Replay),
    /// A collective operation of a training job: flows that wait for each other.
    Collective(Collective),
    /// Flows listed in a file that wait for each other.
    FlowGraph(FlowGraph),
    /// Requests in a closed loop: clients wait for the responses to their requests.
    Requests(Requests),
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Flows {
    /// Flow sizes.
    pub(crate) sizes: Sizes,
    /// Offered bytes per second over `capacity`: above 0, below 1.
    pub(crate) load: f64,
    /// Rate that a load of 1 stands for. Default: with the cross-pod pattern, what pod 1's links to
    /// the rest of the fabric carry (160 Gbps in the two-pod fabric); with others, the hosts' links
    /// together. Failed or changed links count as if they were not.
    pub(crate) capacity: Option<Rate>,
    /// Traffic pattern: senders and receivers. Default: "cross-pod" in a fabric with pods (as HULA
    /// and MP-HULA), "all-to-all" in others.
    pub(crate) pattern: Option<Pattern>,
    /// With `pattern = "incast"`: hosts that answer one request at once.
    pub(crate) senders: Option<u32>,
    /// Connections that carry the flows. Default: "persistent" (HULA section 6).
    #[serde(default)]
    pub(crate) connections: Connections,
    /// With `connections = "persistent"` or "closed-loop": connections of each pair of hosts.
    /// Default: 3 (HULA section 6).
    pub(crate) connections_per_pair: Option<u32>,
}

/// Each pair of hosts has one persistent connection.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Collective {
    /// The operation.
    pub(crate) operation: Operation,
    /// Bytes of each host's vector.
    pub(crate) size: Bytes,
    /// The hosts in the order of their ranks, as in `["host-1", "host-9"]`. Default: all, in the
    /// order of their numbers.
    pub(crate) hosts: Option<Vec<String>>,
    /// With `operation = "hierarchical-all-reduce"`: hosts of a group, which follow each other.
    pub(crate) group: Option<u32>,
    /// With `operation = "expert-all-to-all"`: experts of each token. Default: 2 (Mixtral 8x7B).
    pub(crate) experts: Option<u32>,
    /// With `operation = "expert-all-to-all"`: bytes of a token. Default: 8192B (4096 values of 16
    /// bits, as Mixtral 8x7B's).
    pub(crate) token: Option<Bytes>,
    /// With `operation = "expert-all-to-all"`: seed of the draw of experts, the same for all seeds
    /// of the scenario. Default: 1.
    pub(crate) draw: Option<u32>,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operation {
    /// All-reduce in a ring (Patarasuk and Yuan, JPDC 2009): of n hosts, 2 (n - 1) steps; in each a
    /// host sends one of n parts of its vector, in every step after the first the part that it has
    /// received in the step before.
    RingAllReduce,
    /// The first n - 1 steps of it: each host ends with the sum of one part.
    RingReduceScatter,
    /// The last n - 1 steps of it: each host has one part, and ends with all.
    RingAllGather,
    /// All-reduce by rings within groups of `group` hosts and between them (Cho et al., BlueConnect,
    /// MLSys 2019): in each group a reduce-scatter; of each part an all-reduce among the hosts that
    /// have it; in each group an all-gather.
    HierarchicalAllReduce,
    /// All-reduce by recursive halving and doubling (Rabenseifner's algorithm; Thakur, Rabenseifner
    /// and Gropp, IJHPCA 2005), of n = 2^i hosts: 2 log2 n steps. In those of the first half, hosts
    /// n/2, n/4, .. 1 ranks apart exchange halves of what they have left to add up; in the others
    /// 1, 2, .. n/2 apart what they have.
    HalvingDoublingAllReduce,
    /// All-reduce over a binomial tree (the same article): a reduction to the first host, then a
    /// broadcast, of 2 ceil(log2 n) steps; in each a host sends its whole vector to one other.
    TreeAllReduce,
    /// The second half of it: the vector of the first host to all others.
    TreeBroadcast,
    /// All-to-all by pairwise exchange (the same article): of n - 1 steps; in step k each host
    /// sends one of n parts of its vector to the one k ranks on, once it has sent and received
    /// those of the step before.
    AllToAll,
    /// All-to-all of experts in parallel, one on each host (Lepikhin et al., GShard, ICLR 2021): each
    /// host sends each token of its vector to those of `experts` experts, all at once; these send
    /// results of the tokens' size back, each once it has all that it was sent.
    ExpertAllToAll,
}

/// Each pair of hosts has one persistent connection in each direction.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowGraph {
    /// A CSV file whose first line is `id,after,from,to,size`, with or without `,delay`: a name,
    /// the names of the flows that it waits for (separated by spaces), names of hosts, a size with
    /// its unit, a time with its unit between the arrival of the last of these flows and the start.
    /// A line without `to` and `size` is a computation of `from`, which ends after its `delay`.
    /// Or, if its name ends with `.cm`, htsim's connection matrix with its triggers.
    pub(crate) file: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Requests {
    /// Sizes of responses.
    pub(crate) sizes: Sizes,
    /// Bytes of a request. Default: 100B, so that it fits a packet.
    #[serde(default = "request_size")]
    pub(crate) request_size: Bytes,
    /// Requests that each client has under way at a time. Default: 1.
    #[serde(default = "one")]
    pub(crate) outstanding: u32,
    /// Servers that each request goes to, drawn for each if there are no pairs; it is done when all have responded.
    /// Default: 1.
    #[serde(default = "one")]
    pub(crate) fan_out: u32,
    /// Mean of the exponential time from the last response to the next request. Default: 0ps.
    #[serde(default)]
    pub(crate) think: Time,
    /// Clients and servers: "cross-pod", "cross-pod-pairs" (each client asks one server) or
    /// "all-to-all". Default: "cross-pod" in a fabric with pods, "all-to-all" in others.
    pub(crate) pattern: Option<Pattern>,
    /// Connections that carry requests, and those that carry responses; not "closed-loop". Default:
    /// "persistent" (HULA section 6).
    #[serde(default)]
    pub(crate) connections: Connections,
    /// With `connections = "persistent"`: connections of each pair of hosts and direction. Default:
    /// 3 (HULA section 6).
    pub(crate) connections_per_pair: Option<u32>,
}

fn request_size() -> Bytes {
    Bytes(100)
}

fn one() -> u32 {
    1
}

/// A distribution of flow sizes.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "a name such as \"websearch\", a size such as \"fixed:100KB\" or { file = \"sizes.csv\" } is expected"
)]
pub(crate) enum Sizes {
    /// "websearch" (DCTCP), "datamining" (VL2), "hadoop" (Facebook), "alistorage" (Alibaba),
    /// "websearch-bytes" (web search as HPCC has it), or one size for all, as in "fixed:100KB".
    Name(String),
    /// A file of sizes and cumulative probabilities.
    File(SizesFile),
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct SizesFile {
    /// A CSV file whose first line is `bytes,cdf`, `bytes,percent`, `packets,cdf` or
    /// `packets,percent` (packets of 1460 bytes), or without such a line in bytes; named from the
    /// scenario's own folder.
    pub(crate) file: String,
}

/// Traffic pattern: senders and receivers.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pattern {
    /// Hosts of pod 1 send to hosts of pod 2, both drawn for each flow. In a fabric without pods
    /// each ToR counts as one.
    CrossPod,
    /// Each host of pod 1 sends to one host of pod 2, which receives from no other; the pairs are
    /// drawn once.
    CrossPodPairs,
    /// Every host sends to every other, both drawn for each flow.
    AllToAll,
    /// Each host sends to one other, each receives from one other, drawn once.
    Permutation,
    /// `senders` hosts answer a request of one host at once, all drawn for each request.
    Incast,
}

/// Connections that carry the flows.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Connections {
    /// A pool of connections between each client and server; a flow takes the next and waits for
    /// those before it.
    #[default]
    Persistent,
    /// A connection for each flow, with a handshake.
    PerFlow,
    /// Persistent connections between each client and server, as many as needed: a flow takes one
    /// that is idle, and opens another if none is. No flow waits for another.
    Pool,
    /// A closed loop for each of a pool of connections between each client and server: it starts
    /// its next flow an exponential pause after the end of its last. The mean pause is the one that
    /// would offer `load` if flows took no time; with real flows the offered load is lower.
    ClosedLoop,
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Long {
    /// Sender and receiver of each flow, as in `["host-1 host-9"]`. Default: a permutation of all
    /// hosts drawn from the seed.
    pub(crate) pairs: Option<Vec<String>>,
    /// Starts are spread at random over this time. Default: 1ms, so that flows do not start in
    /// step.
    #[serde(default = "one_ms")]
    pub(crate) start_within: Time,
}

fn one_ms() -> Time {
    Time::millis(1)
}

#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// A CSV file whose first line is `at,from,to,size`: times with their units (or `at_ns`,
    /// `at_us`, `at_ms`, `at_s` for plain numbers) counted from the end of the probes' warm-up,
    /// names of hosts, sizes with their units (or `size_bytes`). Or, if its name ends with `.cm`,
    /// htsim's connection matrix. Or a flow file of HPCC, whose first line is their number.
    pub(crate) file: String,
}

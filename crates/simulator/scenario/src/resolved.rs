//! A scenario after every default is filled in and every check has passed. It serialises, to be
//! shown.

use heddle_config::Problem;
use heddle_transport::TcpConfig;
use heddle_transport::mptcp::MptcpConfig;
use heddle_transport::uet::UetConfig;
use heddle_units::{Bytes, Time};
use serde::Serialize;

use crate::ScenarioError;
use crate::graph::Names;

mod cflb;
mod collective;
mod entropy;
mod events;
mod fabric;
mod fabric_file;
mod flow_graph;
mod pattern;
mod requests;
mod scheme;
mod workload;

pub use cflb::{Cflb, CflbNetwork, Placing};
pub use collective::{Collective, Experts, Operation};
pub use entropy::Entropy;
pub use events::{Change, Event, Impairment, Share};
pub use fabric::{
    Fabric, Graph, GroupDraw, Link, Node, NonMinimal, PathChoice, PortLimits, Red, Routing,
    SharedBuffer, links_of_cost,
};
pub use fabric_file::FabricFile;
pub use flow_graph::{FlowGraph, GraphFlow};
pub use pattern::{Connections, Pattern, SizeDistribution};
pub use requests::Requests;
pub use scheme::{External, Scheme};
pub use workload::{Flows, Long, NamedWorkload, ReplayFlow, Workload};

/// One simulation, except for its seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Title: the purpose of the scenario, in a line.
    pub title: String,
    /// Seeds; each is an independent run.
    pub seeds: Vec<u64>,
    /// The network.
    pub fabric: Fabric,
    /// The hosts' protocol, unless a workload has its own.
    pub transport: Transport,
    /// The switches' load balancing.
    pub scheme: Scheme,
    /// The hosts' load balancing.
    pub entropy: Entropy,
    /// The traffic.
    pub workload: Workload,
    /// The measurement and its times.
    pub measure: Measure,
    /// Failures and recoveries, in order of time.
    pub events: Vec<Event>,
    /// Notices about the files that the scenario names, as of lines that were left
    /// out.
    #[serde(skip)]
    pub notices: Vec<String>,
}

/// The hosts' protocol and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp(TcpConfig),
    /// Multipath TCP.
    Mptcp(MptcpConfig),
    /// Ultra Ethernet's transport.
    Uet(UetConfig),
}

impl Scenario {
    /// Protocols of the parts of the workload, in their order.
    pub fn transports(&self) -> Vec<Transport> {
        match &self.workload {
            Workload::Several(parts) => {
                parts.iter().map(|part| part.transport.unwrap_or(self.transport)).collect()
            }
            _ => vec![self.transport],
        }
    }

    /// Links of the graph by name, as events name them: `"core-2 agg-4"`, `"core-2 agg-4 #1"`, or
    /// `"core-2"` for all of a node.
    ///
    /// # Errors
    /// A name that is none, with the nearest one that is; the ideal fabric has no links.
    pub fn links_named(&self, text: &str) -> Result<Vec<u32>, ScenarioError> {
        if self.scheme == Scheme::Ideal {
            let message = format!("the ideal fabric has no link \"{text}\"");
            return Err(Problem::new(message).help("choose another scheme").into());
        }
        Names::new(&self.fabric.graph).links(text).map_err(ScenarioError::from)
    }

    /// Refuses hosts whose packets have no frames to capture.
    ///
    /// # Errors
    /// Under UET.
    pub fn check_frames(&self) -> Result<(), ScenarioError> {
        if self.transports().iter().all(Transport::has_handshake) {
            return Ok(());
        }
        let message = "captures hold frames of TCP, and these hosts speak UET";
        Err(Problem::new(message).help("traces of flows show their senders").into())
    }

    /// The protocol of a workload, by its number.
    pub fn transport_of(&self, workload: u16) -> &Transport {
        match &self.workload {
            Workload::Several(parts) => {
                let part = parts.get(usize::from(workload));
                part.and_then(|part| part.transport.as_ref()).unwrap_or(&self.transport)
            }
            _ => &self.transport,
        }
    }
}

impl Transport {
    /// Subflows of a connection, at least 1.
    pub fn subflows(&self) -> u32 {
        match self {
            Transport::Tcp(_) | Transport::Uet(_) => 1,
            Transport::Mptcp(mptcp) => u32::from(mptcp.subflows.max(1)),
        }
    }

    /// Parameters of a TCP connection, or of each subflow of an MPTCP connection; of UET those that
    /// it shares with TCP (`mss` and timeouts) with TCP's defaults.
    pub fn tcp(&self) -> TcpConfig {
        match self {
            Transport::Tcp(tcp) => *tcp,
            Transport::Mptcp(mptcp) => mptcp.tcp,
            Transport::Uet(uet) => uet.as_tcp(),
        }
    }

    /// True if a connection opens with a handshake.
    pub fn has_handshake(&self) -> bool {
        !matches!(self, Transport::Uet(_))
    }

    /// Packets for each acknowledgement, where none are lost, marked or out of order.
    pub fn packets_per_ack(&self) -> u8 {
        match self {
            Transport::Uet(uet) => uet.packets_per_ack.max(1),
            _ if self.tcp().delayed_ack.is_some() => 2,
            _ => 1,
        }
    }
}

/// The measurement and its times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Probes alone run this long before the first flow.
    pub probe_warm_up: Time,
    /// Flows that start in this time after that are not measured.
    pub warm_up: Time,
    /// The warm-up goes on, at most this long, until the flows under way are stationary; `None` if
    /// its length is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_limit: Option<Time>,
    /// End of the measurement.
    pub until: Until,
    /// No run lasts longer than this in simulated time.
    pub time_limit: Time,
    /// Time between two samples of queues and links; `None` samples nothing.
    pub sample_every: Option<Time>,
    /// Links that are sampled in both directions, as indices of [`Graph::links`]; `None` for all
    /// between switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Vec<u32>>,
    /// Bounds of the classes of sizes for which results are given, rising.
    pub size_classes: Vec<Bytes>,
}

/// Bounds of size classes that no key gives (HULA section 6.2, figures 6b and 6c).
pub const DEFAULT_SIZE_CLASSES: [Bytes; 2] = [Bytes(100_000), Bytes(10_000_000)];

/// End of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// This many flows have started since the warm-up; the run ends when all of them have finished
    /// (later ones keep the load up meanwhile).
    Flows(u64),
    /// This much time since the warm-up; the run ends then.
    Time(Time),
}

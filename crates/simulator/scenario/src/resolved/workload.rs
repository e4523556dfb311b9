//! The traffic.

use heddle_units::{Bytes, Rate, Time};
use serde::Serialize;

use super::{Collective, Connections, FlowGraph, Pattern, Requests, SizeDistribution, Transport};

/// The traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Flows that arrive by a Poisson process.
    Flows(Flows),
    /// Every host sends without end to one other.
    Long(Long),
    /// Flows listed one by one, in order of time.
    Replay(Vec<ReplayFlow>),
    /// A collective operation, whose flows wait for each other.
    Collective(Collective),
    /// Flows of a list that wait for each other.
    FlowGraph(FlowGraph),
    /// Clients that wait for the responses to their requests.
    Requests(Requests),
    /// Several of the other kinds at once.
    Several(Vec<NamedWorkload>),
}

/// One of several workloads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedWorkload {
    /// Unique name.
    pub name: String,
    /// Protocol of its connections; `None` is [`Scenario::transport`](super::Scenario::transport).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The traffic; not [`Workload::Several`].
    pub workload: Workload,
}

impl Workload {
    /// Its parts, in the order of the file: itself, unless it is several.
    pub fn parts(&self) -> Vec<&Workload> {
        match self {
            Workload::Several(parts) => parts.iter().map(|part| &part.workload).collect(),
            one => vec![one],
        }
    }

    /// Its parts that have a load.
    pub fn flows(&self) -> Vec<&Flows> {
        self.parts().into_iter().filter_map(Workload::with_load).collect()
    }

    fn with_load(&self) -> Option<&Flows> {
        match self {
            Workload::Flows(flows) => Some(flows),
            _ => None,
        }
    }

    /// Names of the parts; one empty name if there are not several.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Workload::Several(parts) => parts.iter().map(|part| part.name.as_str()).collect(),
            _ => vec![""],
        }
    }

    /// Connections that carry the flows of a part.
    pub fn connections(&self, part: u16) -> Connections {
        match self.parts().get(usize::from(part)) {
            Some(Workload::Flows(flows)) => flows.connections,
            Some(Workload::Collective(_) | Workload::FlowGraph(_)) => Connections::Persistent(1),
            Some(Workload::Requests(requests)) => requests.connections,
            _ => Connections::PerFlow,
        }
    }
}

/// Flows that arrive by a Poisson process, or with [`Connections::ClosedLoop`] on each connection
/// after its last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flows {
    /// Flow sizes.
    pub sizes: SizeDistribution,
    /// Offered bytes per second over [`Flows::capacity`]; in a closed loop those of flows that take
    /// no time.
    pub load: f64,
    /// Rate that a load of 1 stands for.
    pub capacity: Rate,
    /// Traffic pattern: senders and receivers.
    pub pattern: Pattern,
    /// Connections that carry the flows.
    pub connections: Connections,
}

/// Long flows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Long {
    /// Sender and receiver of each flow; `None` is a permutation of all hosts drawn from the seed.
    pub pairs: Option<Vec<(u32, u32)>>,
    /// Starts are spread evenly at random over this time.
    pub start_within: Time,
}

/// One flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayFlow {
    /// Start time.
    pub at: Time,
    /// Sending host.
    pub from: u32,
    /// Receiving host.
    pub to: u32,
    /// Bytes.
    pub size: Bytes,
}

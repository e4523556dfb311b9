//! Entropy values that hosts choose.

use heddle_units::Time;
use serde::Serialize;

/// The hosts' choice of each packet's entropy value, which switches hash with the 5-tuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Entropy {
    /// None: the 5-tuple alone is hashed.
    #[default]
    Flow,
    /// A random value for each packet.
    Spray,
    /// FlowBender.
    FlowBender(FlowBender),
    /// PLB.
    Plb(Plb),
    /// REPS.
    Reps(Reps),
}

impl Entropy {
    /// Its name, as a scenario file writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Entropy::Flow => "flow",
            Entropy::Spray => "spray",
            Entropy::FlowBender(_) => "flowbender",
            Entropy::Plb(_) => "plb",
            Entropy::Reps(_) => "reps",
        }
    }
}

/// FlowBender's parameters (Kabbani et al., CoNEXT 2014).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowBender {
    /// T: a round trip with a larger share of marked acknowledgements is congested.
    pub threshold: f64,
    /// N: congested round trips in a row after which the path changes, at least 1.
    pub rounds: u8,
}

/// PLB's parameters, as of Linux's `net.ipv4.tcp_plb_*`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plb {
    /// A round trip with at least this share of marked acknowledgements is congested.
    pub threshold: f64,
    /// Congested round trips in a row after which the path changes, at least 1.
    pub rehash_rounds: u8,
    /// The same while nothing is in flight; 0 makes no exception.
    pub idle_rehash_rounds: u8,
    /// Least time after a retransmission timeout without changes for congestion.
    pub suspend: Time,
}

/// REPS's parameters (Bonato et al., arXiv 2407.21625).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reps {
    /// Time for which a flow draws no random values after a sign of failure; 0 never stops it.
    pub freeze: Time,
    /// Random values after that time.
    pub explore: u8,
}

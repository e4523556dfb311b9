//! `[entropy]`.

use heddle_units::Time;
use serde::{Deserialize, Serialize};

/// The hosts' load balancing: the entropy value of each packet, which switches hash with the
/// 5-tuple. All but "flow" need `scheme = "ecmp"`.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(tag = "kind", deny_unknown_fields, transform = super::by_name::also_by_name))]
pub(crate) enum Entropy {
    /// None: the 5-tuple alone is hashed.
    #[default]
    Flow,
    /// A random value for each packet.
    Spray,
    /// FlowBender (Kabbani et al., CoNEXT 2014). Needs ports that mark.
    FlowBender(FlowBender),
    /// PLB (Qureshi et al., SIGCOMM 2022), as Linux has it. Needs ports that mark.
    Plb(Plb),
    /// REPS (Bonato et al., arXiv 2407.21625). Needs ports that mark.
    Reps(Reps),
}

/// Defaults are the paper's (section 3.2).
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FlowBender {
    /// T: a round trip with a larger share of marked acknowledgements is congested. Default: 0.05.
    pub(crate) threshold: f64,
    /// N: congested round trips in a row after which a flow changes its path. Default: 1.
    pub(crate) rounds: u8,
}

impl Default for FlowBender {
    fn default() -> FlowBender {
        FlowBender { threshold: 0.05, rounds: 1 }
    }
}

/// Defaults are those of Linux's `net.ipv4.tcp_plb_*`.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Plb {
    /// A round trip with at least this share of marked acknowledgements is congested. Default: 0.5
    /// (`tcp_plb_cong_thresh`, 128 of 256).
    pub(crate) threshold: f64,
    /// Congested round trips in a row after which a flow changes its path: 1 to 31. Default: 12
    /// (`tcp_plb_rehash_rounds`).
    pub(crate) rehash_rounds: u8,
    /// The same while nothing is in flight, up to 31; 0 makes no exception. Default: 3
    /// (`tcp_plb_idle_rehash_rounds`).
    pub(crate) idle_rehash_rounds: u8,
    /// Time after a retransmission timeout, once to twice, without changes for congestion. Default:
    /// 60s (`tcp_plb_suspend_rto_sec`).
    pub(crate) suspend: Time,
}

impl Default for Plb {
    fn default() -> Plb {
        Plb { threshold: 0.5, rehash_rounds: 12, idle_rehash_rounds: 3, suspend: Time::secs(60) }
    }
}

/// Defaults are those of the public uet-htsim.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reps {
    /// Time for which a flow draws no random values after a sign of failure; 0s never stops it.
    /// Default: 10ms.
    pub(crate) freeze: Time,
    /// Random values after that time. Default: 16.
    pub(crate) explore: u8,
}

impl Default for Reps {
    fn default() -> Reps {
        Reps { freeze: Time::millis(10), explore: 16 }
    }
}

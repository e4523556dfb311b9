//! Entropy values that hosts choose: `[entropy]`.

use heddle_policy::entropy::{FlowBenderConfig, PlbConfig, RepsConfig};
use heddle_transport::uet::UetConfig;
use heddle_units::Rate;
use serde::{Deserialize, Serialize};

use crate::Graph;

/// The hosts' load balancing: the entropy value of each packet, which switches hash with the
/// 5-tuple. All but "flow" need `scheme = "ecmp"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(tag = "kind", deny_unknown_fields, transform = crate::by_name::also_by_name))]
pub enum Entropy {
    /// None: the 5-tuple alone is hashed.
    #[default]
    Flow,
    /// A random value for each packet.
    Spray,
    /// 64 values in turn, without those whose packets were marked or trimmed (uet-htsim). Needs ports
    /// that mark.
    Bitmap,
    /// FlowBender (Kabbani et al., CoNEXT 2014). Needs ports that mark.
    FlowBender(FlowBenderConfig),
    /// PLB (Qureshi et al., SIGCOMM 2022), as Linux has it. Needs ports that mark.
    Plb(PlbConfig),
    /// REPS (Bonato et al., arXiv 2407.21625). Needs ports that mark.
    Reps(RepsConfig),
}

impl Entropy {
    /// True if each packet has a value of its own.
    pub fn is_by_packet(&self) -> bool {
        matches!(self, Entropy::Spray | Entropy::Bitmap | Entropy::Reps(_))
    }

    /// Rate at which a connection of Ultra Ethernet may send: over all interfaces of its host if
    /// each packet has a value of its own, but for receivers' credit, which is of one link.
    pub fn rate_of_uet(&self, uet: &UetConfig, graph: &Graph) -> Rate {
        let spreads = self.is_by_packet() && !uet.control.grants_credit();
        let links = if spreads { graph.interfaces() } else { 1 };
        Rate(graph.fastest_host().0 * u64::from(links))
    }

    /// Its name, as a scenario file writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Entropy::Flow => "flow",
            Entropy::Spray => "spray",
            Entropy::Bitmap => "bitmap",
            Entropy::FlowBender(_) => "flowbender",
            Entropy::Plb(_) => "plb",
            Entropy::Reps(_) => "reps",
        }
    }
}

//! The terms for a service that configuration, admin protocol and plan share.

use heddle_balancer_maps::abi;

pub use heddle_balancer_api::{MptcpMode, Protocol};

/// The name under which packets of no service are counted; no service has it.
pub const NO_SERVICE: &str = "none";

/// The mode in the program's maps. With `c-flag` the join addresses do the work, and the program
/// looks at no options.
pub fn in_maps(mode: MptcpMode) -> abi::MptcpMode {
    match mode {
        MptcpMode::Learn => abi::MptcpMode::Learn,
        MptcpMode::SourceIp => abi::MptcpMode::SourceIp,
        MptcpMode::Off | MptcpMode::CFlag => abi::MptcpMode::Off,
        MptcpMode::Assign => abi::MptcpMode::Assign,
    }
}

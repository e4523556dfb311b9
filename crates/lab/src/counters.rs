//! The kernel's MPTCP counters of a host.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{LabError, Node, tools};

#[derive(Deserialize)]
struct Report {
    kernel: BTreeMap<String, u64>,
}

/// The counters of MPTCP since the host was made, without their prefix `MPTcpExt` (`MPJoinSynTx`,
/// `MPJoinAckRx`, ...), and TCP's resets: `TcpEstabResets` and `TcpOutRsts`.
///
/// # Errors
/// If `nstat` (iproute2) is missing or fails.
pub fn mptcp_counters(node: &Node) -> Result<BTreeMap<String, u64>, LabError> {
    tools::require(&[("nstat", "iproute2")])?;
    let text = node.run("nstat -a -s -z -j MPTcpExt* TcpEstabResets TcpOutRsts")?;
    let report: Report = serde_json::from_str(&text).map_err(|error| {
        LabError::unreadable("nstat", format!("its counters ({error})"), &*text)
    })?;
    let short = |name: String| name.trim_start_matches("MPTcpExt").to_string();
    Ok(report.kernel.into_iter().map(|(name, count)| (short(name), count)).collect())
}

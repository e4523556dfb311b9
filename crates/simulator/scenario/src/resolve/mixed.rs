//! Workloads with protocols of their own: what the protocols of one network must share.

use heddle_config::Problem;
use heddle_transport::Control;

use crate::{Fabric, Transport, Workload};

/// Refuses protocols that cannot run in one simulation.
pub(super) fn check(
    workload: &Workload,
    common: &Transport,
    fabric: &Fabric,
) -> Result<(), Problem> {
    let Workload::Several(parts) = workload else { return Ok(()) };
    for (index, part) in parts.iter().enumerate() {
        let Some(transport) = &part.transport else { continue };
        one(transport, common, fabric).map_err(|problem| {
            let key =
                if parts.len() == 1 { "workload".into() } else { format!("workload.{index}") };
            problem.inside("transport").inside(&key)
        })?;
    }
    Ok(())
}

fn one(own: &Transport, common: &Transport, fabric: &Fabric) -> Result<(), Problem> {
    let (mss, other) = (own.tcp().mss, common.tcp().mss);
    if mss != other {
        let message = format!("{mss} is not the {other} of `[transport]`");
        return Err(Problem::at("mss", message).help("one network has one MTU"));
    }
    if own.tcp().preamble_and_gap != common.tcp().preamble_and_gap {
        return Err(Problem::at("preamble_and_gap", "differs from that of `[transport]`")
            .help("one network has one kind of link"));
    }
    if let (Transport::Mptcp(own), Transport::Mptcp(common)) = (own, common)
        && own.version != common.version
    {
        return Err(Problem::at("version", "differs from that of `[transport]`")
            .help("switches that read handshakes know one version"));
    }
    if own.tcp().control == Control::Dctcp && !fabric.marks() {
        return Err(Problem::at("control", "DCTCP needs ports that mark")
            .help("`fabric.mark_above`, as in `mark_above = \"97.5KB\"`"));
    }
    Ok(())
}

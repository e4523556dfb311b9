//! `[transport]` of `kind = "uet"`: checks, and the defaults that follow from the fabric.

use heddle_config::Problem;
use heddle_transport::uet::{UetConfig, WindowControl};
use heddle_transport::{HEADER_BYTES, MIN_FRAME_BYTES};
use heddle_units::{Bytes, Rate, Time};

use super::times::positive;
use crate::graph::longest_round_trip;
use crate::{Entropy, Fabric, Transport, Workload};

/// A timeout beyond the time that full ports take: 15 us and six ports (uet-htsim).
const RTO: (Time, u64) = (Time::micros(15), 6);

/// Thresholds between which ports mark, in percent of bandwidth times delay (uet-htsim).
const MARKS: (u64, u64) = (20, 80);

/// Checks the values that a file gives, `mss` aside.
pub(super) fn check(uet: &UetConfig) -> Result<UetConfig, Problem> {
    if uet.packets_per_ack == 0 {
        return Err(Problem::at("packets_per_ack", "must be at least 1"));
    }
    for (key, time) in
        [("base_rtt", uet.base_rtt), ("target_delay", uet.target_delay), ("rto", uet.rto)]
    {
        time.map_or(Ok(Time::ZERO), |time| positive(key, time))?;
    }
    let packet = Bytes(u64::from(uet.mss) + u64::from(HEADER_BYTES));
    match uet.window {
        Some(window) if window < packet => {
            Err(Problem::at("window", format!("{window} does not hold one full packet"))
                .help(format!("at least {}B", packet.0)))
        }
        _ => Ok(*uet),
    }
}

/// Fills in the defaults of all protocols, and refuses what their fabric cannot do.
pub(super) fn complete(
    transport: &mut Transport,
    workload: &mut Workload,
    fabric: &Fabric,
    entropy: &Entropy,
) -> Result<(), Problem> {
    let inside = |problem: Problem| problem.inside("transport");
    fill(transport, fabric, entropy).map_err(inside)?;
    let mut is_uet = matches!(transport, Transport::Uet(_));
    if let Workload::Several(parts) = workload {
        let count = parts.len();
        let key = |index| if count == 1 { "workload".into() } else { format!("workload.{index}") };
        for (index, part) in parts.iter_mut().enumerate() {
            let Some(transport) = &mut part.transport else { continue };
            let filled = fill(transport, fabric, entropy);
            filled.map_err(|problem| inside(problem).inside(&key(index)))?;
            is_uet &= matches!(transport, Transport::Uet(_));
        }
    }
    if fabric.trim_above.is_some() && !is_uet {
        let message = "TCP does not understand headers without their payload";
        return Err(Problem::at("fabric.trim_above", message).help("`transport.kind = \"uet\"`"));
    }
    Ok(())
}

fn fill(transport: &mut Transport, fabric: &Fabric, entropy: &Entropy) -> Result<(), Problem> {
    let Transport::Uet(uet) = transport else { return Ok(()) };
    if uet.probes && fabric.trim_above.is_some() {
        let message = "switches that trim tell of losses at once";
        return Err(Problem::at("probes", message).help("leave it out, or `fabric.trim_above`"));
    }
    let rate = entropy.rate_of_uet(uet, &fabric.graph);
    let packet = Bytes(u64::from(uet.mss) + u64::from(HEADER_BYTES));
    let empty = || longest_round_trip(&fabric.graph, packet, Bytes(MIN_FRAME_BYTES.into()));
    let base_rtt = uet.base_rtt.unwrap_or_else(empty);
    let target = if fabric.trim_above.is_some() { Time(base_rtt.0 / 4 * 3) } else { base_rtt };
    uet.base_rtt = Some(base_rtt);
    uet.target_delay.get_or_insert(target);
    uet.window.get_or_insert(Bytes(rate.bytes_in(base_rtt).0 * 3 / 2).max(packet));
    uet.rto.get_or_insert(RTO.0 + fabric.drained() * RTO.1);
    let link = fabric.graph.fastest_host();
    check_marks(uet.control, fabric, link.bytes_in(base_rtt), link)
}

/// NSCC waits for marks.
fn check_marks(
    control: WindowControl,
    fabric: &Fabric,
    round_trip: Bytes,
    rate: Rate,
) -> Result<(), Problem> {
    if !control.needs_marks() || fabric.marks() {
        return Ok(());
    }
    let [min, max] = [MARKS.0, MARKS.1].map(|percent| round_trip.0 * percent / 100_000);
    let help = format!(
        "a ramp at {rate}: `fabric.red = {{ min = \"{min}KB\", max = \"{max}KB\", probability = 1.0, weight = 1.0 }}`; or `control = \"rccc\"` or `\"fixed\"`"
    );
    Err(Problem::at("control", "NSCC needs ports that mark").help(help))
}

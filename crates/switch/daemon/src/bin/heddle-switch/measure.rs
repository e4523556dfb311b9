//! `heddle-switch bench`.

use heddle_program::{Common, Failure, output};
use heddle_switch::bench::{self, Load};

/// Flows of one address, by their source ports. Those of another would have a wrong IPv4 checksum,
/// which the kernel's routes drop.
const MOST_FLOWS: u32 = 32_768;

/// Nanoseconds a packet.
pub(crate) fn nanoseconds(rounds: u32, flows: &[u32], common: &Common) -> Result<(), Failure> {
    check_root()?;
    let flows = if flows.is_empty() { &[1, 65_536] } else { flows };
    let measured = bench::run(rounds, flows, note(common))?;
    if common.json {
        return output::json(&measured);
    }
    output::line(format!("{:<40} {:>8} {:>10} {:>8}", "case", "flows", "ns", "/ ecmp"))?;
    measured.iter().try_for_each(|one| {
        let (case, flows, ns, ratio) = (&one.case, one.flows, one.nanoseconds, one.to_ecmp);
        output::line(format!("{case:<40} {flows:>8} {ns:>10.1} {ratio:>8.2}"))
    })
}

/// Packets a second.
pub(crate) fn packets_per_second(
    rounds: u32,
    flows: &[u32],
    frames: u32,
    common: &Common,
) -> Result<(), Failure> {
    check_root()?;
    let mut all = Vec::new();
    for &flows in if flows.is_empty() { &[1024] } else { flows } {
        if flows > MOST_FLOWS {
            let why = format!("--veth makes flows of one address: {MOST_FLOWS} at most");
            return Err(Failure::advised(why, format!("--flows {MOST_FLOWS}")));
        }
        all.extend(bench::rates(Load { rounds, flows, frames }, note(common))?);
    }
    if common.json {
        return output::json(&all);
    }
    output::line(format!(
        "{:<36} {:<7} {:>6} {:>10} {:>8} {:>7}",
        "case", "hook", "flows", "million/s", "/ ecmp", "lost"
    ))?;
    all.iter().try_for_each(|one| {
        let (case, hook, flows) = (&one.case, one.hook, one.flows);
        let (rate, ratio, lost) = (one.million_per_second, one.to_ecmp, one.lost * 100.0);
        output::line(format!(
            "{case:<36} {hook:<7} {flows:>6} {rate:>10.3} {ratio:>8.2} {lost:>6.2}%"
        ))
    })
}

fn note(common: &Common) -> impl FnMut(&str) + use<'_> {
    |what| {
        if !common.quiet {
            eprintln!("{what}");
        }
    }
}

fn check_root() -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let why = "bench loads programs into the kernel, which this user may not";
    Err(Failure::advised(why, "run it as root: sudo heddle-switch bench"))
}

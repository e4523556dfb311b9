//! `heddle bench`: the simulator's speed.

use heddle_study::bench::{Case, Settings, Speed, compare, run};

use crate::args::{Bench, Common};
use crate::failure::Failure;
use crate::output::counted;
use crate::{files, output, progress, table};

pub(crate) fn bench(args: &Bench, common: &Common) -> Result<(), Failure> {
    let mut speeds = Vec::new();
    let settings = Settings { seed: args.seed, after: args.after, time: args.time };
    for case in args.cases.iter().filter_map(|name| Case::of(name)) {
        if !common.quiet {
            eprintln!("case {}: {}", case.name, counted(args.runs as u64, "run"));
        }
        speeds.push(median(case, settings, args.runs)?);
    }
    compare(&mut speeds);
    if common.json {
        return files::print_json(&speeds);
    }
    print(&speeds)
}

/// The run with the median speed.
fn median(case: &Case, settings: Settings, runs: u32) -> Result<Speed, Failure> {
    let mut speeds: Vec<Speed> = Vec::new();
    for _ in 0..runs {
        speeds.push(run(case, settings, progress::next)?);
    }
    speeds.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
    Ok(speeds.swap_remove(speeds.len() / 2))
}

fn print(speeds: &[Speed]) -> Result<(), Failure> {
    let header = [
        "case",
        "packet-hops",
        "events",
        "CPU",
        "per CPU second",
        "CPU per packet-hop",
        "peak memory",
        "simulated",
    ];
    let mut table = table::new(&header);
    for speed in speeds {
        table.add_row([
            speed.case.to_owned(),
            format!("{:.1} M", speed.packet_hops as f64 / 1e6),
            format!("{:.1} M", speed.events as f64 / 1e6),
            format!("{:.2} s", speed.cpu_seconds),
            format!("{:.2} M", speed.packet_hops_per_cpu_second / 1e6),
            per_hop(speed),
            format!("{:.0} MB", speed.peak_memory_bytes as f64 / 1e6),
            format!("{} s", table::short(speed.simulated_seconds)),
        ]);
    }
    output::line(table)
}

/// Nanoseconds for a packet-hop, and how many times that of the baseline, if that was run too.
fn per_hop(speed: &Speed) -> String {
    let nanos = format!("{:.1} ns", 1e9 / speed.packet_hops_per_cpu_second);
    match speed.baseline.zip(speed.over_baseline) {
        Some((baseline, times)) => format!("{nanos}, {times:.2}x {baseline}"),
        None => nanos,
    }
}

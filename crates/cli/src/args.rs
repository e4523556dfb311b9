//! The command line.

#[cfg(test)]
mod book;
pub(crate) mod fabric;
pub(crate) mod path;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use heddle_driver::Options;
use heddle_papers::studies;
pub(crate) use heddle_program::Common;
use heddle_program::external::Passed;
use heddle_program::key_value;
use heddle_scenario::VARIANT;
use heddle_study::bench::{CASES, Case};
use heddle_units::{Bytes, Time};

use crate::commands::on::scheduler;

/// Multipath-aware load balancing: simulate what schemes do to flows, steer flows onto paths,
/// balance MPTCP.
#[derive(Debug, Parser)]
#[command(
    name = "heddle",
    version,
    max_term_width = 100,
    after_help = EXIT_CODES,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    something failed while it ran
  2    the command line is wrong
  3    a scenario, a fabric file or a configuration is wrong; the message names file, line and fix
  127  a sub-command's program is not installed; the message names how to get it
  130  interrupted; what run, sweep, cell, reproduce, study and demo had finished is kept

Start with: heddle demo, heddle path --help, or heddle lb --help";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare HULA with ECMP on the paper's fabric, in seconds.
    Demo(Demo),
    /// Run one scenario file, once for each of its seeds.
    Run(Run),
    /// Run a scenario over a grid of values, on all cores; goes on where it was interrupted.
    Sweep(Sweep),
    /// Make single runs of a sweep, by their keys, and keep them: jobs of a cluster.
    Cell(Cell),
    /// Compare two results: figures, scenarios, engines.
    Diff(Diff),
    /// Work on kept runs.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Check a paper's claims: run its evaluation, print claim, paper, here, verdict.
    Reproduce(Reproduce),
    /// Study what MP-HULA's paper leaves to future work (best hops and subflows, priorities,
    /// failures), and its rivals.
    Study(Study),
    /// Check scenario files, with --over or --variant every combination, without running them.
    Validate(Validate),
    /// Print a scenario with every default filled in, as a scenario file.
    Show(Show),
    /// Turn a file of another simulator into Heddle's own: topologies, flows, sizes.
    Import(Import),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
    /// Measure the simulator's speed.
    Bench(Bench),
    /// Find the paths of a fabric, encode them as ports, follow packets (CFLB).
    #[command(subcommand, after_help = path::EXAMPLES)]
    Path(path::PathCommand),
    /// Inspect fabrics: path counts, resolved files, the schema of files.
    #[command(subcommand)]
    Fabric(fabric::FabricCommand),
    /// Run and watch the load balancer for MPTCP (heddled, by the program heddle-lb).
    #[command(disable_help_flag = true)]
    Lb(Passed),
    /// Run scenarios on real kernels in network namespaces (by the programs heddle-lab and
    /// heddle-emulation; needs root).
    #[command(disable_help_flag = true)]
    Lab(Passed),
    /// Open this host's MPTCP subflows on chosen paths (by the program heddle-agent; Linux).
    #[command(disable_help_flag = true)]
    Agent(Passed),
    #[cfg(feature = "generate")]
    #[command(flatten)]
    Generate(heddle_program::Generate),
    /// Print the help of a command.
    Help {
        /// The command, as in `path find`.
        command: Vec<String>,
    },
}

/// A scenario file and changes to it.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScenarioArgs {
    /// A scenario file (TOML); see scenarios/ for examples and `heddle schema` for every key.
    pub(crate) scenario: PathBuf,
    /// Replace a value: a dotted key and a TOML value or bare text. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Folder for the results and the report.
    #[arg(long, default_value = "out/demo")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle run scenarios/hula-fig5.toml
  heddle run scenarios/hula-fig5.toml --set scheme=ecmp --set workload.load=0.5 --set measure.flows=2000
  heddle run scenarios/hula-fig6.toml --live
  heddle run scenarios/hula-fig6.toml --parquet
  heddle run scenarios/hula-fig6.toml --json | jq .over_seeds.fct_mean
  heddle run scenarios/last-hop.toml --pcap 'leaf-1 host-1' --trace 3")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) source: ScenarioArgs,
    /// Also write a capture of what crosses a link, in both directions, for Wireshark:
    /// LINK-seed-N.pcap, a file for each seed. A link is named as in `[[event]]`: "leaf-1 host-3",
    /// or "spine-2" for all of a switch. Can be repeated. Runs are run again for it.
    #[arg(long, value_name = "LINK")]
    pub(crate) pcap: Vec<String>,
    /// Also write windows, round-trip time, losses and path of a flow over time: flow-N-seed-M.csv.
    /// A flow is named by its number in flows.csv. Can be repeated. Runs are run again for it.
    #[arg(long, value_name = "FLOW", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trace: Vec<u32>,
    /// Threads of each run, with the result of one. Runs are then made one after another. Only some
    /// scenarios can be divided: long flows, or flows on persistent connections, by ECMP.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: u16,
    /// Also write each CSV table as Apache Parquet, with typed columns and, under the key `heddle`
    /// of its metadata, what made it.
    #[arg(long)]
    pub(crate) parquet: bool,
    /// Show the figures so far while the run goes on: a line for each seed on standard error, and
    /// report.html, which browsers load anew until the run has ended. Results are the same.
    #[arg(long, conflicts_with = "threads")]
    pub(crate) live: bool,
    /// Folder for summary.json, flows.csv, links.csv and report.html; finished seeds are kept in
    /// runs/ below it [default: out/NAME-OF-THE-FILE].
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

/// The axes of a sweep.
#[derive(Args, Clone, Debug)]
pub(crate) struct Axes {
    /// A key and the values to try, separated by commas. Repeat it: the grid is every combination.
    #[arg(long, value_name = "KEY=V1,V2,..", value_parser = key_value)]
    pub(crate) over: Vec<(String, String)>,
    /// A name and the keys that it sets, separated by commas. Repeat it: variants are one more axis
    /// of the grid, the first. The name alone stands for a `[[variant]]` of the file, which are all
    /// compared unless some are named.
    #[arg(long, value_name = "NAME=KEY=VALUE,..")]
    pub(crate) variant: Vec<String>,
}

/// The runs of a sweep, and where they are kept.
#[derive(Args, Debug)]
pub(crate) struct Grid {
    #[command(flatten)]
    pub(crate) source: ScenarioArgs,
    #[command(flatten)]
    pub(crate) axes: Axes,
    /// Also keep the flows of each run, and write flows.csv, a row for each. Runs that were kept
    /// without their flows are run again.
    #[arg(long)]
    pub(crate) flows: bool,
    /// Also keep the queues and utilisations of each run's links, and write links.csv, a row for
    /// each sample of each direction: of a scenario with `measure.sample_every`. Runs that were kept
    /// without them are run again.
    #[arg(long)]
    pub(crate) links: bool,
    /// Folder for sweep.csv (a row for each combination), tidy.csv (a row for each value of a run),
    /// means.csv (a row for each value over the seeds), sweep.json and report.html; finished runs
    /// are kept in runs/ below it [default: out/sweep-NAME].
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle sweep scenarios/hula-fig5.toml --over scheme=ecmp,hula --over workload.load=0.3,0.5,0.7
  heddle sweep scenarios/hula-fig5.toml --over scheme=hula --over scheme.flowlet_gap=50us,100us,200us
  heddle sweep scenarios/requests.toml --over scheme=ecmp,letitflow --baseline scheme=ecmp
  heddle sweep scenarios/reps-link-failure.toml --baseline ecmp
  heddle sweep scenarios/reps-link-failure.toml --variant 'hula=scheme=hula,entropy=flow' \\
      --variant 'reps=scheme=ecmp,entropy=reps' --over workload.load=0.3,0.5 --baseline hula
  heddle sweep scenarios/hula-fig5.toml --over scheme=ecmp,hula --links --parquet \\
      --set measure.sample_every=1ms
  heddle sweep scenarios/hula-fig5.toml --over scheme=ecmp,hula --list
  heddle sweep scenarios/hula-fig5.toml --over scheme=ecmp,hula --on dask://scheduler:8786")]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) grid: Grid,
    /// Compare every combination with the one that has this value of a swept key, or this variant,
    /// seed by seed: ratios with confidence intervals, in a table, in ratios.csv and in the report.
    #[arg(long, value_name = "KEY=VALUE|VARIANT", value_parser = baseline, conflicts_with = "list")]
    pub(crate) baseline: Option<(String, String)>,
    /// Also write each CSV table as Apache Parquet, with typed columns and, under the key `heddle`
    /// of its metadata, what made it.
    #[arg(long)]
    pub(crate) parquet: bool,
    /// Keep report.html at the figures of the runs that are finished, which browsers load anew until
    /// the sweep has ended.
    #[arg(long, conflicts_with = "list")]
    pub(crate) live: bool,
    /// Run nothing: print a line for each run with its key, `done` or `missing`, and its values and
    /// seed, separated by tabs. `heddle cell` makes one.
    #[arg(long, conflicts_with = "parquet")]
    pub(crate) list: bool,
    /// Have the workers of a scheduler of Dask's make the runs, which are kept as if they were made
    /// here. It takes the Python package `heddle` and `distributed`, here (by python3, or
    /// HEDDLE_PYTHON) and at the workers.
    #[arg(long, value_name = "dask://HOST:PORT", value_parser = scheduler, conflicts_with = "list")]
    pub(crate) on: Option<String>,
}

/// A key and a value; a word alone is a variant's name.
fn baseline(text: &str) -> Result<(String, String), String> {
    Ok(key_value(text).unwrap_or_else(|_| (VARIANT.to_owned(), text.to_owned())))
}

#[derive(Args, Debug)]
#[command(after_help = "\
Example, the first of a sweep's missing runs, as a job of a cluster would have it:
  heddle sweep a.toml --over scheme=ecmp,hula --list | grep missing
  heddle cell a.toml --over scheme=ecmp,hula --key 0123456789abcdef01234567
  heddle sweep a.toml --over scheme=ecmp,hula")]
pub(crate) struct Cell {
    #[command(flatten)]
    pub(crate) grid: Grid,
    /// A run's key, as `heddle sweep --list` prints it. Can be repeated.
    #[arg(long, required = true)]
    pub(crate) key: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle diff out/a out/b
  heddle diff out/before/sweep.json out/after/sweep.json --json")]
pub(crate) struct Diff {
    /// The first result: a folder of `run` or `sweep`, or its summary.json or sweep.json.
    pub(crate) before: PathBuf,
    /// The second result.
    pub(crate) after: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy the runs of other stores into one, as after a sweep that was divided among machines.
    #[command(after_help = "\
Example, two halves of a sweep, made one by running the whole of it:
  heddle store merge out/sweep-a/runs other-machine/out/sweep-a/runs
  heddle sweep a.toml --over scheme=ecmp,hula --over workload.load=0.3,0.5")]
    Merge(StoreMerge),
}

#[derive(Args, Debug)]
pub(crate) struct StoreMerge {
    /// The store to copy into: a folder `runs/`. It is made if need be.
    pub(crate) into: PathBuf,
    /// The stores to copy from.
    #[arg(required = true)]
    pub(crate) from: Vec<PathBuf>,
}

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Paper {
    /// HULA (SOSR 2016): claims H1 to H12.
    Hula,
    /// MP-HULA (NetCompute 2018): claims M1 to M7.
    MpHula,
    /// CFLB (Computer Networks 2013): claims C1 to C7.
    Cflb,
    /// Ultra Ethernet's hosts beside the public uet-htsim, U1 to U8: its recorded figures, or those
    /// of its program if the environment has `HTSIM=PROGRAM`.
    Uet,
    /// RomanRoads (IFIP Networking 2021): claims R1 to R4, on the balancer's own eBPF programs.
    /// Needs root.
    #[value(name = "romanroads")]
    RomanRoads,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle reproduce hula --quick
  heddle reproduce hula H3 H9
  heddle reproduce mp-hula --quick --sensitivity
  heddle reproduce cflb C2 C3 --pcap trace.pcapng
  heddle reproduce uet U1 U5
  heddle reproduce romanroads --quick")]
pub(crate) struct Reproduce {
    /// The paper.
    pub(crate) paper: Paper,
    #[command(flatten)]
    pub(crate) options: Options,
    /// Instead of the claims, show how the headline ratios move when what the paper leaves open
    /// (buffers, delays, timeouts, windows, traffic) is chosen otherwise.
    #[arg(long, conflicts_with_all = ["claims", "profile"])]
    pub(crate) sensitivity: bool,
    /// With cflb, spread the flows of this capture too (pcap or pcapng), as in C2 and C3.
    #[arg(long, value_name = "FILE", conflicts_with = "sensitivity")]
    pub(crate) pcap: Option<PathBuf>,
}

/// A study that can be made.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StudyName {
    /// 1 to 4 best hops and 2 to 8 subflows on a fat-tree of 128 hosts.
    Paths,
    /// Long flows that leave the best hop to short ones.
    Priorities,
    /// A link and a switch that fail in mid-run and come back, under each system.
    Failures,
    /// Switches and hosts that balance load, beside each other, under TCP, MPTCP and Ultra Ethernet.
    Rivals,
    /// Flowlet schemes with gaps from 50 us to 1 ms.
    Gaps,
}

impl From<StudyName> for studies::Study {
    fn from(name: StudyName) -> studies::Study {
        match name {
            StudyName::Paths => studies::Study::Paths,
            StudyName::Priorities => studies::Study::Priorities,
            StudyName::Failures => studies::Study::Failures,
            StudyName::Rivals => studies::Study::Rivals,
            StudyName::Gaps => studies::Study::Gaps,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle study failures
  heddle study paths priorities --full
  heddle study rivals -j 2")]
pub(crate) struct Study {
    /// Studies [default: all].
    pub(crate) studies: Vec<StudyName>,
    /// One seed, few loads, few flows: minutes (the default).
    #[arg(long, conflicts_with_all = ["medium", "full"])]
    pub(crate) quick: bool,
    /// Five seeds with the loads and flows of --quick: five times as long.
    #[arg(long, conflicts_with = "full")]
    pub(crate) medium: bool,
    /// Five seeds, more loads and flows: hours.
    #[arg(long)]
    pub(crate) full: bool,
    /// Folder for study.json, study.md, report.html and each run's figures in STUDY.csv; finished
    /// runs are kept in runs/ below it.
    #[arg(long, default_value = "results/study")]
    pub(crate) out: PathBuf,
}

/// Scenario files, or all combinations of a sweep of each.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle validate scenarios/*.toml
  heddle validate scenarios/hula-fig5.toml --set workload.load=0.8 --over scheme=ecmp,hula,drill
  heddle validate scenarios/reps-link-failure.toml --variant 'hula=scheme=hula,entropy=flow'")]
pub(crate) struct Validate {
    /// Scenario files.
    #[arg(required = true)]
    pub(crate) scenarios: Vec<PathBuf>,
    /// Replace a value: a dotted key and a TOML value or bare text. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) axes: Axes,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle import topology.txt --out graph.toml    a topology of HPCC's, or of htsim's (.topo)
  heddle import flow.txt --out flows.csv         flows of HPCC's, conweave's, htsim's (.cm)
  heddle import AliStorage2019.txt               a distribution of sizes without a header
  heddle import step.*.et --out step.csv         a trace of Chakra's, a file for each rank
  heddle import ring.xml --size 64MB             a plan of MSCCL's for a collective operation")]
pub(crate) struct Import {
    /// The file; its name's ending and its first lines tell what it is. Of a trace of Chakra's, the
    /// files of all ranks.
    #[arg(required = true)]
    pub(crate) file: Vec<PathBuf>,
    /// Bytes of each rank's buffer that a plan of MSCCL's moves.
    #[arg(long)]
    pub(crate) size: Option<Bytes>,
    /// ASTRA-sim's groups of ranks for a trace of Chakra's: JSON, as in {"1": [0, 1]}.
    #[arg(long, value_name = "FILE")]
    pub(crate) groups: Option<PathBuf>,
    /// The file to write [default: standard output].
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) source: ScenarioArgs,
}

#[derive(Args, Debug)]
#[command(after_help = cases_help())]
pub(crate) struct Bench {
    /// Cases, as listed below.
    #[arg(value_parser = PossibleValuesParser::new(CASES.iter().map(|case| case.name)), default_values = ["a", "b"])]
    pub(crate) cases: Vec<String>,
    /// Times that each case is run; the medians are printed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) runs: u32,
    /// Seed of each run.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Simulated time before counting starts, as in 300ms; with 0s the set-up is counted, too
    /// [default: the case's own, which leaves out the first slow starts].
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<Time>,
    /// Simulated time that is counted [default: the case's own].
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<Time>,
}

fn cases_help() -> String {
    let line = |case: &Case| format!("\n  {:<11}{}", case.name, case.about);
    let cases: String = CASES.iter().map(line).collect();
    format!(
        "Cases:{cases}\n\nBehind its own figure a case has how much longer a packet-hop takes than in its baseline, if that is \
         run too:\n  heddle bench a a2 a4 a8        MPTCP over TCP\n  heddle bench m-ecmp m-mp-hula  MP-HULA over ECMP"
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Text behind the options is broken by hand: no line is wrapped on a page of 100 columns.
    #[test]
    fn examples_fit_the_page() {
        fn check(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let longest = after.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(longest.chars().count() <= 100, "{}: {longest}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        for name in ["path", "fabric"] {
            check(Cli::command().find_subcommand(name).unwrap());
        }
    }
}

//! The command line.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use heddle_emulation::plane::{Kind, RouteSource};
use heddle_program::{Common, Generate, key_value};

/// Run the simulator's scenarios on real kernels, in network namespaces. Needs root
#[derive(Debug, Parser)]
#[command(name = "heddle-emulation", version, max_term_width = 100, mut_arg("jobs", |jobs| jobs.hide(true)))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario: a namespace for each host and switch, the kernel's TCP or MPTCP, results as
    /// of `heddle run`.
    Run(Run),
    /// Run a scenario under several schemes, on real kernels and in the simulator, and compare.
    Compare(Compare),
    /// Check CFLB's claims about MPTCP on real kernels, beside the simulator.
    Reproduce(Reproduce),
    /// MP-HULA, HULA and ECMP on the papers' fabric: two subflows of each connection, and a core
    /// link that is cut.
    Demo(Demo),
    /// Build a scenario's fabric and leave it there, without flows.
    Up(Up),
    /// Remove a fabric, or all that processes which crashed have left.
    Down(Down),
    /// List the fabrics of this machine.
    Status,
    /// Open a shell in the namespace of a host or a switch, or run a program there.
    Shell(Shell),
    /// Print or write the packets of a link, by tcpdump.
    Capture(Capture),
    /// One host's process: started by `run`.
    #[command(hide = true)]
    Host,
    #[command(flatten)]
    Generate(Generate),
}

/// The data plane of the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plane {
    /// The kernel's multipath routes: ECMP.
    Kernel,
    /// A heddle-switch in each switch: schemes in eBPF.
    Ebpf,
    /// A BMv2 switch in each switch, with the scheme's P4 program. Needs BMv2 (simple_switch_grpc or
    /// simple_switch) and heddle-p4-switch (p4/) on the PATH.
    Bmv2,
}

impl From<Plane> for Kind {
    fn from(plane: Plane) -> Kind {
        match plane {
            Plane::Kernel => Kind::Kernel,
            Plane::Ebpf => Kind::Ebpf,
            Plane::Bmv2 => Kind::Bmv2,
        }
    }
}

/// The source of the switches' routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoutesBy {
    /// The scenario, which all switches have as a file.
    #[default]
    Scenario,
    /// BIRD in each switch, by BGP and BFD: no switch has the scenario. Needs --dataplane ebpf.
    Bird,
}

impl From<RoutesBy> for RouteSource {
    fn from(by: RoutesBy) -> RouteSource {
        match by {
            RoutesBy::Scenario => RouteSource::Scenario,
            RoutesBy::Bird => RouteSource::Bird,
        }
    }
}

/// A scenario, and how to fit it to the machine.
#[derive(Args, Clone, Debug)]
pub(crate) struct Source {
    /// A scenario file (TOML), as for `heddle run`.
    pub(crate) scenario: PathBuf,
    /// Replace a value: a dotted key and a TOML value or bare text. Can be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The data plane of the switches.
    #[arg(long, value_enum, default_value = "kernel")]
    pub(crate) dataplane: Plane,
    /// Factor of all rates; times grow by as much [default: what the machine's processors carry].
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) rate_scale: Option<f64>,
    /// Factor of flow sizes; times follow.
    #[arg(long, value_name = "FACTOR", value_parser = factor, default_value = "1")]
    pub(crate) size_scale: f64,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lab run scenarios/lab/symmetric.toml --dataplane ebpf
  heddle lab run scenarios/lab/bird.toml --dataplane ebpf --routes bird --postcards 20
  heddle lab run scenarios/hula-fig5.toml --set fabric.link_delay=0us --set scheme=ecmp --size-scale 0.1 --set measure.flows=500")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The source of the switches' routes.
    #[arg(long, value_enum, default_value = "scenario")]
    pub(crate) routes: RoutesBy,
    /// The path of one in so many packets, as all switches tell it: paths.csv and a table of the
    /// report have the paths of flows and subflows, and when they moved. Needs --dataplane ebpf.
    #[arg(long, value_name = "PACKETS")]
    pub(crate) postcards: Option<NonZeroU32>,
    /// Folder for summary.json, flows.csv, links.csv, lab.json and report.html [default:
    /// out/lab-NAME-OF-THE-FILE].
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Finished runs on kernels are kept in runs/ below the folder: after an interruption the same command goes on. Remove runs/ to run again.

Examples:
  heddle lab compare scenarios/lab/symmetric.toml --dataplane ebpf --schemes ecmp,hula --set seeds=[1,2,3,4,5,6,7,8]
  heddle lab compare scenarios/lab/asymmetric.toml --schemes ecmp")]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Schemes, the one first to which the others are compared. Each has the file's keys as far as
    /// it knows them.
    #[arg(long, value_delimiter = ',', default_value = "ecmp", value_name = "SCHEME,..")]
    pub(crate) schemes: Vec<String>,
    /// Folder for compare.json and report.html [default: out/compare-NAME-OF-THE-FILE].
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
A run takes some seconds. Finished runs are kept in runs/ below the folder: after an interruption the same command goes on.

Examples:
  heddle lab reproduce C6
  heddle lab reproduce --full --out out/lab-cflb")]
pub(crate) struct Reproduce {
    /// Claims: C5, C6, C7 [default: all].
    pub(crate) claims: Vec<String>,
    /// As many runs as the paper: 400 of seven links, 100 of two interfaces; otherwise 50, 20 and 3
    /// permutations.
    #[arg(long)]
    pub(crate) full: bool,
    /// Folder for claims.json, claims.md, measured.json and report.html.
    #[arg(long, default_value = "results/lab-cflb")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Folder for demo.json and report.html.
    #[arg(long, default_value = "out/demo-lab")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Up {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The source of the switches' routes.
    #[arg(long, value_enum, default_value = "scenario")]
    pub(crate) routes: RoutesBy,
    /// The fabric's name [default: the file's].
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Down {
    /// The fabric [default: those whose process is gone, and the only one that is up].
    pub(crate) name: Option<String>,
    /// All fabrics, those of running processes too.
    #[arg(long, conflicts_with = "name")]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lab shell tor-1
  heddle lab shell host-1 -- ss -tni")]
pub(crate) struct Shell {
    /// A host or a switch, as the scenario names it.
    pub(crate) node: String,
    /// The fabric [default: the only one].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A program and its arguments [default: a shell].
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lab capture 'tor-1 agg-1'
  heddle lab capture 'agg-1 core-2' -- -w core.pcap -c 1000")]
pub(crate) struct Capture {
    /// A link: the names of its ends, as in 'agg-1 core-2'. The packets are those of the first
    /// end's device, in both directions.
    pub(crate) link: String,
    /// The fabric [default: the only one].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Arguments of tcpdump.
    #[arg(last = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// A factor above 0.
fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|_| "a number such as 0.001".to_owned())?;
    if factor.is_finite() && factor > 0.0 { Ok(factor) } else { Err("must be above 0".into()) }
}

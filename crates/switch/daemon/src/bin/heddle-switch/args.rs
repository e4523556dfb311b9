//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use heddle_daemon::log::Format;
use heddle_program::{Common, Generate};

/// Forwards a fabric's packets by a load-balancing scheme in eBPF
///
/// A configuration names the source of routes (a fabric file and the switch's node in it, or the
/// kernel), its scheme, and the devices of its ports.
#[derive(Parser)]
#[command(name = "heddle-switch", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Load the programs, attach them to the ports, and keep their maps until SIGTERM
    ///
    /// Packets go on without the daemon, and the next one takes over where it stopped.
    Run {
        /// The configuration.
        config: PathBuf,
        /// Format of logs, which go to standard error
        #[arg(long, value_enum, default_value_t = Format::Text)]
        logs: Format,
        /// Least level that is logged: error, warn, info, debug or trace
        #[arg(long, default_value = "info")]
        log_level: tracing_subscriber::filter::LevelFilter,
    },
    /// Check a configuration and the files that it names
    Check {
        /// The configuration.
        config: PathBuf,
    },
    /// Show ports, routes, best hops and counters of a running switch
    Status {
        /// The configuration.
        config: PathBuf,
    },
    /// The same, again and again until Ctrl-C
    Top {
        /// The configuration.
        config: PathBuf,
        /// Seconds between two looks
        #[arg(long, default_value_t = 1.0)]
        every: f64,
    },
    /// Show where a packet would go, and why, with the counters of its next hops
    #[command(visible_alias = "trace")]
    Explain {
        /// The configuration.
        config: PathBuf,
        /// The sender's address
        source: IpAddr,
        /// The receiver's address
        destination: IpAddr,
        /// The sender's port
        #[arg(default_value_t = 0)]
        source_port: u16,
        /// The receiver's port
        #[arg(default_value_t = 0)]
        destination_port: u16,
        /// IP's number of the protocol
        #[arg(long, default_value_t = 6)]
        protocol: u8,
        /// TTL or hop limit on arrival
        #[arg(long, default_value_t = 64)]
        ttl: u8,
        /// IPv6's flow label
        #[arg(long, default_value_t = 0)]
        flow_label: u32,
    },
    /// Tell the switch that links between two nodes are down, or work again; its routes follow
    /// after the fabric's convergence time
    Link {
        /// The configuration.
        config: PathBuf,
        /// A node
        from: String,
        /// The node at the other end
        to: String,
        /// Their state
        state: LinkState,
    },
    /// Measure each scheme beside ECMP: nanoseconds a packet, or packets a second end to end (as
    /// root)
    Bench {
        /// Rounds over all cases
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Flows at a time: powers of two; can be repeated [default: 1 and 65536; with --veth 1024]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        flows: Vec<u32>,
        /// Packets a second from one veth pair to others, at both hooks, beside the kernel's routes
        /// and programs that only forward
        #[arg(long)]
        veth: bool,
        /// Frames of a case and round, with --veth
        #[arg(long, default_value_t = 200_000, requires = "veth", value_parser = clap::value_parser!(u32).range(1..))]
        frames: u32,
    },
    /// Detach the programs from all ports, and forget tables
    Detach {
        /// The configuration.
        config: PathBuf,
    },
    /// Print the JSON Schema of configurations
    Schema,
    #[command(flatten)]
    Generate(Generate),
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LinkState {
    Up,
    Down,
}

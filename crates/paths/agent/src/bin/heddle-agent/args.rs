//! The command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use heddle_path_files::{FabricArgs, KeyedFabricArgs};
use heddle_program::{Common, Generate};
use tracing_subscriber::filter::LevelFilter;

/// The address of a path service, unless another is given.
pub(crate) const DEFAULT_SERVICE: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7340);

const EXAMPLES: &str = "\
Examples, as root on a host of the fabric:
  sysctl -w net.mptcp.pm_type=1                    # programs, not the kernel, open subflows
  heddle agent run --service 192.0.2.10:7340       # paths of `heddle path serve` there
  heddle agent run fabric.toml --subflows 7        # or of this fabric file, with its key
  heddle agent status";

/// Open the further subflows of this host's MPTCP connections on chosen paths (CFLB)
///
/// Connections, applications and the kernel stay as they are. For each MPTCP connection that this
/// host opens to another host of the fabric, the agent asks for disjoint paths, and has the kernel
/// open a subflow from each of the source ports that encode them. A subflow whose path fails is
/// opened anew on another one.
#[derive(Debug, Parser)]
#[command(name = "heddle-agent", bin_name = "heddle agent", version, max_term_width = 100, after_help = EXAMPLES, mut_arg("jobs", |jobs| jobs.hide(true)))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Follow this host's connections until SIGTERM or SIGINT
    ///
    /// It holds CAP_NET_ADMIN and drops all other capabilities. When it ends, leases are given back
    /// and subflows go on.
    #[command(after_help = EXAMPLES)]
    Run(Box<Run>),
    /// Show connections, their subflows and paths
    Status {
        /// The agent's status socket
        #[arg(long, value_name = "PATH", default_value = "/run/heddle-agent/agent.sock")]
        admin: PathBuf,
    },
    #[command(flatten)]
    Generate(Generate),
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// A fabric file: paths are found here, from what this host alone has open; without one, by
    /// --service
    #[arg(conflicts_with = "service")]
    pub(crate) fabric: Option<PathBuf>,
    /// The file of the key [default: the fabric file's cflb.key_file]
    #[arg(long, value_name = "FILE", requires = "fabric")]
    pub(crate) key_file: Option<PathBuf>,
    /// Address of a path service's gRPC, which sees the flows of all hosts [default:
    /// 127.0.0.1:7340]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) service: Option<SocketAddr>,
    /// Subflows of each connection, with the first one, whose port the kernel chooses: 2 to 16
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(2..=16))]
    pub(crate) subflows: u16,
    /// Time between two looks at all sockets, as in 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub(crate) interval: Duration,
    /// Retransmission timeouts in a row after which a path counts as failed: 1 to 15
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) timeouts: u8,
    /// Time for which a path that failed is not taken again
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(crate) hold_down: Duration,
    /// The status socket, of root or the agent's own user
    #[arg(long, value_name = "PATH", default_value = "/run/heddle-agent/agent.sock")]
    pub(crate) admin: PathBuf,
    /// Least level that is logged, to standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: LevelFilter,
}

impl Run {
    /// The fabric file and its key, if one is given.
    pub(crate) fn keyed_fabric(&self) -> Option<KeyedFabricArgs> {
        let fabric = FabricArgs { fabric: self.fabric.clone()?, set: Vec::new() };
        Some(KeyedFabricArgs { fabric, key_file: self.key_file.clone() })
    }
}

/// From a hundredth of a second to a day.
fn time(text: &str) -> Result<Duration, String> {
    let heddle_units::Duration(time) =
        text.parse().map_err(|error: heddle_units::UnitError| error.to_string())?;
    match time.as_millis() {
        10..=86_400_000 => Ok(time),
        _ => Err("from 10ms to 24h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_time_has_a_unit_and_bounds() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert!(time("1ms").is_err() && time("25h").is_err() && time("3").is_err());
    }
}

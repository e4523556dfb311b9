//! The command line.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use heddle_path_encoder::Scheduler;
use heddle_path_files::KeyedFabricArgs;
use heddle_program::{Common, Generate};
use tracing_subscriber::filter::Targets;

/// An address to listen on; `None` for off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address(pub(crate) Option<SocketAddr>);

/// The placement algorithm.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchedulerName {
    /// The path whose links carry the fewest flows (CFLB section 4.2.1).
    FewestFlows,
    /// The first path with room for the flow's rate (Hedera's global first fit); without a rate as
    /// fewest-flows.
    FirstFit,
}

impl From<SchedulerName> for Scheduler {
    fn from(name: SchedulerName) -> Scheduler {
        match name {
            SchedulerName::FewestFlows => Scheduler::FewestFlows,
            SchedulerName::FirstFit => Scheduler::FirstFit,
        }
    }
}

const EXAMPLES: &str = "\
Examples, with F=scenarios/fabrics/fat-tree-8.toml (its key: heddle path keygen ${F%.toml}.key):
  heddle path serve $F
  curl '127.0.0.1:7341/v1/paths?from=host-1&to=host-128'
  curl 127.0.0.1:7341/v1/connections --json '{\"from\": \"host-1\", \"to\": \"host-128\", \"subflows\": 4}'

It runs until SIGINT (Ctrl-C) or SIGTERM. Without --tls-certificate and --token-file it neither
encrypts nor authenticates: listen where only the hosts that may choose paths can reach it. HTTP
has metrics (/metrics), health (/healthz) and its own description (/openapi.json) as well.";

/// Run the service that encodes paths for hosts: gRPC, and JSON over HTTP.
#[derive(Debug, Parser)]
#[command(
    name = "heddle-path-service",
    bin_name = "heddle path serve",
    version,
    max_term_width = 100,
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Program {
    #[command(subcommand)]
    generate: Option<Generate>,
}

/// A parsed command line.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) action: Action,
    pub(crate) common: Common,
}

/// The action of the program.
#[derive(Debug)]
pub(crate) enum Action {
    /// Serve a fabric.
    Serve(Box<Serve>),
    /// Print completions or manual pages.
    Generate(Generate),
}

/// The program's command line. [`Serve`] is not a flattened option, since clap leaves the group of
/// an option without members if the option has groups itself.
pub(crate) fn command() -> Command {
    Common::augment_args(Serve::augment_args(Program::command()))
}

/// Parses the process's arguments. On an error it prints the message and ends the process, as
/// [`Parser::parse`] does.
pub(crate) fn parse() -> Cli {
    let matches = command().get_matches();
    let parsed = || {
        let action = match Program::from_arg_matches(&matches)?.generate {
            Some(generate) => Action::Generate(generate),
            None => Action::Serve(Box::new(Serve::from_arg_matches(&matches)?)),
        };
        Ok(Cli { action, common: Common::from_arg_matches(&matches)? })
    };
    parsed().unwrap_or_else(|error: clap::Error| error.format(&mut command()).exit())
}

/// The network to serve, and the addresses to serve it on.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) fabric: KeyedFabricArgs,
    /// Address of gRPC, or off; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7340", value_parser = address)]
    pub(crate) grpc: Address,
    /// Address of JSON over HTTP, or off.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7341", value_parser = address)]
    pub(crate) http: Address,
    /// The placement algorithm.
    #[arg(long, default_value = "fewest-flows")]
    pub(crate) scheduler: SchedulerName,
    /// Default lease of a connection, as in 90s, 10m, 1h.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = lease)]
    pub(crate) lease: Duration,
    /// The longest lease that a host may request; at least --lease.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = lease)]
    pub(crate) longest_lease: Duration,
    /// Limit of open connections.
    #[arg(long, value_name = "N", default_value = "65536")]
    pub(crate) connections: NonZeroUsize,
    /// File of the open connections: with it they survive a restart of the service. It is made if
    /// need be.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Certificate of the service in PEM, with those between it and its authority behind it: gRPC
    /// and HTTP speak TLS then.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Private key of the certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// File of bearer tokens, one a line, of mode 600: requests need one of them then.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Log level: off, error, warn, info, debug or trace, also by module as in
    /// warn,heddle_path_service=debug [default: info; warn with --quiet]. Logs go to standard
    /// error, as JSON with --json.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<Targets>,
}

fn address(text: &str) -> Result<Address, String> {
    match text {
        "off" => Ok(Address(None)),
        _ => text.parse().map(|at| Address(Some(at))).map_err(|_| {
            "write an IP address and a port, as in 127.0.0.1:7341 or [::1]:7341, or off".to_owned()
        }),
    }
}

/// Whole seconds, 1 to a day.
fn lease(text: &str) -> Result<Duration, String> {
    let heddle_units::Duration(lease) =
        text.parse().map_err(|error: heddle_units::UnitError| error.to_string())?;
    match (lease.as_secs(), lease.subsec_nanos()) {
        (1..=86_400, 0) => Ok(lease),
        _ => Err("from 1s to 24h, in whole seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn leases_are_whole_seconds_up_to_a_day() {
        let seconds = |text: &str| lease(text).map(|lease| lease.as_secs());
        assert_eq!((seconds("90s"), seconds("10m"), seconds("24h")), (Ok(90), Ok(600), Ok(86_400)));
        assert_eq!((seconds("1.5h"), seconds("1000ms")), (Ok(5400), Ok(1)));
        for wrong in ["", "10", "0s", "25h", "1.5s", "-1s", "99999999999999999999h", "ten m"] {
            assert!(lease(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_has_a_port_or_is_off() {
        let at = |text: &str| address(text).map(|address| address.0.map(|at| at.to_string()));
        assert_eq!(at("[::1]:80"), Ok(Some("[::1]:80".to_owned())));
        assert_eq!(at("off"), Ok(None));
        assert!(at("127.0.0.1").is_err() && at("localhost:80").is_err());
    }
}

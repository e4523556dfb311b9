//! `heddle-switch`: a switch of a fabric, on Linux.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use heddle_daemon::log;
use heddle_program::{Common, Failure, Generate, output};
use heddle_switch::{config, daemon};

/// Forwards a fabric's packets by ECMP, HULA, MP-HULA or CFLB, in eBPF
///
/// A configuration names a scenario of the simulator, the switch's node in its fabric, and the devices of its ports. Routes and parameters are the
/// scenario's.
#[derive(Parser)]
#[command(name = "heddle-switch", version)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Load the programs, attach them to the ports, and keep their maps until SIGTERM
    ///
    /// Packets go on without the daemon, and the next one takes over where it stopped.
    Run {
        /// The configuration.
        config: PathBuf,
        /// Format of logs, which go to standard error
        #[arg(long, value_enum, default_value_t = Logs::Text)]
        logs: Logs,
        /// Least level that is logged: error, warn, info, debug or trace
        #[arg(long, default_value = "info")]
        log_level: tracing_subscriber::filter::LevelFilter,
    },
    /// Check a configuration and the files that it names
    Check {
        /// The configuration.
        config: PathBuf,
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
enum Logs {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = run(&cli.command).map(|()| ExitCode::SUCCESS);
    heddle_program::exit(result, &cli.common, config::describe)
}

fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run { config, logs, log_level } => {
            let format = match logs {
                Logs::Text => log::Format::Text,
                Logs::Json => log::Format::Json,
            };
            log::start(format, *log_level);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(daemon::run(config))
        }
        Command::Check { config } => {
            let config = config::read(config)?;
            output::line(format!(
                "{}: {} with {} of {} ports",
                config.node,
                config.scheme.scheme,
                config.ports.len(),
                config.fabric.ports_of(config.fabric.hosts + config.switch).len(),
            ))
        }
        Command::Detach { config } => {
            Ok(heddle_switch_maps::remove_pins(&config::read(config)?.pin)?)
        }
        Command::Schema => output::json(&config::schema()),
        Command::Generate(generate) => generate.run(Cli::command(), &[]),
    }
}

//! `heddled`: the balancer's daemon.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, ValueEnum};
use heddle_balancer_maps::Mode;
use heddle_program::output::printable;
use heddle_program::{Common, Generate};
use heddled::daemon::{self, DaemonError, Options};
use heddled::log;

/// A layer-4 load balancer that keeps MPTCP connections whole
///
/// Attaches an XDP program to the configured interfaces and keeps its maps: services, healthy
/// backends, other balancers. Runs until SIGTERM; packets go on without it, and the next daemon
/// takes over where it stopped. SIGHUP reloads the configuration. `heddle lb` queries a running
/// daemon; `heddle lb check` checks a configuration.
#[derive(Parser)]
#[command(name = "heddled", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    generate: Option<Generate>,
    /// Configuration file
    #[arg(long, short, value_name = "FILE", default_value = "/etc/heddle/heddled.toml")]
    config: PathBuf,
    /// Mode in which the program is attached
    #[arg(long, value_enum, default_value_t = Attach::Native)]
    attach: Attach,
    /// Format of logs, which go to standard error
    #[arg(long, value_enum, default_value_t = log::Format::Text)]
    logs: log::Format,
    /// Least level that is logged: error, warn, info, debug or trace
    #[arg(long, default_value = "info")]
    log_level: tracing_subscriber::filter::LevelFilter,
}

#[derive(Clone, Copy, ValueEnum)]
enum Attach {
    /// In the driver
    Native,
    /// In the kernel's generic path: slower, for interfaces whose driver knows no XDP
    Generic,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(generate) = &arguments.generate {
        let done = generate.run(Arguments::command(), &[]);
        return heddle_program::exit(done.map(|()| ExitCode::SUCCESS), &Common::default(), |_| {
            None
        });
    }
    let format = arguments.logs;
    log::start(format, arguments.log_level);
    let mode = match arguments.attach {
        Attach::Native => Mode::Native,
        Attach::Generic => Mode::Generic,
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into(), format),
    };
    match runtime.block_on(daemon::run(Options { config: arguments.config, mode })) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, format),
    }
}

fn fail(error: &DaemonError, format: log::Format) -> ExitCode {
    for message in error.messages() {
        match format {
            log::Format::Text => log::line(&printable(&format!("error: {message}"))),
            log::Format::Json => tracing::error!("{message}"),
        }
    }
    ExitCode::FAILURE
}

//! `heddle-switch`: a switch of a fabric, on Linux.

mod args;
mod measure;
mod show;

use std::path::Path;
use std::process::ExitCode;

use args::{Cli, Command, LinkState};
use clap::{CommandFactory as _, Parser as _};
use heddle_daemon::log;
use heddle_program::{Failure, output};
use heddle_switch::explain::Packet;
use heddle_switch::{config, daemon};
use tracing_subscriber::filter::LevelFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = run(&cli).map(|()| ExitCode::SUCCESS);
    heddle_program::exit(result, &cli.common, config::describe)
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let json = cli.common.json;
    match &cli.command {
        Command::Run { config, logs, log_level } => serve(config, *logs, *log_level),
        Command::Check { config } => {
            let checked = show::Checked::of(&config::read(config)?);
            if json { output::json(&checked) } else { output::line(checked.text()) }
        }
        Command::Status { config } => show::status(&config::read(config)?, json),
        Command::Top { config, every } => show::top(&config::read(config)?, *every, json),
        Command::Explain {
            config,
            source,
            destination,
            source_port,
            destination_port,
            protocol,
            ttl,
            flow_label,
        } => {
            if source.is_ipv4() != destination.is_ipv4() {
                let message = format!("{source} and {destination} are of two families");
                return Err(Failure::usage(message, "both of IPv4, or both of IPv6"));
            }
            let packet = Packet {
                source: *source,
                destination: *destination,
                ports: (*source_port, *destination_port),
                protocol: *protocol,
                ttl: *ttl,
                flow_label: *flow_label,
            };
            show::explain(&config::read(config)?, packet, json)
        }
        Command::Link { config, from, to, state } => {
            let up = matches!(state, LinkState::Up);
            show::link(&config::read(config)?, (from.clone(), to.clone()), up, json)
        }
        Command::Bench { rounds, flows, veth: true, frames } => {
            measure::packets_per_second(*rounds, flows, *frames, &cli.common)
        }
        Command::Bench { rounds, flows, .. } => measure::nanoseconds(*rounds, flows, &cli.common),
        Command::Detach { config } => show::detach(&config::read(config)?, json),
        Command::Schema => output::json(&config::schema()),
        Command::Generate(generate) => generate.run(Cli::command(), &[]),
    }
}

fn serve(config: &Path, logs: log::Format, level: LevelFilter) -> Result<(), Failure> {
    log::start(logs, level);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(daemon::run(config))
}

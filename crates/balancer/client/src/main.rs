//! `heddle-lb`: the balancer's client, which `heddle lb` runs. It talks to heddled over its admin
//! socket.

mod addresses;
mod args;
mod commands;
mod daemon;
mod failure;
mod format;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::CommandFactory as _;
use heddle_program::{Failure, interrupt, output};
use heddled::config;

fn main() -> ExitCode {
    let cli: Cli = heddle_program::parse();
    heddle_program::exit(run(&cli), &cli.common, failure::describe)
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let (socket, common) = (cli.socket.as_path(), &cli.common);
    interrupt::catch()?;
    match &cli.command {
        Command::Check(args) => return commands::check::check(args, common),
        Command::Schema => output::json(&config::schema()),
        Command::Openapi => output::line(heddled::admin::openapi().trim_end()),
        Command::Status => commands::status::status(socket, common),
        Command::Services => commands::services::services(socket, common),
        Command::Backends => commands::backends::backends(socket, common),
        Command::Backend(args) => commands::backend::backend(args, socket, common),
        Command::Drain(args) => commands::drain::drain(args, socket, common),
        Command::Weight(args) => commands::weight::weight(args, socket, common),
        Command::Changes(args) => commands::changes::changes(args, socket, common),
        Command::Connections(args) => commands::connections::connections(args, socket, common),
        Command::Members => commands::status::members(socket, common),
        Command::Counters(args) => commands::counters::counters(args, socket, common),
        Command::Top(args) => commands::top::top(args, socket, common),
        Command::Explain(args) => commands::explain::explain(args, socket, common),
        Command::Reload => commands::status::reload(socket, common),
        Command::Decap(args) => commands::decap::decap(args, common),
        Command::Translate(args) => commands::translate::translate(args, common),
        Command::Pass(args) => commands::pass::pass(args, common),
        Command::Demo(args) => return args::DEMO.run(common, &args.arguments),
        Command::Generate(generate) => generate.run(Cli::command(), &[args::DEMO]),
    }?;
    Ok(ExitCode::SUCCESS)
}

//! `heddle-emulation`: the simulator's scenarios on real kernels, as sub-commands of `heddle lab`.

mod args;
mod compare;
mod demo;
mod inspect;
mod kept;
mod output;
mod paths;
mod prepared;
mod reproduce;
mod run;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory as _, Parser as _};
use heddle_emulation::EmulationError;
use heddle_program::{Failure, Report, interrupt};
use heddle_scenario::ScenarioError;
use reproduce::EvaluationError;

fn main() -> ExitCode {
    let cli = Cli::parse();
    heddle_program::exit(dispatch(&cli), &cli.common, describe)
}

fn dispatch(cli: &Cli) -> Result<ExitCode, Failure> {
    let is_long = matches!(
        cli.command,
        Command::Run(_)
            | Command::Compare(_)
            | Command::Reproduce(_)
            | Command::Demo(_)
            | Command::Up(_)
    );
    if is_long {
        interrupt::catch()?;
    }
    let done = match &cli.command {
        Command::Run(args) => run::run(args, &cli.common),
        Command::Compare(args) => compare::compare(args, &cli.common),
        Command::Reproduce(args) => reproduce::reproduce(args, &cli.common),
        Command::Demo(args) => demo::demo(args, &cli.common),
        Command::Up(args) => inspect::up(args, &cli.common),
        Command::Down(args) => inspect::down(args, &cli.common),
        Command::Status => inspect::status(&cli.common),
        Command::Shell(args) => return inspect::shell(args),
        Command::Capture(args) => return inspect::capture(args),
        Command::Host => Ok(heddle_emulation::host::run()?),
        Command::Generate(generate) => generate.run(Cli::command(), &[]),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The report of a wrong scenario or of an interruption; `None` for other errors.
fn describe(error: &anyhow::Error) -> Option<Report> {
    if let Some(error @ EmulationError::Interrupted) = error.downcast_ref() {
        return Some(Report::interrupted(&error.to_string()));
    }
    if let Some(error) = error.downcast_ref::<EvaluationError>() {
        return error.interruption();
    }
    error.downcast_ref::<ScenarioError>().map(heddle_path_files::of_scenario)
}

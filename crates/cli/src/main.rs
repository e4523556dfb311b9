//! The `heddle` program: arguments, files, progress, output. Its work is done in the other crates.

mod args;
mod commands;
mod external;
mod failure;
mod features;
mod files;
mod huge_pages;
mod kept;
mod live;
mod progress;
mod table;

use std::process::ExitCode;

use anyhow::Context as _;
use args::{Cli, Command, Common, StoreCommand};
#[cfg(feature = "generate")]
use clap::CommandFactory as _;
use clap::Parser as _;
use failure::Failure;
use heddle_program::{interrupt, output};

#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

fn main() -> ExitCode {
    let cli = Cli::parse();
    heddle_program::exit(start(&cli), &cli.common, failure::describe)
}

fn start(cli: &Cli) -> Result<ExitCode, Failure> {
    if !matches!(
        cli.command,
        Command::Lb(_) | Command::Lab(_) | Command::Agent(_) | Command::Help { .. }
    ) {
        interrupt::catch()?;
        let jobs = usize::from(cli.common.jobs.unwrap_or(0));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global();
        pool.context("worker threads cannot be started")?;
    }
    dispatch(&cli.command, &cli.common)
}

/// Prints the help of a command: `help path find` is `path find --help`.
fn help(command: &[String]) -> Result<ExitCode, Failure> {
    let words = ["heddle"].into_iter().chain(command.iter().map(String::as_str));
    start(&Cli::parse_from(words.chain(["--help"])))
}

fn dispatch(command: &Command, common: &Common) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Demo(demo) => commands::demo::demo(demo, common),
        Command::Run(run) => commands::run::run(run, common),
        Command::Sweep(sweep) => commands::sweep::sweep(sweep, common),
        Command::Cell(cell) => commands::cell::cell(cell, common),
        Command::Diff(diff) => commands::diff::diff(diff, common),
        Command::Store(StoreCommand::Merge(merge)) => commands::store::merge(merge, common),
        Command::Reproduce(args) => return commands::reproduce::reproduce(args, common),
        Command::Study(study) => commands::study::study(study, common),
        Command::Validate(validate) => return commands::check::validate(validate, common),
        Command::Show(show) => commands::check::show(show, common),
        Command::Import(import) => commands::import::import_file(import, common),
        Command::Schema => schema(),
        Command::Bench(bench) => commands::bench::bench(bench, common),
        Command::Path(path) => return commands::path::path(path, common),
        Command::Fabric(fabric) => commands::fabric::fabric(fabric, common),
        #[cfg(feature = "generate")]
        Command::Generate(generate) => generate.run(Cli::command(), &external::ALL),
        Command::Lb(passed) => return external::BALANCER.run(common, &passed.arguments),
        Command::Lab(passed) => return external::LAB.run(common, &passed.arguments),
        Command::Agent(passed) => return external::AGENT.run(common, &passed.arguments),
        Command::Help { command } => return help(command),
    };
    done.map(|()| ExitCode::SUCCESS)
}

#[cfg(feature = "schema")]
fn schema() -> Result<(), Failure> {
    files::print_json(&heddle_scenario::schema())
}

#[cfg(not(feature = "schema"))]
fn schema() -> Result<(), Failure> {
    Err(features::left_out("JSON Schema"))
}

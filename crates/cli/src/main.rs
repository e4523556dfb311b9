//! The `heddle` binary: arguments, files, progress, output. What it does is done in the other crates.

mod args;
mod commands;
mod failure;
mod files;
mod huge_pages;
mod kept;
mod keys;
mod network;
mod output;
mod progress;
mod table;

use std::process::ExitCode;

use anyhow::Context as _;
use args::{Cli, Command, Common};
use clap::{CommandFactory as _, Parser as _};
use failure::Failure;

#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match start(&cli) {
        Ok(code) => code,
        Err(failure) => {
            if cli.common.json {
                let _ = output::line(format_args!("{:#}", failure.to_json()));
            }
            eprintln!("{failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn start(cli: &Cli) -> Result<ExitCode, Failure> {
    progress::catch_interrupts()?;
    let jobs = cli.common.jobs.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global();
    pool.context("worker threads cannot be started")?;
    dispatch(&cli.command, &cli.common)
}

fn dispatch(command: &Command, common: &Common) -> Result<ExitCode, Failure> {
    let done = match command {
        Command::Demo(demo) => commands::demo::demo(demo, common),
        Command::Run(run) => commands::run::run(run, common),
        Command::Sweep(sweep) => commands::sweep::sweep(sweep, common),
        Command::Reproduce(reproduce) => commands::reproduce::reproduce(reproduce, common),
        Command::Study(study) => commands::study::study(study, common),
        Command::Validate(validate) => return commands::check::validate(validate, common),
        Command::Show(show) => commands::check::show(show, common),
        Command::Schema => files::print_json(&heddle_scenario::schema()),
        Command::Bench(bench) => commands::bench::bench(bench, common),
        Command::Path(path) => commands::path::path(path, common),
        Command::Fabric(fabric) => commands::fabric::fabric(fabric, common),
        Command::Lb(lb) => commands::lb::lb(lb, common),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "heddle", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end())
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

//! `heddle-lab`: demonstrations and long tests in network namespaces.

mod daemon;
mod demo;
mod soak;

use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use heddle_program::{Common, Generate};

/// Run demonstrations and long tests on this machine, in network namespaces. Needs root
#[derive(Debug, Parser)]
#[command(name = "heddle-lab", version, max_term_width = 100, mut_arg("jobs", |jobs| jobs.hide(true)))]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A download over four subflows through three balancers, one of which fails on the way: with plain hashing, then with learning.
    Demo(Demo),
    /// Load, while clients, backends, balancers and etcd come and go at random; every byte is checked.
    Soak(soak::Soak),
    #[command(flatten)]
    Generate(Generate),
}

#[derive(Args, Debug)]
struct Demo {
    /// Size of each download in MB (10^6 bytes).
    #[arg(long, value_name = "MB", default_value_t = 250)]
    megabytes: u64,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Command::Demo(args) => demo::demo(args.megabytes, &cli.common).map(|()| ExitCode::SUCCESS),
        Command::Soak(soak) => soak.run(&cli.common),
        Command::Generate(generate) => {
            generate.run(Cli::command(), &[]).map(|()| ExitCode::SUCCESS)
        }
    };
    heddle_program::exit(done, &cli.common, |_| None)
}

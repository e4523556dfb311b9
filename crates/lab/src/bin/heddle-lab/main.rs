//! `heddle-lab`: demonstrations and long tests in network namespaces.

mod daemon;
mod demo;
mod soak;

use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use heddle_program::external::{External, Passed};
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
    /// A download over four subflows through three balancers, one of which fails on the way: with
    /// plain hashing, then with learning.
    Demo(Demo),
    /// Load, while clients, backends, balancers and etcd come and go at random; every byte is
    /// checked.
    Soak(soak::Soak),
    /// Run a simulator's scenario on real kernels: a namespace for each host and switch.
    #[command(disable_help_flag = true)]
    Run(Passed),
    /// Run a scenario on real kernels and in the simulator, and compare.
    #[command(disable_help_flag = true)]
    Compare(Passed),
    /// Check CFLB's claims about MPTCP on real kernels.
    #[command(disable_help_flag = true)]
    Reproduce(Passed),
    /// Build a scenario's fabric and leave it there, without flows.
    #[command(disable_help_flag = true)]
    Up(Passed),
    /// Remove a fabric, or what crashed processes have left.
    #[command(disable_help_flag = true)]
    Down(Passed),
    /// List the fabrics of this machine.
    #[command(disable_help_flag = true)]
    Status(Passed),
    /// Open a shell in the namespace of a host or a switch.
    #[command(disable_help_flag = true)]
    Shell(Passed),
    /// Print or write the packets of a link.
    #[command(disable_help_flag = true)]
    Capture(Passed),
    #[command(flatten)]
    Generate(Generate),
}

/// A sub-command that is the other program's of the same name: the simulator's fabrics are no part
/// of this crate.
macro_rules! emulation {
    ($name:literal) => {
        External {
            command: &[$name],
            program: "heddle-emulation",
            subcommand: &[$name],
            how_to_get: "build it: ./x build, or cargo build --release --package heddle-emulation",
        }
    };
}

const EMULATION: [External; 8] = [
    emulation!("run"),
    emulation!("up"),
    emulation!("down"),
    emulation!("status"),
    emulation!("shell"),
    emulation!("capture"),
    emulation!("compare"),
    emulation!("reproduce"),
];

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
        Command::Run(passed) => EMULATION[0].run(&cli.common, &passed.arguments),
        Command::Up(passed) => EMULATION[1].run(&cli.common, &passed.arguments),
        Command::Down(passed) => EMULATION[2].run(&cli.common, &passed.arguments),
        Command::Status(passed) => EMULATION[3].run(&cli.common, &passed.arguments),
        Command::Shell(passed) => EMULATION[4].run(&cli.common, &passed.arguments),
        Command::Capture(passed) => EMULATION[5].run(&cli.common, &passed.arguments),
        Command::Compare(passed) => EMULATION[6].run(&cli.common, &passed.arguments),
        Command::Reproduce(passed) => EMULATION[7].run(&cli.common, &passed.arguments),
        Command::Generate(generate) => {
            generate.run(Cli::command(), &EMULATION).map(|()| ExitCode::SUCCESS)
        }
    };
    heddle_program::exit(done, &cli.common, |_| None)
}

//! `heddle-romanroads`: RomanRoads' evaluation (Zeng, Buddhikot and Banerjee, IFIP Networking 2021,
//! section V-A) on the balancer's own programs, which `heddle reproduce romanroads` runs. Needs
//! root.
//!
//! Four experiments: joins that find their backend ([`joins`], figure 6a), entries that a full
//! table refuses ([`capacity`], figure 6b), the death of a balancer ([`failure`], figure 6c), and
//! ten minutes of comings and goings ([`churn`], figure 6d). `--quick` has one seed, `--medium` and
//! `--full` have five. One seed gives one result, but for the keys that balancers draw as published
//! (bpf_get_prandom_u32). The rates of section V-B are measured by the benches of
//! crates/balancer/maps.

mod capacity;
mod churn;
mod claims;
mod failure;
mod figures;
mod joins;
mod measurements;
mod paper;
mod system;
mod testbed;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use heddle_claims::{Monitor, Origin};
use heddle_driver::Options;
use heddle_program::{Common, Failure, Generate, Report, interrupt};
use paper::{EvaluationError, RomanRoads};

/// Check RomanRoads' claims R1 to R4 (IFIP Networking 2021) on the balancer's own eBPF programs.
/// Needs root.
#[derive(Debug, Parser)]
#[command(
    name = "heddle-romanroads",
    bin_name = "heddle reproduce romanroads",
    version,
    max_term_width = 100,
    after_help = EXAMPLES,
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    mut_arg("jobs", |jobs| jobs.hide(true))
)]
struct Cli {
    #[command(subcommand)]
    generate: Option<Describe>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    common: Common,
}

/// Sub-commands that describe the program.
#[derive(Debug, Subcommand)]
enum Describe {
    #[command(flatten)]
    Generate(Generate),
}

const EXAMPLES: &str = "\
Examples:
  heddle reproduce romanroads --medium
  heddle reproduce romanroads R1 R3 --full --out results/romanroads-full";

/// Standard error and Ctrl-C.
struct Terminal {
    quiet: bool,
}

impl Monitor for Terminal {
    fn stopped(&self) -> bool {
        interrupt::stopped()
    }

    fn start(&self, label: &str) {
        if !self.quiet {
            eprintln!("{label}");
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = run(&cli).map(|()| ExitCode::SUCCESS);
    heddle_program::exit(result, &cli.common, describe)
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if let Some(Describe::Generate(generate)) = &cli.generate {
        return generate.run(Cli::command(), &[]);
    }
    interrupt::catch()?;
    let monitor = Terminal { quiet: cli.common.quiet };
    let origin = Origin::of_program();
    heddle_driver::reproduce::<RomanRoads>(&cli.options, &cli.common, (&monitor, &origin), None)
}

/// The report of an interruption; `None` for other errors.
fn describe(error: &anyhow::Error) -> Option<Report> {
    match error.downcast_ref()? {
        EvaluationError::Interrupted => Some(Report::interrupted("interrupted")),
        EvaluationError::Balancer(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_interruption_is_reported_as_one() {
        let failure = Failure::from(EvaluationError::Interrupted);
        assert_eq!(failure.report(describe).code, 130);
    }
}

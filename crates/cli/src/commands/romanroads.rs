//! `heddle reproduce romanroads`: RomanRoads' claims, on the balancer's own programs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use heddle_harness::evaluation::{Evaluation, Experiment, findings, report};
use heddle_sim::Next;
use heddle_study::evaluation::{Effort, Finding};
use heddle_study::report::claims_markdown;

use crate::args::{Common, Reproduce};
use crate::failure::Failure;
use crate::{files, progress};

const SEED: u64 = 1;

pub(super) fn reproduce(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    if args.sensitivity || args.pcap.is_some() {
        let said = "RomanRoads' evaluation has neither --sensitivity nor --pcap";
        return Err(Failure::usage(said, "heddle reproduce romanroads --quick"));
    }
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let experiments = chosen(&args.claims)?;
    let evaluation = made(&experiments, effort, common)?;
    let found = findings(&evaluation, &experiments);
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("results/romanroads"));
    write(&out, &evaluation, &found)?;
    if common.json {
        return files::print_json(&found);
    }
    super::reproduce::print(&found)?;
    if !common.quiet {
        eprintln!("wrote {}, claims.md, claims.json", out.join("report.html").display());
    }
    Ok(())
}

/// The experiments that the user names, in the paper's order; all if none.
fn chosen(names: &[String]) -> Result<Vec<Experiment>, Failure> {
    let is = |experiment: &Experiment, name: &String| experiment.id().eq_ignore_ascii_case(name);
    let unknown = |name: &&String| !Experiment::ALL.iter().any(|experiment| is(experiment, name));
    if let Some(unknown) = names.iter().find(unknown) {
        let said = anyhow!("there is no claim {unknown}; RomanRoads' are R1 to R4");
        return Err(said.into());
    }
    let wanted = |e: &Experiment| names.is_empty() || names.iter().any(|name| is(e, name));
    Ok(Experiment::ALL.into_iter().filter(wanted).collect())
}

fn made(
    experiments: &[Experiment],
    effort: Effort,
    common: &Common,
) -> Result<Evaluation, Failure> {
    let mut evaluation = Evaluation::default();
    for &experiment in experiments {
        if progress::next() == Next::Stop {
            return Err(Failure::interrupted("interrupted"));
        }
        if !common.quiet {
            eprintln!("{}: {}", experiment.id(), experiment.title());
        }
        let done = evaluation.make(experiment, effort, SEED);
        done.context("the balancer's eBPF programs cannot be run (are you root?)")?;
    }
    Ok(evaluation)
}

fn write(out: &Path, evaluation: &Evaluation, found: &[Finding]) -> Result<(), Failure> {
    let claims = serde_json::to_string_pretty(found).map_err(anyhow::Error::from)?;
    let measured = serde_json::to_string_pretty(evaluation).map_err(anyhow::Error::from)?;
    files::make_folder(out)?;
    files::write(&out.join("claims.json"), &claims)?;
    files::write(&out.join("claims.md"), &claims_markdown(found))?;
    files::write(&out.join("measured.json"), &measured)?;
    files::write_report(out, &report(evaluation, found, SEED))
}

//! `heddle lab reproduce`: CFLB's claims about MPTCP (section 4.2) with the kernel's MPTCP and
//! `heddle-agent`, beside the simulator.

mod claims;
mod experiments;
mod figures;

use heddle_claims::{Claim, Effort, Monitor, Paper, Request};
use heddle_driver::Options;
use heddle_emulation::EmulationError;
use heddle_program::{Common, Failure, interrupt};
use heddle_report::{Report, Section};
use heddle_study::cell::{Cell, seeded};
use heddle_study::grid::{GridError, Keep, run as simulate};
use heddle_study::provenance::origin;
use heddle_study::store::Store;
use heddle_study::summary::RunSummary;
use heddle_study::view::head;
use indicatif::ProgressBar;

use crate::args::Reproduce;
use crate::kept::Kept;
use crate::output::kernel;
use crate::run::{progress_style, remove_left_over};
use claims::{CLAIMS, Measure};
use experiments::{Evidence, Experiment, Runs};

/// CFLB's paper, as far as it is about MPTCP.
#[derive(Clone, Copy, Debug)]
struct Cflb;

/// An evaluation that is not whole.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub(crate) struct EvaluationError(anyhow::Error);

impl EvaluationError {
    /// The report of Ctrl-C; `None` of anything else.
    pub(crate) fn interruption(&self) -> Option<heddle_program::Report> {
        let on_kernels = matches!(self.0.downcast_ref(), Some(EmulationError::Interrupted));
        let simulated = matches!(self.0.downcast_ref(), Some(GridError::Interrupted { .. }));
        let text = "interrupted; finished runs are kept, and the same command goes on";
        (on_kernels || simulated).then(|| heddle_program::Report::interrupted(text))
    }
}

impl Paper for Cflb {
    type Measure = Measure;
    type Error = EvaluationError;

    const SYSTEM: &'static str = "CFLB";
    const CLAIMS: &'static [Claim<Measure>] = CLAIMS;
    const RULE: &'static str = "A bound **agrees** if it is kept, another figure within a third of the paper's. Links are a twentieth of the \
        paper's, so that two processors carry them. The first subflow's port is the kernel's choice; agents choose the others.";

    fn gather(
        request: &Request<'_, Cflb>,
        monitor: &dyn Monitor,
    ) -> Result<Evidence, EvaluationError> {
        let needed = |one: &Experiment| {
            request.claims.iter().any(|claim| claim.measure.testbed == one.testbed)
        };
        let all = Experiment::ALL.into_iter().filter(needed);
        let runs: Result<Vec<Runs>, anyhow::Error> =
            all.map(|one| runs(one, request, monitor)).collect();
        Ok(Evidence { runs: runs.map_err(EvaluationError)? })
    }

    fn measured(evidence: &Evidence) -> Option<String> {
        serde_json::to_string_pretty(&evidence.table()).ok()
    }

    fn head(title: &str, evidence: &Evidence) -> Report {
        let kernels = evidence.runs.iter().flat_map(|runs| &runs.kernels);
        head(title, kernels)
            .subtitle("The kernel's MPTCP in network namespaces, by heddle lab")
            .fact("Kernel", kernel())
    }

    fn figures(evidence: &Evidence) -> Vec<Section> {
        figures::sections(evidence)
    }
}

pub(crate) fn reproduce(args: &Reproduce, common: &Common) -> Result<(), Failure> {
    remove_left_over(common)?;
    let options = Options {
        claims: args.claims.clone(),
        full: args.full,
        out: Some(args.out.clone()),
        ..Options::default()
    };
    let bar = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new(1) };
    let terminal = Terminal(bar.with_style(progress_style()));
    heddle_driver::reproduce::<Cflb>(&options, common, (&terminal, &origin()), None)
}

/// All runs of an experiment: on kernels those that the results' folder does not have yet, and in
/// the simulator.
fn runs(
    experiment: Experiment,
    request: &Request<'_, Cflb>,
    monitor: &dyn Monitor,
) -> Result<Runs, anyhow::Error> {
    let (quick, full) = experiment.runs();
    let count = if request.effort == Effort::Full { full } else { quick };
    let seeds: Vec<u64> = (1..=count).collect();
    let prepared = experiment.prepare()?;
    let cells = seeded(&experiment.title(), &prepared.possible.scenario, &seeds);
    let kept = Kept::open(request.folder, &prepared)?;
    let run = |(index, cell): (usize, &Cell)| {
        let watched = Watched { monitor, label: &cell.label, at: (index, cells.len()) };
        kept.run(&prepared, cell, &watched)
    };
    let kernels: Result<Vec<RunSummary>, anyhow::Error> =
        cells.iter().enumerate().map(run).collect();
    let kernels = kernels?;
    let store = Store::open(&request.folder.join("runs").join("simulator"))?;
    let simulated = simulate(&cells, &store, Keep::Summaries, monitor)?;
    Ok(Runs { experiment, kernels, simulated })
}

/// One run among several.
struct Watched<'a> {
    monitor: &'a dyn Monitor,
    label: &'a str,
    /// Its index, and the number of all.
    at: (usize, usize),
}

impl heddle_emulation::Monitor for Watched<'_> {
    fn goes_on(&self, part: f64) -> bool {
        let (run, runs) = self.at;
        let progress =
            heddle_claims::Progress { done: run, runs, run, label: self.label, part, hops: 0 };
        self.monitor.progress(progress);
        !self.monitor.stopped()
    }

    fn event(&self, _: &str) {}

    fn warning(&self, text: &str) {
        eprintln!("warning: {}: {text}", self.label);
    }
}

/// A bar for each experiment, and Ctrl-C.
struct Terminal(ProgressBar);

impl Monitor for Terminal {
    fn stopped(&self) -> bool {
        interrupt::stopped()
    }

    fn progress(&self, progress: heddle_claims::Progress<'_>) {
        self.0.set_length(progress.runs as u64 * 100);
        self.0.set_position(progress.done as u64 * 100 + (progress.part * 100.0) as u64);
        self.0.set_message(progress.label.to_owned());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

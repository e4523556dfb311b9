//! `heddle lab run`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use heddle_claims::files::make_folder;
use heddle_emulation::plane::Options;
use heddle_emulation::{EmulationError, Facts, LabOutcome, Monitor, Network, Paths, state};
use heddle_program::{Common, Failure, interrupt};
use heddle_sim::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Run;
use crate::output;
use crate::prepared::{Prepared, note, prepare_with};

pub(crate) fn run(args: &Run, common: &Common) -> Result<(), Failure> {
    let options = Options { routes: args.routes.into(), postcards: args.postcards };
    let prepared = prepare_with(&args.source, options)?;
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.source.scenario));
    make_folder(&folder)?;
    remove_left_over(common)?;
    output::say_scaling(&prepared, common);
    let scenario = &prepared.possible.scenario;
    let run = |&seed: &u64| Ok((seed, one(&prepared, seed, &Bar::new(seed, common))?));
    let done: Result<Vec<(u64, LabOutcome)>, EmulationError> =
        scenario.seeds.iter().map(run).collect();
    let mut done = done?;
    let mut paths: Vec<(u64, Paths)> = Vec::new();
    for (seed, lab) in &mut done {
        paths.extend(lab.paths.take().map(|paths| (*seed, paths)));
    }
    let facts: Vec<(u64, Facts)> =
        done.iter().map(|(seed, lab)| (*seed, lab.facts.clone())).collect();
    let outcomes: Vec<(u64, Outcome)> =
        done.into_iter().map(|(seed, lab)| (seed, lab.outcome)).collect();
    output::write(&folder, &prepared, &outcomes, &facts, &paths, common)
}

/// Removes what crashed processes left.
pub(crate) fn remove_left_over(common: &Common) -> Result<(), Failure> {
    for name in state::remove_left_over()? {
        note(common, &format!("removed {name}, whose process is gone"));
    }
    Ok(())
}

/// The priority of hosts and switches, as `nice` has it: other programs of the machine must not
/// make flows late.
const NICE: i32 = -15;

/// Raises the priority of this process and of those that it starts.
pub(crate) fn raise_priority() {
    // Without the right to, flows may be late; lab.json says how late they are.
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// One run, with namespaces of its own.
pub(crate) fn one(
    prepared: &Prepared,
    seed: u64,
    monitor: &dyn Monitor,
) -> Result<LabOutcome, EmulationError> {
    raise_priority();
    let owner = state::own_process()?;
    let name = unique_name(owner.id);
    let network = Network::build(&prepared.possible.scenario, &name, Some(owner))?;
    heddle_emulation::run(&network, &mut *prepared.plane.create(prepared.options), seed, monitor)
}

/// A name for one more fabric of this process.
pub(crate) fn unique_name(process: u32) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("run-{process}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// `out/lab-` and the name of a file without its ending.
fn default_folder(scenario: &Path) -> PathBuf {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    Path::new("out").join(format!("lab-{stem}"))
}

/// A bar over one run.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new(seed: u64, common: &Common) -> Bar {
        if common.quiet {
            return Bar(ProgressBar::hidden().with_message(format!("seed {seed}")));
        }
        let bar = ProgressBar::new(1000).with_style(progress_style());
        Bar(bar.with_message(format!("seed {seed}")))
    }
}

/// The look of bars.
pub(crate) fn progress_style() -> ProgressStyle {
    let template = "{wide_bar} {percent:>3} %  {elapsed} gone, {eta} left  {msg}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Monitor for Bar {
    fn goes_on(&self, done: f64) -> bool {
        self.0.set_position((done * 1000.0) as u64);
        !interrupt::stopped()
    }

    fn event(&self, text: &str) {
        self.0.println(text);
    }

    fn warning(&self, text: &str) {
        let seed = self.0.message();
        self.0.suspend(|| eprintln!("warning: {seed}: {text}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

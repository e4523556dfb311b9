//! Scenarios made ready to be run.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use heddle_emulation::Scaling;
use heddle_emulation::limits::{self, Possible};
use heddle_emulation::plane::{Kind, Missing, Options};
use heddle_path_files::files;
use heddle_program::{Common, Failure};
use heddle_scenario::{Files, Scenario, load};
use heddle_study::provenance::Provenance;

use crate::args::Source;

/// A scenario that is ready to be run.
pub(crate) struct Prepared {
    pub(crate) possible: Possible,
    pub(crate) scaling: Scaling,
    pub(crate) plane: Kind,
    pub(crate) options: Options,
    /// The file, as written, and the command.
    pub(crate) made: Provenance,
}

/// Reads, scales and checks a scenario.
pub(crate) fn prepare(args: &Source) -> Result<Prepared, Failure> {
    let source = files::read(&args.scenario, &args.set)?;
    let beside = |path: &str| fs::read_to_string(files::folder(Path::new(&source.name)).join(path));
    let plane = Kind::from(args.dataplane);
    plane.check_programs().map_err(not_installed)?;
    let processors = available_parallelism().map_or(1, usize::from);
    let scaling = |scenario: &Scenario| Scaling {
        rate: args
            .rate_scale
            .unwrap_or_else(|| Scaling::for_machine(scenario, plane, processors).rate),
        size: args.size_scale,
    };
    Ok(prepare_source(&source, &beside, plane, scaling)?)
}

/// The same with options of the data plane.
pub(crate) fn prepare_with(args: &Source, options: Options) -> Result<Prepared, Failure> {
    let prepared = prepare(args)?;
    options
        .check(prepared.plane, &prepared.possible.scenario)
        .map_err(|unusable| Failure::usage(unusable.message, unusable.help))?;
    options.check_programs().map_err(not_installed)?;
    Ok(Prepared { options, ..prepared })
}

fn not_installed(missing: Missing) -> Failure {
    Failure::missing_program(missing.what, missing.help)
}

/// The same of a scenario's text; `files` reads those that it names.
pub(crate) fn prepare_source(
    source: &heddle_scenario::Source,
    files: &dyn Files,
    plane: Kind,
    scaling: impl Fn(&Scenario) -> Scaling,
) -> Result<Prepared, anyhow::Error> {
    let scenario = load(source, files)?;
    let scaling = scaling(&scenario);
    let possible = limits::check(source, &scaling.apply(&scenario), plane)?;
    let made = Provenance::of_scenario(source, &scenario)?;
    Ok(Prepared { possible, scaling, plane, options: Options::default(), made })
}

pub(crate) fn note(common: &Common, text: &str) {
    if !common.quiet {
        eprintln!("{text}");
    }
}

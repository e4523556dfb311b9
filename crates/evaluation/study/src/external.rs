//! Schemes in shared libraries: found when a scenario is read, run in the engine.
//!
//! A library stays loaded until the process ends. It is known by the digest of its bytes: one that
//! has changed on disk is another library, and a run is always of the code that its digest names.
#![allow(unsafe_code, reason = "a shared library is code of someone else's")]

#[cfg(unix)]
mod crash;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use heddle_scenario::{External, Files, LibraryError, Scenario, Scheme};
use heddle_scheme_abi::{self as abi, Config, Table, TableError};
use heddle_sim::{Next, Outcome, Progress, SimError, simulate_with};
use heddle_units::Time;
use sha2::{Digest as _, Sha256};

/// A library that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The file is no shared library of this system.
    #[error("{}: {error}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error.
        error: libloading::Error,
    },
    /// The library exports no scheme.
    #[error("{}: it exports no function `{}`", path.display(), abi::SYMBOL)]
    Symbol {
        /// The file.
        path: PathBuf,
    },
    /// Its scheme cannot be used, or refuses its parameters.
    #[error("{library}: {error}")]
    Table {
        /// The library.
        library: String,
        /// The error.
        error: TableError,
    },
}

/// Files that a scenario names: texts by a function, schemes' libraries from a folder.
#[derive(Clone, Copy, Debug)]
pub struct FilesAndLibraries<'a, R> {
    /// The contents of a file, as [`Files::read`].
    pub read: R,
    /// The folder of relative paths of libraries.
    pub folder: &'a Path,
}

impl<R: Fn(&str) -> io::Result<String>> Files for FilesAndLibraries<'_, R> {
    fn read(&self, path: &str) -> io::Result<String> {
        (self.read)(path)
    }

    fn scheme(
        &self,
        library: &str,
        parameters: &BTreeMap<String, u64>,
    ) -> Result<External, LibraryError> {
        find(&self.folder.join(library), parameters).map_err(|error| match error {
            ExternalError::Table { error: TableError::Parameters(reason), .. } => {
                LibraryError::Parameters(reason)
            }
            other => LibraryError::Library(other.to_string()),
        })
    }
}

/// Loads a library, unless it is loaded, and has its scheme check its parameters.
///
/// # Errors
/// [`ExternalError`].
pub fn find(path: &Path, parameters: &BTreeMap<String, u64>) -> Result<External, ExternalError> {
    let bytes = std::fs::read(path)
        .map_err(|error| ExternalError::Read { path: path.to_owned(), error })?;
    let (digest, library) = (digest(&bytes), path.display().to_string());
    crash::named(&library, || {
        let table = match known(&digest) {
            Some(table) => table,
            None => open(path, &digest)?,
        };
        describe(table, &library, digest, parameters)
    })
}

/// Runs a scenario with one seed, as [`heddle_sim::simulate`] does; a scheme in a library is one
/// that was found before.
///
/// # Errors
/// As [`heddle_sim::simulate`], and [`SimError::External`] if a step of the library cannot be used.
pub fn simulate(
    scenario: &Scenario,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    let Scheme::External(external) = &scenario.scheme else {
        return heddle_sim::simulate(scenario, seed, watch);
    };
    crash::named(&external.library, || run_external(scenario, external, seed, watch))
}

fn run_external(
    scenario: &Scenario,
    external: &External,
    seed: u64,
    watch: &mut dyn FnMut(Progress<'_>) -> Next,
) -> Result<Outcome, SimError> {
    let table = known(&external.digest).ok_or_else(|| {
        SimError::External(format!("{}: the library is not loaded", external.library))
    })?;
    let config = configured(table, &external.library, &external.parameters)
        .map_err(|error| SimError::External(error.to_string()))?;
    let mut watch_faults = |progress: Progress<'_>| match config.fault() {
        Some(_) => Next::Stop,
        None => watch(progress),
    };
    let run = match config.reads_handshakes() {
        true => simulate_with::<abi::External<true>>,
        false => simulate_with::<abi::External<false>>,
    };
    let outcome = run(scenario, config.clone(), seed, &mut watch_faults);
    match config.fault() {
        Some(fault) => Err(SimError::External(format!("{}: {fault}", external.library))),
        None => outcome,
    }
}

/// Systems without signals say nothing of a crash.
#[cfg(not(unix))]
mod crash {
    pub(super) fn named<T>(_: &str, call: impl FnOnce() -> T) -> T {
        call()
    }
}

/// Libraries of this process.
struct Loaded {
    /// The table of each, by digest.
    tables: BTreeMap<String, &'static Table>,
    /// Files that are loaded: the system takes a second library of the same name for the first.
    paths: Vec<PathBuf>,
}

static LOADED: Mutex<Loaded> = Mutex::new(Loaded { tables: BTreeMap::new(), paths: Vec::new() });

fn loaded() -> MutexGuard<'static, Loaded> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn known(digest: &str) -> Option<&'static Table> {
    loaded().tables.get(digest).copied()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Loads a library for the rest of the process.
fn open(path: &Path, digest: &str) -> Result<&'static Table, ExternalError> {
    let read = |error| ExternalError::Read { path: path.to_owned(), error };
    let full = path.canonicalize().map_err(read)?;
    let mut loaded = loaded();
    let table = if loaded.paths.contains(&full) {
        let copy = full.with_extension(format!("{digest}.copy"));
        std::fs::copy(&full, &copy).map_err(read)?;
        let table = table_of(&copy);
        // What is loaded does not need its file; Windows keeps it.
        let _ = std::fs::remove_file(&copy);
        table?
    } else {
        table_of(&full)?
    };
    loaded.paths.push(full);
    loaded.tables.insert(digest.to_owned(), table);
    Ok(table)
}

#[cfg(any(unix, windows))]
fn table_of(path: &Path) -> Result<&'static Table, ExternalError> {
    // SAFETY: the user names the library, whose initialisers run as those of any library that is
    // linked.
    let library = unsafe { libloading::Library::new(path) }
        .map_err(|error| ExternalError::Open { path: path.to_owned(), error })?;
    let missing = || ExternalError::Symbol { path: path.to_owned() };
    // SAFETY: the header states the function's type; a library that exports another one of this
    // name breaks its promise.
    let table = unsafe {
        let entry = library.get::<abi::Entry>(abi::SYMBOL.as_bytes()).map_err(|_| missing())?;
        entry().as_ref()
    };
    // Never unloaded: tables and states of switches point into it.
    std::mem::forget(library);
    table.ok_or_else(missing)
}

/// WebAssembly has no shared libraries.
#[cfg(not(any(unix, windows)))]
fn table_of(path: &Path) -> Result<&'static Table, ExternalError> {
    Err(ExternalError::Read { path: path.to_owned(), error: io::ErrorKind::Unsupported.into() })
}

fn configured(
    table: &'static Table,
    library: &str,
    parameters: &BTreeMap<String, u64>,
) -> Result<Config, ExternalError> {
    // SAFETY: the header is the library's promise.
    unsafe { Config::new(table, parameters) }
        .map_err(|error| ExternalError::Table { library: library.to_owned(), error })
}

fn describe(
    table: &'static Table,
    library: &str,
    digest: String,
    parameters: &BTreeMap<String, u64>,
) -> Result<External, ExternalError> {
    let config = configured(table, library, parameters)?;
    Ok(External {
        name: config.name(),
        library: library.to_owned(),
        digest,
        parameters: parameters.clone(),
        probe_period: config.probe_period().map(Time::nanos),
        uses_shim: config.uses_shim(),
    })
}

//! Scenarios: from text with settings, resolved, run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use heddle_path_files::files::read_limited;
use heddle_scenario::{Source, load};
use heddle_sim::Outcome;
use heddle_study::cell::Cell;
use heddle_study::cpu_time::thread_seconds;
use heddle_study::grid::timed;
use heddle_study::overload::offered;
use heddle_study::provenance::Provenance;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors;
use crate::made::Made;
use crate::run::Run;
use crate::scheme::{self, Class};
use crate::watch::Watch;

/// Dotted keys and values.
type Settings = Vec<(String, String)>;

/// Name, text, settings, folder and class of a scenario.
type Parts = (String, String, Settings, PathBuf, Option<Py<PyType>>);

/// A scenario: a file's text with settings, resolved. It does not change.
#[pyclass(frozen, from_py_object, module = "heddle._core")]
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) source: Source,
    pub(crate) resolved: heddle_scenario::Scenario,
    folder: PathBuf,
    /// Its scheme, if that is a class of Python.
    class: Option<Class>,
}

#[pymethods]
impl Scenario {
    /// Resolves a text, called `name` in messages, with settings `(dotted key, value as TOML)`.
    /// Files that it names are sought from `folder`. `class` is the scheme, if that is a class of
    /// Python. Errors name `variant`, if some of the settings are its.
    #[new]
    #[pyo3(signature = (name, text, settings, folder, class = None, variant = None))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        settings: Vec<(String, String)>,
        folder: PathBuf,
        class: Option<Py<PyType>>,
        variant: Option<String>,
    ) -> PyResult<Scenario> {
        let source = Source { name, text, overrides: settings };
        let read = |path: &str| read_limited(&folder.join(Path::new(path)));
        let class = class.map(Arc::new);
        let files = scheme::files(&folder, read, class.as_ref());
        let resolved = py.detach(|| load(&source, &files));
        let resolved = resolved.map_err(|error| match variant {
            Some(name) => errors::of_scenario(py, &heddle_scenario::within_variant(error, &name)),
            None => errors::of_scenario(py, &error),
        })?;
        let class = class.filter(|_| scheme::is_class(&resolved));
        Ok(Scenario { source, resolved, folder, class })
    }

    /// Name, text, settings, folder and class: what makes it anew, in another process too.
    fn parts(&self, py: Python<'_>) -> Parts {
        let Source { name, text, overrides } = self.source.clone();
        let class = self.class.as_ref().map(|class| class.clone_ref(py));
        (name, text, overrides, self.folder.clone(), class)
    }

    /// True if its scheme is a class of Python.
    #[getter]
    pub(crate) fn is_in_python(&self) -> bool {
        self.class.is_some()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.resolved.title
    }

    /// The seeds that it names.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.resolved.seeds.clone()
    }

    /// The names and the settings of the file's variants.
    fn variants(&self, py: Python<'_>) -> PyResult<Vec<(String, Settings)>> {
        let variants = heddle_scenario::variants(&self.source);
        let variants = variants.map_err(|error| errors::of_scenario(py, &error))?;
        Ok(variants.into_iter().map(|variant| (variant.name, variant.settings)).collect())
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> &str {
        self.resolved.scheme.name()
    }

    /// The scenario with every default written out, as JSON text.
    fn complete(&self, py: Python<'_>) -> PyResult<String> {
        let complete = heddle_scenario::complete(&self.source, &self.resolved);
        Ok(complete.map_err(|error| errors::of_scenario(py, &error))?.to_string())
    }

    /// Notices about the files that it names, as of lines that were left out.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.resolved.notices.clone()
    }

    /// The warning of links that are offered more than they carry, by name; None if there are none.
    pub(crate) fn overload(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let offered = py.detach(|| offered(&self.resolved));
        let offered =
            offered.map_err(|error| errors::SimulationError::new_err(error.to_string()))?;
        Ok(offered.and_then(|offered| offered.warning(&self.resolved.scheme)))
    }

    /// Simulates it with a seed, without the interpreter's lock unless its scheme is in Python.
    fn run(&self, py: Python<'_>, seed: u64, watch: &Watch) -> PyResult<Run> {
        let (scenario, start) = (&self.resolved, thread_seconds());
        let so_far =
            |outcome: &Outcome| Made::of(scenario, seed, outcome, thread_seconds() - start);
        let (outcome, seconds) = match &self.class {
            Some(class) => scheme::simulate(class.bind(py), scenario, seed, (watch, &so_far))?,
            None => py
                .detach(|| timed(scenario, seed, &mut |progress| watch.note(progress, &so_far)))
                .map_err(|error| errors::of_run(&error))?,
        };
        Ok(self.run_of(py.detach(|| Made::of(scenario, seed, &outcome, seconds))))
    }

    /// The completed share of a run of it that is watched, and its results so far, once they are
    /// there after `watch.look()`.
    fn so_far(&self, watch: &Watch) -> Option<(f64, Run)> {
        watch.take().map(|(part, made)| (part, self.run_of(made)))
    }
}

impl Scenario {
    fn run_of(&self, Made { summary, tables }: Made) -> Run {
        Run { scenario: self.clone(), summary, tables }
    }

    /// Its run with a seed, as a store names it.
    pub(crate) fn cell(&self, seed: u64) -> Cell {
        let label = format!("{} seed {seed}", self.resolved.scheme.name());
        Cell { label, scenario: self.resolved.clone(), seed }
    }

    /// Its origin, for reports.
    pub(crate) fn provenance(&self, py: Python<'_>) -> PyResult<Provenance> {
        Provenance::of_scenario(&self.source, &self.resolved)
            .map_err(|error| errors::of_scenario(py, &error))
    }
}

/// The JSON Schema of a scenario file, as JSON text: every key with its meaning, default and
/// source.
#[pyfunction]
pub(crate) fn schema() -> String {
    heddle_scenario::schema().to_string()
}

/// A JSON object as TOML text: dictionaries become scenario files by it.
#[pyfunction]
pub(crate) fn toml_of_json(json: &str) -> PyResult<String> {
    let wrong = |error: String| PyValueError::new_err(error);
    let value: toml::Table =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    toml::to_string(&value).map_err(|error| wrong(error.to_string()))
}

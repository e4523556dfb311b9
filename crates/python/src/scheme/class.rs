//! Classes of Python as schemes of scenarios.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use heddle_scenario::{External, Files, LibraryError, Scenario, Scheme};
use heddle_study::external::FilesAndLibraries;
use heddle_units::Time;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// Prefix of the `library` of a scheme in Python; the class's name follows, for readers.
const LIBRARY: &str = "python:";

/// A class that derives from `heddle.Scheme`.
pub(crate) type Class = Arc<Py<PyType>>;

/// True if a scenario's scheme is a class of Python.
pub(crate) fn is_class(scenario: &Scenario) -> bool {
    matches!(&scenario.scheme, Scheme::External(external) if external.library.starts_with(LIBRARY))
}

/// Files and schemes that a scenario names: in a folder, or the class that it came with.
pub(crate) struct FilesAndClass<'a, R> {
    pub(crate) files: FilesAndLibraries<'a, R>,
    pub(crate) class: Option<&'a Class>,
}

impl<R: Fn(&str) -> io::Result<String>> Files for FilesAndClass<'_, R> {
    fn read(&self, path: &str) -> io::Result<String> {
        self.files.read(path)
    }

    fn scheme(
        &self,
        library: &str,
        parameters: &BTreeMap<String, u64>,
    ) -> Result<External, LibraryError> {
        let Some(name) = library.strip_prefix(LIBRARY) else {
            return self.files.scheme(library, parameters);
        };
        let class = self.class.ok_or_else(|| {
            let fix = format!("give it anew: heddle.Scenario(..., scheme={name})");
            LibraryError::Library(format!("{library}: a class of Python is in no file; {fix}"))
        })?;
        Python::attach(|py| {
            let class = configured(class.bind(py), parameters)
                .map_err(|error| LibraryError::Parameters(error.value(py).to_string()))?;
            describe(&class, library, parameters)
                .map_err(|error| LibraryError::Library(error.value(py).to_string()))
        })
    }
}

/// A class with a scenario's parameters as attributes.
pub(super) fn configured<'py>(
    class: &Bound<'py, PyType>,
    parameters: &BTreeMap<String, u64>,
) -> PyResult<Bound<'py, PyType>> {
    if parameters.is_empty() {
        return Ok(class.clone());
    }
    let given = PyDict::new(class.py());
    for (name, value) in parameters {
        given.set_item(name, value)?;
    }
    Ok(class.call_method1("_configured", (given,))?.cast_into::<PyType>()?)
}

/// A class as a scenario has it. Its digest is that of no library: runs of classes are not kept.
fn describe(
    class: &Bound<'_, PyType>,
    library: &str,
    parameters: &BTreeMap<String, u64>,
) -> PyResult<External> {
    if !overrides(class, "forward")? {
        let reason = format!("{} has no method `forward`", class.name()?);
        return Err(PyTypeError::new_err(reason));
    }
    let given: String = attribute(class, "name")?;
    Ok(External {
        name: if given.is_empty() { class.name()?.extract()? } else { given },
        library: library.to_owned(),
        digest: String::new(),
        parameters: parameters.clone(),
        probe_period: probe_period(class)?.map(Time::nanos),
        uses_shim: attribute(class, "uses_shim")?,
    })
}

/// Time between two probes of a ToR in nanoseconds, if there are probes.
pub(super) fn probe_period(class: &Bound<'_, PyType>) -> PyResult<Option<u64>> {
    Ok(Some(attribute(class, "probe_period")?).filter(|&period| period > 0))
}

/// An attribute of a class, of the type that the base class says.
pub(super) fn attribute<'py, T: for<'a> FromPyObject<'a, 'py>>(
    class: &Bound<'py, PyType>,
    name: &str,
) -> PyResult<T> {
    let value = class.getattr(name)?;
    value.extract().map_err(|_| {
        let whose = class.name().map_or_else(|_| String::from("?"), |name| name.to_string());
        let base = "see heddle.Scheme for its type";
        PyTypeError::new_err(format!("`{whose}.{name}` is {value}: {base}"))
    })
}

/// True if a class has a method of its own in place of `heddle.Scheme`'s.
pub(super) fn overrides(class: &Bound<'_, PyType>, method: &str) -> PyResult<bool> {
    let base = class.py().import("heddle")?.getattr("Scheme")?;
    Ok(!class.getattr(method)?.is(&base.getattr(method)?))
}

/// The folder's files and libraries, beside a class.
pub(crate) fn files<'a, R>(
    folder: &'a Path,
    read: R,
    class: Option<&'a Class>,
) -> FilesAndClass<'a, R> {
    FilesAndClass { files: FilesAndLibraries { read, folder }, class }
}

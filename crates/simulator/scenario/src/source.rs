//! Input from the caller: a text, overrides, and access to files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use crate::External;

/// The text of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, for messages.
    pub name: String,
    /// Its contents.
    pub text: String,
    /// Dotted keys (`workload.load`; list items by number from 0, `event.0.at`) and values that
    /// replace the file's. A value is read as TOML, or else taken as bare text.
    pub overrides: Vec<(String, String)>,
}

impl Source {
    /// A text without overrides.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), overrides: Vec::new() }
    }

    /// The same with one more override.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Source {
        self.overrides.push((key.into(), value.into()));
        self
    }
}

/// Access to the files that a scenario names.
pub trait Files {
    /// The contents of `path`, which is written as in the scenario (so relative to the scenario's
    /// folder, if it is relative).
    ///
    /// # Errors
    /// Any error of reading it.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Takes what a reader should know of a file that was read, as of lines that were left out. What
    /// [`load`](crate::load) reads is in [`Scenario::notices`](crate::Scenario::notices).
    fn note(&self, notice: String) {
        drop(notice);
    }

    /// The most links that a fabric may have, where the caller takes fewer than there can be: the
    /// number is known, and judged, before the fabric is built. Files of fabrics have their own.
    fn most_links(&self) -> u64 {
        u64::MAX
    }

    /// The scheme of a shared library, with these parameters. Unless a caller has a way to load it,
    /// there is none.
    ///
    /// # Errors
    /// [`LibraryError`]: the library cannot be used, or refuses the parameters.
    fn scheme(
        &self,
        library: &str,
        parameters: &BTreeMap<String, u64>,
    ) -> Result<External, LibraryError> {
        let _ = parameters;
        Err(LibraryError::Library(format!("{library}: this program loads no schemes")))
    }
}

/// The scheme of a shared library that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// The library cannot be loaded, or has no scheme for this program.
    Library(String),
    /// The scheme refuses its parameters.
    Parameters(String),
}

impl<F: Fn(&str) -> io::Result<String>> Files for F {
    fn read(&self, path: &str) -> io::Result<String> {
        self(path)
    }
}

/// Files with the notices of their reading.
pub(crate) struct Noting<'a> {
    files: &'a dyn Files,
    notices: RefCell<Vec<String>>,
}

impl<'a> Noting<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Noting<'a> {
        Noting { files, notices: RefCell::default() }
    }

    /// The notices so far.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.notices.borrow().clone()
    }
}

impl Files for Noting<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        self.files.read(path)
    }

    fn note(&self, notice: String) {
        self.notices.borrow_mut().push(notice);
    }

    fn most_links(&self) -> u64 {
        self.files.most_links()
    }

    fn scheme(
        &self,
        library: &str,
        parameters: &BTreeMap<String, u64>,
    ) -> Result<External, LibraryError> {
        self.files.scheme(library, parameters)
    }
}

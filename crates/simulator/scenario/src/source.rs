//! Input from the caller: a text, overrides, and access to files.

use std::io;

/// The text of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, for messages.
    pub name: String,
    /// Its contents.
    pub text: String,
    /// Dotted keys (`workload.load`; list items by number from 0, `event.0.at`) and values that replace the file's. A value is
    /// read as TOML, or else taken as bare text.
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
    /// The contents of `path`, which is written as in the scenario (so relative to the scenario's folder, if it is relative).
    ///
    /// # Errors
    /// Any error of reading it.
    fn read(&self, path: &str) -> io::Result<String>;
}

impl<F: Fn(&str) -> io::Result<String>> Files for F {
    fn read(&self, path: &str) -> io::Result<String> {
        self(path)
    }
}

//! What is wrong with a configuration, where, and what mends it.

use std::fmt;

/// A configuration that cannot be used. Displays as `file:line: key: message` and a second line `help: mend`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file's name, as given.
    pub file: String,
    /// The line at fault, from 1. `None` where something is missing from the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong, without its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The key at fault, step by step from the outside; items of lists by number from 0.
    pub key: Vec<String>,
    /// What is wrong with it.
    pub message: String,
    /// What would mend it.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Problem {
        Problem { key: Vec::new(), message: message.into(), help: None }
    }

    /// A problem with the value of `key`, dotted.
    pub(super) fn at(key: &str, message: impl Into<String>) -> Problem {
        Problem::new(message).inside(key)
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// The same problem, seen from the table or list that holds `key` (a dotted key is several steps).
    pub(super) fn inside(mut self, key: &str) -> Problem {
        self.key.splice(0..0, key.split('.').map(str::to_owned));
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { key, message, help } = &self.problem;
        f.write_str(&self.file)?;
        self.line.iter().try_for_each(|line| write!(f, ":{line}"))?;
        f.write_str(": ")?;
        if !key.is_empty() {
            write!(f, "{}: ", key.join("."))?;
        }
        f.write_str(message)?;
        help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

impl std::error::Error for ConfigError {}

/// The nearest of `known` to `word`, or all of them.
pub(super) fn advice(word: &str, known: &[&str]) -> Option<String> {
    let likeness = |name: &&&str| strsim::jaro_winkler(word, name);
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    if likeness(&best) > 0.8 {
        return Some(format!("did you mean `{best}`?"));
    }
    let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    Some(format!("known here: {}", list.join(", ")))
}

//! Errors of configuration files: a [`Problem`] knows its key, a [`ConfigError`] its file and line
//! too.

use std::fmt;

use crate::suggest::{nearest, suggest};

/// A configuration that cannot be used. Displays as `file:line: key: message`, and `help: ...` on a
/// second line if a fix is suggested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(Box<Located>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Located {
    place: Place,
    key: String,
    message: String,
    help: Option<String>,
}

impl ConfigError {
    /// The file at fault, by the name that the caller gave.
    pub fn file(&self) -> &str {
        &self.0.place.file
    }

    /// The line at fault, from 1. `None` where no line can be named: something is missing, or the
    /// value is not from a file.
    pub fn line(&self) -> Option<usize> {
        self.0.place.line
    }

    /// The key at fault, dotted, list items by number from 0 (`event.0.at`); empty if the fault is
    /// not in one key.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// The fault.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The suggested fix.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The source of the value at fault if it is an override, as
    /// [`Document::set`](crate::Document::set) was told (`"--set"`); `None` if the value is from
    /// the file.
    pub fn override_source(&self) -> Option<&'static str> {
        self.0.place.override_source
    }

    /// The same error of one of several sets of overrides, `"variant reps"`: its message names that
    /// in place of an override's source.
    #[must_use]
    pub fn within(mut self, overrides: &str) -> ConfigError {
        self.0.place.override_source = None;
        self.0.message = format!("in {overrides}: {}", self.0.message);
        self
    }
}

impl ConfigError {
    /// The same error, where overrides are called something else than
    /// [`Document::set`](crate::Document::set) was told.
    #[must_use]
    pub fn with_override_source(mut self, source: &'static str) -> ConfigError {
        self.0.place.override_source = self.0.place.override_source.and(Some(source));
        self
    }

    /// The same error, of this key.
    pub(crate) fn with_key(mut self, key: String) -> ConfigError {
        self.0.key = key;
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Located { place, key, message, help } = &*self.0;
        if !place.file.is_empty() {
            f.write_str(&place.file)?;
            place.line.iter().try_for_each(|line| write!(f, ":{line}"))?;
            f.write_str(": ")?;
        }
        if !key.is_empty() {
            f.write_str(key)?;
            place.override_source.iter().try_for_each(|source| write!(f, " (from {source})"))?;
            f.write_str(": ")?;
        }
        f.write_str(message)?;
        help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

impl std::error::Error for ConfigError {}

/// The source of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
    pub(crate) override_source: Option<&'static str>,
}

/// A fault whose place is not known yet. Its key grows as it passes up through tables
/// ([`Problem::inside`]); [`Document::locate`](crate::Document::locate) finds the line in the end.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Problem(Box<Draft>);

#[derive(Clone, Debug)]
struct Draft {
    key: Vec<String>,
    message: String,
    help: Help,
    place: Option<Place>,
    causes: Vec<Vec<String>>,
}

/// The suggested fix.
#[derive(Clone, Debug)]
enum Help {
    None,
    Text(String),
    /// The nearest of the known names, or else all of them.
    Nearest {
        name: String,
        known: Vec<String>,
    },
}

impl Problem {
    /// A problem with the value that is being read.
    pub fn new(message: impl Into<String>) -> Problem {
        let message = message.into();
        let (key, causes) = (Vec::new(), Vec::new());
        Problem(Box::new(Draft { key, message, help: Help::None, place: None, causes }))
    }

    /// A problem with the value that is being read, in the words of another type's error; what
    /// stands there on a line of its own behind `help: ` is the help.
    pub fn of(error: &impl fmt::Display) -> Problem {
        let text = error.to_string();
        match text.split_once("\nhelp: ") {
            Some((message, help)) => Problem::new(message).help(help),
            None => Problem::new(text),
        }
    }

    /// A problem with the value of `key`, dotted.
    pub fn at(key: &str, message: impl Into<String>) -> Problem {
        Problem::new(message).inside(key)
    }

    /// Suggests a fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.help = Help::Text(help.into());
        self
    }

    /// Suggests the nearest of `known` to `name`, or lists them: see [`suggest`](crate::suggest()).
    #[must_use]
    pub fn suggest<S: AsRef<str>>(mut self, name: &str, known: &[S]) -> Problem {
        let known = known.iter().map(|name| name.as_ref().to_owned()).collect();
        self.0.help = Help::Nearest { name: name.to_owned(), known };
        self
    }

    /// Other keys whose values make it a problem, dotted; `*` is any step. Where one of those is a
    /// mistake itself, [`Document::examine`](crate::Document::examine) does not report this one.
    #[must_use]
    pub fn because_of<S: AsRef<str>>(mut self, keys: impl IntoIterator<Item = S>) -> Problem {
        self.0.causes.extend(keys.into_iter().map(|key| steps(key.as_ref()).collect()));
        self
    }

    /// Adds names to those that [`Problem::suggest`] was given.
    pub(crate) fn suggest_also(mut self, more: &[&str]) -> Problem {
        if let Help::Nearest { known, .. } = &mut self.0.help {
            known.extend(more.iter().map(|&name| name.to_owned()));
        }
        self
    }

    /// The same problem, seen from the table or list that holds `key` (a dotted key is several
    /// steps). No effect once the place is known.
    #[must_use]
    pub fn inside(mut self, key: &str) -> Problem {
        if self.0.place.is_none() {
            self.0.key.splice(0..0, steps(key));
            self.0.causes.iter_mut().for_each(|cause| drop(cause.splice(0..0, steps(key))));
        }
        self
    }

    /// Places the problem in another file than the document (a table of values that it names),
    /// unless its place is known.
    #[must_use]
    pub fn in_file(self, file: &str, line: Option<usize>) -> Problem {
        self.locate(|_| Place { file: file.to_owned(), line, override_source: None })
    }

    /// The key so far.
    pub(crate) fn key(&self) -> &[String] {
        &self.0.key
    }

    /// The other keys that make it a problem.
    pub(crate) fn causes(&self) -> &[Vec<String>] {
        &self.0.causes
    }

    /// A name that is not known, and the one that was meant, if that is near enough.
    pub(crate) fn nearest(&self) -> Option<(String, String)> {
        let Help::Nearest { name, known } = &self.0.help else { return None };
        let meant = nearest(name, known.iter().map(String::as_str))?;
        Some((name.clone(), meant.to_owned()))
    }

    /// Fixes the place if it is not known yet.
    pub(crate) fn locate(mut self, place: impl FnOnce(&[String]) -> Place) -> Problem {
        if self.0.place.is_none() {
            self.0.place = Some(place(&self.0.key));
        }
        self
    }
}

fn steps(key: &str) -> impl Iterator<Item = String> {
    key.split('.').map(str::to_owned)
}

/// A problem that was never located is in no file and on no line.
impl From<Problem> for ConfigError {
    fn from(Problem(draft): Problem) -> ConfigError {
        let help = match draft.help {
            Help::None => None,
            Help::Text(help) => Some(help),
            Help::Nearest { name, known } => suggest(&name, &known),
        };
        ConfigError(Box::new(Located {
            place: draft.place.unwrap_or_default(),
            key: draft.key.join("."),
            message: draft.message,
            help,
        }))
    }
}

/// The error of a file that another one names: it keeps its place.
impl From<ConfigError> for Problem {
    fn from(ConfigError(located): ConfigError) -> Problem {
        let Located { place, key, message, help } = *located;
        let key = if key.is_empty() { Vec::new() } else { vec![key] };
        let help = help.map_or(Help::None, Help::Text);
        Problem(Box::new(Draft { key, message, help, place: Some(place), causes: Vec::new() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_grows_outwards_until_the_place_is_known() {
        let problem = Problem::at("load", "too much").help("less").inside("workload");
        let error: ConfigError = problem.in_file("a.toml", Some(7)).inside("elsewhere").into();
        assert_eq!(error.to_string(), "a.toml:7: workload.load: too much\nhelp: less");
        assert_eq!((error.file(), error.line(), error.key()), ("a.toml", Some(7), "workload.load"));
    }

    #[test]
    fn an_error_within_one_of_several_sets_of_overrides_names_it() {
        let override_source = Some("--set");
        let place = Place { file: "a.toml".to_owned(), line: None, override_source };
        let error =
            ConfigError::from(Problem::at("load", "too much").help("less").locate(|_| place));
        assert_eq!(error.to_string(), "a.toml: load (from --set): too much\nhelp: less");
        let within = error.within("variant reps");
        assert_eq!(within.to_string(), "a.toml: load: in variant reps: too much\nhelp: less");
    }

    #[test]
    fn the_error_of_a_named_file_keeps_its_place() {
        let inner = ConfigError::from(Problem::at("a.b", "wrong").in_file("inner.toml", Some(2)));
        let outer: ConfigError =
            Problem::from(inner.clone()).inside("path").in_file("outer.toml", Some(9)).into();
        assert_eq!(outer, inner);
    }
}

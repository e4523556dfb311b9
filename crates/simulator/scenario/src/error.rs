//! What is wrong with a scenario, where, and what mends it.

use std::fmt;

/// A scenario that cannot be run. Displays as `file:line: key: message` and a second line `help: mend`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(Box<Fault>);

impl ScenarioError {
    /// The file at fault, by the name that the caller gave: the scenario's, or that of a file it names.
    pub fn file(&self) -> &str {
        &self.0.place.file
    }

    /// The line at fault, from 1. `None` where no line can be named: something is missing, or the value is not from a file.
    pub fn line(&self) -> Option<usize> {
        self.0.place.line
    }

    /// The key at fault, dotted, list items by number from 0 (`event.0.at`); empty if the fault is not in one key.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What would mend it.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Whether the value at fault came from `--set` and not from the file.
    pub fn is_from_set(&self) -> bool {
        self.0.place.from_set
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { place, key, message, help } = &*self.0;
        f.write_str(&place.file)?;
        if let Some(line) = place.line {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if !key.is_empty() {
            write!(f, "{key}{}: ", if place.from_set { " (from --set)" } else { "" })?;
        }
        f.write_str(message)?;
        help.iter().try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

impl std::error::Error for ScenarioError {}

/// A fault whose place is known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    place: Place,
    key: String,
    message: String,
    help: Option<String>,
}

/// Where a value stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
    pub(crate) from_set: bool,
}

/// A fault on its way up: the key grows as it passes through tables, the place is found by the document in the end.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub(crate) struct Problem(Box<Draft>);

#[derive(Clone, Debug)]
struct Draft {
    key: Vec<String>,
    message: String,
    mend: Mend,
    place: Option<Place>,
}

/// What to advise.
#[derive(Clone, Debug)]
enum Mend {
    None,
    Say(String),
    /// The nearest of the known words, or else all of them.
    OneOf {
        word: String,
        known: Vec<String>,
    },
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        let message = message.into();
        Problem(Box::new(Draft { key: Vec::new(), message, mend: Mend::None, place: None }))
    }

    /// A problem with the value of `key`, dotted.
    pub(crate) fn at(key: &str, message: impl Into<String>) -> Problem {
        Problem::new(message).inside(key)
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.mend = Mend::Say(help.into());
        self
    }

    /// Advises the nearest of `known` to `word`, or lists them.
    pub(crate) fn nearest<S: AsRef<str>>(mut self, word: &str, known: &[S]) -> Problem {
        let known = known.iter().map(|name| name.as_ref().to_owned()).collect();
        self.0.mend = Mend::OneOf { word: word.to_owned(), known };
        self
    }

    /// More words that would have been right where [`Problem::nearest`] was said.
    pub(crate) fn also_known(mut self, more: &[&str]) -> Problem {
        if let Mend::OneOf { known, .. } = &mut self.0.mend {
            known.extend(more.iter().map(|&name| name.to_owned()));
        }
        self
    }

    /// The same problem, seen from the table or list that holds `key` (a dotted key is several steps).
    pub(crate) fn inside(mut self, key: &str) -> Problem {
        if self.0.place.is_none() {
            self.0.key.splice(0..0, key.split('.').map(str::to_owned));
        }
        self
    }

    /// Fixes the place, if none is known yet; the key is then no longer prolonged.
    pub(crate) fn locate(mut self, place: impl FnOnce(&[String]) -> Place) -> Problem {
        if self.0.place.is_none() {
            self.0.place = Some(place(&self.0.key));
        }
        self
    }
}

impl From<Problem> for ScenarioError {
    fn from(Problem(draft): Problem) -> ScenarioError {
        let help = match draft.mend {
            Mend::None => None,
            Mend::Say(help) => Some(help),
            Mend::OneOf { word, known } => advice(&word, &known),
        };
        ScenarioError(Box::new(Fault {
            place: draft.place.unwrap_or_default(),
            key: draft.key.join("."),
            message: draft.message,
            help,
        }))
    }
}

/// Words longer than this list are not worth reading.
const MOST_LISTED: usize = 20;

fn advice(word: &str, known: &[String]) -> Option<String> {
    let likeness = |name: &&String| strsim::jaro_winkler(word, name);
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    if likeness(&best) > 0.8 {
        return Some(format!("did you mean `{best}`?"));
    }
    let list: Vec<String> =
        known.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > MOST_LISTED { ", ..." } else { "" };
    Some(format!("known here: {}{more}", list.join(", ")))
}

/// `"a"`, `"b"` or `"c"`.
pub(crate) fn choices(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_grows_its_key_outwards_until_its_place_is_known() {
        let place = Place { file: "a.toml".into(), line: Some(7), from_set: false };
        let problem = Problem::at("load", "too much").help("less").inside("workload");
        let error: ScenarioError = problem.locate(|_| place).inside("elsewhere").into();
        assert_eq!(error.to_string(), "a.toml:7: workload.load: too much\nhelp: less");
        assert_eq!((error.file(), error.line(), error.key()), ("a.toml", Some(7), "workload.load"));
    }

    #[test]
    fn advice_is_the_nearest_word_or_the_list() {
        let known = ["load".to_owned(), "sizes".to_owned()];
        assert_eq!(advice("laod", &known).unwrap(), "did you mean `load`?");
        assert_eq!(advice("xyz", &known).unwrap(), "known here: `load`, `sizes`");
        assert_eq!(advice("xyz", &[]), None);
    }

    #[test]
    fn choices_read_as_a_sentence() {
        assert_eq!(choices(&["a"]), "\"a\"");
        assert_eq!(choices(&["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}

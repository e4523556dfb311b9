//! A TOML file as a tree that remembers the line of each value, and a [`serde`] deserializer over
//! it.
//!
//! The deserializer gives each error its key path and, where it can, the name that was meant; the
//! document turns the path into a line.

mod access;
mod deserializer;
mod messages;
mod node;
mod overrides;
mod repair;
mod table;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::error::{ConfigError, Place, Problem};
use node::{Lines, Node, Origin};
pub use repair::{Examined, Gone};

/// Bytes of the longest text that is parsed. A parsed text takes up to sixty times its length in
/// memory.
pub const MOST_BYTES: usize = 16 << 20;

/// A parsed TOML file, to be read into a type by [`serde`].
///
/// Two rules of the format differ from those of the `toml` crate:
/// - An enum is a string (its variant's name), or a table whose `kind` names the variant and whose
///   other keys are the variant's.
/// - A tuple struct is several types read from one table: each struct takes the keys that it has
///   fields for, and an enum at the end takes the rest. A key that none of them has is refused.
///   (Serde's `flatten` would lose the key path of errors.)
///
/// Dates, and integers of more than 64 bits, are read as their text.
///
/// ```
/// use heddle_config::Document;
///
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// enum Shape {
///     Point,
///     Circle { radius: u32 },
/// }
/// #[derive(serde::Deserialize)]
/// struct File {
///     shape: Shape,
/// }
///
/// let read = |text| Document::parse("a.toml", text)?.read().map(|file: File| file.shape);
/// assert_eq!(read("shape = \"point\""), Ok(Shape::Point));
/// assert_eq!(read("[shape]\nkind = \"circle\"\nradius = 3"), Ok(Shape::Circle { radius: 3 }));
/// let error = read("[shape]\nkind = \"cycle\"").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a.toml:2: shape.kind: \"cycle\" is not one of \"point\" or \"circle\"\nhelp: did you mean `circle`?"
/// );
/// ```
pub struct Document {
    name: String,
    root: Node,
}

impl Document {
    /// Parses `text`; `name` is the file's, for messages.
    ///
    /// # Errors
    /// The text is not TOML, or longer than 16 MB.
    pub fn parse(name: &str, text: &str) -> Result<Document, ConfigError> {
        if text.len() > MOST_BYTES {
            let message = format!("a TOML file of more than {} MB is not read", MOST_BYTES >> 20);
            let help = "lists of flows and of sizes have files of their own, which may be longer";
            return Err(Problem::new(message).help(help).in_file(name, None).into());
        }
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| lines.line(span.start));
            let problem = Problem::new(one_line(error.message()));
            let text = line.and_then(|line| text.lines().nth(line - 1)).unwrap_or("");
            syntax_help(text).into_iter().fold(problem, Problem::help).in_file(name, line)
        })?;
        let root = Node::table(table.get_ref(), &lines, Origin::File);
        Ok(Document { name: name.to_owned(), root })
    }

    /// Replaces the value of a dotted key (list items by number from 0); tables that are missing
    /// are added. The value is read as TOML, or else taken as a bare string: `websearch` needs no
    /// quotes. `source` is where the override comes from, for messages (`"--set"`).
    ///
    /// ```
    /// # use heddle_config::Document;
    /// let mut document = Document::parse("a.toml", "[workload]\nload = 0.6")?;
    /// document.set("workload.load", "0.7", "--set")?;
    /// let error = document.set("workload.load.x", "1", "--set").unwrap_err();
    /// assert_eq!(error.key(), "workload.load.x");
    /// assert_eq!(error.message(), "there is no `x` here to set");
    /// # Ok::<(), heddle_config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The key is empty, or leads into a value that is neither a table nor a list, or past a list's
    /// end.
    pub fn set(&mut self, key: &str, value: &str, source: &'static str) -> Result<(), ConfigError> {
        let origin = Origin::Override(source);
        overrides::set(&mut self.root, key, overrides::parse_value(value, origin)).map_err(
            |problem| ConfigError::from(problem.inside(key).locate(|_| self.place_of(origin))),
        )
    }

    /// Makes a table of the text at `key`, as if the file had written its long form:
    /// `scheme = "hula"` is short for a table with `kind = "hula"`. Anything else at `key` stays as
    /// it is.
    pub fn expand(&mut self, key: &str) {
        self.root.expand(key);
    }

    /// True if the file has this dotted key, or an override has set it.
    pub fn contains(&self, key: &str) -> bool {
        key.split('.').try_fold(&self.root, |node, step| node.child(step)).is_some()
    }

    /// The text at a dotted key, if there is one.
    pub fn text(&self, key: &str) -> Option<&str> {
        let node = key.split('.').try_fold(&self.root, |node, step| node.child(step))?;
        match &node.value {
            node::Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads the whole file as a `T`.
    ///
    /// # Errors
    /// The first value that does not fit its type, key that is missing or key that is unknown.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        T::deserialize(&self.root).map_err(|problem| self.locate(problem))
    }

    /// Gives a problem the line of its key, or of the nearest table around it, unless its place is
    /// known.
    pub fn locate(&self, problem: Problem) -> ConfigError {
        problem.locate(|key| self.place(key)).into()
    }

    fn place(&self, key: &[String]) -> Place {
        let mut node = &self.root;
        for step in key {
            let Some(next) = node.child(step) else { break };
            node = next;
        }
        self.place_of(node.origin)
    }

    fn place_of(&self, origin: Origin) -> Place {
        let (line, override_source) = match origin {
            Origin::Line(line) => (Some(line), None),
            Origin::Override(source) => (None, Some(source)),
            Origin::File => (None, None),
        };
        Place { file: self.name.clone(), line, override_source }
    }
}

/// Help for a line that is no TOML, if it is plain what was meant.
fn syntax_help(line: &str) -> Option<&'static str> {
    let is_free = |mark: &char| !line.contains(['#', '=']) && line.contains(*mark);
    match line {
        _ if line.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']) => {
            Some("plain quotes, \", in place of typographic ones")
        }
        _ if is_free(&':') => Some("`key = value`, with `=` in place of `:`"),
        _ => None,
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: &str, key: &[&str]) -> Option<usize> {
        let document = Document::parse("x", text).unwrap();
        let key: Vec<String> = key.iter().map(|&step| step.to_owned()).collect();
        document.place(&key).line
    }

    #[test]
    fn a_line_that_is_no_toml_has_help_if_its_meaning_is_plain() {
        let help = |text: &str| {
            let error = Document::parse("x", text).err().expect(text);
            assert_eq!(error.line(), Some(2), "{text}");
            error.help().map(str::to_owned)
        };
        let quotes = help("a = 1\nkind = \u{201c}hula\u{201d}\n");
        assert!(quotes.is_some_and(|help| help.starts_with("plain quotes")));
        assert!(help("a = 1\nkind: hula\n").is_some_and(|help| help.contains("`=`")));
        assert_eq!(help("a = 1\nkind = \"hula\n"), None);
    }

    #[test]
    fn a_line_is_that_of_the_key_or_of_the_nearest_table_around_it() {
        let text = "seeds = [\n 1,\n 2]\n\n[a]\nb = 1\n[[e]]\nat = 1\n[[e]]\nat = 2\n";
        assert_eq!(line_of(text, &["seeds", "1"]), Some(3));
        assert_eq!(line_of(text, &["a", "b"]), Some(6));
        assert_eq!(line_of(text, &["a", "missing"]), Some(5));
        assert_eq!(line_of(text, &["e", "1", "at"]), Some(10));
        assert_eq!(line_of(text, &["e", "1"]), Some(9));
        assert_eq!(line_of(text, &["missing"]), None);
    }
}

//! A TOML file as a tree that remembers where each value stands, and a [`serde`] deserializer over it.
//!
//! The deserializer gives each error its key path and, where it can, the word that was meant; the document turns the
//! path into a line. It differs from TOML's own in two ways that suit scenario files, see [`mod@read`].

mod faults;
mod layers;
mod node;
mod overrides;
mod read;
mod tables;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use node::{Node, Origin, Value};
use overrides::parse_value;

use crate::error::{Place, Problem};

/// A parsed file.
pub(crate) struct Document {
    name: String,
    root: Node,
}

impl Document {
    /// Parses `text`; `name` is for messages.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Document, Problem> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| lines.line(span.start));
            let place = Place { file: name.to_owned(), line, from_set: false };
            Problem::new(one_line(error.message())).locate(|_| place)
        })?;
        let root = Node::table(table.get_ref(), &lines, Origin::Nowhere);
        Ok(Document { name: name.to_owned(), root })
    }

    /// Puts a value at a dotted key, in place of what was there.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let refused = |problem: Problem| {
            let place = Place { file: self.name.clone(), line: None, from_set: true };
            problem.inside(key).locate(|_| place)
        };
        overrides::set(&mut self.root, key, parse_value(value)).map_err(refused)
    }

    /// Whether there is such a key at the top.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.root.child(key).is_some()
    }

    /// Reads the whole file as a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        T::deserialize(&self.root).map_err(|problem| self.locate(problem))
    }

    /// Gives a problem the place of its key, or of the nearest thing around it.
    pub(crate) fn locate(&self, problem: Problem) -> Problem {
        problem.locate(|key| self.place(key))
    }

    fn place(&self, key: &[String]) -> Place {
        let mut node = &self.root;
        let mut origin = Origin::Nowhere;
        for step in key {
            let Some(next) = node.child(step) else { break };
            (node, origin) = (next, next.origin);
        }
        let line = match origin {
            Origin::Line(line) => Some(line),
            Origin::Set | Origin::Nowhere => None,
        };
        Place { file: self.name.clone(), line, from_set: origin == Origin::Set }
    }
}

/// Where the lines of a text start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset) + 1
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: &str, key: &[&str]) -> Option<usize> {
        let document = Document::parse("x", text).map_err(|_| ()).unwrap();
        let key: Vec<String> = key.iter().map(|&step| step.to_owned()).collect();
        document.place(&key).line
    }

    #[test]
    fn a_line_is_that_of_the_key_or_of_the_nearest_thing_around_it() {
        let text = "seeds = [\n 1,\n 2]\n\n[a]\nb = 1\n[[e]]\nat = 1\n[[e]]\nat = 2\n";
        assert_eq!(line_of(text, &["seeds", "1"]), Some(3));
        assert_eq!(line_of(text, &["a", "b"]), Some(6));
        assert_eq!(line_of(text, &["a", "missing"]), Some(5));
        assert_eq!(line_of(text, &["e", "1", "at"]), Some(10));
        assert_eq!(line_of(text, &["e", "1"]), Some(9));
        assert_eq!(line_of(text, &["missing"]), None);
    }
}

//! The tree of values.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The key that names an enum's variant.
pub(super) const KIND: &str = "kind";

/// A value and its origin.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A line of the file.
    Line(usize),
    /// An override, from this source.
    Override(&'static str),
    /// The file as a whole.
    File,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date or an integer of more than 64 bits, as written.
    Other(String),
    Array(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

impl Node {
    /// The value at one step of a key: a table's entry by name, a list's item by number.
    pub(super) fn child(&self, step: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// As [`Node::child`]; a table without the entry gets an empty table there, of this origin.
    pub(super) fn child_or_table(&mut self, step: &str, origin: Origin) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => {
                let empty = || Node { value: Value::Table(BTreeMap::new()), origin };
                Some(entries.entry(step.to_owned()).or_insert_with(empty))
            }
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Makes a table with this `kind` of an entry that is a text.
    pub(super) fn expand(&mut self, key: &str) {
        let Value::Table(entries) = &mut self.value else { return };
        let Some(Node { value, origin }) = entries.get_mut(key) else { return };
        if let Value::String(text) = value {
            let kind = Node { value: Value::String(std::mem::take(text)), origin: *origin };
            *value = Value::Table(BTreeMap::from([(KIND.to_owned(), kind)]));
        }
    }

    /// A parsed table, with the line of each key.
    pub(super) fn table(table: &DeTable<'_>, lines: &Lines, origin: Origin) -> Node {
        let entry = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let line = lines.line(key.span().start);
            (key.get_ref().to_string(), Node::new(value.get_ref(), lines, line))
        };
        Node { value: Value::Table(table.iter().map(entry).collect()), origin }
    }

    fn new(value: &DeValue<'_>, lines: &Lines, line: usize) -> Node {
        let item = |item: &Spanned<DeValue<'_>>| {
            Node::new(item.get_ref(), lines, lines.line(item.span().start))
        };
        let origin = Origin::Line(line);
        let value = match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(integer) => {
                let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
                parsed.map_or_else(|_| Value::Other(integer.to_string()), Value::Integer)
            }
            DeValue::Float(float) => {
                let parsed = float.as_str().parse();
                parsed.map_or_else(|_| Value::Other(float.to_string()), Value::Float)
            }
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(date) => Value::Other(date.to_string()),
            DeValue::Array(items) => Value::Array(items.iter().map(item).collect()),
            DeValue::Table(table) => return Node::table(table, lines, origin),
        };
        Node { value, origin }
    }
}

/// The offsets at which the lines of a text start, but for the first.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset) + 1
    }
}

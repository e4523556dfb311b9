//! The tree of values.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::Lines;

/// A value and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A line of the file.
    Line(usize),
    /// The command line.
    Set,
    /// No place of its own: the file as a whole.
    Nowhere,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// As written, where no key takes it: a date, an integer of more than 64 bits.
    Odd(String),
    List(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

impl Node {
    /// The value at one step of a key: a table's entry by name, a list's item by number.
    pub(crate) fn child(&self, step: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.get(step),
            Value::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// As [`Node::child`]; a table gets an empty one if it has none.
    pub(crate) fn child_mut(&mut self, step: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => Some(
                entries
                    .entry(step.to_owned())
                    .or_insert(Node { value: Value::Table(BTreeMap::new()), origin: Origin::Set }),
            ),
            Value::List(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
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
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => {
                let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
                parsed.map_or_else(|_| Value::Odd(integer.to_string()), Value::Integer)
            }
            DeValue::Float(float) => {
                let parsed = float.as_str().parse();
                parsed.map_or_else(|_| Value::Odd(float.to_string()), Value::Float)
            }
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(date) => Value::Odd(date.to_string()),
            DeValue::Array(items) => Value::List(items.iter().map(item).collect()),
            DeValue::Table(table) => return Node::table(table, lines, origin),
        };
        Node { value, origin }
    }
}

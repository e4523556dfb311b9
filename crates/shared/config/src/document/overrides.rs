//! Overrides: values that replace those of the file.

use toml::de::DeTable;

use super::node::{Lines, Node, Origin, Value};
use crate::error::Problem;

/// Reads a value as TOML, or else takes it as a bare string.
pub(super) fn parse_value(text: &str, origin: Origin) -> Node {
    let line = format!("value = {text}");
    let table = DeTable::parse(&line).ok().filter(|table| table.get_ref().len() == 1);
    let root = table.map(|table| Node::table(table.get_ref(), &Lines::of(&line), origin));
    let value = root.as_ref().and_then(|root| root.child("value").cloned());
    let value = value.map_or_else(|| Value::String(text.to_owned()), |node| node.value);
    with_origin(Node { value, origin }, origin)
}

/// Puts `value` at `key`, in place of what was there. Missing tables are added.
pub(super) fn set(root: &mut Node, key: &str, value: Node) -> Result<(), Problem> {
    let mut node = root;
    for step in key.split('.') {
        if step.is_empty() {
            return Err(Problem::new("this is not a key").help("write it as in `table.key`"));
        }
        let missing = missing(node, step);
        node = node.child_or_table(step, value.origin).ok_or(missing)?;
    }
    *node = value;
    Ok(())
}

/// The problem of a step that leads nowhere from `node`.
fn missing(node: &Node, step: &str) -> Problem {
    let problem = Problem::new(format!("there is no `{step}` here to set"));
    match &node.value {
        Value::Array(items) if items.is_empty() => problem.help("the list is empty"),
        Value::Array(items) => {
            problem.help(format!("the list's items have numbers from 0 to {}", items.len() - 1))
        }
        Value::Table(_) => problem,
        _ => problem.help("the value has no keys: replace the whole of it"),
    }
}

/// The same value, all of it from one origin.
fn with_origin(node: Node, origin: Origin) -> Node {
    let value = match node.value {
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| with_origin(item, origin)).collect())
        }
        Value::Table(entries) => {
            let entry = |(key, node)| (key, with_origin(node, origin));
            Value::Table(entries.into_iter().map(entry).collect())
        }
        other => other,
    };
    Node { value, origin }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Value {
        parse_value(text, Origin::Override("--set")).value
    }

    #[test]
    fn a_value_is_toml_or_bare_string() {
        assert!(matches!(parsed("0.6"), Value::Float(f) if f == 0.6));
        assert!(matches!(parsed("[1, 2]"), Value::Array(items) if items.len() == 2));
        assert!(matches!(parsed("\"1\""), Value::String(text) if text == "1"));
        assert!(matches!(parsed("40Gbps"), Value::String(text) if text == "40Gbps"));
        assert!(matches!(parsed(""), Value::String(text) if text.is_empty()));
        assert!(matches!(parsed("1\nx = 2"), Value::String(_)));
    }
}

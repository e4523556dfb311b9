//! `--set key=value`: values that replace those of the file.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::{Lines, Node, Origin, Value};
use crate::error::Problem;

/// Reads a value as TOML, or else takes it as bare text, so that `--set workload.sizes=websearch` needs no quotes.
pub(super) fn parse_value(text: &str) -> Node {
    let line = format!("value = {text}");
    let table = DeTable::parse(&line).ok().filter(|table| table.get_ref().len() == 1);
    let mut root = table.map(|table| Node::table(table.get_ref(), &Lines::of(&line), Origin::Set));
    let value = root.as_mut().and_then(|root| root.child_mut("value").cloned());
    value
        .map_or_else(|| Node { value: Value::Text(text.to_owned()), origin: Origin::Set }, from_set)
}

/// Puts `value` at `key`, in place of what was there. Missing tables are made.
pub(super) fn set(root: &mut Node, key: &str, value: Node) -> Result<(), Problem> {
    let mut node = root;
    for step in key.split('.') {
        if step.is_empty() {
            return Err(Problem::new("this is not a key").help("name one as in `workload.load`"));
        }
        let missing = || Problem::new(format!("there is no `{step}` here to set"));
        node = node.child_mut(step).ok_or_else(missing)?;
    }
    *node = value;
    Ok(())
}

/// The same value, all of it from the command line.
fn from_set(node: Node) -> Node {
    let value = match node.value {
        Value::List(items) => Value::List(items.into_iter().map(from_set).collect()),
        Value::Table(entries) => {
            let entries = entries.into_iter().map(|(key, node)| (key, from_set(node)));
            Value::Table(entries.collect::<BTreeMap<_, _>>())
        }
        other => other,
    };
    Node { value, origin: Origin::Set }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_toml_or_bare_text() {
        assert!(matches!(parse_value("0.6").value, Value::Float(f) if f == 0.6));
        assert!(matches!(parse_value("[1, 2]").value, Value::List(items) if items.len() == 2));
        assert!(matches!(parse_value("\"1\"").value, Value::Text(text) if text == "1"));
        assert!(matches!(parse_value("40Gbps").value, Value::Text(text) if text == "40Gbps"));
        assert!(matches!(parse_value("").value, Value::Text(text) if text.is_empty()));
        assert!(matches!(parse_value("1\nx = 2").value, Value::Text(_)));
    }
}

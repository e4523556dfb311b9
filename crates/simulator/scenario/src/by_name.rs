//! The short form of a tagged enum in schemas.

use schemars::Schema;
use serde_json::{Value, json};

/// A table with a `kind` may be its name alone, unless it has a key without a default.
pub(crate) fn also_by_name(schema: &mut Schema) {
    let Some(Value::Array(kinds)) = schema.get_mut("oneOf") else { return };
    let names = kinds.iter().filter_map(|kind| kind.pointer("/properties/kind/const").cloned());
    let names: Vec<Value> = names.filter(|name| name != "external").collect();
    kinds.push(json!({ "type": "string", "description": "With its defaults.", "enum": names }));
}

//! The JSON Schema of a scenario file, for editors.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::raw::{FabricFile, File};

/// The JSON Schema (draft 2020-12) of a scenario file, with every key's meaning, default and source.
pub fn schema() -> Value {
    schema_of::<File>("Heddle scenario")
}

/// The JSON Schema (draft 2020-12) of a fabric file, likewise.
pub fn fabric_schema() -> Value {
    schema_of::<FabricFile>("Heddle fabric")
}

fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::default().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(|schema: &mut Schema| {
        join_lines(schema);
        without_null(schema);
    })
    .transform(&mut schema);
    schema.insert("title".into(), title.into());
    schema.to_value()
}

/// Doc comments are broken where the source's lines end.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

/// TOML has no null: a key without a value is left out.
fn without_null(schema: &mut Schema) {
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
    }
    if let Some(Value::Array(types)) = schema.get_mut("anyOf") {
        types.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `visit` with each object of the schema that describes a key.
    fn walk(schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
        if let Some(Value::Object(properties)) = schema.get("properties") {
            properties.iter().for_each(|(key, value)| visit(key, value));
        }
        match schema {
            Value::Object(entries) => entries.values().for_each(|value| walk(value, visit)),
            Value::Array(items) => items.iter().for_each(|value| walk(value, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_key_is_described_and_its_default_is_as_described() {
        assert!(defaults_of(&schema()) > 30);
        assert!(defaults_of(&fabric_schema()) > 10);
    }

    /// Checks each key's description and gives the number of defaults.
    fn defaults_of(schema: &Value) -> u32 {
        let mut defaults = 0;
        walk(schema, &mut |key, value| {
            let description = value.get("description").and_then(Value::as_str);
            let constant = value.get("const").is_some();
            let text = description.unwrap_or_else(|| if constant { "" } else { panic!("{key}") });
            match value.get("default") {
                Some(Value::Array(_) | Value::Object(_)) | None => {}
                Some(default) => {
                    defaults += 1;
                    let shown = default.to_string();
                    let said = text.split("Default: ").nth(1).unwrap_or_default();
                    let is_said =
                        said.starts_with(&shown) || said.starts_with(shown.trim_matches('"'));
                    assert!(is_said, "{key}: {shown} but {text:?}");
                }
            }
        });
        defaults
    }

    #[test]
    fn toml_has_no_null() {
        assert!(!schema().to_string().contains("null"));
        assert!(!fabric_schema().to_string().contains("null"));
    }
}

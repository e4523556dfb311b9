//! The JSON Schema of the configuration, for editors.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use super::raw::File;

/// The JSON Schema (draft 2020-12) of the configuration, with every key's meaning and default.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::default().into_generator().into_root_schema_for::<File>();
    RecursiveTransform(|schema: &mut Schema| {
        join_lines(schema);
        without_null(schema);
    })
    .transform(&mut schema);
    schema.insert("title".into(), "heddled".into());
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
        let mut defaults = 0;
        walk(&schema(), &mut |key, value| {
            let text =
                value.get("description").and_then(Value::as_str).unwrap_or_else(|| panic!("{key}"));
            let Some(default) =
                value.get("default").filter(|default| !default.is_object() && !default.is_array())
            else {
                return;
            };
            defaults += 1;
            let shown = default.to_string();
            let said = text.split("Default: ").nth(1).unwrap_or_default();
            assert!(said.starts_with(shown.trim_matches('"')), "{key}: {shown} but {text:?}");
        });
        assert!(defaults > 20, "{defaults}");
    }

    #[test]
    fn toml_has_no_null() {
        assert!(!schema().to_string().contains("null"));
    }
}

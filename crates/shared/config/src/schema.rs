//! The JSON Schema of a configuration file, for editors.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of a file that is read as a `T`: descriptions are the doc
/// comments of its fields.
///
/// ```
/// /// A server.
/// #[derive(schemars::JsonSchema)]
/// struct Server {
///     /// TCP port to listen at.
///     port: u16,
/// }
///
/// let schema = heddle_config::schema::<Server>("my server");
/// assert_eq!(schema["title"], "my server");
/// assert_eq!(schema["properties"]["port"]["description"], "TCP port to listen at.");
/// ```
pub fn schema<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::default().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(adapt as fn(&mut Schema)).transform(&mut schema);
    schema.insert("title".into(), title.into());
    schema.to_value()
}

fn adapt(schema: &mut Schema) {
    join_lines(schema);
    remove_null(schema);
}

/// Doc comments are broken where the source's lines end.
fn join_lines(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}

/// TOML has no null: a key without a value is left out.
fn remove_null(schema: &mut Schema) {
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    // The defaults of a table's keys are its type's; serde would write an enum's kind as a table
    // around it.
    if schema.get("default").is_some_and(Value::is_object) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
    }
    if let Some(Value::Array(types)) = schema.get_mut("anyOf") {
        types.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    }
}

/// Checks a schema for a crate's tests: every key but a constant needs a description, and a key
/// with a default one that states it ("Default: 10s."). Defaults that are tables or lists may be
/// described in any way. Gives the number of defaults stated.
///
/// # Errors
/// The first key that is not described, or whose description states another default or none.
pub fn documented_defaults(schema: &Value) -> Result<u32, String> {
    let mut defaults = 0;
    for (key, value) in entries(schema.get("properties")) {
        defaults += u32::from(check_key(key, value)?);
    }
    let nested: Vec<&Value> = match schema {
        Value::Object(entries) => entries.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for schema in nested {
        defaults += documented_defaults(schema)?;
    }
    Ok(defaults)
}

fn entries(object: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.and_then(Value::as_object).into_iter().flatten()
}

/// True if a key has a default that its description states.
fn check_key(key: &str, value: &Value) -> Result<bool, String> {
    let description = value.get("description").and_then(Value::as_str);
    if description.is_none() && value.get("const").is_none() {
        return Err(format!("`{key}` has no description"));
    }
    let default = match value.get("default") {
        Some(Value::Array(_) | Value::Object(_)) | None => return Ok(false),
        Some(default) => default.to_string(),
    };
    let text = description.unwrap_or_default();
    let stated = text.split("Default: ").nth(1).unwrap_or_default();
    if stated.starts_with(&default) || stated.starts_with(default.trim_matches('"')) {
        return Ok(true);
    }
    Err(format!("the default of `{key}` is {default}, its description is {text:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_compared_with_their_descriptions() {
        let schema_of = |description: &str| json!({ "properties": { "port": { "description": description, "default": 80 } } });
        assert_eq!(documented_defaults(&schema_of("A port. Default: 80.")), Ok(1));
        assert!(documented_defaults(&schema_of("A port.")).is_err());
        assert!(documented_defaults(&schema_of("A port. Default: 81.")).is_err());
        assert!(documented_defaults(&json!({ "properties": { "port": {} } })).is_err());
        assert_eq!(
            documented_defaults(&json!({ "$defs": { "A": schema_of("Default: 80") } })),
            Ok(1)
        );
    }
}

//! The OpenAPI 3.1 document of an HTTP API, from its operations and the schemas of their types.

use serde_json::{Map, Value, json};

/// The media type of a problem (RFC 9457, section 3).
const PROBLEM: &str = "application/problem+json";

/// The place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A segment of the path; it is required.
    Path,
    /// The query.
    Query,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// Its meaning.
    pub description: Value,
    /// Its type.
    pub schema: Value,
}

/// A request's body, as JSON.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its type.
    pub schema: Value,
    /// It cannot be left out.
    pub is_required: bool,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// HTTP's method, in lower case.
    pub method: &'static str,
    /// The path, with parameters as in `/v1/links/{link}`.
    pub path: &'static str,
    /// Its name.
    pub id: &'static str,
    /// Its meaning.
    pub description: String,
    /// Parameters in path and query.
    pub parameters: Vec<Parameter>,
    /// The request's body, if it has one.
    pub body: Option<Body>,
    /// The status of a success.
    pub status: u16,
    /// The type of a success.
    pub response: Value,
    /// The type of a problem.
    pub problem: Value,
}

/// The names of the parameters in a path.
pub fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// A reference to a component's schema.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The document of an API, version 1.
pub fn document(
    title: &str,
    description: &str,
    operations: impl IntoIterator<Item = Operation>,
    schemas: &Map<String, Value>,
) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        let method = operation.method;
        path[method] = described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": "v1",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": description,
        },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// The document as text, in the form in which the repository has it.
pub fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

fn described(operation: Operation) -> Value {
    let Operation { id, description, parameters, body, status, response, problem, .. } = operation;
    let content = |media: &str, schema: Value| json!({ media: { "schema": schema } });
    let parameters: Vec<Value> = parameters.into_iter().map(parameter).collect();
    let mut described = json!({
        "operationId": id,
        "description": description,
        "parameters": parameters,
        "responses": {
            status.to_string(): { "description": "Done", "content": content("application/json", response) },
            "default": { "description": "A problem (RFC 9457)", "content": content(PROBLEM, problem) },
        },
    });
    if let Some(Body { schema, is_required }) = body {
        let content = content("application/json", schema);
        described["requestBody"] = json!({ "required": is_required, "content": content });
    }
    described
}

fn parameter(Parameter { name, place, description, schema }: Parameter) -> Value {
    let (place, is_required) = match place {
        Place::Path => ("path", true),
        Place::Query => ("query", false),
    };
    json!({ "name": name, "in": place, "required": is_required, "description": description, "schema": schema })
}

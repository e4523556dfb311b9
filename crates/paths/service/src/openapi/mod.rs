//! The OpenAPI 3.1 document of the HTTP interface, made from the `.proto` file's descriptors, so that both have the same fields and comments.

mod schema;

use std::sync::LazyLock;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use serde_json::{Map, Value, json};

use self::schema::Package;

/// The descriptors of the `.proto` file and those that it imports, with comments.
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The file of [`DESCRIPTORS`] that has the operations.
const FILE: &str = "heddle/path/v1/path.proto";

/// An operation's method and path, and its name in the `.proto` file.
type Operation = (&'static str, &'static str, &'static str);

/// The operations of HTTP.
const OPERATIONS: [Operation; 13] = [
    ("get", "/v1/paths", "FindPaths"),
    ("post", "/v1/connections", "OpenConnection"),
    ("get", "/v1/connections", "ListConnections"),
    ("get", "/v1/connections/{connection}", "GetConnection"),
    ("delete", "/v1/connections/{connection}", "CloseConnection"),
    ("post", "/v1/connections/{connection}/lease", "RenewConnection"),
    ("post", "/v1/connections/{connection}/subflows", "AddSubflow"),
    ("delete", "/v1/connections/{connection}/subflows/{subflow}", "CloseSubflow"),
    ("post", "/v1/connections/{connection}/subflows/{subflow}/replace", "ReplaceSubflow"),
    ("post", "/v1/encode", "Encode"),
    ("post", "/v1/decode", "Decode"),
    ("get", "/v1/links", "ListLinks"),
    ("put", "/v1/links", "SetLink"),
];

/// The document as text, in the form in which the repository has it.
pub(crate) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap_or_default();
    let file = set.file.iter().find(|file| file.name() == FILE);
    let document = file.map_or(Value::Null, |file| document(&Package::new(file)));
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
});

fn document(package: &Package<'_>) -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let (method, path, _) = operation;
        let path = paths.entry(path).or_insert_with(|| json!({}));
        path[method] = described(package, operation);
    }
    let mut schemas = package.schemas();
    schemas.insert("Problem".to_owned(), problem());
    let bearer = json!({ "type": "http", "scheme": "bearer", "description": "Where the service has tokens" });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Heddle path service",
            "version": "v1",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            "description": "Header fields that make the subflows of a connection take different paths (CFLB).",
        },
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": { "schemas": schemas, "securitySchemes": { "bearer": bearer } },
    })
}

/// An operation with its parameters, body and responses.
fn described(package: &Package<'_>, (method, path, name): Operation) -> Value {
    let Some(rpc) = package.method(name) else { return Value::Null };
    let segments: Vec<&str> =
        path.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}')).collect();
    let (in_path, others): (Vec<_>, Vec<_>) =
        package.fields(rpc.input).into_iter().partition(|field| segments.contains(&field.name));
    let parameter = |place: &str, field: &schema::Field<'_>| {
        json!({
            "name": field.name, "in": place, "required": place == "path",
            "description": field.comment, "schema": field.schema,
        })
    };
    let has_body = matches!(method, "post" | "put") && !others.is_empty();
    let mut parameters: Vec<Value> = in_path.iter().map(|f| parameter("path", f)).collect();
    if !has_body {
        parameters.extend(others.iter().map(|f| parameter("query", f)));
    }
    let json_of = |schema: Value| json!({ "application/json": { "schema": schema } });
    let problem = json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
    let mut operation = json!({
        "operationId": name,
        "description": rpc.comment,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Done", "content": json_of(schema::reference(rpc.output)) },
            "default": { "description": "A problem (RFC 9457)", "content": problem },
        },
    });
    if has_body {
        let is_optional = path.contains('{');
        let body = schema::reference(rpc.input);
        operation["requestBody"] = json!({ "required": !is_optional, "content": json_of(body) });
    }
    operation
}

/// The members of a problem.
fn problem() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "description": "A problem (RFC 9457)",
        "required": ["type", "title", "status", "detail", "code", "help"],
        "properties": {
            "type": text("Its type, as a reference to its description"),
            "title": text("Its type in words"),
            "status": { "type": "integer", "description": "HTTP's status" },
            "detail": text("This occurrence in words"),
            "code": text("gRPC's code of the same problem"),
            "help": text("Advice to the caller"),
            "field": text("The field of the request that is not valid"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

    /// `HEDDLE_WRITE_OPENAPI=1 cargo test -p heddle-path-service openapi` writes the file.
    #[test]
    fn the_repository_has_the_document_that_is_served() {
        if std::env::var_os("HEDDLE_WRITE_OPENAPI").is_some_and(|value| value == "1") {
            std::fs::write(KEPT, &*DOCUMENT).unwrap();
        }
        let help =
            "is not up to date: HEDDLE_WRITE_OPENAPI=1 cargo test -p heddle-path-service openapi";
        assert!(std::fs::read_to_string(KEPT).unwrap() == *DOCUMENT, "{KEPT} {help}");
    }

    #[test]
    fn every_operation_of_the_proto_file_is_described() {
        let document: Value = serde_json::from_str(&DOCUMENT).unwrap();
        let paths = document["paths"].as_object().unwrap().values();
        let operations: Vec<&Value> =
            paths.flat_map(|path| path.as_object().unwrap().values()).collect();
        assert_eq!(operations.len(), OPERATIONS.len());
        for operation in operations {
            let said = operation["description"].as_str().unwrap();
            assert!(said.len() > 10, "{operation}");
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(!parameter["description"].as_str().unwrap().is_empty(), "{parameter}");
            }
        }
        let open = &document["components"]["schemas"]["OpenConnectionRequest"]["properties"];
        assert_eq!(open["family"]["enum"], json!(["ipv4", "ipv6"]));
        assert_eq!(open["taken_ports"]["items"]["type"], "integer");
        let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap();
        let file = set.file.iter().find(|file| file.name() == FILE).unwrap();
        assert_eq!(file.service[0].method.len(), OPERATIONS.len());
    }
}

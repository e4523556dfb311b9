//! The OpenAPI 3.1 document of the HTTP interface, made from the `.proto` file's descriptors, so
//! that both have the same fields and comments.

mod schema;

use std::sync::LazyLock;

use heddle_daemon::openapi::{self, Body, Parameter, Place, reference};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use serde_json::{Value, json};

use self::schema::Package;

/// The descriptors of the `.proto` file and those that it imports, with comments.
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The file of [`DESCRIPTORS`] that has the operations.
const FILE: &str = "heddle/path/v1/path.proto";

/// The component of problems.
const PROBLEM: &str = "Problem";

/// An operation of HTTP.
struct Operation {
    method: &'static str,
    path: &'static str,
    /// Its name in the `.proto` file.
    id: &'static str,
}

const fn operation(method: &'static str, path: &'static str, id: &'static str) -> Operation {
    Operation { method, path, id }
}

/// All of them.
const OPERATIONS: [Operation; 13] = [
    operation("get", "/v1/paths", "FindPaths"),
    operation("post", "/v1/connections", "OpenConnection"),
    operation("get", "/v1/connections", "ListConnections"),
    operation("get", "/v1/connections/{connection}", "GetConnection"),
    operation("delete", "/v1/connections/{connection}", "CloseConnection"),
    operation("post", "/v1/connections/{connection}/lease", "RenewConnection"),
    operation("post", "/v1/connections/{connection}/subflows", "AddSubflow"),
    operation("delete", "/v1/connections/{connection}/subflows/{subflow}", "CloseSubflow"),
    operation("post", "/v1/connections/{connection}/subflows/{subflow}/replace", "ReplaceSubflow"),
    operation("post", "/v1/encode", "Encode"),
    operation("post", "/v1/decode", "Decode"),
    operation("get", "/v1/links", "ListLinks"),
    operation("put", "/v1/links", "SetLink"),
];

/// The document as text, in the form in which the repository has it.
pub(crate) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap_or_default();
    let file = set.file.iter().find(|file| file.name() == FILE);
    let document = file.map_or(Value::Null, |file| document(&Package::new(file)));
    openapi::text(&document)
});

fn document(package: &Package<'_>) -> Value {
    let operations = OPERATIONS.iter().filter_map(|operation| described(package, operation));
    let mut schemas = package.schemas();
    schemas.insert(PROBLEM.to_owned(), problem());
    let description =
        "Header fields that make the subflows of a connection take different paths (CFLB).";
    let mut document = openapi::document("Heddle path service", description, operations, &schemas);
    document["security"] = json!([{}, { "bearer": [] }]);
    document["components"]["securitySchemes"] = json!({ "bearer": { "type": "http", "scheme": "bearer", "description": "Where the service has tokens" } });
    document
}

/// An operation with its parameters, body and responses.
fn described(package: &Package<'_>, operation: &Operation) -> Option<openapi::Operation> {
    let Operation { method, path, id } = *operation;
    let rpc = package.method(id)?;
    let segments: Vec<&str> = openapi::names_in(path).collect();
    let (in_path, others): (Vec<_>, Vec<_>) =
        package.fields(rpc.input).into_iter().partition(|field| segments.contains(&field.name));
    let has_body = matches!(method, "post" | "put") && !others.is_empty();
    let parameter = |place: Place| {
        move |field: schema::Field<'_>| Parameter {
            name: field.name.to_owned(),
            place,
            description: field.comment.into(),
            schema: field.schema,
        }
    };
    let mut parameters: Vec<Parameter> = in_path.into_iter().map(parameter(Place::Path)).collect();
    if !has_body {
        parameters.extend(others.into_iter().map(parameter(Place::Query)));
    }
    let body = Body { schema: reference(rpc.input), is_required: segments.is_empty() };
    Some(openapi::Operation {
        method,
        path,
        id,
        description: rpc.comment,
        parameters,
        body: has_body.then_some(body),
        status: 200,
        response: reference(rpc.output),
        problem: reference(PROBLEM),
    })
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

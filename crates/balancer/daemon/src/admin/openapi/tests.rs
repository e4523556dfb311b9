use std::sync::Arc;

use axum::body::{Body, to_bytes};
use hyper::Request as HttpRequest;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::*;
use crate::admin::protocol::{Reply, Request};
use crate::admin::{Handler, Problem, ProblemKind, routes};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
const BOOK: &str = include_str!("../../../../../../docs/src/balancer/api.md");

/// Refuses all that arrives.
struct Refusing;

impl Handler for Refusing {
    async fn handle(&self, _: Request) -> Result<Reply, Problem> {
        Err(Problem::new(ProblemKind::Refused, "it has arrived"))
    }
}

/// The name of the problem that a request without a body gets.
async fn problem(method: &str, path: &str) -> String {
    let service = TowerToHyperService::new(routes::router(Arc::new(Refusing)));
    let request = HttpRequest::builder().method(method).uri(path).body(Body::empty()).unwrap();
    let response = service.call(request).await.unwrap();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    body["type"].as_str().unwrap().strip_prefix("/problems/").unwrap().to_owned()
}

fn read() -> Value {
    serde_json::from_str(&DOCUMENT).unwrap()
}

/// `HEDDLE_WRITE_OPENAPI=1 cargo test -p heddled openapi` writes the file.
#[test]
fn the_repository_has_the_document_that_is_served() {
    if std::env::var_os("HEDDLE_WRITE_OPENAPI").is_some_and(|value| value == "1") {
        std::fs::write(KEPT, &*DOCUMENT).unwrap();
    }
    let help = "is not up to date: HEDDLE_WRITE_OPENAPI=1 cargo test -p heddled openapi";
    assert!(std::fs::read_to_string(KEPT).unwrap() == *DOCUMENT, "{KEPT} {help}");
}

/// Of each path in the document the methods in it arrive, and no others do.
#[tokio::test]
async fn routes_and_document_agree() {
    let document = read();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let target = path.replace(['{', '}'], "");
        for method in ["get", "post", "put", "patch", "delete"] {
            let operation = operations.get(method);
            let wanted = match operation {
                None => "method-not-allowed",
                Some(operation) if operation["requestBody"].is_object() => "unsupported-media-type",
                Some(_) => "refused",
            };
            let said = problem(&method.to_uppercase(), &target).await;
            assert_eq!(said, wanted, "{method} {path}");
        }
    }
    assert_eq!(problem("GET", "/v1/nothing").await, "no-such-resource");
    assert_eq!(problem("GET", "/v1/connections?porpoise=1").await, "malformed-request");
    assert_eq!(problem("GET", "/v1/connections?limit=5&token=0x1f").await, "refused");
}

#[test]
fn every_operation_and_parameter_is_described_and_in_the_book() {
    let document = read();
    for Operation { method, path, id, .. } in &OPERATIONS {
        let operation = &document["paths"][path][method];
        assert!(operation["description"].as_str().unwrap().len() > 10, "{id}");
        for parameter in operation["parameters"].as_array().unwrap() {
            assert!(parameter["description"].as_str().is_some_and(|text| text.len() > 5), "{id}");
        }
        let row = format!("| `{} {path}` |", method.to_uppercase());
        assert!(BOOK.lines().any(|line| line.starts_with(&row)), "{row}");
    }
    let operations = document["paths"].as_object().unwrap().values();
    let count: usize = operations.map(|path| path.as_object().unwrap().len()).sum();
    assert_eq!(count, OPERATIONS.len());
}

/// The targets of references, and the fields of components without a description.
fn look(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            references.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| look(member, references));
        }
        Value::Array(items) => items.iter().for_each(|item| look(item, references)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_to_a_component_whose_fields_are_described() {
    let document = read();
    let mut references = Vec::new();
    look(&document, &mut references);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for (name, component) in document["components"]["schemas"].as_object().unwrap() {
        let fields = component["properties"].as_object().into_iter().flatten();
        for (field, schema) in fields {
            assert!(schema["description"].is_string(), "{name}.{field}: {schema}");
        }
    }
    let backend = &document["components"]["schemas"]["Backend"];
    assert_eq!(backend["required"], json!(["name", "address"]));
    assert_eq!(
        document["components"]["schemas"]["Status"]["properties"]["uptime"]["type"],
        "number"
    );
}

//! Problems: their types, statuses and members by HTTP, and their codes and details by gRPC.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use heddle_path_service::{Clock, Code, Limits, Options, Problem, Service, v1};
use heddle_policy::cflb::Field;
use serde_json::{Value, json};
use tonic::Code as Grpc;
use tonic_types::StatusExt as _;

use crate::end_to_end::fabric::{network, source_ports};
use crate::end_to_end::running::{Reply, Running, options};

/// A request by HTTP and its problem: method, path, body; type, the start of the detail, the field.
type Case = (&'static str, &'static str, Value, &'static str, &'static str, Option<&'static str>);

const CONNECTIONS: &str = "/v1/connections";
const INVALID: &str = "invalid-argument";
const MALFORMED: &str = "malformed-request";
const UNPROCESSABLE: &str = "unprocessable-content";

/// A request to open a connection, with some members added or replaced.
fn open(members: &Value) -> Value {
    let mut request = json!({"from": "host-1", "to": "host-3", "subflows": 2});
    request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    request
}

/// `POST /v1/connections` with one member added or replaced.
fn opening(
    name: &str,
    value: impl Into<Value>,
    kind: &'static str,
    detail: &'static str,
    field: Option<&'static str>,
) -> Case {
    ("POST", CONNECTIONS, open(&json!({ name: value.into() })), kind, detail, field)
}

#[rustfmt::skip]
fn opening_cases() -> Vec<Case> {
    vec![
        opening("to", "hots-3", "not-found", "there is no host `hots-3`: did you mean `host-3`?", None),
        opening("to", "tor-2", "not-found", "there is no host `tor-2`", None),
        opening("to", "", INVALID, "a name is missing", Some("to")),
        opening("to", "x".repeat(300), INVALID, "a name is too long", Some("to")),
        opening("to", "host-1", INVALID, "host-1 is both ends", None),
        opening("to", "host-4", INVALID, "host-4 has no IPv4 address", None),
        opening("subflows", 0, INVALID, "0 subflows cannot be opened", Some("subflows")),
        opening("subflows", 100, INVALID, "100 subflows cannot be opened", Some("subflows")),
        opening("protocol", 256, INVALID, "there is no protocol 256", Some("protocol")),
        opening("destination_port", 80, INVALID, "destination_port cannot be given", Some("destination_port")),
        opening("taken_ports", vec![70_000], INVALID, "there is no port 70000", Some("taken_ports")),
        opening("taken_ports", vec![1; 4097], INVALID, "too many taken ports", Some("taken_ports")),
        opening("lease_seconds", 0, INVALID, "a lease of 0 s", Some("lease_seconds")),
        opening("family", "ipx", UNPROCESSABLE, "Failed to deserialize", None),
        opening("subflow", 3, UNPROCESSABLE, "Failed to deserialize", None),
    ]
}

#[rustfmt::skip]
fn other_cases() -> Vec<Case> {
    let encode = |members: Value| {
        let mut request = json!({"from": "host-1", "to": "host-3"});
        request.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        request
    };
    let header = |members: Value| {
        let mut header = json!({"source": "10.0.0.1", "destination": "10.0.0.3"});
        header.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({ "header": header })
    };
    let other_spine = json!(["host-1", "tor-1", "spine-8", "tor-2", "host-3"]);
    let port = json!({"taken_ports": [70_000]});
    let no_connection = "there is no connection 77";
    vec![
        ("GET", "/v1/connections/77", json!({}), "not-found", no_connection, None),
        ("DELETE", "/v1/connections/77", json!({}), "not-found", no_connection, None),
        ("DELETE", "/v1/connections/-1", json!({}), MALFORMED, "Invalid URL", None),
        ("POST", "/v1/connections/77/lease", json!({}), "not-found", no_connection, None),
        ("POST", "/v1/connections/77/subflows", json!({}), "not-found", no_connection, None),
        ("DELETE", "/v1/connections/77/subflows/0", json!({}), "not-found", no_connection, None),
        ("POST", "/v1/connections/77/subflows/0/replace", port, INVALID, "there is no port 70000", Some("taken_ports")),
        ("POST", "/v1/encode", encode(json!({})), INVALID, "the path is missing, or given twice", Some("path")),
        ("POST", "/v1/encode", encode(json!({"path": 7})), "not-found", "there is no path number 7", None),
        ("POST", "/v1/encode", encode(json!({"nodes": ["tor-1"]})), INVALID, "the path does not begin", Some("nodes")),
        ("POST", "/v1/encode", encode(json!({"nodes": other_spine})), INVALID, "tor-1 has no next hop spine-8", None),
        ("POST", "/v1/decode", json!({}), INVALID, "the header is missing", Some("header")),
        ("POST", "/v1/decode", header(json!({"destination": "2001:db8::3"})), INVALID, "10.0.0.1 and 2001:db8::3 are of different", None),
        ("POST", "/v1/decode", header(json!({"ttl": 256})), INVALID, "there is no TTL of 256", Some("ttl")),
        ("POST", "/v1/decode", header(json!({"flow_label": 1})), INVALID, "IPv4 has no flow label", Some("flow_label")),
        ("PUT", "/v1/links", json!({"a": "tor-1", "b": "tor-2", "state": "down"}), "not-found", "there is no link number 0", None),
        ("PUT", "/v1/links", json!({"a": "tor-1", "b": "spine-1"}), INVALID, "the link's state is missing", Some("state")),
        ("GET", "/v1/connections?limit=1025", json!({}), INVALID, "a limit of 1025 is above 1024", Some("limit")),
        ("GET", "/v1/links?limit=1025", json!({}), INVALID, "a limit of 1025 is above 1024", Some("limit")),
        ("GET", "/v1/paths?from=host-1&to=host-3&limit=many", json!({}), MALFORMED, "Failed to deserialize", None),
        ("GET", "/v1/nothing", json!({}), "no-such-resource", "there is no resource /v1/nothing", None),
        ("GET", "/problems/nothing", json!({}), "no-such-resource", "there is no resource /problems/nothing", None),
        ("PATCH", "/v1/links", json!({}), "method-not-allowed", "/v1/links has no method PATCH", None),
    ]
}

/// Checks that a response is a problem of a type, with all members that RFC 9457 names and those of
/// our own.
fn assert_problem(reply: &Reply, kind: &str, status: u16) {
    let problem = reply.json();
    assert!(reply.head.contains("content-type: application/problem+json\r\n"), "{}", reply.head);
    assert_eq!((reply.status, &problem["status"]), (status, &json!(status)), "{problem}");
    assert_eq!(problem["type"], format!("/problems/{kind}"), "{problem}");
    for member in ["title", "detail", "code", "help"] {
        assert!(!problem[member].as_str().unwrap().is_empty(), "{member} in {problem}");
    }
}

/// The status and the gRPC code that go with a type.
fn status_of(kind: &str) -> (u16, &'static str) {
    match kind {
        "not-found" => (404, "NOT_FOUND"),
        "no-such-resource" => (404, "UNIMPLEMENTED"),
        "method-not-allowed" => (405, "UNIMPLEMENTED"),
        "unprocessable-content" => (422, "INVALID_ARGUMENT"),
        _ => (400, "INVALID_ARGUMENT"),
    }
}

#[tokio::test]
async fn http_has_a_problem_for_each_error() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    for (method, path, body, kind, detail, field) in
        opening_cases().into_iter().chain(other_cases())
    {
        let reply = http.send(method, path, &body).await;
        let (status, code) = status_of(kind);
        assert_problem(&reply, kind, status);
        let problem = reply.json();
        let text = problem["detail"].as_str().unwrap();
        assert!(text.starts_with(detail), "{method} {path} {body}: {text}");
        assert_eq!(
            (&problem["code"], problem["field"].as_str()),
            (&json!(code), field),
            "{problem}"
        );
    }
}

/// RFC 9110, section 15.5.6: the Allow header lists the methods of the resource.
#[tokio::test]
async fn a_wrong_method_has_the_allowed_ones() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    for (path, allowed) in [
        ("/v1/links", "get,head,put"),
        ("/v1/connections", "get,head,post"),
        ("/v1/connections/0/lease", "post"),
        ("/v1/connections/0/subflows/0", "delete"),
        ("/healthz", "get,head"),
    ] {
        let reply = http.send("PATCH", path, &json!({})).await;
        assert_problem(&reply, "method-not-allowed", 405);
        let allow = reply.head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap();
        let mut methods: Vec<&str> = allow.split(',').map(str::trim).collect();
        methods.sort_unstable();
        assert_eq!(methods.join(","), allowed, "{path}");
    }
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_problems() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    for (media_type, body, kind, status) in [
        ("application/json", "{", "malformed-request", 400),
        ("application/json", "", "malformed-request", 400),
        ("text/plain", "{}", "unsupported-media-type", 415),
        ("application/json", r#""text""#, "unprocessable-content", 422),
        ("application/json", r#"{"subflows": -1}"#, "unprocessable-content", 422),
    ] {
        let reply = http.request_as(media_type, "POST", CONNECTIONS, body).await;
        assert_problem(&reply, kind, status);
    }
    let large = json!({"from": "x".repeat(70_000)});
    assert_problem(&http.send("POST", CONNECTIONS, &large).await, "content-too-large", 413);
}

/// A clock that stands still keeps an operation from ending in time.
#[tokio::test]
async fn a_service_that_is_too_busy_says_when_to_try_again() {
    let stuck = Arc::new(AtomicBool::new(true));
    let waiting = stuck.clone();
    let clock = Clock::new(move || {
        while waiting.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        0
    });
    let limits = Limits { request: Duration::from_millis(50), ..Limits::default() };
    let running =
        Running::start(network(Field::Ports), Options { clock, limits, ..options() }).await;
    let reply = running.http().await.send("POST", CONNECTIONS, &open(&json!({}))).await;
    stuck.store(false, Ordering::Relaxed);
    assert_problem(&reply, "unavailable", 503);
    assert!(reply.head.contains("retry-after: 1\r\n"), "{}", reply.head);
}

/// RFC 9457, section 4.1.1: the type's URI is the address of its description.
#[tokio::test]
async fn the_type_of_a_problem_is_the_address_of_its_description() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    let problem = http.get("/v1/connections/77").await.json();
    let description = http.get(problem["type"].as_str().unwrap()).await;
    assert_eq!(description.status, 200);
    assert!(
        description.head.contains("content-type: text/plain; charset=utf-8"),
        "{}",
        description.head
    );
    assert!(
        description.body.starts_with("Not found (HTTP status 404, gRPC code NOT_FOUND)\n"),
        "{}",
        description.body
    );
}

/// google.rpc.ErrorInfo and google.rpc.BadRequest.
#[tokio::test]
async fn grpc_statuses_have_details() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut grpc = running.grpc().await;
    let request = v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: "host-3".into(),
        ..Default::default()
    };
    let status = grpc.open_connection(request).await.unwrap_err();
    let info = status.get_details_error_info().unwrap();
    assert_eq!(
        (info.reason.as_str(), info.domain.as_str()),
        ("INVALID_ARGUMENT", "heddle.path.v1")
    );
    assert_eq!(info.metadata["help"], "ask for 1 to 16 subflows");
    let violations = status.get_details_bad_request().unwrap().field_violations;
    assert_eq!((violations[0].field.as_str(), violations.len()), ("subflows", 1));
    assert_eq!(violations[0].description, "0 subflows cannot be opened");
    let status = grpc.get_connection(v1::GetConnectionRequest { connection: 7 }).await.unwrap_err();
    assert_eq!(status.get_details_error_info().unwrap().reason, "NOT_FOUND");
    assert!(status.get_details_bad_request().is_none());
}

#[tokio::test]
async fn grpc_has_a_status_for_each_error() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut grpc = running.grpc().await;
    let request = |to: &str, subflows| v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: to.into(),
        subflows,
        ..Default::default()
    };
    for (request, code) in [
        (request("host-9", 1), Grpc::NotFound),
        (request("host-3", 0), Grpc::InvalidArgument),
        (request("host-3", 100), Grpc::InvalidArgument),
        (request("host-4", 1), Grpc::InvalidArgument),
        (v1::OpenConnectionRequest { family: 9, ..request("host-3", 1) }, Grpc::InvalidArgument),
    ] {
        let status = grpc.open_connection(request.clone()).await.unwrap_err();
        let problem = Service::new(network(Field::Ports), &options())
            .unwrap()
            .open_connection(&request)
            .unwrap_err();
        assert_eq!((status.code(), status.message()), (code, problem.to_string().as_str()));
    }
    let down = |a: &str| v1::SetLinkRequest {
        a: a.into(),
        b: "tor-1".into(),
        parallel: 0,
        state: v1::LinkState::Down.into(),
    };
    grpc.set_link(down("host-1")).await.unwrap();
    let status = grpc.open_connection(request("host-3", 1)).await.unwrap_err();
    assert_eq!(status.code(), Grpc::FailedPrecondition);
}

/// Eight source ports and seven paths: each path has one encoding.
#[test]
fn ports_run_out_and_nothing_is_left_behind() {
    let service = Service::new(network(source_ports(8)), &options()).unwrap();
    let (from, to, destination_port) = ("host-1".into(), "host-3".into(), Some(80));
    let request = |subflows| v1::OpenConnectionRequest {
        from,
        to,
        subflows,
        destination_port,
        ..Default::default()
    };
    let request = request(8);
    assert_eq!(service.open_connection(&request).unwrap_err().code, Code::NoFreePort);
    let links = service.list_links(&v1::ListLinksRequest::default()).unwrap().links;
    assert!(links.iter().all(|link| link.flows_from_a + link.flows_from_b == 0));
    let seven = v1::OpenConnectionRequest { subflows: 7, ..request.clone() };
    assert_eq!(service.open_connection(&seven).unwrap().subflows.len(), 7);
    let Problem { code, detail, .. } = service.open_connection(&seven).unwrap_err();
    assert_eq!(
        (code, detail.starts_with("no encoding of the path is free")),
        (Code::NoFreePort, true)
    );
    let metrics = service.metrics().unwrap();
    let line =
        r#"heddle_path_requests_total{operation="open_connection",outcome="no_free_port"} 2"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn a_source_port_needs_its_destination_port() {
    let service = Service::new(network(source_ports(1024)), &options()).unwrap();
    let request = |source_port, destination_port| {
        let (from, to) = ("host-1".into(), "host-3".into());
        let request = v1::OpenConnectionRequest {
            from,
            to,
            subflows: 1,
            source_port,
            destination_port,
            ..Default::default()
        };
        service.open_connection(&request).map_err(|problem| problem.detail)
    };
    assert_eq!(request(None, None).unwrap_err(), "destination_port is missing");
    assert_eq!(request(Some(1), Some(80)).unwrap_err(), "source_port cannot be given");
    assert!(request(None, Some(80)).is_ok());
}

#[test]
fn open_connections_are_limited() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let service = Service::new(network(Field::Ports), &Options { limits, ..options() }).unwrap();
    let (from, to) = ("host-1".into(), "host-3".into());
    let request = v1::OpenConnectionRequest { from, to, subflows: 16, ..Default::default() };
    let first = service.open_connection(&request).unwrap().connection;
    let add = v1::AddSubflowRequest { connection: first, ..Default::default() };
    assert_eq!(service.add_subflow(&add).unwrap_err().detail, "connection 0 has 16 subflows");
    service.open_connection(&request).unwrap();
    assert_eq!(service.open_connection(&request).unwrap_err().code, Code::ResourceExhausted);
    service.close_connection(&v1::CloseConnectionRequest { connection: first }).unwrap();
    assert!(service.open_connection(&request).is_ok());
}

/// Room for three taken ports.
#[test]
fn taken_ports_are_limited() {
    let limits = Limits { taken_ports: 3, ..Limits::default() };
    let service = Service::new(network(Field::Ports), &Options { limits, ..options() }).unwrap();
    let open = |taken_ports| {
        let (from, to) = ("host-1".into(), "host-3".into());
        let request =
            v1::OpenConnectionRequest { from, to, subflows: 1, taken_ports, ..Default::default() };
        service.open_connection(&request).map_err(|problem| problem.code)
    };
    let first = open(vec![2000, 2001]).unwrap().connection;
    assert_eq!(open(vec![2000, 2001]).unwrap_err(), Code::ResourceExhausted);
    open(vec![2002]).unwrap();
    service.close_connection(&v1::CloseConnectionRequest { connection: first }).unwrap();
    assert!(open(vec![2003, 2004]).is_ok());
}

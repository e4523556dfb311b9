use super::*;

use std::io::{Read, Write};
use std::path::PathBuf;

use axum::http::Method;
use serde_json::{Value, json};

use crate::admin::calls::Call;
use crate::admin::protocol::{Reply, Request};
use crate::admin::{
    AskError, BackendChange, Client, Connections, Filter, HealthStatus, MptcpOption, Named,
    NewBackend, NewBackends, Packet, Problem, ProblemKind, QuicPacket, Selection, SharedEdit, bind,
};
use crate::service::Protocol;

/// Answers with what it was asked, as far as that fits. True: a sick balancer.
struct Echo(bool);

impl Handler for Echo {
    async fn handle(&self, request: Request) -> Result<Reply, Problem> {
        match request {
            Request::Connections { limit, .. } => {
                // Late enough for the daemon to see that the client has closed its own direction.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Ok(Reply::Connections(Connections { matching: limit.into(), flows: vec![] }))
            }
            Request::Health if self.0 => Ok(Reply::Health(HealthStatus {
                healthy: false,
                causes: vec!["the maps".into(), "the program".into()],
            })),
            other => Err(Problem::new(ProblemKind::Refused, format!("{other:?}"))),
        }
    }
}

struct Daemon {
    path: PathBuf,
    _directory: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

fn daemon() -> Daemon {
    daemon_of(Echo(false))
}

fn daemon_of(echo: Echo) -> Daemon {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("admin.sock");
    let listener = bind(&path).unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.unwrap();
    runtime.spawn(serve(Arc::new(listener), Arc::new(echo)));
    Daemon { path, _directory: directory, _runtime: runtime }
}

/// Sends bytes as they are and returns what comes back until the daemon closes.
fn raw(daemon: &Daemon, bytes: &[u8]) -> String {
    let mut stream = std::os::unix::net::UnixStream::connect(&daemon.path).unwrap();
    // The daemon may have closed before all was sent.
    let _ = stream.write_all(bytes);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// The status of an answer to a request with this body, and the detail of its problem.
fn status(daemon: &Daemon, line: &str, kind: &str, body: &[u8]) -> (u16, String) {
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\ncontent-type: {kind}\r\n\r\n"
    );
    let answer = raw(daemon, &[head.as_bytes(), body].concat());
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/problem+json"), "{answer}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["status"], status, "{body}");
    (status, body["detail"].as_str().unwrap().to_owned())
}

#[test]
fn each_request_arrives_as_it_was_sent() {
    let daemon = daemon();
    let mut client = Client::connect(&daemon.path).unwrap();
    let packet = Packet {
        source: "10.0.0.1:4000".parse().unwrap(),
        destination: "[2001:db8::1]:80".parse().unwrap(),
        protocol: Protocol::Tcp,
        flags: 2,
        mptcp: Some(MptcpOption::Join { token: 7 }),
        quic: Some(QuicPacket::Initial { connection_id: "07a1".into() }),
        payload: 0,
    };
    let backend = json!({ "name": "b/4 ü", "address": "10.0.1.4", "weight": 3, "state": "drain" });
    let new =
        NewBackend { service: "web".into(), backend: serde_json::from_value(backend).unwrap() };
    let named = |service: Option<&str>, backend: Option<&str>| {
        let (service, backend) = (service.map(str::to_owned), backend.map(str::to_owned));
        Request::Backends(Selection { service, backend })
    };
    let change = BackendChange { weight: Some(3), draining: Some(false) };
    let named_backend = Named { service: Some("we/b".into()), backend: "b1".into() };
    let to_all = |service: Option<&str>, backend: Option<&str>| {
        let (service, backend) = (service.map(str::to_owned), backend.map(str::to_owned));
        Request::Shared(SharedEdit::Reset(Selection { service, backend }))
    };
    let requests = [
        Request::Status,
        Request::Health,
        Request::Services,
        named(None, None),
        named(Some("we/b?&"), None),
        named(None, Some("b 1%41")),
        named(Some("wéb"), Some("../b1")),
        Request::Add(NewBackends { backends: vec![new.clone(), new.clone()] }),
        Request::Shared(SharedEdit::Add(NewBackends { backends: vec![new] })),
        Request::Shared(SharedEdit::Change { of: named_backend.clone(), change }),
        Request::Shared(SharedEdit::Change {
            of: Named { service: None, ..named_backend.clone() },
            change,
        }),
        Request::Shared(SharedEdit::Remove(named_backend.clone())),
        Request::Shared(SharedEdit::Remove(Named { service: None, ..named_backend })),
        to_all(None, None),
        to_all(Some("w&b"), Some("b 1")),
        Request::Changes,
        Request::Change { service: None, backend: "b#1".into(), change },
        Request::Change { service: Some("web".into()), backend: "b1".into(), change },
        Request::Remove { service: None, backend: "b1".into() },
        Request::Remove { service: Some("web".into()), backend: "b1".into() },
        Request::Explain(packet),
        Request::Counters,
        Request::Reload,
        Request::Members,
    ];
    for request in requests {
        let Err(AskError::Problem(problem)) = client.ask(&request) else { panic!("{request:?}") };
        assert_eq!(problem.message, format!("{request:?}"));
        assert_eq!(problem.kind, ProblemKind::Refused);
    }
    let request = Request::Connections { filter: Filter::default(), limit: 9 };
    let wanted = Connections { matching: 9, flows: vec![] };
    assert_eq!(client.ask(&request).unwrap(), Reply::Connections(wanted));
}

#[test]
fn a_client_that_has_closed_its_own_direction_is_answered() {
    let request = b"GET /v1/connections HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = raw(&daemon(), request);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
}

#[test]
fn idle_clients_keep_no_request_out() {
    let daemon = daemon();
    let connect = || std::os::unix::net::UnixStream::connect(&daemon.path).unwrap();
    let idle: Vec<_> = (0..100).map(|_| connect()).collect();
    // Between its requests a client has no place that others could take.
    let mut client = Client::connect(&daemon.path).unwrap();
    for _ in 0..2 {
        let request = Request::Connections { filter: Filter::default(), limit: 9 };
        assert!(client.ask(&request).is_ok());
        let more: Vec<_> = (0..100).map(|_| connect()).collect();
        drop(more);
    }
    drop(idle);
}

#[test]
fn health_is_a_status_code_with_its_causes() {
    let request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = raw(&daemon_of(Echo(true)), request);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nthe maps\nthe program\n"), "{answer}");
}

#[test]
fn a_filter_is_in_the_query() {
    let filter = Filter {
        service: Some("w&b".into()),
        backend: None,
        client: Some([198, 51, 100, 7].into()),
        token: Some(0x1f),
        active: Some(30),
    };
    let call = Call::of(&Request::Connections { filter, limit: 5 }).unwrap();
    assert_eq!((call.method, call.body), (Method::GET, None));
    let wanted = "/v1/connections?service=w%26b&client=198%2E51%2E100%2E7&token=0x0000001f&active=30&limit=5";
    assert_eq!(call.target, wanted);
}

#[test]
fn wrong_requests_are_told_by_name_and_change_nothing() {
    let daemon = daemon();
    let json = "application/json";
    let add = "POST /v1/services/web/backends";
    for (line, kind, body, wanted, says) in [
        ("GET /v2/status", json, "", 404, "there is no resource /v2/status"),
        ("DELETE /v1/status", json, "", 405, "/v1/status has no method DELETE"),
        ("PUT /v1/backends/be1", json, "{}", 405, "/v1/backends/be1 has no method PUT"),
        (add, "text/plain", "{}", 415, "Content-Type: application/json"),
        (add, json, "{", 400, "EOF while parsing"),
        (add, json, r#"{"name": "be4"}"#, 422, "missing field `address`"),
        (
            add,
            json,
            r#"{"name": "be4", "address": "10.0.1.300"}"#,
            422,
            "invalid IP address syntax",
        ),
        (
            add,
            json,
            r#"{"name": "be4", "address": "10.0.1.4", "wieght": 1}"#,
            422,
            "unknown field `wieght`",
        ),
        (add, json, r#"{"name": "be4", "address": "10.0.1.4", "weight": -1}"#, 422, "weight"),
        ("PATCH /v1/backends/be1", json, r#"{"drain": true}"#, 422, "unknown field `drain`"),
        ("GET /v1/connections?limit=many", json, "", 400, "limit"),
        ("GET /v1/connections?porpoise=1", json, "", 400, "porpoise"),
        ("GET /v1/connections?token=xyz", json, "", 400, "xyz is no token"),
        ("GET /v1/backends/%ff", json, "", 400, "UTF-8"),
        ("GET /problems/nothing", json, "", 404, "no problem is called nothing"),
    ] {
        let (status, said) = status(&daemon, line, kind, body.as_bytes());
        assert_eq!(status, wanted, "{line} {body}: {said}");
        assert!(said.contains(says), "{line} {body}: {said}");
    }
}

#[test]
fn a_body_that_is_too_large_or_nests_too_deep_is_refused() {
    let daemon = daemon();
    let (line, kind) = ("POST /v1/explain", "application/json");
    let (large, said) = status(&daemon, line, kind, &vec![b' '; (64 << 10) + 1]);
    assert_eq!((large, said.as_str()), (413, "a request's body has at most 64 KiB"));
    assert_eq!(status(&daemon, line, kind, &vec![b' '; 64 << 10]).0, 400);
    assert_eq!(status(&daemon, line, kind, &vec![b'['; 60_000]).0, 422);
}

#[test]
fn what_is_not_http_is_no_crash() {
    let daemon = daemon();
    for bytes in
        [&b"\xff\xfe\x00\n"[..], b"{\"version\":2,\"body\":\"status\"}\n", &[b'x'; 100_000]]
    {
        let answer = raw(&daemon, bytes);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let head = format!("GET /v1/status HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(20_000));
    assert!(raw(&daemon, head.as_bytes()).starts_with("HTTP/1.1 431 "));
    let Err(error) = Client::connect(&daemon.path).unwrap().ask(&Request::Status) else { panic!() };
    assert!(matches!(error, AskError::Problem(_)), "it is still served: {error}");
}

#[test]
fn a_kind_of_problems_is_described_where_its_type_leads() {
    let daemon = daemon();
    let answer =
        raw(&daemon, b"GET /problems/refused HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.contains("\r\n\r\nRefused (HTTP status 409)\n\nIt cannot be done"), "{answer}");
}

#[test]
fn several_clients_are_served_at_once() {
    let daemon = daemon();
    let mut clients: Vec<_> = (0..8).map(|_| Client::connect(&daemon.path).unwrap()).collect();
    for (client, n) in clients.iter_mut().rev().zip(0_u32..) {
        let request = Request::Connections { filter: Filter::default(), limit: n };
        let wanted = Connections { matching: n.into(), flows: vec![] };
        assert_eq!(client.ask(&request).unwrap(), Reply::Connections(wanted));
    }
}

#[tokio::test]
async fn other_users_are_refused_whatever_they_ask() {
    for path in ["/v1/status", "/openapi.json", "/nothing"] {
        let request = hyper::Request::get(path).body(axum::body::Body::empty()).unwrap();
        let service = TowerToHyperService::new(routes::forbidden(1000));
        let response = hyper::service::Service::call(&service, request).await.unwrap();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status.as_u16(), &body["type"]), (403, &json!("/problems/forbidden")));
        assert!(body["detail"].as_str().unwrap().starts_with("user 1000 may not: "), "{body}");
    }
}

#[test]
fn without_a_daemon_the_client_says_where_it_looked() {
    let Err(error) = Client::connect(&PathBuf::from("/nonexistent/admin.sock")) else { panic!() };
    assert!(error.to_string().contains("/nonexistent/admin.sock"), "{error}");
}

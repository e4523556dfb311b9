//! What is refused, how it is told, and what mends it.

use heddle_path_service::{Code, Limits, Options, Problem, Service, v1};
use heddle_policy::cflb::Field;
use serde_json::{Value, json};
use tonic::Code as Grpc;

use crate::fabric::{network, source_ports};
use crate::running::{Running, options};

/// A request by HTTP and what is wrong with it: method, path, body; status, code, how the message begins.
type Case = (&'static str, &'static str, Value, u16, &'static str, &'static str);

fn cases() -> Vec<Case> {
    let open = |extra: Value| {
        let mut ask = json!({"from": "host-1", "to": "host-3", "subflows": 2});
        ask.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ask
    };
    let (connections, encode, decode) = ("/v1/connections", "/v1/encode", "/v1/decode");
    let (bad, gone) = ("INVALID_ARGUMENT", "NOT_FOUND");
    vec![
        (
            "POST",
            connections,
            open(json!({"to": "hots-3"})),
            404,
            gone,
            "there is no host `hots-3`: did you mean `host-3`?",
        ),
        ("POST", connections, open(json!({"to": "tor-2"})), 404, gone, "there is no host `tor-2`"),
        ("POST", connections, open(json!({"to": ""})), 400, bad, "a name is missing"),
        ("POST", connections, open(json!({"to": "x".repeat(300)})), 400, bad, "a name is too long"),
        ("POST", connections, open(json!({"to": "host-1"})), 400, bad, "host-1 is both ends"),
        (
            "POST",
            connections,
            open(json!({"subflows": 0})),
            400,
            bad,
            "0 subflows cannot be opened",
        ),
        (
            "POST",
            connections,
            open(json!({"subflows": 100})),
            400,
            bad,
            "100 subflows cannot be opened",
        ),
        (
            "POST",
            connections,
            open(json!({"to": "host-4"})),
            400,
            bad,
            "host-4 has no IPv4 address",
        ),
        ("POST", connections, open(json!({"protocol": 256})), 400, bad, "there is no protocol 256"),
        (
            "POST",
            connections,
            open(json!({"destination_port": 80})),
            400,
            bad,
            "the destination port cannot be fixed",
        ),
        (
            "POST",
            connections,
            open(json!({"taken_ports": [70_000]})),
            400,
            bad,
            "there is no port 70000",
        ),
        (
            "POST",
            connections,
            open(json!({"taken_ports": vec![1; 4097]})),
            400,
            bad,
            "too many taken ports",
        ),
        ("POST", connections, open(json!({"family": "ipx"})), 422, bad, "Failed to deserialize"),
        ("POST", connections, open(json!({"subflow": 3})), 422, bad, "Failed to deserialize"),
        ("POST", "/v1/connections/77/subflows", json!({}), 404, gone, "there is no connection 77"),
        ("POST", "/v1/connections/77/lease", json!({}), 404, gone, "there is no connection 77"),
        ("GET", "/v1/connections/77", json!({}), 404, gone, "there is no connection 77"),
        (
            "DELETE",
            "/v1/connections/77/subflows/0",
            json!({}),
            404,
            gone,
            "there is no connection 77",
        ),
        (
            "POST",
            "/v1/connections/77/subflows/0/replace",
            json!({"taken_ports": [70_000]}),
            400,
            bad,
            "there is no port 70000",
        ),
        ("POST", connections, open(json!({"lease_seconds": 0})), 400, bad, "a lease of 0 s"),
        ("DELETE", "/v1/connections/77", json!({}), 404, gone, "there is no connection 77"),
        ("DELETE", "/v1/connections/-1", json!({}), 400, bad, "Invalid URL"),
        (
            "POST",
            encode,
            json!({"from": "host-1", "to": "host-3"}),
            400,
            bad,
            "which path is not said",
        ),
        (
            "POST",
            encode,
            json!({"from": "host-1", "to": "host-3", "path": 7}),
            404,
            gone,
            "there is no path number 7",
        ),
        (
            "POST",
            encode,
            json!({"from": "host-1", "to": "host-3", "nodes": ["tor-1"]}),
            400,
            bad,
            "the path does not begin",
        ),
        (
            "POST",
            encode,
            json!({"from": "host-1", "to": "host-3", "nodes": ["host-1", "tor-1", "spine-8", "tor-2", "host-3"]}),
            400,
            bad,
            "tor-1 has no next hop spine-8",
        ),
        ("POST", decode, json!({}), 400, bad, "the header is missing"),
        (
            "POST",
            decode,
            json!({"header": {"source": "10.0.0.1", "destination": "2001:db8::3"}}),
            400,
            bad,
            "10.0.0.1 and 2001:db8::3 are of different",
        ),
        (
            "POST",
            decode,
            json!({"header": {"source": "10.0.0.1", "destination": "10.0.0.3", "ttl": 256}}),
            400,
            bad,
            "there is no TTL of 256",
        ),
        (
            "POST",
            decode,
            json!({"header": {"source": "10.0.0.1", "destination": "10.0.0.3", "flow_label": 1}}),
            400,
            bad,
            "IPv4 has no flow label",
        ),
        (
            "PUT",
            "/v1/links",
            json!({"a": "tor-1", "b": "tor-2", "state": "down"}),
            404,
            gone,
            "there is no link number 0",
        ),
        (
            "PUT",
            "/v1/links",
            json!({"a": "tor-1", "b": "spine-1"}),
            400,
            bad,
            "the link's state is missing",
        ),
        ("GET", "/v1/connections?limit=1025", json!({}), 400, bad, "a limit of 1025 is above 1024"),
        ("GET", "/v1/links?limit=1025", json!({}), 400, bad, "a limit of 1025 is above 1024"),
        (
            "GET",
            "/v1/paths?from=host-1&to=host-3&limit=many",
            json!({}),
            400,
            bad,
            "Failed to deserialize",
        ),
        ("GET", "/v1/nothing", json!({}), 404, gone, "there is no such resource"),
        ("PATCH", "/v1/links", json!({}), 405, bad, "the resource has no such method"),
    ]
}

#[tokio::test]
async fn http_says_what_is_wrong() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    for (method, path, body, status, code, message) in cases() {
        let reply = http.send(method, path, &body).await;
        let told = reply.json();
        let said = told["message"].as_str().unwrap();
        assert!(said.starts_with(message), "{method} {path} {body}: {said}");
        assert_eq!((reply.status, &told["code"]), (status, &json!(code)), "{method} {path} {body}");
        assert_eq!(told["status"], status);
        assert!(!told["mend"].as_str().unwrap().is_empty());
        assert!(reply.head.contains("content-type: application/problem+json"), "{}", reply.head);
    }
}

#[tokio::test]
async fn grpc_says_what_is_wrong() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut grpc = running.grpc().await;
    let ask = |to: &str, subflows| v1::OpenConnectionRequest {
        from: "host-1".into(),
        to: to.into(),
        subflows,
        ..Default::default()
    };
    for (ask, code) in [
        (ask("host-9", 1), Grpc::NotFound),
        (ask("host-3", 0), Grpc::InvalidArgument),
        (ask("host-3", 100), Grpc::InvalidArgument),
        (ask("host-4", 1), Grpc::InvalidArgument),
        (v1::OpenConnectionRequest { family: 9, ..ask("host-3", 1) }, Grpc::InvalidArgument),
    ] {
        let status = grpc.open_connection(ask.clone()).await.unwrap_err();
        let problem =
            Service::new(network(Field::Ports), &options()).open_connection(&ask).unwrap_err();
        assert_eq!((status.code(), status.message()), (code, problem.to_string().as_str()));
    }
    let down = |a: &str| v1::SetLinkRequest {
        a: a.into(),
        b: "tor-1".into(),
        parallel: 0,
        state: v1::LinkState::Down.into(),
    };
    grpc.set_link(down("host-1")).await.unwrap();
    let status = grpc.open_connection(ask("host-3", 1)).await.unwrap_err();
    assert_eq!(status.code(), Grpc::FailedPrecondition);
}

/// Eight source ports and seven paths: each path has one name.
#[test]
fn ports_run_out_and_nothing_is_left_behind() {
    let service = Service::new(network(source_ports(8)), &options());
    let (from, to, destination_port) = ("host-1".into(), "host-3".into(), Some(80));
    let ask = |subflows| v1::OpenConnectionRequest {
        from,
        to,
        subflows,
        destination_port,
        ..Default::default()
    };
    let ask = ask(8);
    assert_eq!(service.open_connection(&ask).unwrap_err().code, Code::NoFreePort);
    let links = service.list_links(&v1::ListLinksRequest::default()).unwrap().links;
    assert!(links.iter().all(|link| link.flows_from_a + link.flows_from_b == 0));
    let seven = v1::OpenConnectionRequest { subflows: 7, ..ask.clone() };
    assert_eq!(service.open_connection(&seven).unwrap().subflows.len(), 7);
    let Problem { code, message, .. } = service.open_connection(&seven).unwrap_err();
    assert_eq!(
        (code, message.starts_with("no name of the path is free")),
        (Code::NoFreePort, true)
    );
    let metrics = service.metrics().unwrap();
    let line =
        r#"heddle_path_requests_total{operation="open_connection",outcome="no_free_port"} 2"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn a_source_port_needs_its_destination_port() {
    let service = Service::new(network(source_ports(1024)), &options());
    let ask = |source_port, destination_port| {
        let (from, to) = ("host-1".into(), "host-3".into());
        let ask = v1::OpenConnectionRequest {
            from,
            to,
            subflows: 1,
            source_port,
            destination_port,
            ..Default::default()
        };
        service.open_connection(&ask).map_err(|problem| problem.message)
    };
    assert_eq!(ask(None, None).unwrap_err(), "the destination port is missing");
    assert_eq!(ask(Some(1), Some(80)).unwrap_err(), "the source port cannot be fixed");
    assert!(ask(None, Some(80)).is_ok());
}

#[test]
fn what_is_held_is_bounded() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let service = Service::new(network(Field::Ports), &Options { limits, ..options() });
    let (from, to) = ("host-1".into(), "host-3".into());
    let ask = v1::OpenConnectionRequest { from, to, subflows: 16, ..Default::default() };
    let first = service.open_connection(&ask).unwrap().connection;
    let add = v1::AddSubflowRequest { connection: first, ..Default::default() };
    assert_eq!(service.add_subflow(&add).unwrap_err().message, "connection 0 has 16 subflows");
    service.open_connection(&ask).unwrap();
    assert_eq!(service.open_connection(&ask).unwrap_err().code, Code::ResourceExhausted);
    service.close_connection(&v1::CloseConnectionRequest { connection: first }).unwrap();
    assert!(service.open_connection(&ask).is_ok());
}

/// Room for three taken ports.
#[test]
fn taken_ports_that_are_remembered_are_bounded() {
    let limits = Limits { taken_ports: 3, ..Limits::default() };
    let service = Service::new(network(Field::Ports), &Options { limits, ..options() });
    let open = |taken_ports| {
        let (from, to) = ("host-1".into(), "host-3".into());
        let ask =
            v1::OpenConnectionRequest { from, to, subflows: 1, taken_ports, ..Default::default() };
        service.open_connection(&ask).map_err(|problem| problem.code)
    };
    let first = open(vec![2000, 2001]).unwrap().connection;
    assert_eq!(open(vec![2000, 2001]).unwrap_err(), Code::ResourceExhausted);
    open(vec![2002]).unwrap();
    service.close_connection(&v1::CloseConnectionRequest { connection: first }).unwrap();
    assert!(open(vec![2003, 2004]).is_ok());
}

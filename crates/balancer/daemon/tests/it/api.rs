//! The HTTP API of a running daemon, over its own socket: backends come and go without the file,
//! under the kernel's own TCP.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use crate::common::{LIMIT, PORT, setup, status, wait_for_backend};
use heddle_lab::{Connection, Daemons, Lab, Server, Transport, eventually};
use heddle_testing::{Need, skip_without};
use heddled::health::State;
use serde_json::{Value, json};

/// The backend that comes and goes.
const THIS: &str = "backend-2";
/// Of 40 connections a third of the slots gets none once in ten million runs.
const MANY: usize = 40;

fn lab() -> (Lab, Vec<Server>) {
    let lab = Lab::builder().backends(3).build().unwrap();
    let servers = lab.serve(Transport::Tcp, PORT).unwrap();
    (lab, servers)
}

/// A request as curl sends it: the status and the body of the answer.
fn call(daemons: &Daemons<'_>, line: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let mut stream = UnixStream::connect(daemons.socket(0)).unwrap();
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

fn get(daemons: &Daemons<'_>, path: &str) -> Value {
    let (status, body) = call(daemons, &format!("GET {path}"), &Value::Null);
    assert_eq!(status, 200, "{path}: {body}");
    body
}

fn open(lab: &Lab) -> Connection {
    lab.connect(Transport::Tcp, SocketAddr::new(lab.vips()[0], PORT)).unwrap()
}

/// The number of some new connections that the backend gets.
fn placed(lab: &Lab) -> usize {
    (0..MANY).filter(|_| open(lab).backend() == THIS).count()
}

/// The backend in both services, at its addresses.
fn entries(lab: &Lab) -> Value {
    let addresses = lab.vips().map(|vip| lab.backend(2).address_like(vip).to_string());
    let entry = |(service, address): (&str, &String)| json!({ "service": service, "backend": { "name": THIS, "address": address } });
    let entries: Vec<Value> = ["web4", "web6"].into_iter().zip(&addresses).map(entry).collect();
    json!({ "backends": entries })
}

/// The file that has two of the three backends is in force.
fn without_this(daemons: &Daemons<'_>) {
    let text = daemons.config(0);
    let file = text.replace(&daemons.services(&[0, 1, 2]), &daemons.services(&[0, 1]));
    assert_ne!(file, text);
    daemons.write_config(0, &file).unwrap();
    let (code, reloaded) = call(daemons, "POST /v1/reload", &Value::Null);
    let gone = ["web4", "web6"].map(|name| format!("service {name}: backend {THIS} is gone"));
    assert_eq!((code, reloaded), (200, json!({ "changes": gone })));
}

fn changes(daemons: &Daemons<'_>) -> Vec<String> {
    status(daemons, 0).changes
}

#[test]
fn a_backend_is_added_and_removed_without_the_file() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let mut daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    without_this(&daemons);
    assert_eq!(placed(&lab), 0);
    let mut before: Vec<Connection> = (0..MANY).map(|_| open(&lab)).collect();

    let (code, added) = call(&daemons, "POST /v1/backends", &entries(&lab));
    assert_eq!((code, added["backends"].as_array().unwrap().len()), (201, 2), "{added}");
    assert_eq!(added["backends"][0]["health"], "unknown", "it is checked first");
    wait_for_backend(&daemons, 1, THIS, |backend| backend.health == State::Up);
    assert_ne!(placed(&lab), 0);
    let told = changes(&daemons);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with(&format!("service web4: backend {THIS} (")), "{told:?}");

    // What it has stays with it, and what begins goes to others.
    let mut at_this: Vec<Connection> =
        (0..MANY).map(|_| open(&lab)).filter(|connection| connection.backend() == THIS).collect();
    let (code, removed) = call(&daemons, &format!("DELETE /v1/backends/{THIS}"), &Value::Null);
    assert_eq!((code, removed["backends"].as_array().unwrap().len()), (200, 2), "{removed}");
    assert_ne!(removed["backends"][0]["flows"], 0, "as it was before");
    assert_eq!((placed(&lab), changes(&daemons)), (0, vec![]));
    for connection in at_this.iter_mut().chain(&mut before) {
        connection.ping().unwrap();
    }
    let of_this = format!("GET /v1/connections?backend={THIS}");
    let (_, connections) = call(&daemons, &of_this, &Value::Null);
    assert_eq!(connections["flows"][0]["backend"], format!("{THIS} (gone)"), "{connections}");
    let drain = json!({ "draining": true });
    let (code, refused) = call(&daemons, &format!("PATCH /v1/backends/{THIS}"), &drain);
    assert!(code == 404 && refused.to_string().contains("was removed"), "{refused}");

    // A reload and a restart have the file's backends.
    for reload in [true, false] {
        assert_eq!(call(&daemons, "POST /v1/backends", &entries(&lab)).0, 201);
        assert_eq!(changes(&daemons).len(), 2);
        if reload {
            let gone =
                ["web4", "web6"].map(|name| format!("service {name}: backend {THIS} is gone"));
            let (_, reloaded) = call(&daemons, "POST /v1/reload", &Value::Null);
            assert_eq!(reloaded, json!({ "changes": gone }));
        } else {
            daemons.stop(0);
            daemons.restart(0).unwrap();
        }
        assert_eq!(changes(&daemons), [""; 0]);
        assert_eq!(call(&daemons, &format!("GET /v1/backends/{THIS}"), &Value::Null).0, 404);
    }
    for connection in &mut before {
        connection.ping().unwrap();
    }
}

#[test]
fn a_backend_is_weighed_drained_and_restored() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    wait_for_backend(&daemons, 1, THIS, |backend| backend.health == State::Up);
    let patch = |path: &str, change: Value| call(&daemons, &format!("PATCH {path}"), &change);
    let one = format!("/v1/services/web4/backends/{THIS}");
    let (code, changed) = patch(&one, json!({ "draining": true, "weight": 7 }));
    let changed = &changed["backends"];
    assert_eq!((code, changed.as_array().unwrap().len()), (200, 1), "{changed}");
    assert_eq!((&changed[0]["draining"], &changed[0]["weight"]), (&json!(true), &json!(7)));
    assert_eq!(placed(&lab), 0);
    let told = [
        format!("service web4: backend {THIS} has weight 7, in the file 1"),
        format!("service web4: backend {THIS} is drained"),
    ];
    assert_eq!(changes(&daemons), told);
    // A reload has the file's weight, and the backend stays drained.
    assert_eq!(call(&daemons, "POST /v1/reload", &Value::Null).0, 200);
    assert_eq!(changes(&daemons), told[1..]);
    assert_eq!(patch(&format!("/v1/backends/{THIS}"), json!({ "draining": false })).0, 200);
    assert_eq!(changes(&daemons), [""; 0]);
    assert_ne!(placed(&lab), 0);
}

#[test]
fn the_rest_of_the_api_answers_as_the_document_has_it() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let mode = std::fs::metadata(daemons.socket(0)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let document = get(&daemons, "/openapi.json");
    let kept = include_str!("../../openapi.json");
    assert_eq!(document, serde_json::from_str::<Value>(kept).unwrap());

    let healthy = || match get(&daemons, "/v1/health") {
        health if health["healthy"] == true => Ok(()),
        health => Err(health.to_string()),
    };
    eventually(LIMIT, healthy).unwrap();
    wait_for_backend(&daemons, 1, THIS, |backend| backend.health == State::Up);
    let services = get(&daemons, "/v1/services");
    let web4 = &services["services"][0];
    assert_eq!((&web4["name"], &web4["ports"]), (&json!("web4"), &json!(PORT.to_string())));
    assert_eq!((&web4["backends"], &web4["backends_up"]), (&json!(3), &json!(3)));
    assert_eq!(get(&daemons, "/v1/services/web6/backends")["backends"][2]["service"], "web6");
    assert!(get(&daemons, "/v1/status")["uptime"].as_f64().unwrap() > 0.0);

    let connection = open(&lab);
    let path = format!("/v1/connections?service=web4&backend={}&limit=1", connection.backend());
    assert_eq!(get(&daemons, &path)["flows"][0]["backend"], connection.backend());
    assert_eq!(get(&daemons, "/v1/connections?client=192.0.2.254")["matching"], 0);
    let to = SocketAddr::new(lab.vips()[0], PORT).to_string();
    let packet =
        json!({ "source": "198.51.100.9:4000", "destination": to, "protocol": "tcp", "flags": 2 });
    let (code, explained) = call(&daemons, "POST /v1/explain", &packet);
    assert_eq!((code, &explained["service"]), (200, &json!("web4")), "{explained}");
    assert_eq!(get(&daemons, "/v1/counters")["services"][0]["name"], "web4");
    assert_eq!(get(&daemons, "/v1/members")["members"][0]["name"], "balancer-0");
}

#[test]
fn what_is_wrong_is_told_by_name_and_changes_nothing() {
    if skip_without(Need::Root) {
        return;
    }
    let (lab, _servers) = lab();
    let daemons = Daemons::start(&lab, setup("learn", "l2")).unwrap();
    let backends = || {
        let backends = get(&daemons, "/v1/backends")["backends"].clone();
        let backends = backends.as_array().unwrap().iter();
        backends.map(|backend| backend["address"].clone()).collect::<Vec<_>>()
    };
    let before = backends();
    let entry = |address: &str| json!({ "name": "be9", "address": address });
    let (add, balancer) = ("POST /v1/services/web4/backends", lab.balancer(0).v4().to_string());
    let known = lab.backend(0).v4().to_string();
    for (line, body, code, kind, says) in [
        (
            "POST /v1/services/wab4/backends",
            entry("10.9.9.9"),
            404,
            "not-found",
            "no service is called wab4; did you mean web4?",
        ),
        ("GET /v1/services/wab4/backends", Value::Null, 404, "not-found", "did you mean web4?"),
        (
            "DELETE /v1/backends/backend-9",
            Value::Null,
            404,
            "not-found",
            "no backend is called backend-9; did you mean backend-",
        ),
        (
            "PATCH /v1/backends/be",
            json!({ "weight": 1 }),
            404,
            "not-found",
            "no backend is called be",
        ),
        (
            "PATCH /v1/backends/backend-0",
            json!({ "weight": 1001 }),
            400,
            "invalid-argument",
            "weight: 1001 is above the maximum",
        ),
        (
            add,
            json!({ "name": "backend-1", "address": "10.9.9.9" }),
            409,
            "refused",
            "service web4 has a backend backend-1 already",
        ),
        (
            add,
            entry("224.0.0.1"),
            400,
            "invalid-argument",
            "address: 224.0.0.1 is not a unicast address",
        ),
        (add, entry(&known), 400, "invalid-argument", "is given twice in this service"),
        (add, entry(&balancer), 400, "invalid-argument", "is balancer `balancer-0`'s address"),
        (add, entry("2001:db8::9"), 400, "invalid-argument", "is of another address family"),
        (add, entry("10.9.9"), 422, "unprocessable-content", "invalid IP address syntax"),
        (
            add,
            json!({ "name": "x".repeat(70_000), "address": "10.9.9.9" }),
            413,
            "content-too-large",
            "at most 64 KiB",
        ),
        (
            "PUT /v1/backends",
            entry("10.9.9.9"),
            405,
            "method-not-allowed",
            "/v1/backends has no method PUT",
        ),
        ("GET /v1/statos", Value::Null, 404, "no-such-resource", "there is no resource /v1/statos"),
    ] {
        let (status, problem) = call(&daemons, line, &body);
        assert_eq!((status, &problem["status"]), (code, &json!(code)), "{line}: {problem}");
        assert_eq!(problem["type"], format!("/problems/{kind}"), "{line}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(says), "{line}: {problem}");
    }
    assert_eq!((backends(), changes(&daemons)), (before, vec![]));
}

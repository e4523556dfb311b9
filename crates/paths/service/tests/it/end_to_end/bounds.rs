//! Limits of sockets and requests, invalid input, and the shutdown.

use std::time::Duration;

use heddle_path_service::{Limits, Options, ServeError, serve, v1};
use heddle_policy::cflb::Field;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::end_to_end::fabric::network;
use crate::end_to_end::running::{Running, options};

#[tokio::test]
async fn requests_that_are_too_large_are_refused() {
    let running = Running::start(network(Field::Ports), options()).await;
    let request = json!({"from": "x".repeat(70_000)});
    let reply = running.http().await.send("POST", "/v1/encode", &request).await;
    assert_eq!((reply.status, &reply.json()["help"]), (413, &json!("send at most 64 KiB")));
    let request = v1::EncodeRequest { from: "x".repeat(70_000), ..Default::default() };
    let status = running.grpc().await.encode(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::OutOfRange);
}

#[tokio::test]
async fn nonsense_is_refused_and_the_next_request_is_served() {
    let running = Running::start(network(Field::Ports), options()).await;
    let mut http = running.http().await;
    for body in
        ["{", "\u{0}", "[]", "null", r#"{"from": 3}"#, r#"{"subflows": -1}"#, &"[".repeat(5000)]
    {
        let reply = http.request("POST", "/v1/connections", body).await;
        assert!([400, 422].contains(&reply.status), "{body}: {reply:?}");
        assert_eq!(reply.json()["code"], "INVALID_ARGUMENT");
    }
    assert_eq!(http.get("/healthz").await.status, 200);
    let mut socket = TcpStream::connect(running.bound.grpc.unwrap()).await.unwrap();
    socket.write_all(&[0x2a; 4096]).await.unwrap();
    let mut rest = Vec::new();
    // Whatever it says, and whether by a reset or not: it hangs up.
    let _ = socket.read_to_end(&mut rest).await;
    running.grpc().await.list_links(v1::ListLinksRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_is_given_up() {
    let limits = Limits { request: Duration::from_millis(50), ..Limits::default() };
    let running = Running::start(network(Field::Ports), Options { limits, ..options() }).await;
    let mut socket = TcpStream::connect(running.bound.http.unwrap()).await.unwrap();
    let head = b"POST /v1/encode HTTP/1.1\r\nhost: heddle\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    socket.write_all(head).await.unwrap();
    let mut reply = Vec::new();
    socket.read_to_end(&mut reply).await.unwrap();
    let reply = String::from_utf8(reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 408"), "{reply}");
    assert!(reply.contains("connection: close\r\n"), "{reply}");
    assert!(reply.contains(r#""type":"/problems/request-timeout""#), "{reply}");
}

#[tokio::test]
async fn more_sockets_wait_until_others_are_closed() {
    let limits = Limits { sockets: 1, ..Limits::default() };
    let running = Running::start(network(Field::Ports), Options { limits, ..options() }).await;
    let mut first = running.http().await;
    assert_eq!(first.get("/healthz").await.status, 200);
    let mut second = running.http().await;
    let waiting = tokio::time::timeout(Duration::from_millis(100), second.get("/healthz")).await;
    assert!(waiting.is_err());
    drop((first, second));
    assert_eq!(running.http().await.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn after_the_shutdown_nobody_listens() {
    let running = Running::start(network(Field::Ports), options()).await;
    let bound = running.bound;
    let mut idle = running.http().await;
    assert_eq!(idle.get("/healthz").await.status, 200);
    running.stop().await.unwrap();
    assert!(TcpStream::connect(bound.grpc.unwrap()).await.is_err());
    assert!(TcpStream::connect(bound.http.unwrap()).await.is_err());
}

#[tokio::test]
async fn an_endless_request_does_not_hold_up_the_shutdown() {
    let limits = Limits { drain: Duration::from_millis(50), ..Limits::default() };
    let running = Running::start(network(Field::Ports), Options { limits, ..options() }).await;
    let address = format!("http://{}", running.bound.grpc.unwrap());
    let channel = tonic::transport::Endpoint::new(address).unwrap().connect().await.unwrap();
    let watch = HealthClient::new(channel).watch(HealthCheckRequest::default()).await.unwrap();
    running.stop().await.unwrap();
    drop(watch);
}

#[tokio::test]
async fn either_listener_may_be_off_but_not_both() {
    let running = Running::start(network(Field::Ports), Options { grpc: None, ..options() }).await;
    assert_eq!(running.bound.grpc, None);
    assert_eq!(running.http().await.get("/healthz").await.status, 200);
    let neither = Options { grpc: None, http: None, ..options() };
    let ended = serve(network(Field::Ports), neither, std::future::pending(), |_| ()).await;
    assert!(matches!(ended, Err(ServeError::NothingOn)));
    let taken = Options { http: running.bound.http, ..options() };
    let ended = serve(network(Field::Ports), taken, std::future::pending(), |_| ()).await;
    assert!(matches!(ended, Err(ServeError::Listen { .. })));
}

use super::*;

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Fixed(Option<Health>);

impl Source for Fixed {
    async fn snapshot(&self) -> Option<Snapshot> {
        self.0.as_ref().map(|_| Snapshot::default())
    }

    async fn health(&self) -> Option<Health> {
        self.0.clone()
    }
}

async fn server(health: Option<Health>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, Arc::new(Fixed(health))));
    address
}

async fn healthy_server() -> SocketAddr {
    server(Some(Health::default())).await
}

async fn ask(address: SocketAddr, request: &str) -> String {
    ask_with(address, request, "").await
}

async fn ask_with(address: SocketAddr, request: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{request} HTTP/1.1\r\nhost: x\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_scrape_gets_the_format_that_it_asks_for() {
    let plain = ask(healthy_server().await, "GET /metrics").await;
    assert!(plain.contains("content-type: text/plain; version=0.0.4"), "{plain}");
    assert!(!plain.contains("# EOF"));
    let accept = "accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2\r\n";
    let answer = ask_with(healthy_server().await, "GET /metrics", accept).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(
        answer.contains("content-type: application/openmetrics-text; version=1.0.0"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"));
}

#[tokio::test]
async fn health_is_a_status_code() {
    let answer = ask(healthy_server().await, "GET /healthz").await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok\n"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_balancer_that_is_not_healthy_says_each_cause() {
    let health = Health {
        maps_out_of_sync: Some("the maps".into()),
        programs_detached: Some("the program".into()),
        ..Health::default()
    };
    let sick = server(Some(health)).await;
    let answer = ask(sick, "GET /healthz").await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nthe maps\nthe program\n"), "{answer}");
    assert!(ask(sick, "GET /metrics").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_daemon_that_stops_says_so() {
    let stopping = server(None).await;
    for path in ["/healthz", "/metrics"] {
        let answer = ask(stopping, &format!("GET {path}")).await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        assert!(answer.ends_with("the daemon is stopping\n"), "{answer}");
    }
}

#[tokio::test]
async fn anything_else_is_refused() {
    let address = healthy_server().await;
    assert!(ask(address, "GET /").await.starts_with("HTTP/1.1 404 "));
    let refused = ask(address, "DELETE /metrics").await;
    assert!(
        refused.starts_with("HTTP/1.1 405 ") && refused.contains("allow: GET, HEAD"),
        "{refused}"
    );
    assert!(ask(address, "nonsense").await.starts_with("HTTP/1.1 400 "));
}

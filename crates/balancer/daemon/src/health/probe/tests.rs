use super::*;

use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The time to wait if no answer comes.
const TIMEOUT: Duration = Duration::from_millis(200);
/// The time to wait if one does: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(300);

fn get(path: &str) -> Probe {
    Probe::Http { path: path.into(), host: "shop.example".into(), expect: 200..=299 }
}

/// A server on loopback that reads one head, sends each piece after its pause, and closes.
async fn server(pieces: Vec<(Duration, Vec<u8>)>) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.unwrap() > 0 {}
        for (pause, piece) in pieces {
            tokio::time::sleep(pause).await;
            if stream.write_all(&piece).await.is_err() {
                break;
            }
        }
        String::from_utf8(head).unwrap()
    });
    (address, task)
}

async fn answered(answer: &str, question: &Probe) -> Result<(), Failure> {
    let (address, _server) = server(vec![(Duration::ZERO, answer.into())]).await;
    probe(question, address, PATIENCE).await
}

#[tokio::test]
async fn an_open_port_is_up_and_a_closed_one_refuses() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(probe(&Probe::Tcp, address, PATIENCE).await, Ok(()));
    drop(listener);
    assert_eq!(probe(&Probe::Tcp, address, PATIENCE).await, Err(Failure::Refused));
    assert_eq!(probe(&get("/"), address, PATIENCE).await, Err(Failure::Refused));
}

#[tokio::test]
async fn a_backlog_that_is_full_times_out() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    // Linux lets one more in than the backlog says.
    let _first = TcpStream::connect(address).await.unwrap();
    assert_eq!(probe(&Probe::Tcp, address, TIMEOUT).await, Err(Failure::Timeout));
}

#[tokio::test]
async fn an_address_without_a_route_is_a_local_failure() {
    let outcome = probe(&Probe::Tcp, "[100::1]:80".parse().unwrap(), TIMEOUT).await;
    assert!(matches!(outcome, Err(Failure::Local(_) | Failure::Timeout)), "{outcome:?}");
}

#[tokio::test]
async fn the_question_is_a_get_with_a_host() {
    let (address, server) =
        server(vec![(Duration::ZERO, b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())]).await;
    assert_eq!(probe(&get("/health?deep=1"), address, PATIENCE).await, Ok(()));
    let head = server.await.unwrap();
    assert!(head.starts_with("GET /health?deep=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\nhost: shop.example\r\n"), "{head}");
}

#[tokio::test]
async fn the_body_is_not_waited_for() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nonly this";
    assert_eq!(answered(answer, &get("/")).await, Ok(()));
    assert_eq!(answered("HTTP/1.0 200 OK\r\n\r\n", &get("/")).await, Ok(()));
}

#[tokio::test]
async fn another_status_is_bad() {
    let answer = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
    let said = |answered: Result<(), Failure>| answered.unwrap_err().to_string();
    assert_eq!(said(answered(answer, &get("/")).await), "HTTP status 503 instead of 200 to 299");
    let found = "HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\n\r\n";
    let one = Probe::Http { path: "/".into(), host: "shop.example".into(), expect: 200..=200 };
    assert_eq!(said(answered(found, &one).await), "HTTP status 302 instead of 200");
}

#[tokio::test]
async fn a_slow_head_times_out_though_bytes_keep_coming() {
    let drip = |byte: &u8| (Duration::from_millis(50), vec![*byte]);
    let pieces = b"HTTP/1.1 200 OK\r\n\r\n".iter().map(drip).collect();
    let (address, _server) = server(pieces).await;
    assert_eq!(probe(&get("/"), address, TIMEOUT).await, Err(Failure::Timeout));
}

#[tokio::test]
async fn what_is_not_http_says_so() {
    let outcome = answered("220 mail.example ESMTP\r\n", &get("/")).await;
    assert!(matches!(outcome, Err(Failure::NotHttp(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(1 << 20));
    let outcome = answered(&endless, &get("/")).await;
    assert!(matches!(outcome, Err(Failure::NotHttp(_))), "{outcome:?}");
}

#[tokio::test]
async fn closed_before_the_answer_is_bad() {
    assert_eq!(answered("", &get("/")).await, Err(Failure::Closed));
    assert_eq!(answered("HTTP/1.1 200 O", &get("/")).await, Err(Failure::Closed));
}

#[tokio::test]
async fn reset_before_the_answer_is_bad() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        stream.readable().await.unwrap();
        set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    assert_eq!(probe(&get("/"), address, PATIENCE).await, Err(Failure::Closed));
}

#[tokio::test]
async fn a_path_that_http_cannot_say_is_a_local_failure() {
    let outcome = answered("HTTP/1.1 200 OK\r\n\r\n", &get("/a b")).await;
    assert!(matches!(outcome, Err(Failure::Local(_))), "{outcome:?}");
}

#![allow(clippy::unwrap_used, reason = "tests")]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::time::{Instant, timeout};

use super::*;

const DEADLINE: Duration = Duration::from_secs(30);

async fn server(head_timeout: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_texts_within(head_timeout, listener, async |_| {
        plain(StatusCode::OK, "ok\n")
    }));
    address
}

/// A connection from 127.0.`n`.1.
async fn connect(to: SocketAddr, n: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, n, 1], 0))).unwrap();
    timeout(DEADLINE, socket.connect(to)).await.unwrap().unwrap()
}

async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    answer
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    for sources in [1, 100] {
        // No place becomes free by the time that passes.
        let address = server(DEADLINE * 100).await;
        let mut idle = Vec::new();
        for n in 0..200 {
            idle.push(connect(address, n % sources).await);
        }
        let answer = ask(&mut connect(address, 200).await).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{sources} sources: {answer}");
    }
}

#[tokio::test]
async fn a_head_has_to_come_within_a_second() {
    let mut stream = connect(server(STRANGERS_HEAD_TIMEOUT).await, 1).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
    let begun = Instant::now();
    let mut answer = Vec::new();
    timeout(DEADLINE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
}

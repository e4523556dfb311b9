//! A service on the loopback interface, and clients of both kinds.

use std::net::SocketAddr;

use heddle_path_encoder::Network;
use heddle_path_service::client::{Channel, PathServiceClient, connect};
use heddle_path_service::{Bound, Options, ServeError, serve};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub struct Running {
    pub bound: Bound,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), ServeError>>,
}

/// Free ports on the loopback interface.
pub fn options() -> Options {
    let any = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    Options { grpc: any, http: any, ..Options::default() }
}

impl Running {
    pub async fn start(network: Network, options: Options) -> Running {
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, is_ready) = oneshot::channel();
        let shutdown = async { stopped.await.unwrap_or_default() };
        let task =
            tokio::spawn(serve(network, options, shutdown, |bound| ready.send(bound).unwrap()));
        Running { bound: is_ready.await.unwrap(), stop, task }
    }

    pub async fn grpc(&self) -> PathServiceClient<Channel> {
        connect(self.bound.grpc.unwrap()).await.unwrap()
    }

    pub async fn http(&self) -> Http {
        Http::over(TcpStream::connect(self.bound.http.unwrap()).await.unwrap())
    }

    pub async fn stop(self) -> Result<(), ServeError> {
        self.stop.send(()).unwrap();
        self.task.await.unwrap()
    }
}

/// An HTTP/1.1 client with one socket.
pub struct Http(Box<dyn Socket>);

/// A connection, secure or not.
pub trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Http {
    pub fn over(socket: impl Socket + 'static) -> Http {
        Http(Box::new(socket))
    }

    pub async fn get(&mut self, path: &str) -> Reply {
        self.request("GET", path, "").await
    }

    pub async fn send(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        self.request(method, path, &body.to_string()).await
    }

    pub async fn request(&mut self, method: &str, path: &str, body: &str) -> Reply {
        self.request_as("application/json", method, path, body).await
    }

    /// With a body of any kind.
    pub async fn request_as(&mut self, kind: &str, method: &str, path: &str, body: &str) -> Reply {
        self.request_with(&format!("content-type: {kind}"), method, path, body).await
    }

    /// With a header of the caller's.
    pub async fn request_with(
        &mut self,
        header: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> Reply {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: heddle\r\n{header}\r\ncontent-length: {length}\r\n\r\n"
        );
        self.0.write_all((head + body).as_bytes()).await.unwrap();
        self.read().await
    }

    async fn read(&mut self) -> Reply {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&bytes);
            if let Some(reply) = whole(&text) {
                return reply;
            }
            let read = self.0.read(&mut buffer).await.unwrap();
            assert!(read > 0, "the response ended early: {text}");
            bytes.extend_from_slice(&buffer[..read]);
        }
    }
}

/// The response, if all of it has arrived.
fn whole(text: &str) -> Option<Reply> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head = head.to_ascii_lowercase();
    let (_, length) = head.split_once("content-length: ")?;
    let length: usize = length.lines().next()?.parse().ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    (body.len() == length).then(|| Reply { status, body: body.to_owned(), head })
}

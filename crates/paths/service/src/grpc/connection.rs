//! Accepted connections as gRPC's server takes them: a stream of sockets, each of which holds its
//! place.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use heddle_daemon::listener::{Incoming, Place};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::tls::{Security, Socket};

/// An accepted connection. Dropping it makes place for another one.
pub struct Connection {
    stream: Box<dyn Socket>,
    info: TcpConnectInfo,
    _place: Place,
}

/// Accepts connections in a task of its own, until the stream is dropped. Each handshake is a task
/// of its own, too: a slow one holds up no other.
pub fn connections(
    mut incoming: Incoming<TcpListener>,
    security: Security,
) -> ReceiverStream<io::Result<Connection>> {
    let (to, connections) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let (stream, place) = tokio::select! {
                () = to.closed() => return,
                accepted = incoming.next() => accepted,
            };
            let (to, security) = (to.clone(), security.clone());
            tokio::spawn(async move {
                let info = stream.connect_info();
                let stream = match security.accept(stream).await {
                    Ok(stream) => stream,
                    Err(error) => return tracing::debug!(%error, "a handshake failed"),
                };
                // Fails if the server has ended.
                let _ = to.send(Ok(Connection { stream, info, _place: place })).await;
            });
        }
    });
    ReceiverStream::new(connections)
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.info.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

//! Sockets that have been accepted, so many at once and no more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Accepted sockets, as they come.
pub type Sockets = mpsc::Receiver<Socket>;

/// How long to wait after a failure to accept, as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// An accepted socket. Dropping it makes place for another one.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

/// Accepts sockets, `most` at once, until the receiver is dropped.
pub fn accept(listener: TcpListener, most: usize) -> Sockets {
    let (to, sockets) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = to.closed() => {}
            () = accept_into(&to, &listener, most) => {}
        }
    });
    sockets
}

async fn accept_into(to: &mpsc::Sender<Socket>, listener: &TcpListener, most: usize) {
    let places = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let socket = Socket { stream, _place: place };
                if socket.stream.set_nodelay(true).is_ok() && to.send(socket).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a socket could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Connected for Socket {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
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

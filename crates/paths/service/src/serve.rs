//! From a network to listening sockets, until the shutdown.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use heddle_path_encoder::Network;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::{Code, Options, Problem, Service, grpc, http, sockets};

/// Where a service listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// gRPC, unless it is off.
    pub grpc: Option<SocketAddr>,
    /// HTTP, unless it is off.
    pub http: Option<SocketAddr>,
}

/// Why a service could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Neither gRPC nor HTTP is on.
    #[error("there is nothing to serve: give an address for gRPC or for HTTP")]
    NothingOn,
    /// An address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// gRPC's server failed.
    #[error("the gRPC server has failed: {0}")]
    Grpc(#[from] tonic::transport::Error),
}

/// Serves a network until `shutdown` is ready: then no more sockets are accepted, and requests under way have [`crate::Limits::drain`] to
/// end. `ready` is told the addresses once they are listened at.
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(
    network: Network,
    options: Options,
    shutdown: impl Future<Output = ()>,
    ready: impl FnOnce(Bound),
) -> Result<(), ServeError> {
    let (grpc, http) = (listen(options.grpc).await?, listen(options.http).await?);
    let bound = Bound { grpc: address(grpc.as_ref()), http: address(http.as_ref()) };
    if grpc.is_none() && http.is_none() {
        return Err(ServeError::NothingOn);
    }
    let service = Arc::new(Service::new(network, &options));
    tracing::info!(grpc = ?bound.grpc, http = ?bound.http, "listening");
    ready(bound);
    let (stopping, stopped) = watch::channel(());
    let stop = Stop(stopped);
    let until_drained = async {
        shutdown.await;
        tracing::info!("shutting down");
        drop(stopping);
        tokio::time::sleep(options.limits.drain).await;
        tracing::warn!("requests were still under way");
    };
    tokio::select! {
        ended = run(&service, grpc, http, &stop) => ended,
        () = until_drained => Ok(()),
    }
}

/// Serves what is listened at, until told to stop and done.
async fn run(
    service: &Arc<Service>,
    grpc: Option<TcpListener>,
    http: Option<TcpListener>,
    stop: &Stop,
) -> Result<(), ServeError> {
    let most = service.limits().sockets;
    let grpc = async {
        let Some(listener) = grpc else { return Ok(()) };
        grpc::serve(service.clone(), sockets::accept(listener, most), stop.clone()).await
    };
    let http = async {
        let Some(listener) = http else { return Ok(()) };
        http::serve(service.clone(), sockets::accept(listener, most), stop.clone()).await;
        Ok(())
    };
    tokio::try_join!(grpc, http)?;
    Ok(())
}

async fn listen(at: Option<SocketAddr>) -> Result<Option<TcpListener>, ServeError> {
    let Some(address) = at else { return Ok(None) };
    let listener = TcpListener::bind(address).await;
    listener.map(Some).map_err(|error| ServeError::Listen { address, error })
}

fn address(listener: Option<&TcpListener>) -> Option<SocketAddr> {
    listener.and_then(|listener| listener.local_addr().ok())
}

/// Says when to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<()>);

impl Stop {
    /// Returns when the service is to stop.
    pub async fn wait(&mut self) {
        // Nothing is ever sent: the sender is dropped.
        while self.0.changed().await.is_ok() {}
    }
}

/// Does what takes long beside the tasks that answer.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| {
        Err(Problem::new(Code::Internal, "the service has failed", "see the service's log"))
    })
}

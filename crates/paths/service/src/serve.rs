//! Both servers, from their addresses to the shutdown.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use heddle_daemon::listener::Incoming;
use heddle_path_encoder::Network;
use tokio::net::TcpListener;

use crate::grpc::GrpcError;
use crate::shutdown::{Shutdown, shutdown};
use crate::tls::{Security, TlsError};
use crate::{Options, Service, grpc, http};

/// The addresses of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// gRPC's, unless it is off.
    pub grpc: Option<SocketAddr>,
    /// HTTP's, unless it is off.
    pub http: Option<SocketAddr>,
}

/// Errors of [`serve`].
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Both gRPC and HTTP are off.
    #[error("there is nothing to serve: give an address for gRPC or for HTTP")]
    NothingOn,
    /// Listening at an address failed.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The state file cannot be read or written.
    #[error("the state file: {0}")]
    State(io::Error),
    /// The gRPC server failed.
    #[error("the gRPC server has failed: {0}")]
    Grpc(#[from] GrpcError),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Serves a network until `stop` is ready: then the listeners are closed, and requests under way
/// have [`crate::Limits::drain`] to end. `ready` is called with the addresses once the listeners
/// are open.
///
/// # Errors
/// See [`ServeError`].
pub async fn serve(
    network: Network,
    options: Options,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(Bound),
) -> Result<(), ServeError> {
    let tls = options.tls.as_ref();
    let security = (Security::new(tls, "h2")?, Security::new(tls, "http/1.1")?);
    let (grpc, http) = (listen(options.grpc).await?, listen(options.http).await?);
    let bound = Bound { grpc: address(grpc.as_ref()), http: address(http.as_ref()) };
    if grpc.is_none() && http.is_none() {
        return Err(ServeError::NothingOn);
    }
    let service = Arc::new(Service::new(network, &options).map_err(ServeError::State)?);
    tracing::info!(grpc = ?bound.grpc, http = ?bound.http, "listening");
    ready(bound);
    let (trigger, stopped) = shutdown();
    let until_drained = async {
        stop.await;
        tracing::info!("shutting down");
        drop(trigger);
        tokio::time::sleep(options.limits.drain).await;
        tracing::warn!("requests were still under way");
    };
    tokio::select! {
        ended = run(&service, (grpc, http), security, &stopped) => ended,
        () = until_drained => Ok(()),
    }
}

/// Runs both servers until they have stopped.
async fn run(
    service: &Arc<Service>,
    (grpc, http): (Option<TcpListener>, Option<TcpListener>),
    (grpc_security, http_security): (Security, Security),
    stopped: &Shutdown,
) -> Result<(), ServeError> {
    let limit = service.limits().sockets;
    let grpc = async {
        let Some(listener) = grpc else { return Ok(()) };
        grpc::serve(service.clone(), Incoming::new(listener, limit), grpc_security, stopped.clone())
            .await
    };
    let http = async {
        let Some(listener) = http else { return Ok(()) };
        http::serve(
            service.clone(),
            Incoming::new(listener, limit),
            http_security,
            stopped.clone(),
        )
        .await;
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

//! For programs that ask a service by gRPC.

use std::net::SocketAddr;

pub use tonic::Status;
pub use tonic::transport::{Channel, Error};

pub use crate::v1::path_service_client::PathServiceClient;

/// Connects to a service, without encryption.
///
/// # Errors
/// Nobody listens there.
pub async fn connect(address: SocketAddr) -> Result<PathServiceClient<Channel>, Error> {
    PathServiceClient::connect(format!("http://{address}")).await
}

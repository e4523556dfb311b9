//! A gRPC client.

use std::net::SocketAddr;

pub use tonic::transport::{Channel, Error};
pub use tonic::{Code, Status};

pub use crate::v1::path_service_client::PathServiceClient;

/// Connects to a service, without encryption.
///
/// # Errors
/// No connection to the address.
pub async fn connect(address: SocketAddr) -> Result<PathServiceClient<Channel>, Error> {
    PathServiceClient::connect(format!("http://{address}")).await
}

//! Paths and source ports: of the path service, or of one inside this process that has the fabric
//! and the key.

use std::sync::Arc;

use heddle_path_service::client::{Channel, PathServiceClient, Status};
use heddle_path_service::{Problem, Service, v1};

/// The source of paths.
#[derive(Clone, Debug)]
pub enum Paths {
    /// This process has the fabric and the key. It knows its own host's flows only.
    Own(Arc<Service>),
    /// A path service, by gRPC.
    Remote(PathServiceClient<Channel>),
}

/// The reasons for which there is no path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// One of the addresses is no host of the fabric.
    #[error("{0}")]
    NoSuchHost(String),
    /// The connection's lease has ended, or the service has started again.
    #[error("{0}")]
    NoLease(String),
    /// Others.
    #[error("{0}")]
    Other(String),
}

impl From<Problem> for PathError {
    fn from(problem: Problem) -> PathError {
        match problem.code {
            heddle_path_service::Code::NotFound => PathError::NoLease(problem.detail),
            _ => PathError::Other(problem.detail),
        }
    }
}

impl From<Status> for PathError {
    fn from(status: Status) -> PathError {
        match status.code() {
            heddle_path_service::client::Code::NotFound => {
                PathError::NoLease(status.message().to_owned())
            }
            _ => PathError::Other(status.message().to_owned()),
        }
    }
}

macro_rules! call {
    ($self:ident, $method:ident, $request:expr) => {
        match $self {
            // Computes for microseconds: on one host there is nothing else to do meanwhile.
            Paths::Own(service) => Ok(service.$method(&$request)?),
            Paths::Remote(client) => Ok(client.$method($request).await?.into_inner()),
        }
    };
}

impl Paths {
    /// Places the subflows of a connection, each on a path of its own while there are such.
    ///
    /// # Errors
    /// [`PathError::NoSuchHost`] if this is no connection within the fabric.
    pub async fn open(
        &mut self,
        request: v1::OpenConnectionRequest,
    ) -> Result<v1::Connection, PathError> {
        let opened: Result<_, PathError> = call!(self, open_connection, request);
        opened.map_err(|error| match error {
            PathError::NoLease(detail) => PathError::NoSuchHost(detail),
            other => other,
        })
    }

    /// A further subflow of a connection.
    ///
    /// # Errors
    /// See [`PathError`].
    pub async fn add(&mut self, request: v1::AddSubflowRequest) -> Result<v1::Subflow, PathError> {
        call!(self, add_subflow, request)
    }

    /// The routers that a packet crosses.
    ///
    /// # Errors
    /// See [`PathError`].
    pub async fn decode(&mut self, header: v1::Header) -> Result<v1::DecodeResponse, PathError> {
        let request = v1::DecodeRequest { header: Some(header), ..Default::default() };
        call!(self, decode, request)
    }

    /// Renews a lease, and says which subflows do not take their paths.
    ///
    /// # Errors
    /// See [`PathError`].
    pub async fn renew(
        &mut self,
        connection: u64,
    ) -> Result<v1::RenewConnectionResponse, PathError> {
        let request = v1::RenewConnectionRequest { connection };
        call!(self, renew_connection, request)
    }

    /// Gives the path of a subflow back.
    ///
    /// # Errors
    /// See [`PathError`].
    pub async fn close_subflow(&mut self, connection: u64, subflow: u32) -> Result<(), PathError> {
        let request = v1::CloseSubflowRequest { connection, subflow };
        let closed: Result<_, PathError> = call!(self, close_subflow, request);
        closed.map(|_| ())
    }

    /// Gives all paths of a connection back.
    ///
    /// # Errors
    /// See [`PathError`].
    pub async fn close(&mut self, connection: u64) -> Result<(), PathError> {
        let request = v1::CloseConnectionRequest { connection };
        let closed: Result<_, PathError> = call!(self, close_connection, request);
        closed.map(|_| ())
    }
}

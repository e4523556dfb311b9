//! gRPC: `PathService` and the health protocol.

mod connection;

use std::sync::Arc;
use std::time::Duration;

use heddle_daemon::listener::Incoming;
use tokio::net::TcpListener;
use tonic::metadata::MetadataValue;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use self::connection::connections;
use crate::blocking::run_blocking;
use crate::openapi::DESCRIPTORS;
use crate::options::MAX_REQUEST_BYTES;
use crate::shutdown::Shutdown;
use crate::tls::Security;
use crate::tokens::{Refusal, Tokens};
use crate::v1::path_service_server::{PathService, PathServiceServer};
use crate::{Code, Problem, Service, v1};

/// The most concurrent requests of one connection.
const MAX_CONCURRENT_STREAMS: u32 = 64;
/// The interval of keepalive pings on an idle connection.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
/// The largest header list of a request, in bytes.
const MAX_HEADER_BYTES: u32 = 16 << 10;
/// The domain of error reasons (google.rpc.ErrorInfo).
const ERROR_DOMAIN: &str = "heddle.path.v1";

/// The gRPC server has failed.
#[derive(Debug, thiserror::Error)]
pub enum GrpcError {
    /// Its connections.
    #[error(transparent)]
    Transport(#[from] tonic::transport::Error),
    /// Its description of itself.
    #[error(transparent)]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Serves until the shutdown, and then until the requests under way are answered.
pub async fn serve(
    service: Arc<Service>,
    incoming: Incoming<TcpListener>,
    security: Security,
    mut shutdown: Shutdown,
) -> Result<(), GrpcError> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<PathServiceServer<Grpc>>().await;
    let request = service.limits().request;
    let tokens = service.tokens().clone();
    let paths = PathServiceServer::new(Grpc(service)).max_decoding_message_size(MAX_REQUEST_BYTES);
    let paths = InterceptedService::new(paths, move |request| authorised(&tokens, request));
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    // Python's client and older tools speak v1alpha only.
    let (reflection, older_reflection) = (described().build_v1()?, described().build_v1alpha()?);
    let stopped = async move {
        shutdown.wait().await;
        health.set_not_serving::<PathServiceServer<Grpc>>().await;
    };
    Server::builder()
        .timeout(request)
        .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .add_service(health_service)
        .add_service(reflection)
        .add_service(older_reflection)
        .add_service(paths)
        .serve_with_incoming_shutdown(connections(incoming, security), stopped)
        .await?;
    Ok(())
}

/// The request, if it has one of the tokens.
#[allow(clippy::result_large_err, reason = "tonic's interceptors")]
fn authorised(tokens: &Tokens, request: Request<()>) -> Result<Request<()>, Status> {
    let authorization = request.metadata().get("authorization").map(MetadataValue::as_bytes);
    match tokens.check(authorization) {
        Ok(()) => Ok(request),
        Err(refusal) => {
            let help = [("help".to_owned(), Refusal::HELP.to_owned())];
            let details = ErrorDetails::with_error_info("UNAUTHENTICATED", ERROR_DOMAIN, help);
            let message = format!("{} ({})", refusal.detail(), Refusal::HELP);
            Err(Status::with_error_details(tonic::Code::Unauthenticated, message, details))
        }
    }
}

/// The gRPC server of a service.
pub struct Grpc(Arc<Service>);

type GrpcResult<T> = Result<Response<T>, Status>;

fn respond<T>(result: Result<T, Problem>) -> GrpcResult<T> {
    Ok(Response::new(result?))
}

#[tonic::async_trait]
impl PathService for Grpc {
    async fn find_paths(
        &self,
        request: Request<v1::FindPathsRequest>,
    ) -> GrpcResult<v1::FindPathsResponse> {
        respond(self.0.find_paths(request.get_ref()))
    }

    async fn open_connection(
        &self,
        request: Request<v1::OpenConnectionRequest>,
    ) -> GrpcResult<v1::Connection> {
        let (service, request) = (self.0.clone(), request.into_inner());
        respond(run_blocking(move || service.open_connection(&request)).await)
    }

    async fn get_connection(
        &self,
        request: Request<v1::GetConnectionRequest>,
    ) -> GrpcResult<v1::Connection> {
        respond(self.0.get_connection(request.get_ref()))
    }

    async fn list_connections(
        &self,
        request: Request<v1::ListConnectionsRequest>,
    ) -> GrpcResult<v1::ListConnectionsResponse> {
        respond(self.0.list_connections(request.get_ref()))
    }

    async fn add_subflow(
        &self,
        request: Request<v1::AddSubflowRequest>,
    ) -> GrpcResult<v1::Subflow> {
        let (service, request) = (self.0.clone(), request.into_inner());
        respond(run_blocking(move || service.add_subflow(&request)).await)
    }

    async fn replace_subflow(
        &self,
        request: Request<v1::ReplaceSubflowRequest>,
    ) -> GrpcResult<v1::Subflow> {
        let (service, request) = (self.0.clone(), request.into_inner());
        respond(run_blocking(move || service.replace_subflow(&request)).await)
    }

    async fn close_subflow(
        &self,
        request: Request<v1::CloseSubflowRequest>,
    ) -> GrpcResult<v1::CloseSubflowResponse> {
        respond(self.0.close_subflow(request.get_ref()))
    }

    async fn renew_connection(
        &self,
        request: Request<v1::RenewConnectionRequest>,
    ) -> GrpcResult<v1::RenewConnectionResponse> {
        respond(self.0.renew_connection(request.get_ref()))
    }

    async fn close_connection(
        &self,
        request: Request<v1::CloseConnectionRequest>,
    ) -> GrpcResult<v1::CloseConnectionResponse> {
        respond(self.0.close_connection(request.get_ref()))
    }

    async fn encode(&self, request: Request<v1::EncodeRequest>) -> GrpcResult<v1::EncodeResponse> {
        respond(self.0.encode(request.get_ref()))
    }

    async fn decode(&self, request: Request<v1::DecodeRequest>) -> GrpcResult<v1::DecodeResponse> {
        respond(self.0.decode(request.get_ref()))
    }

    async fn list_links(
        &self,
        request: Request<v1::ListLinksRequest>,
    ) -> GrpcResult<v1::ListLinksResponse> {
        respond(self.0.list_links(request.get_ref()))
    }

    async fn set_link(
        &self,
        request: Request<v1::SetLinkRequest>,
    ) -> GrpcResult<v1::SetLinkResponse> {
        let (service, request) = (self.0.clone(), request.into_inner());
        respond(run_blocking(move || service.set_link(&request)).await)
    }
}

impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        let code = match problem.code {
            Code::InvalidArgument => tonic::Code::InvalidArgument,
            Code::NotFound => tonic::Code::NotFound,
            Code::FailedPrecondition => tonic::Code::FailedPrecondition,
            Code::ResourceExhausted | Code::NoFreePort => tonic::Code::ResourceExhausted,
            Code::Internal => tonic::Code::Internal,
        };
        Status::with_error_details(code, problem.to_string(), details(&problem))
    }
}

/// The details of a status: google.rpc.ErrorInfo, and google.rpc.BadRequest for a field that is not
/// valid.
fn details(problem: &Problem) -> ErrorDetails {
    let reason = problem.code.label().to_ascii_uppercase();
    let help = [("help".to_owned(), problem.help.to_owned())];
    let mut details = ErrorDetails::with_error_info(reason, ERROR_DOMAIN, help);
    if let Some(field) = problem.field {
        details.add_bad_request_violation(field, &problem.detail);
    }
    details
}

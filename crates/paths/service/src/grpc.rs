//! gRPC: `PathService` and the health protocol.

use std::sync::Arc;
use std::time::Duration;

use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::serve::{Stop, aside};
use crate::sockets::Sockets;
use crate::v1::path_service_server::{PathService, PathServiceServer};
use crate::{Code, Problem, Service, v1};

/// The largest request, in bytes.
pub const MOST_BYTES: usize = 64 << 10;
/// Requests of one socket that are served at once.
const AT_ONCE: u32 = 64;
/// How often a silent peer is asked whether it is there.
const PING: Duration = Duration::from_secs(30);

/// Serves until told to stop, and then until the requests under way are answered.
pub async fn serve(
    service: Arc<Service>,
    sockets: Sockets,
    mut stop: Stop,
) -> Result<(), tonic::transport::Error> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<PathServiceServer<Grpc>>().await;
    let request = service.limits().request;
    let paths = PathServiceServer::new(Grpc(service)).max_decoding_message_size(MOST_BYTES);
    let stopped = async move {
        stop.wait().await;
        health.set_not_serving::<PathServiceServer<Grpc>>().await;
    };
    Server::builder()
        .timeout(request)
        .max_concurrent_streams(AT_ONCE)
        .http2_keepalive_interval(Some(PING))
        .http2_max_header_list_size(16 << 10)
        .add_service(health_service)
        .add_service(paths)
        .serve_with_incoming_shutdown(
            ReceiverStream::new(sockets).map(Ok::<_, std::io::Error>),
            stopped,
        )
        .await
}

/// The service as gRPC sees it.
pub struct Grpc(Arc<Service>);

type Answer<T> = Result<Response<T>, Status>;

fn answered<T>(answer: Result<T, Problem>) -> Answer<T> {
    Ok(Response::new(answer?))
}

#[tonic::async_trait]
impl PathService for Grpc {
    async fn find_paths(
        &self,
        ask: Request<v1::FindPathsRequest>,
    ) -> Answer<v1::FindPathsResponse> {
        answered(self.0.find_paths(ask.get_ref()))
    }

    async fn open_connection(
        &self,
        ask: Request<v1::OpenConnectionRequest>,
    ) -> Answer<v1::Connection> {
        let (service, ask) = (self.0.clone(), ask.into_inner());
        answered(aside(move || service.open_connection(&ask)).await)
    }

    async fn get_connection(
        &self,
        ask: Request<v1::GetConnectionRequest>,
    ) -> Answer<v1::Connection> {
        answered(self.0.get_connection(ask.get_ref()))
    }

    async fn list_connections(
        &self,
        ask: Request<v1::ListConnectionsRequest>,
    ) -> Answer<v1::ListConnectionsResponse> {
        answered(self.0.list_connections(ask.get_ref()))
    }

    async fn add_subflow(&self, ask: Request<v1::AddSubflowRequest>) -> Answer<v1::Subflow> {
        let (service, ask) = (self.0.clone(), ask.into_inner());
        answered(aside(move || service.add_subflow(&ask)).await)
    }

    async fn replace_subflow(
        &self,
        ask: Request<v1::ReplaceSubflowRequest>,
    ) -> Answer<v1::Subflow> {
        let (service, ask) = (self.0.clone(), ask.into_inner());
        answered(aside(move || service.replace_subflow(&ask)).await)
    }

    async fn close_subflow(
        &self,
        ask: Request<v1::CloseSubflowRequest>,
    ) -> Answer<v1::CloseSubflowResponse> {
        answered(self.0.close_subflow(ask.get_ref()))
    }

    async fn renew_connection(
        &self,
        ask: Request<v1::RenewConnectionRequest>,
    ) -> Answer<v1::RenewConnectionResponse> {
        answered(self.0.renew_connection(ask.get_ref()))
    }

    async fn close_connection(
        &self,
        ask: Request<v1::CloseConnectionRequest>,
    ) -> Answer<v1::CloseConnectionResponse> {
        answered(self.0.close_connection(ask.get_ref()))
    }

    async fn encode(&self, ask: Request<v1::EncodeRequest>) -> Answer<v1::EncodeResponse> {
        answered(self.0.encode(ask.get_ref()))
    }

    async fn decode(&self, ask: Request<v1::DecodeRequest>) -> Answer<v1::DecodeResponse> {
        answered(self.0.decode(ask.get_ref()))
    }

    async fn list_links(
        &self,
        ask: Request<v1::ListLinksRequest>,
    ) -> Answer<v1::ListLinksResponse> {
        answered(self.0.list_links(ask.get_ref()))
    }

    async fn set_link(&self, ask: Request<v1::SetLinkRequest>) -> Answer<v1::SetLinkResponse> {
        let (service, ask) = (self.0.clone(), ask.into_inner());
        answered(aside(move || service.set_link(&ask)).await)
    }
}

impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        let code = match problem.code {
            Code::InvalidArgument => tonic::Code::InvalidArgument,
            Code::NotFound => tonic::Code::NotFound,
            Code::FailedPrecondition => tonic::Code::FailedPrecondition,
            Code::ResourceExhausted | Code::NoFreePort => tonic::Code::ResourceExhausted,
            Code::DeadlineExceeded => tonic::Code::DeadlineExceeded,
            Code::Internal => tonic::Code::Internal,
        };
        Status::new(code, problem.to_string())
    }
}

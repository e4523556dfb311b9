//! Which request is which operation.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;

use super::problem::{Refusal, Refuser};
use crate::grpc::MOST_BYTES;
use crate::serve::aside;
use crate::{Code, Problem, Service, v1};

/// A request's body.
type Body<T> = Result<Json<T>, JsonRejection>;
/// A request's body that may be left out.
type Addition = Result<Bytes, BytesRejection>;
/// A request's parameters.
type Parameters<T> = Result<Query<T>, QueryRejection>;
/// The numbers in a request's path.
type Numbers<T> = Result<Path<T>, PathRejection>;
/// An answer.
type Answer<T> = Result<Json<T>, Refusal>;
/// The service.
type Shared = State<Arc<Service>>;

/// OpenMetrics' text format.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All routes.
pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/v1/paths", get(find_paths))
        .route("/v1/connections", get(list_connections).post(open_connection))
        .route("/v1/connections/{connection}", get(get_connection).delete(close_connection))
        .route("/v1/connections/{connection}/lease", post(renew_connection))
        .route("/v1/connections/{connection}/subflows", post(add_subflow))
        .route("/v1/connections/{connection}/subflows/{subflow}", delete(close_subflow))
        .route("/v1/connections/{connection}/subflows/{subflow}/replace", post(replace_subflow))
        .route("/v1/encode", post(encode))
        .route("/v1/decode", post(decode))
        .route("/v1/links", get(list_links).put(set_link))
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || Json(serde_json::json!({ "status": "serving" }))))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(from_fn_with_state(service.clone(), watched))
        .with_state(service)
}

/// Gives up on requests that take too long, bodies that trickle in among them, and counts what was refused before the service saw it.
async fn watched(State(service): Shared, request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(service.limits().request, next.run(request)).await;
    let answer = answer.map_err(|_| late()).into_response();
    if answer.extensions().get() == Some(&Refuser::Http) {
        service.refused_by_http(answer.status().as_u16());
    }
    answer
}

fn late() -> Refusal {
    let (status, code) = (StatusCode::GATEWAY_TIMEOUT, Code::DeadlineExceeded);
    Refusal::new(status, code, "the request took too long", "ask again")
}

async fn no_route() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        Code::NotFound,
        "there is no such resource",
        "see the service's documentation",
    )
}

async fn no_method() -> Refusal {
    let (status, mend) = (StatusCode::METHOD_NOT_ALLOWED, "see the service's documentation");
    Refusal::new(status, Code::InvalidArgument, "the resource has no such method", mend)
}

fn answered<T>(answer: Result<T, Problem>) -> Answer<T> {
    Ok(Json(answer?))
}

fn added<T: Default + DeserializeOwned>(body: Addition) -> Result<T, Refusal> {
    let bytes = body.map_err(JsonRejection::from)?;
    Ok(if bytes.is_empty() { T::default() } else { Json::from_bytes(&bytes)?.0 })
}

async fn find_paths(
    State(service): Shared,
    ask: Parameters<v1::FindPathsRequest>,
) -> Answer<v1::FindPathsResponse> {
    answered(service.find_paths(&ask?.0))
}

async fn open_connection(
    State(service): Shared,
    ask: Body<v1::OpenConnectionRequest>,
) -> Answer<v1::Connection> {
    let Json(ask) = ask?;
    answered(aside(move || service.open_connection(&ask)).await)
}

async fn get_connection(State(service): Shared, number: Numbers<u64>) -> Answer<v1::Connection> {
    answered(service.get_connection(&v1::GetConnectionRequest { connection: number?.0 }))
}

async fn list_connections(
    State(service): Shared,
    ask: Parameters<v1::ListConnectionsRequest>,
) -> Answer<v1::ListConnectionsResponse> {
    answered(service.list_connections(&ask?.0))
}

async fn add_subflow(
    State(service): Shared,
    number: Numbers<u64>,
    ask: Addition,
) -> Answer<v1::Subflow> {
    let (Path(connection), ask) = (number?, added(ask)?);
    let ask = v1::AddSubflowRequest { connection, ..ask };
    answered(aside(move || service.add_subflow(&ask)).await)
}

async fn replace_subflow(
    State(service): Shared,
    numbers: Numbers<(u64, u32)>,
    ask: Addition,
) -> Answer<v1::Subflow> {
    let (Path((connection, subflow)), ask) = (numbers?, added(ask)?);
    let ask = v1::ReplaceSubflowRequest { connection, subflow, ..ask };
    answered(aside(move || service.replace_subflow(&ask)).await)
}

async fn close_subflow(
    State(service): Shared,
    numbers: Numbers<(u64, u32)>,
) -> Answer<v1::CloseSubflowResponse> {
    let Path((connection, subflow)) = numbers?;
    answered(service.close_subflow(&v1::CloseSubflowRequest { connection, subflow }))
}

async fn renew_connection(
    State(service): Shared,
    number: Numbers<u64>,
) -> Answer<v1::RenewConnectionResponse> {
    answered(service.renew_connection(&v1::RenewConnectionRequest { connection: number?.0 }))
}

async fn close_connection(
    State(service): Shared,
    number: Numbers<u64>,
) -> Answer<v1::CloseConnectionResponse> {
    answered(service.close_connection(&v1::CloseConnectionRequest { connection: number?.0 }))
}

async fn encode(
    State(service): Shared,
    ask: Body<v1::EncodeRequest>,
) -> Answer<v1::EncodeResponse> {
    answered(service.encode(&ask?.0))
}

async fn decode(
    State(service): Shared,
    ask: Body<v1::DecodeRequest>,
) -> Answer<v1::DecodeResponse> {
    answered(service.decode(&ask?.0))
}

async fn list_links(
    State(service): Shared,
    ask: Parameters<v1::ListLinksRequest>,
) -> Answer<v1::ListLinksResponse> {
    answered(service.list_links(&ask?.0))
}

async fn set_link(
    State(service): Shared,
    ask: Body<v1::SetLinkRequest>,
) -> Answer<v1::SetLinkResponse> {
    let Json(ask) = ask?;
    answered(aside(move || service.set_link(&ask)).await)
}

async fn metrics(State(service): Shared) -> Result<impl IntoResponse, Refusal> {
    Ok(([(header::CONTENT_TYPE, METRICS)], service.metrics()?))
}

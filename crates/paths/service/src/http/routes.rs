//! Routes: the operation of each method and path.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{Method, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use heddle_daemon::metrics::Format;
use heddle_daemon::problem::PREFIX;
use serde::de::DeserializeOwned;

use super::limit::limited;
use super::problem::HttpProblem;
use super::problem_type::ProblemType;
use super::{HEALTH, OPENAPI};
use crate::blocking::run_blocking;
use crate::options::MAX_REQUEST_BYTES;
use crate::{Problem, Service, v1};

/// A request's body.
type Body<T> = Result<Json<T>, JsonRejection>;
/// A request's parameters.
type Parameters<T> = Result<Query<T>, QueryRejection>;
/// The parameters in a request's path.
type Segments<T> = Result<Path<T>, PathRejection>;
/// A response.
type JsonResult<T> = Result<Json<T>, HttpProblem>;
/// The service.
type Shared = State<Arc<Service>>;

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
        .route(&format!("{PREFIX}{{name}}"), get(problem_type))
        .route("/metrics", get(metrics))
        .route(OPENAPI, get(openapi))
        .route(HEALTH, get(async || Json(serde_json::json!({ "status": "serving" }))))
        .fallback(no_such_resource)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn_with_state(service.clone(), limited))
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .with_state(service)
}

async fn no_such_resource(uri: Uri) -> HttpProblem {
    let detail = format!("there is no resource {}", uri.path());
    HttpProblem::new(ProblemType::NoSuchResource, detail, "see the service's documentation")
}

async fn method_not_allowed(method: Method, uri: Uri) -> HttpProblem {
    let detail = format!("{} has no method {method}", uri.path());
    let help = "use a method of the Allow header";
    HttpProblem::new(ProblemType::MethodNotAllowed, detail, help)
}

/// The description of a type of problem, at the address that its `type` member refers to.
async fn problem_type(uri: Uri, name: Segments<String>) -> Result<String, HttpProblem> {
    let name = name?.0;
    match ProblemType::named(&name) {
        Some(kind) => {
            let (title, status, code) = (kind.title(), kind.status(), kind.code());
            let description = kind.description();
            Ok(format!("{title} (HTTP status {status}, gRPC code {code})\n\n{description}\n"))
        }
        None => Err(no_such_resource(uri).await),
    }
}

fn respond<T>(result: Result<T, Problem>) -> JsonResult<T> {
    Ok(Json(result?))
}

/// A request whose body may be left out.
fn optional_body<T: Default + DeserializeOwned>(body: &Bytes) -> Result<T, HttpProblem> {
    Ok(if body.is_empty() { T::default() } else { Json::from_bytes(body)?.0 })
}

async fn find_paths(
    State(service): Shared,
    request: Parameters<v1::FindPathsRequest>,
) -> JsonResult<v1::FindPathsResponse> {
    respond(service.find_paths(&request?.0))
}

async fn open_connection(
    State(service): Shared,
    request: Body<v1::OpenConnectionRequest>,
) -> JsonResult<v1::Connection> {
    let Json(request) = request?;
    respond(run_blocking(move || service.open_connection(&request)).await)
}

async fn get_connection(
    State(service): Shared,
    number: Segments<u64>,
) -> JsonResult<v1::Connection> {
    respond(service.get_connection(&v1::GetConnectionRequest { connection: number?.0 }))
}

async fn list_connections(
    State(service): Shared,
    request: Parameters<v1::ListConnectionsRequest>,
) -> JsonResult<v1::ListConnectionsResponse> {
    respond(service.list_connections(&request?.0))
}

async fn add_subflow(
    State(service): Shared,
    number: Segments<u64>,
    body: Bytes,
) -> JsonResult<v1::Subflow> {
    let (Path(connection), request) = (number?, optional_body(&body)?);
    let request = v1::AddSubflowRequest { connection, ..request };
    respond(run_blocking(move || service.add_subflow(&request)).await)
}

async fn replace_subflow(
    State(service): Shared,
    numbers: Segments<(u64, u32)>,
    body: Bytes,
) -> JsonResult<v1::Subflow> {
    let (Path((connection, subflow)), request) = (numbers?, optional_body(&body)?);
    let request = v1::ReplaceSubflowRequest { connection, subflow, ..request };
    respond(run_blocking(move || service.replace_subflow(&request)).await)
}

async fn close_subflow(
    State(service): Shared,
    numbers: Segments<(u64, u32)>,
) -> JsonResult<v1::CloseSubflowResponse> {
    let Path((connection, subflow)) = numbers?;
    respond(service.close_subflow(&v1::CloseSubflowRequest { connection, subflow }))
}

async fn renew_connection(
    State(service): Shared,
    number: Segments<u64>,
) -> JsonResult<v1::RenewConnectionResponse> {
    respond(service.renew_connection(&v1::RenewConnectionRequest { connection: number?.0 }))
}

async fn close_connection(
    State(service): Shared,
    number: Segments<u64>,
) -> JsonResult<v1::CloseConnectionResponse> {
    respond(service.close_connection(&v1::CloseConnectionRequest { connection: number?.0 }))
}

async fn encode(
    State(service): Shared,
    request: Body<v1::EncodeRequest>,
) -> JsonResult<v1::EncodeResponse> {
    respond(service.encode(&request?.0))
}

async fn decode(
    State(service): Shared,
    request: Body<v1::DecodeRequest>,
) -> JsonResult<v1::DecodeResponse> {
    respond(service.decode(&request?.0))
}

async fn list_links(
    State(service): Shared,
    request: Parameters<v1::ListLinksRequest>,
) -> JsonResult<v1::ListLinksResponse> {
    respond(service.list_links(&request?.0))
}

async fn set_link(
    State(service): Shared,
    request: Body<v1::SetLinkRequest>,
) -> JsonResult<v1::SetLinkResponse> {
    let Json(request) = request?;
    respond(run_blocking(move || service.set_link(&request)).await)
}

/// The description of the operations.
async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], crate::openapi::DOCUMENT.as_str())
}

async fn metrics(State(service): Shared) -> Result<impl IntoResponse, HttpProblem> {
    Ok(([(header::CONTENT_TYPE, Format::OpenMetrics.media_type())], service.metrics()?))
}

//! The operation of each method and path. [`super::openapi`] describes them.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, Request as HttpRequest, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use heddle_daemon::problem::{self, PREFIX};
use tokio::time::timeout;

use super::handler::Handler;
use super::problem::{Problem, ProblemKind};
use super::protocol::{DEFAULT_LIMIT, Named, Reply, Request, SharedEdit};
use super::queries::{ConnectionsQuery, ScopeQuery};
use super::{
    BackendChange, Filter, HealthStatus, NewBackend, NewBackends, Packet, Scope, Selection, openapi,
};
use crate::config::BackendEntry;

/// The most bytes of a request's body.
const MAX_BODY_BYTES: usize = 64 << 10;
/// The longest time for a request's body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A request's body.
type Read<T> = Result<Json<T>, JsonRejection>;
/// The names in a request's path.
type Segments<T> = Result<Path<T>, PathRejection>;
/// The handler of requests.
type Shared<H> = State<Arc<H>>;
/// A response.
type Answer = Result<Reply, Problem>;

/// The scope of a request for a change.
type Scoped = Result<Query<ScopeQuery>, QueryRejection>;

/// All routes.
pub(super) fn router<H: Handler>(handler: Arc<H>) -> Router {
    let of_backend = get(named::<H>).patch(change::<H>).delete(remove::<H>);
    let in_service = get(named_in::<H>).patch(change_in::<H>).delete(remove_in::<H>);
    Router::new()
        .route("/v1/status", get(status::<H>))
        .route("/v1/health", get(health::<H>))
        .route("/v1/services", get(services::<H>))
        .route("/v1/services/{service}/backends", get(of_service::<H>).post(add_in::<H>))
        .route("/v1/services/{service}/backends/{backend}", in_service)
        .route("/v1/backends", get(backends::<H>).post(add::<H>))
        .route("/v1/backends/{backend}", of_backend)
        .route("/v1/changes", get(changes::<H>).delete(reset::<H>))
        .route("/v1/connections", get(connections::<H>))
        .route("/v1/explain", post(explain::<H>))
        .route("/v1/counters", get(counters::<H>))
        .route("/v1/members", get(members::<H>))
        .route("/v1/reload", post(reload::<H>))
        .route(&format!("{PREFIX}{{name}}"), get(problem_kind))
        .route("/openapi.json", get(document))
        .route("/healthz", get(healthz::<H>))
        .fallback(no_such_resource)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(from_fn(with_body))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(handler)
}

/// Routes of a client that may not.
pub(super) fn forbidden(user: u32) -> Router {
    let message = format!("user {user} may not: only root and the daemon's own user");
    Router::new().fallback(async move || Problem::new(ProblemKind::Forbidden, message))
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// Answers a request as soon as its whole body is there.
async fn with_body(request: HttpRequest, next: Next) -> Result<Response, Problem> {
    let late = |_| Problem::new(ProblemKind::Timeout, "the request's body did not arrive in 10 s");
    let whole = timeout(BODY_TIMEOUT, problem::with_body(request)).await.map_err(late)??;
    Ok(next.run(whole).await)
}

async fn no_such_resource(uri: Uri) -> Problem {
    let message = format!("there is no resource {}; GET /openapi.json lists them", uri.path());
    Problem::new(ProblemKind::NoSuchResource, message)
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let message = format!("{} has no method {method}; the Allow header lists them", uri.path());
    Problem::new(ProblemKind::MethodNotAllowed, message)
}

/// The description of a kind of problems, at the address that its `type` member refers to.
async fn problem_kind(name: Segments<String>) -> Result<String, Problem> {
    let name = name?.0;
    let Some(kind) = ProblemKind::named(&name) else {
        let message = format!("no problem is called {name}");
        return Err(Problem::new(ProblemKind::NotFound, message));
    };
    let (title, status) = (kind.title(), kind.status());
    Ok(format!("{title} (HTTP status {status})\n\n{}\n", kind.description()))
}

async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], openapi::DOCUMENT.as_str())
}

async fn status<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Status).await
}

async fn health<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Health).await
}

/// The same as a status code, for scripts: 200, or 503 with a line for each cause.
async fn healthz<H: Handler>(State(handler): Shared<H>) -> Response {
    match handler.handle(Request::Health).await {
        Ok(Reply::Health(HealthStatus { healthy: true, .. })) => "ok\n".into_response(),
        Ok(Reply::Health(HealthStatus { causes, .. })) => {
            let causes: String = causes.iter().map(|cause| format!("{cause}\n")).collect();
            (StatusCode::SERVICE_UNAVAILABLE, causes).into_response()
        }
        other => other.into_response(),
    }
}

async fn services<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Services).await
}

async fn backends<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Backends(Selection::default())).await
}

async fn of_service<H: Handler>(State(handler): Shared<H>, service: Segments<String>) -> Answer {
    let selection = Selection { service: Some(service?.0), backend: None };
    handler.handle(Request::Backends(selection)).await
}

async fn named<H: Handler>(State(handler): Shared<H>, backend: Segments<String>) -> Answer {
    let selection = Selection { service: None, backend: Some(backend?.0) };
    handler.handle(Request::Backends(selection)).await
}

async fn named_in<H: Handler>(
    State(handler): Shared<H>,
    names: Segments<(String, String)>,
) -> Answer {
    let (service, backend) = names?.0;
    let selection = Selection { service: Some(service), backend: Some(backend) };
    handler.handle(Request::Backends(selection)).await
}

async fn add<H: Handler>(
    State(handler): Shared<H>,
    scope: Scoped,
    new: Read<NewBackends>,
) -> Result<impl IntoResponse, Problem> {
    let request = match scope?.scope {
        Scope::Balancer => Request::Add(new?.0),
        Scope::Cluster => Request::Shared(SharedEdit::Add(new?.0)),
    };
    Ok((StatusCode::CREATED, handler.handle(request).await?))
}

async fn add_in<H: Handler>(
    state: Shared<H>,
    service: Segments<String>,
    scope: Scoped,
    backend: Read<BackendEntry>,
) -> Result<impl IntoResponse, Problem> {
    let new = NewBackend { service: service?.0, backend: backend?.0 };
    add(state, scope, Ok(Json(NewBackends { backends: vec![new] }))).await
}

async fn change<H: Handler>(
    State(handler): Shared<H>,
    backend: Segments<String>,
    scope: Scoped,
    change: Read<BackendChange>,
) -> Answer {
    let named = Named { service: None, backend: backend?.0 };
    handler.handle(changing(named, scope?.scope, change?.0)).await
}

async fn change_in<H: Handler>(
    State(handler): Shared<H>,
    names: Segments<(String, String)>,
    scope: Scoped,
    change: Read<BackendChange>,
) -> Answer {
    let (service, backend) = names?.0;
    let named = Named { service: Some(service), backend };
    handler.handle(changing(named, scope?.scope, change?.0)).await
}

fn changing(of: Named, scope: Scope, change: BackendChange) -> Request {
    match scope {
        Scope::Balancer => Request::Change { service: of.service, backend: of.backend, change },
        Scope::Cluster => Request::Shared(SharedEdit::Change { of, change }),
    }
}

async fn remove<H: Handler>(
    State(handler): Shared<H>,
    backend: Segments<String>,
    scope: Scoped,
) -> Answer {
    let named = Named { service: None, backend: backend?.0 };
    handler.handle(removing(named, scope?.scope)).await
}

async fn remove_in<H: Handler>(
    State(handler): Shared<H>,
    names: Segments<(String, String)>,
    scope: Scoped,
) -> Answer {
    let (service, backend) = names?.0;
    handler.handle(removing(Named { service: Some(service), backend }, scope?.scope)).await
}

fn removing(of: Named, scope: Scope) -> Request {
    match scope {
        Scope::Balancer => Request::Remove { service: of.service, backend: of.backend },
        Scope::Cluster => Request::Shared(SharedEdit::Remove(of)),
    }
}

async fn changes<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Changes).await
}

async fn reset<H: Handler>(
    State(handler): Shared<H>,
    query: Result<Query<Selection>, QueryRejection>,
) -> Answer {
    handler.handle(Request::Shared(SharedEdit::Reset(query?.0))).await
}

async fn connections<H: Handler>(
    State(handler): Shared<H>,
    query: Result<Query<ConnectionsQuery>, QueryRejection>,
) -> Answer {
    let ConnectionsQuery { service, backend, client, token, active, limit } = query?.0;
    let filter = Filter { service, backend, client, token, active };
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    handler.handle(Request::Connections { filter, limit }).await
}

async fn explain<H: Handler>(State(handler): Shared<H>, packet: Read<Packet>) -> Answer {
    handler.handle(Request::Explain(packet?.0)).await
}

async fn counters<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Counters).await
}

async fn members<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Members).await
}

async fn reload<H: Handler>(State(handler): Shared<H>) -> Answer {
    handler.handle(Request::Reload).await
}

//! Time and size limits of requests.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, timeout_at};

use super::problem::{HttpProblem, Origin};
use super::problem_type::{PREFIX, ProblemType};
use super::routes::{HEALTH, OPENAPI};
use crate::Service;
use crate::tokens::Refusal;

/// Checks a request's token, reads its body and answers the request, both within [`crate::Limits::request`], and counts the requests that HTTP rejects.
/// The size of the body is limited by the extractor of [`Bytes`].
pub async fn limited(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let deadline = Instant::now() + service.limits().request;
    if let Err(refusal) = authorised(&service, &request) {
        let problem = HttpProblem::unauthenticated(refusal).into_response();
        service.count_http_rejection(problem.status().as_u16());
        return problem;
    }
    let response = match timeout_at(deadline, with_body(request)).await {
        Ok(Ok(request)) => match timeout_at(deadline, next.run(request)).await {
            Ok(response) => response,
            Err(_) => busy().into_response(),
        },
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => timed_out().into_response(),
    };
    if response.extensions().get() == Some(&Origin::Http) {
        service.count_http_rejection(response.status().as_u16());
    }
    response
}

/// Checks the request's token. Health, the OpenAPI document and the descriptions of problems need none.
fn authorised(service: &Service, request: &Request) -> Result<(), Refusal> {
    let path = request.uri().path();
    if matches!(path, HEALTH | OPENAPI) || path.starts_with(PREFIX) {
        return Ok(());
    }
    let authorization = request.headers().get(header::AUTHORIZATION);
    service.tokens().check(authorization.map(HeaderValue::as_bytes))
}

/// The request with its whole body in memory.
async fn with_body(request: Request) -> Result<Request, HttpProblem> {
    let (parts, body) = request.into_parts();
    let bytes = Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn timed_out() -> HttpProblem {
    let detail = "the request's body did not arrive in time";
    HttpProblem::new(ProblemType::REQUEST_TIMEOUT, detail, "send the whole request at once")
}

fn busy() -> HttpProblem {
    let detail = "the service could not answer in time";
    HttpProblem::new(ProblemType::UNAVAILABLE, detail, "try again later")
}
